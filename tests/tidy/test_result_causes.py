"""The table of causes says of each result code what the source does with it, so that the list cannot rot."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tidy.source_tree import SOURCE, parse, source_files, strings
from tollgate.catalog import codes
from tollgate.catalog.declines import DECLINES
from tollgate.catalog.result_rows import ROWS_BY_GROUP
from tollgate.catalog.result_rows.row import Origin
from tollgate.catalog.results import CAUSES, RESULTS
from tollgate.contract.risk_rules import read_rule
from tollgate.values import Instant, MerchantId

CODE = re.compile(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}")

READERS = {
    "catalog/codes.py": "their names",
    "catalog/result_rows": "the rows themselves",
    "catalog/results.py": "groups of codes",
    "payments/schedule.py": "what a decline means for a series",
    "payments/card_testing.py": "the declines that count",
    "catalog/card_testing.py": "the declines that do not count",
    "payments/velocities.py": "declines that count as wrong tries",
    "catalog/advice.py": "what people do about them",
    "flows/record.py": "the reason of a chargeback that an acquirer reported without one",
}
"""Source that names codes without answering them."""

PARTNERS = ("connectors/", "sandbox/", "catalog/return_reasons.py", "catalog/test_cards.py")
"""Partners cause these results, and the sandbox where it stands in for them."""
OWN_QUEUE = "connectors/sepa.py"
"""Direct debits are refused by the gateway itself, which writes the files for banks."""


TABLES = (
    "catalog/",
    "connectors/acquiring.py",
    "connectors/stripe/",
    "connectors/threeds/refusals.py",
    "connectors/tokens.py",
    "payments/schedule.py",
    "payments/velocities.py",
)
"""Tables that have codes in their rows; all other source uses the names of `catalog/codes.py`."""


def place(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def find_literals(path: Path) -> set[str]:
    return {str(node.value) for node in strings(parse(path)) if CODE.fullmatch(str(node.value))}


def find_named(path: Path) -> set[str]:
    """Returns the codes that a module uses by their names in `codes`."""
    return {
        getattr(codes, node.attr)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "codes"
        if node.attr.isupper()
    }


@cache
def find_origins() -> dict[str, Origin]:
    """Returns the origin of every code that some module answers: what the gateway decides itself comes first."""
    own: set[str] = set()
    received: set[str] = set()
    for path in source_files():
        name = place(path)
        if name.startswith(tuple(READERS)):
            continue
        named = find_literals(path) | find_named(path)
        is_partner = name.startswith(PARTNERS) and not name.startswith(OWN_QUEUE)
        (received if is_partner else own).update(named)
    return dict.fromkeys(received, Origin.PARTNER) | dict.fromkeys(own, Origin.GATEWAY)


def test_no_code_is_written_out_where_its_name_belongs() -> None:
    written = {place(path): found for path in source_files() if (found := find_literals(path))}

    assert {name: found for name, found in written.items() if not name.startswith(TABLES)} == {}


def test_every_code_has_one_name_at_most_and_every_name_is_used() -> None:
    names = {name: code for name, code in vars(codes).items() if name.isupper()}
    used = {code for path in source_files() for code in find_named(path)}

    assert set(names.values()) == used
    assert len(set(names.values())) == len(names)


def test_every_result_code_has_a_cause_and_no_other_code_has_one() -> None:
    assert set(CAUSES) == set(RESULTS)


def test_a_code_that_a_row_of_declines_causes_has_no_other_cause() -> None:
    stated = {row.code for rows in ROWS_BY_GROUP.values() for row in rows if row.cause}

    assert stated.isdisjoint(row.code for row in DECLINES)


def test_a_code_that_the_source_answers_is_marked_with_its_origin() -> None:
    wrong = {code: origin for code, origin in find_origins().items() if CAUSES[code].origin is not origin}

    assert wrong == {}, "mend the cause in catalog/result_rows and run make docs"


def test_a_code_that_is_marked_as_answered_is_named_in_the_source() -> None:
    marked = {code for code, cause in CAUSES.items() if cause.origin in (Origin.GATEWAY, Origin.PARTNER)}

    assert marked - find_origins().keys() == set(), "mend the cause in catalog/result_rows and run make docs"


def test_a_rule_may_have_every_code_that_only_a_rule_answers() -> None:
    named = [code for code, cause in CAUSES.items() if cause.origin is Origin.NAMED]
    refused = [code for code in named if read_code(code) != code]

    assert named
    assert refused == []


def read_code(code: str) -> str:
    """Reads a refusing rule with this code and returns the code that the rule got."""
    sent = {"kind": "proxy", "outcome": "refuse", "code": code}
    return read_rule(sent, merchant_id=MerchantId(""), rule_id="", version=1, by="", now=Instant(0)).code


def test_a_code_that_another_one_replaces_names_one_that_is_answered() -> None:
    named = {
        code for cause in CAUSES.values() if cause.origin is Origin.OTHER_CODE for code in CODE.findall(cause.words)
    }

    assert {code for code in named if not CAUSES[code].origin.is_answered} == set()


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_codes_exists(reader: str) -> None:
    assert (SOURCE / reader).exists()
