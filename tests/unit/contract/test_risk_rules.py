"""Risk rules as operators write them, and the values of payments in one spelling."""

from __future__ import annotations

import pytest

from tollgate.catalog.risk_rows import RISK_KINDS, Attribute, Term
from tollgate.contract.risk_rules import (
    mask_value,
    normalize,
    read_person,
    read_rule,
    read_window,
    render_rule,
    render_window,
)
from tollgate.payments.accounts import CardSummary
from tollgate.payments.risk import RiskOutcome, Rule
from tollgate.values import InvalidParameters, MerchantId

TERMS = {
    Term.WINDOW: "36h",
    Term.COUNT: "3",
    Term.AMOUNT: "12.50",
    Term.CURRENCY: "EUR",
    Term.COUNTRIES: "AT,DE",
    Term.COMPARED: "bin-ip",
    Term.ANSWERS: "N,Z",
    Term.SCORE: "80",
}


def read(**sent: str) -> Rule:
    return read_rule(sent, merchant_id=MerchantId("m"), rule_id="r", version=1, by="jo", now=7)


def make_sent(kind: str) -> dict[str, str]:
    row = RISK_KINDS[kind]
    own = {str(term): TERMS[term] for term in row.terms if term is not Term.ATTRIBUTE}
    return {"kind": kind, **own, **({"attribute": next(iter(row.codes))} if row.codes else {})}


@pytest.mark.parametrize("kind", RISK_KINDS)
def test_a_rule_of_each_kind_is_read_and_rendered_as_it_was_sent(kind: str) -> None:
    rule = read(**make_sent(kind))

    rendered = render_rule(rule)
    assert make_sent(kind).items() <= rendered.items()
    assert read(**rendered) == rule


@pytest.mark.parametrize("kind", RISK_KINDS)
def test_a_rule_without_its_terms_names_all_that_are_missing(kind: str) -> None:
    if not RISK_KINDS[kind].terms:
        return
    with pytest.raises(InvalidParameters) as invalid:
        read(kind=kind)
    assert [fault.name for fault in invalid.value.faults] == list(RISK_KINDS[kind].terms)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"kind": "luck"}, "kind"),
        ({"window": "0h"}, "window"),
        ({"window": "367d"}, "window"),
        ({"window": "1h\n"}, "window"),
        ({"count": "-1"}, "count"),
        ({"count": "5001"}, "count"),
        ({"attribute": "country"}, "attribute"),
        ({"amount": "1"}, "amount"),
        ({"mode": "on"}, "mode"),
        ({"outcome": "maybe"}, "outcome"),
        ({"points": "101"}, "points"),
        ({"name": "a\x00b"}, "name"),
        ({"code": "000.100.110"}, "code"),
        ({"code": "800.120.999"}, "code"),
        ({"outcome": "review", "code": "800.120.101"}, "code"),
        ({"outcome": "review", "code": "000.400.060"}, "code"),
        ({"outcome": "review", "code": "000.400.100"}, "code"),
        ({"outcome": "accept", "code": "800.120.101"}, "code"),
        ({"code": "100.400.500"}, "code"),
    ],
)
def test_a_wrong_value_is_named(changes: dict[str, str], name: str) -> None:
    with pytest.raises(InvalidParameters) as invalid:
        read(**make_sent("count") | changes)
    assert [fault.name for fault in invalid.value.faults] == [name]


def test_a_currency_that_no_payment_can_have_is_named() -> None:
    with pytest.raises(InvalidParameters) as invalid:
        read(**make_sent("amount") | {"currency": "ZZZ"})
    assert [(fault.name, fault.value) for fault in invalid.value.faults] == [("currency", "ZZZ")]


def test_a_total_may_allow_more_payments_than_are_read_of_a_value() -> None:
    assert read(**make_sent("count") | {"attribute": "channel", "count": "5001"}).terms.count == 5001


@pytest.mark.parametrize(
    ("kind", "outcome", "code"),
    [
        ("count", "refuse", "800.120.101"),
        ("count", "review", "000.400.000"),
        ("count", "step_up", ""),
        ("count", "accept", ""),
        ("avs", "review", "000.400.010"),
        ("cvv", "review", "000.400.020"),
        ("avs", "refuse", "800.400.100"),
    ],
)
def test_the_code_follows_from_kind_and_outcome(kind: str, outcome: str, code: str) -> None:
    assert read(**make_sent(kind), outcome=outcome).code == code


def test_nobody_is_authenticated_after_an_approval() -> None:
    with pytest.raises(InvalidParameters):
        read(**make_sent("avs"), outcome=RiskOutcome.STEP_UP)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("2m", 120), ("36h", 129_600), ("30d", 2_592_000)])
def test_windows_are_rendered_in_their_largest_unit(text: str, seconds: int) -> None:
    assert read_window(text) == seconds
    assert read_window(render_window(seconds)) == seconds


@pytest.mark.parametrize(
    ("attribute", "text", "value"),
    [
        (Attribute.EMAIL, " Jane@Example.COM ", "jane@example.com"),
        (Attribute.EMAIL, "nobody", ""),
        (Attribute.IP, "2001:DB8:0:0::1", "2001:db8::1"),
        (Attribute.IP, "300.1.1.1", ""),
        (Attribute.MOBILE, "+43 (660) 12-34", "436601234"),
        (Attribute.COUNTRY, "at", "AT"),
        (Attribute.COUNTRY, "XX", ""),
        (Attribute.BIN, "42000", ""),
        (Attribute.CUSTOMER, "C-7", "C-7"),
    ],
)
def test_a_value_has_one_spelling(attribute: Attribute, text: str, value: str) -> None:
    assert normalize(attribute, text) == value


@pytest.mark.parametrize(
    ("attribute", "value", "shown"),
    [
        (Attribute.EMAIL, "jane@example.com", "j***@example.com"),
        (Attribute.IP, "192.0.2.7", "192.0.***"),
        (Attribute.IP, "2001:db8::1", "2001:db8:***"),
        (Attribute.MOBILE, "436601234", "***34"),
        (Attribute.BIN, "420000", "420000"),
    ],
)
def test_a_value_is_shown_with_most_of_it_hidden(attribute: Attribute, value: str, shown: str) -> None:
    assert mask_value(attribute, value) == shown


@pytest.mark.parametrize(
    ("holder", "surname", "is_other"),
    [
        ("Jane Jones", "Jones", False),
        ("JONES J", "Jones", False),
        ("Müller Jürgen", "MULLER", False),
        ("Jane Jones-Smith", "Smith", False),
        ("John Miller", "Jones", True),
        ("Jane Jones", "", False),
        ("4711", "Jones", False),
        ("李小龙", "李小龙", False),
    ],
)
def test_a_holder_is_another_if_no_part_of_the_surname_is_in_the_name(
    holder: str, surname: str, is_other: bool
) -> None:
    card = CardSummary(bin="42000000", last_digits="0000", expiry_month="05", expiry_year="2034", holder=holder)

    person = read_person({"customer.surname": surname, "customer.email": "j@example.com"}, card)

    assert person.is_other_holder is is_other
    assert person.values == {Attribute.EMAIL: "j@example.com", Attribute.BIN: "420000"}
