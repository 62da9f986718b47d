"""No field that is stored in clear has an account number: the request's own is refused, another card's at least masked.

Accounts that were stored before are compared elsewhere.
"""

from __future__ import annotations

import pytest

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import Secrecy
from tollgate.catalog.results import get_result
from tollgate.catalog.rule import Situation
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.contract.account_numbers import check_key, list_exposing
from tollgate.contract.answers import Envelope, answer_refusal
from tollgate.contract.fields import read_fields
from tollgate.values import Fault, InvalidParameters
from unit.catalog.rule_fields import ALONE, CARD, DEBIT, MONEY, SCHEDULE, SEPA
from unit.catalog.test_card_numbers import NUMBER, SPELLINGS

STRICT, LENIENT = Situation("create_payment", None), Situation("create_payment", None, is_lenient=True)
OWN = {**DEBIT, "card.number": NUMBER}
OTHER = "5425233430109903"
OTHERS = {name: text for name, text in SPELLINGS.items() if name != "written line breaks"}


def faults_of(fields: dict[str, str], situation: Situation = STRICT) -> list[Fault]:
    with pytest.raises(InvalidParameters) as refused:
        read_fields(list(fields.items()), situation)
    return list(refused.value.faults)


@pytest.mark.parametrize("situation", [STRICT, LENIENT], ids=["strict", "lenient"])
@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_the_requests_own_number_is_refused_in_any_spelling(text: str, situation: Situation) -> None:
    faults = faults_of({**OWN, "customParameters[note]": text, "merchantTransactionId": text}, situation)

    assert {fault.name for fault in faults} == {"customParameters[note]", "merchantTransactionId"}
    assert NUMBER not in repr(faults)


@pytest.mark.parametrize("situation", [STRICT, LENIENT], ids=["strict", "lenient"])
def test_a_key_that_is_the_number_is_refused_and_named_without_its_digits(situation: Situation) -> None:
    faults = faults_of({**OWN, f"customParameters[{NUMBER}]": "x", f"risk.parameters[a_{NUMBER}]": "x"}, situation)

    assert [fault.name for fault in faults] == ["customParameters[]", "risk.parameters[a_]"]


@pytest.mark.parametrize(
    "text", ["DE89 3704 0044 0532 0130 00", "370400440532013000", "de-89/37040044.0532013000", "3704_0044_0532_0130_00"]
)
def test_an_iban_is_refused_with_and_without_its_country(text: str) -> None:
    assert [fault.name for fault in faults_of({**SEPA, "customer.companyName": text, "customer.ip": "x"})][:1] == [
        "customer.companyName"
    ]


def test_the_number_of_a_bank_account_is_refused_too() -> None:
    sent = {**SEPA, "bankAccount.number": "0532013000", "bankAccount.bankCode": "37040044"}

    faults = faults_of(
        {name: text for name, text in sent.items() if name != "bankAccount.iban"} | {"descriptor": "0532-013-000"}
    )

    assert [fault.name for fault in faults] == ["descriptor"]


@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("create_payment", OWN),
        ("follow_up", {**MONEY, "paymentType": "CP"}),
        ("create_checkout", {**MONEY, "paymentType": "DB"}),
        ("update_checkout", MONEY),
        ("submit_checkout", {"paymentBrand": "VISA", **CARD}),
        ("create_registration", {"paymentBrand": "VISA", **CARD}),
        ("authenticate", ALONE),
        ("schedule", SCHEDULE),
    ],
)
def test_every_operation_compares_with_a_number_that_comes_along(operation: str, fields: dict[str, str]) -> None:
    sent = {**fields, "card.number": NUMBER, "merchantMemo": f"paid with {SPELLINGS['fullwidth']}"}

    assert operation in OPERATIONS_WITH_RULES
    assert [fault.name for fault in faults_of(sent, Situation(operation, "SD"))] == ["merchantMemo"]


def test_sealed_fields_may_have_the_number() -> None:
    fields = read_fields(list({**OWN, "sender.accountNumber": NUMBER}.items()), STRICT)

    assert NUMBER not in repr(fields.echo)


def test_no_other_fault_shows_the_number() -> None:
    faults = faults_of({**SEPA, "merchantTransactionId": "370400440532013000" * 20, "amount": "x"})

    assert [(fault.name, fault.value) for fault in faults] == [("amount", "x"), ("merchantTransactionId", "***")]


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_the_number_of_another_card_is_refused_by_a_strict_channel(text: str) -> None:
    assert [fault.name for fault in faults_of({**DEBIT, "card.holder": text})] == ["card.holder"]


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_the_number_of_another_card_is_masked_by_a_lenient_channel(text: str) -> None:
    fields = read_fields(list({**DEBIT, "card.holder": text}.items()), LENIENT)

    assert "X" in fields.values["card.holder"]
    assert fields.echo["card.holder"] == fields.values["card.holder"]
    assert "0343" not in fields.echo["card.holder"]


def test_a_key_that_is_another_cards_number_is_refused_or_masked() -> None:
    sent = {**DEBIT, f"customParameters[{OTHER}]": "x"}

    assert [fault.name for fault in faults_of(sent)] == ["customParameters[]"]
    echo = read_fields(list(sent.items()), LENIENT).echo
    assert echo["customParameters[XXXXXXXXXXXXXXXX]"] == "x"
    assert OTHER not in repr(echo)


def test_what_was_masked_can_be_read_again() -> None:
    sent = {**DEBIT, "transactionCategory": OTHER, "billing.postcode": OTHER, f"merchant.data[{OTHER}]": OTHER}

    masked = read_fields(list(sent.items()), LENIENT)

    assert read_fields(list(masked.values.items()), LENIENT) == masked


CODES = [
    "merchantTransactionId",
    "merchantInvoiceId",
    "bankAccount.holder",
    "customer.phone",
    "customer.workPhone",
    "shipping.phone",
    "cart.items[0].sku",
    "cart.items[0].merchantItemId",
    "cart.items[0].productCode",
    "cart.items[0].partNumber",
    "cart.items[0].shippingTrackingNumber",
    "shipping.trackingNumber",
    "airline.passengers[0].ticketNumber",
    "standingInstruction.initialTransactionId",
    "customer.identificationDocId",
]


@pytest.mark.parametrize("situation", [STRICT, LENIENT], ids=["strict", "lenient"])
@pytest.mark.parametrize("name", CODES)
def test_numbers_of_another_kind_are_not_taken_for_a_cards(name: str, situation: Situation) -> None:
    person = {"customer.givenName": "Jane", "customer.surname": "Jones", "customer.identificationDocType": "IDCARD"}
    sent = {**DEBIT, **person, "customer.identificationDocId": "12345678", name: OTHER}

    assert read_fields(list(sent.items()), situation).echo[name] == OTHER


def test_the_rows_of_codes_are_marked() -> None:
    assert PARAMETERS["tokenAccount.expiryYear"].holds_code
    assert PARAMETERS["cart.items[n].commodityCode"].holds_code
    assert not PARAMETERS["merchantMemo"].holds_code
    assert not PARAMETERS["customParameters[key]"].holds_code
    assert not PARAMETERS["card.holder"].holds_code


def test_every_free_text_that_is_stored_in_clear_is_looked_at_unless_its_row_says_otherwise() -> None:
    for row in PARAMETERS.values():
        shape = row.shape
        is_text = shape.pattern is None and not shape.choices and shape.length_max >= len(OTHER)
        if not is_text or row.holds_code or row.secrecy not in (Secrecy.OPEN, Secrecy.MASK):
            continue
        name = row.name.replace("[n]", "[0]").replace("[key]", "[abc]")
        assert name in {fault.name for fault in faults_of({**DEBIT, name: OTHER})}, name


def test_an_idempotency_key_is_compared_with_the_requests_own_number_alone() -> None:
    with pytest.raises(InvalidParameters) as refused:
        check_key("order_4539-1488-0343-6467", OWN)
    check_key(OTHER, OWN)

    assert [fault.name for fault in refused.value.faults] == ["Idempotency-Key"]


def test_only_texts_with_enough_digits_are_worth_opening_an_account_for() -> None:
    echo = {"amount": "92.00", "merchantTransactionId": "order 12345678", "customParameters[k12345678]": "x"}

    assert list(list_exposing(echo, "key-1")) == ["merchantTransactionId", "customParameters[k12345678]"]
    assert list(list_exposing({}, "12345678")) == ["Idempotency-Key"]


def test_a_refusal_never_repeats_a_card_number_that_was_sent_as_a_name_or_a_value() -> None:
    faults = [Fault(f"customParameters[{NUMBER}]", "key must match"), Fault("amount", "must match", NUMBER)]
    refusal = InvalidParameters(get_result("200.300.404"), faults)

    body = answer_refusal(refusal, Envelope("build"), "ndc", 0).body.decode()

    assert NUMBER not in body
    assert body.count("*" * 16) == 2
