"""No accepted parameter ends nowhere: it is forwarded, read by a rule or by code, or answered and reported."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tidy.source_tree import parse, strings
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.nesting import nest_fields
from tollgate.catalog.parameters.row import Parameter, Secrecy
from tollgate.contract.answers import render_payment
from unit.payments.samples import make_payment

SOURCE = Path(__file__).parents[3] / "src" / "tollgate"
READERS = ("catalog/rule_rows", "catalog/series.py", "contract", "connectors", "operations", "flows", "workers", "web")
"""The places in which rules and code read parameters. The answers are judged by what they answer."""

READ_IN_PARTS = {
    "overridePaymentType[brand]": ("catalog/rule_rows/requests.py", "overridePaymentType[", "a key for each brand"),
    "registrations[n].id": ("contract/checkouts.py", "registrations", "all of them are listed"),
    "job.": ("contract/jobs.py", "job.", "the members of a plan, by its prefix"),
    "walletA.": ("contract/accounts.py", ".paymentToken", "one name for each wallet"),
    "walletB.": ("contract/accounts.py", ".paymentToken", "one name for each wallet"),
    "walletC.": ("contract/accounts.py", ".paymentToken", "one name for each wallet"),
    "customer.browser.": ("contract/details.py", "customer.browser.", "the members of a browser, by its prefix"),
    "threeDSecure.v2.": ("connectors/threeds/requests.py", "threeDSecure.v2.*.requestorId", "a star is the scheme"),
}
"""A name, or a prefix that ends with a dot, that is nowhere spelled whole: the file that reads it, the part that is
spelled there, and why."""

NOT_READ = {"sortValue": "only one value is accepted, and it is what the list does"}


@cache
def list_spelled() -> frozenset[str]:
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).as_posix().startswith(READERS)]
    files.remove(SOURCE / "contract" / "answers.py")
    return frozenset(node.value for path in files for node in strings(parse(path)) if isinstance(node.value, str))


def is_read(row: Parameter) -> bool:
    return row.name in list_spelled() or any(
        row.name == part or (part.endswith(".") and row.name.startswith(part)) for part in READ_IN_PARTS
    )


def is_answered(row: Parameter) -> bool:
    if row.secrecy not in (Secrecy.OPEN, Secrecy.MASK):
        return False
    name = row.name.replace("[n]", "[0]").replace("[key]", "[shop]")
    return contains(render_payment(make_payment(echo={name: "as sent"})), nest_fields([(name, "as sent")]))


def contains(body: object, part: object) -> bool:
    if isinstance(part, dict):
        return isinstance(body, dict) and all(name in body and contains(body[name], part[name]) for name in part)
    return body == part


@pytest.mark.parametrize("row", PARAMETERS.values(), ids=lambda row: row.name)
def test_a_parameter_is_forwarded_or_read_or_answered(row: Parameter) -> None:
    assert row.to or is_read(row) or is_answered(row) or row.name in NOT_READ


@pytest.mark.parametrize("part", READ_IN_PARTS)
def test_what_is_read_in_parts_is_a_parameter_and_is_read_there(part: str) -> None:
    file, spelled, _ = READ_IN_PARTS[part]
    texts = [node.value for node in strings(parse(SOURCE / file)) if isinstance(node.value, str)]

    assert any(spelled in text for text in texts)
    assert any(name == part or name.startswith(part) for name in PARAMETERS)


def test_what_nothing_reads_has_one_value() -> None:
    assert all(len(PARAMETERS[name].shape.choices) == 1 and PARAMETERS[name].note for name in NOT_READ)


def test_what_reports_alone_need_is_answered() -> None:
    for name in ("merchantInvoiceId", "merchantMemo", "integrationType", "risk.parameters[key]", "risk.accountToken"):
        assert is_answered(PARAMETERS[name]), name


def test_the_score_of_a_risk_check_cannot_be_sent() -> None:
    assert render_payment(make_payment(echo={"risk.brand": "x"}))["risk"] == {"brand": "x", "score": "0"}
    assert not any(re.fullmatch(r"risk\.score", name) for name in PARAMETERS)
