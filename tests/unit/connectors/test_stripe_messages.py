"""Messages to a processor with the Stripe API: what a charge sends, and what is never sent."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.connectors.stripe import messages
from tollgate.payments.accounts import TokenAccount
from tollgate.payments.order import Authentication, Details, Order, StandingInstruction
from tollgate.payments.payment import Outcome
from tollgate.values import Money, Secret
from unit.connectors.samples import CARD, ORDER
from unit.connectors.stripe_samples import (
    APPROVED_CODE,
    CREATED,
    DEBIT,
    HOLD,
    METHOD,
    PAID,
    STEPS,
    intent,
    sell,
)


def test_a_debit_makes_a_method_and_an_intent_and_confirms_it() -> None:
    heard = sell(METHOD, CREATED, PAID)

    assert heard.steps == STEPS
    assert heard.form(0) == {
        "type": "card",
        "card[number]": "4200000000000000",
        "card[exp_month]": "05",
        "card[exp_year]": "2034",
        "card[cvc]": "731",
        "billing_details[name]": "Jane Jones",
    }
    assert heard.form(1) == {
        "amount": "9210",
        "currency": "eur",
        "payment_method": "pm_1",
        "payment_method_types[]": "card",
        "capture_method": "automatic",
        "metadata[tollgate]": "8a01",
    }
    assert heard.form(2) == {"expand[]": "latest_charge"}
    assert (heard.result.outcome, heard.result.code) == (Outcome.APPROVED, APPROVED_CODE)


def test_every_message_has_the_credential_the_version_and_a_key_of_its_own() -> None:
    requests = sell(METHOD, CREATED, PAID).requests

    assert {each.content_type for each in requests} == {"application/x-www-form-urlencoded"}
    assert {each.headers["Authorization"] for each in requests} == {"Bearer sk_test_12345"}
    assert all(each.headers["Stripe-Version"] for each in requests)
    assert [each.key for each in requests] == ["8a01-method", "8a01-intent", "8a01-confirmation"]


def test_an_authorization_is_captured_by_hand() -> None:
    order = replace(ORDER, payment_type="PA")

    heard = sell(METHOD, CREATED, intent("requires_capture"), order=order, attempt=HOLD)

    assert heard.form(1)["capture_method"] == "manual"
    assert heard.result.outcome is Outcome.APPROVED


@pytest.mark.parametrize(
    ("money", "amount", "currency"),
    [(Money(50000, "JPY"), "500", "jpy"), (Money(125, "KWD"), "1250", "kwd"), (Money(1, "USD"), "1", "usd")],
)
def test_amounts_are_sent_in_minor_units(money: Money, amount: str, currency: str) -> None:
    shown = {"amount": int(amount), "currency": currency}
    attempt = replace(DEBIT, money=money)

    heard = sell(METHOD, intent("requires_confirmation", **shown), intent("succeeded", **shown), attempt=attempt)

    assert (heard.form(1)["amount"], heard.form(1)["currency"]) == (amount, currency)
    assert heard.result.outcome is Outcome.APPROVED


def test_the_billing_address_goes_to_the_issuer() -> None:
    echo = {
        "customer.email": "jane@example.com",
        "billing.street1": "Main Street",
        "billing.houseNumber1": "1",
        "billing.city": "Wien",
        "billing.postcode": "1010",
        "billing.country": "AT",
    }

    form = sell(METHOD, CREATED, PAID, order=replace(ORDER, echo=echo)).form(0)

    assert {name: value for name, value in form.items() if name.startswith("billing_details")} == {
        "billing_details[name]": "Jane Jones",
        "billing_details[email]": "jane@example.com",
        "billing_details[address][line1]": "Main Street 1",
        "billing_details[address][city]": "Wien",
        "billing_details[address][postal_code]": "1010",
        "billing_details[address][country]": "AT",
    }


def test_the_merchants_reference_is_metadata_of_the_intent() -> None:
    order = replace(ORDER, echo={"merchantTransactionId": "order-0001"})

    form = sell(METHOD, CREATED, PAID, order=order).form(1)

    assert (form["metadata[merchantTransactionId]"], form["metadata[tollgate]"]) == ("order-0001", "8a01")


@pytest.mark.parametrize(
    ("echo", "is_sent"),
    [({"shipping.city": "Wien", "shipping.customer.surname": "Jones"}, True), ({"shipping.city": "Wien"}, False)],
)
def test_an_address_for_shipping_is_sent_only_with_the_name_that_the_processor_requires(
    echo: dict[str, str], is_sent: bool
) -> None:
    form = sell(METHOD, CREATED, PAID, order=replace(ORDER, echo=echo)).form(1)

    assert ("shipping[address][city]" in form) is is_sent


def test_a_mail_order_is_marked_as_one() -> None:
    order = replace(ORDER, echo={"transactionCategory": "MO"})

    assert sell(METHOD, CREATED, PAID, order=order).form(1)["payment_method_options[card][moto]"] == "true"


def test_the_merchants_own_repeat_names_the_first_payment_and_has_no_shopper() -> None:
    standing = StandingInstruction(source="MIT", mode="REPEATED", initial_transaction_id="MCC123")

    heard = sell(METHOD, CREATED, PAID, order=replace(ORDER, details=Details(standing_instruction=standing)))

    place = "payment_method_options[card][mit_exemption][network_transaction_id]"
    assert heard.form(1)[place] == "MCC123"
    assert heard.form(2)["off_session"] == "true"


def test_the_first_payment_of_a_series_says_that_more_follow() -> None:
    standing = StandingInstruction(source="CIT", mode="INITIAL")

    heard = sell(METHOD, CREATED, PAID, order=replace(ORDER, details=Details(standing_instruction=standing)))

    assert heard.form(1)["setup_future_usage"] == "off_session"
    assert "off_session" not in heard.form(2)


def test_the_proof_of_an_authentication_goes_with_the_intent() -> None:
    proof = Authentication(eci="05", verification_id="AAAB", ds_transaction_id="ds-1", version="2.2.0")

    form = sell(METHOD, CREATED, PAID, order=replace(ORDER, details=Details(authentication=proof))).form(1)

    place = "payment_method_options[card][three_d_secure]"
    assert form[f"{place}[cryptogram]"] == "AAAB"
    assert form[f"{place}[electronic_commerce_indicator]"] == "05"
    assert form[f"{place}[transaction_id]"] == "ds-1"
    assert form[f"{place}[version]"] == "2.2.0"


@pytest.mark.parametrize(
    "order",
    [
        replace(ORDER, payment_type="CD"),
        replace(ORDER, account=TokenAccount(number=Secret("42"), type="X")),
        replace(ORDER, account=replace(CARD, number_type="DPAN", cryptogram=Secret("A"))),
        replace(ORDER, account=replace(CARD, cryptogram=Secret("A"))),
    ],
    ids=["payout", "token", "device number", "cryptogram"],
)
def test_what_the_protocol_does_not_have_is_declined_and_never_sent(order: Order) -> None:
    heard = sell(order=order)

    assert heard.requests == []
    assert heard.result.outcome is Outcome.DECLINED


def test_forwarded_texts_fit_the_api_and_replace_nothing_of_the_payment() -> None:
    forwarded = {
        "statement_descriptor_suffix": 'Jones\' "Lamps" and <Bulbs> of Vienna',
        "payment_method_options[card][moto]": "EC",
        "billing_details[phone]": "+431",
        "amount": "1",
        "description": "",
    }

    terms = messages.make_terms(forwarded)
    form = dict(messages.make_intent(DEBIT, "pm_1", is_hold=False, terms=terms))

    assert terms["statement_descriptor_suffix"] == "Jones Lamps and Bulbs "
    assert set(terms) == {"statement_descriptor_suffix", "amount"}
    assert form["amount"] == "9210"
