"""Every cross-field rule by an example that keeps it and one that breaks it. Single values are tested elsewhere."""

from __future__ import annotations

import pytest

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.parameters.names import PARAMETERS, resolve
from tollgate.catalog.purpose_codes import PURPOSE_CODE_COUNTRIES
from tollgate.catalog.rule import Situation
from tollgate.catalog.rule_rows import requests
from tollgate.catalog.rules import RULES, check_rules
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.values import Fault
from unit.catalog.checkout_examples import CHECKOUT_EXAMPLES
from unit.catalog.link_examples import LINK_EXAMPLES
from unit.catalog.rule_examples import EXAMPLES as OTHER_EXAMPLES
from unit.catalog.rule_fields import CARD, DEBIT, MONEY, PURPOSE_COUNTRY, SLIP, Example

EXAMPLES = [*OTHER_EXAMPLES, *CHECKOUT_EXAMPLES, *LINK_EXAMPLES]


@pytest.fixture(autouse=True)
def purpose_countries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of countries is empty by default, so the examples are tried with one in it."""
    monkeypatch.setattr(requests, "PURPOSE_CODE_COUNTRIES", frozenset({PURPOSE_COUNTRY}))


def ask(fields: dict[str, str], operation: str, *, is_lenient: bool = False) -> list[Fault]:
    groups = {name.partition(".")[0].partition("[")[0] for name in fields}
    return check_rules(fields, Situation(operation, fields.get("paymentType"), is_lenient), groups)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule}-{example.operation}")
def test_a_rule_that_is_kept_says_nothing(example: Example) -> None:
    assert ask(example.kept, example.operation) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule}-{example.operation}")
def test_a_rule_that_is_broken_names_its_fields_and_nothing_else_complains(example: Example) -> None:
    assert [fault.name for fault in ask(example.broken, example.operation)] == example.faults


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule}-{example.operation}")
def test_the_faults_of_an_example_come_from_the_rule_it_is_named_after(example: Example) -> None:
    (rule,) = (rule for rule in RULES if rule.name == example.rule)
    situation = Situation(example.operation, example.broken.get("paymentType"))

    assert [fault.name for fault in rule.check(example.broken, situation)] == example.faults


def test_every_rule_has_an_example() -> None:
    assert {rule.name for rule in RULES} == {example.rule for example in EXAMPLES}


def test_rules_are_named_once_and_only_operations_and_groups_that_exist() -> None:
    groups = {name.partition(".")[0].partition("[")[0] for name in PARAMETERS}

    assert len({rule.name for rule in RULES}) == len(RULES)
    assert [rule.name for rule in RULES if not rule.operations <= OPERATIONS_WITH_RULES] == []
    assert [rule.name for rule in RULES if not rule.groups <= groups] == []
    assert [rule.name for rule in RULES if not rule.text.endswith(".") or "\n" in rule.text] == []


def test_examples_speak_of_parameters_that_exist_and_accept_their_values() -> None:
    for example in EXAMPLES:
        for name, value in {**example.kept, **example.broken}.items():
            found = resolve(name)
            assert found is not None, name
            assert not isinstance(found, Fault), name
            assert found.parameter.check_value(name, value, is_lenient=False) is None, name


LENIENT = {
    "customer_names",
    "customer_document",
    "shipping_customer_names",
    "shipping_customer_document",
    "bank_named",
    "stored_alone",
    "checkout_billing",
}


def test_only_these_rules_spare_a_lenient_channel() -> None:
    assert {rule.name for rule in RULES if not rule.binds_lenient} == LENIENT


@pytest.mark.parametrize(
    "example", [example for example in EXAMPLES if example.rule in LENIENT], ids=lambda example: example.rule
)
def test_a_lenient_channel_takes_what_they_forbid(example: Example) -> None:
    assert ask(example.broken, example.operation, is_lenient=True) == []


@pytest.mark.parametrize("spelling", ["AMERICAN_EXPRESS", "american_express", "SOMETHING_ELSE"])
def test_a_lenient_channel_corrects_an_odd_brand_by_the_card_number(spelling: str) -> None:
    fields = {**DEBIT, "paymentBrand": spelling, "card.number": "377777777777770"}

    assert ask(fields, "create_payment", is_lenient=True) == []
    assert ask(fields, "create_payment") == [Fault("paymentBrand", "must be a brand of this gateway", spelling)]


def test_an_empty_payment_is_answered_as_clients_have_recorded_it() -> None:
    assert ask({"paymentType": "RF"}, "create_payment") == [
        Fault("amount", "may not be empty"),
        Fault("currency", "may not be empty"),
        Fault("paymentType", "must be one of [PA, DB, CD, PA.CP]", "RF"),
        Fault("paymentBrand", "card properties must be set"),
    ]


@pytest.mark.parametrize("brand", ["PAYPAL", "ALIPAY", "EPS", "SOFORTUEBERWEISUNG", "PREPAYMENT"])
def test_a_brand_with_a_page_of_its_own_needs_no_account(brand: str) -> None:
    assert (
        ask({**MONEY, "paymentType": "DB", "paymentBrand": brand, "bankAccount.country": "NL"}, "create_payment") == []
    )


def test_what_a_shopper_typed_into_the_form_does_not_call_for_names() -> None:
    assert ask({**CARD, "customer.email": "jane@example.org"}, "submit_checkout") == []


def test_no_country_asks_for_a_purpose_code_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "PURPOSE_CODE_COUNTRIES", PURPOSE_CODE_COUNTRIES)

    assert ask({**DEBIT, "recipient.country": PURPOSE_COUNTRY}, "create_payment") == []


def test_only_recipients_in_listed_countries_call_for_a_purpose_code() -> None:
    assert ask({**DEBIT, "recipient.country": "DEU"}, "create_payment") == []
    assert [
        fault.name for fault in ask({**DEBIT, "recipient.country": PURPOSE_COUNTRY}, "create_payment", is_lenient=True)
    ]


def test_a_lenient_channel_asks_for_no_identity_document_of_a_bank_slip() -> None:
    assert ask(SLIP, "create_payment", is_lenient=True) == []
    assert ask({**SLIP, "paymentBrand": "BRADESCO"}, "create_payment", is_lenient=True) == []


def test_a_brand_with_a_page_asks_for_no_account_id() -> None:
    asking = {brand.code for brand in BRANDS.values() if ("virtualAccount.accountId",) in brand.needs}

    assert asking == {"MBWAY"}


def test_an_older_spelling_is_overridden_on_a_lenient_channel_only() -> None:
    fields = {**MONEY, "paymentType": "DB", "overridePaymentType[KLARNA_INVOICE]": "PA"}

    assert ask(fields, "create_checkout", is_lenient=True) == []
    assert [fault.name for fault in ask(fields, "create_checkout")] == ["overridePaymentType[KLARNA_INVOICE]"]


@pytest.mark.parametrize("holder", ["4200000000000000", "123", "12 34", "٤٢٠٠", "12/34-56"])
def test_a_card_holder_of_digits_is_refused_on_a_strict_channel(holder: str) -> None:
    parameter = PARAMETERS["card.holder"]

    assert parameter.check_value("card.holder", holder, is_lenient=False) == Fault(
        "card.holder", "must have 3 to 128 characters and not consist of digits only", "***"
    )
    assert parameter.check_value("card.holder", holder, is_lenient=True) is None
    assert parameter.check_value("card.holder", f"J {holder}", is_lenient=False) is None


@pytest.mark.parametrize("kind", ["RS", "DS"])
def test_changing_a_schedule_does_not_ask_for_what_it_already_has(kind: str) -> None:
    assert ask({"paymentType": kind, "job.dayOfMonth": "1"}, "schedule") == []


def test_test_mode_on_a_live_host_is_no_parameter_fault() -> None:
    fields = {**DEBIT, "testMode": "EXTERNAL"}

    assert check_rules(fields, Situation("create_payment", "DB", host_is_live=True), {"card", "paymentBrand"}) == []
