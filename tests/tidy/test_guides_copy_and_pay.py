"""The tables of the guide for shops that come from COPYandPAY say what the code does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tidy.source_tree import ROOT, SOURCE
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.names import ALIASES, PARAMETERS, first_word
from tollgate.catalog.results import RESULTS
from tollgate.catalog.throttles import THROTTLES
from tollgate.values import MINUTE

GUIDE = (ROOT / "docs" / "copy-and-pay.md").read_text("utf-8")
FORM_GUIDE = (ROOT / "docs" / "payment-form.md").read_text("utf-8")
PARTS = SOURCE / "widget" / "parts"
CODE = {path.name: path.read_text("utf-8") for path in sorted(PARTS.glob("*.js"))}
ALL_CODE = "".join(
    [*CODE.values(), *(path.read_text("utf-8") for path in (SOURCE / "widget" / "styles").glob("*.css"))]
)
STATES = ("supported", "differs", "ignored")
WALLET_MEMBERS = {"onValidateMerchant"}
"""Functions that belong to `applePay`."""


def read_table(title: str) -> Iterator[tuple[str, str]]:
    """Yields each name in the first column of the table under a title, with its state."""
    table = GUIDE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for line in table.splitlines():
        if line.startswith("| ") and not line.startswith("| what"):
            names, state, *_ = [cell.strip() for cell in line.strip("|").split("|")]
            yield from ((name, state) for name in re.findall(r"`([^`]+)`", names))


def list_by_state(title: str) -> dict[str, set[str]]:
    rows = list(read_table(title))
    assert {state for _, state in rows} <= {*STATES}
    assert len({name for name, _ in rows}) == len(rows) > 3
    return {state: {name for name, found in rows if found == state} for state in STATES}


def list_code_options() -> set[str]:
    """Returns the members of wpwlOptions that the form reads, but for functions."""
    switches = re.findall(r"^  (\w+): (?:true|false),$", CODE["options.js"], re.M)
    read = re.findall(r"\boptions\.(\w+)", CODE["options.js"].partition("const SWITCHES")[2])
    texts = re.findall(r"\boptions\.(\w+)", CODE["texts.js"].partition("function makeTranslator")[2])
    pages = re.findall(r"\bpage\.options\.(\w+)", ALL_CODE)
    wallets = re.findall(r'readWalletOptions\("(\w+)"\)', ALL_CODE)
    return {name for name in (*switches, *read, *texts, *pages, *wallets) if not name.startswith("on")}


def list_code_callbacks() -> set[str]:
    return set(re.findall(r'"(on[A-Z]\w+)"', ALL_CODE)) - WALLET_MEMBERS


def test_the_options_are_those_that_the_form_reads() -> None:
    found = list_by_state("Options of the form")
    assert len(list_code_options()) > 40
    assert found["supported"] | found["differs"] == list_code_options()
    assert found["ignored"] & (list_code_options() | list_code_callbacks()) == set()


def test_the_callbacks_are_those_that_the_form_calls() -> None:
    found = list_by_state("Callbacks")
    assert found["supported"] | found["differs"] == list_code_callbacks()
    assert found["ignored"] == set()


@pytest.mark.parametrize("name", sorted(list_code_options() | list_code_callbacks()))
def test_the_guide_to_the_form_describes_what_the_form_reads(name: str) -> None:
    """Callbacks before a submission share their first words there."""
    short = name.replace("onBeforeSubmit", "…")
    assert re.search(rf"`(?:{name}|{short})\b", FORM_GUIDE), name


def test_the_classes_are_those_that_the_form_sets() -> None:
    found = list_by_state("CSS classes")
    literal = set(re.findall(r"wpwl-[\w-]*\w", ALL_CODE))
    begun = tuple(set(re.findall(r"(wpwl-[a-z-]+-)\$\{", ALL_CODE)))
    assert [name for name in found["supported"] if name not in literal and not name.startswith(begun)] == []
    assert found["ignored"] & literal == set()


def test_the_parameters_are_known() -> None:
    rows = list_by_state("Request parameters")
    known = {first_word(name) for name in (*PARAMETERS, *ALIASES)} | {"authentication", "Authorization: Bearer"}
    assert [name for names in rows.values() for name in names if first_word(name) not in known] == []


def test_the_requests_are_those_of_the_endpoints() -> None:
    rows = list_by_state("Server to server")
    missing = {"POST /v1/exemption"}
    assert rows["supported"] | rows["differs"] - missing <= set(ENDPOINTS)
    assert missing & set(ENDPOINTS) == set()


def test_the_numbers_are_those_of_the_rows() -> None:
    assert f"all {len(PARAMETERS)} with" in GUIDE
    assert f"{len(BRANDS)} [brands]" in GUIDE
    assert f"All {len(RESULTS)} [result codes]" in GUIDE
    table = GUIDE.partition("\n## Limits\n")[2].partition("\n## ")[0]
    cells = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")]
    rows = {what.removeprefix("| "): here.removesuffix(" |") for what, _, here in cells}
    assert rows["lifetime of a checkout"] == f"{LIMITS.checkout_lifetime // MINUTE} minutes"
    assert rows["status of a checkout"].startswith(f"{THROTTLES['read_checkout'].count} a minute")
    reminder = f"after {LIMITS.checkout_reminder_after // MINUTE} minutes"
    assert rows["the call of your result page, if you have not asked"] == reminder
    assert rows["attempts for a checkout"] == str(LIMITS.checkout_attempts_max)
    reads = {THROTTLES["read_payment"].count, THROTTLES["query"].count}
    assert rows["reads of a payment, and of a report by id"] == f"{reads.pop()} a minute on a live host"
    assert not reads


def test_the_codes_exist() -> None:
    assert set(re.findall(r"`(\d{3}\.\d{3}\.\d{3})`", GUIDE)) <= set(RESULTS)
