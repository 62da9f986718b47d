"""Every message that is sent has the elements that hosts need, and can be built again from its payment alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.connectors.exchange import Original
from tollgate.connectors.iso8583 import codec, messages
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import TAGS, Tag
from tollgate.payments.accounts import TokenAccount
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance
from tollgate.payments.order import Authentication, Details
from tollgate.values import Money, Secret
from unit.connectors.iso8583_samples import (
    ACCOUNT,
    ACTIONS,
    CVV,
    FIRST,
    NUMBER,
    ORIGINAL,
    PA_ORDER,
    make_follow_up,
    make_payment,
    read_by_hand,
    read_tags_by_hand,
)
from unit.connectors.samples import CARD, ORDER

CHARGES = {"PA": "0100", "DB": "0200", "PA.CP": "0200", "CD": "0200"}


def make_all() -> list[Message]:
    """Makes every message about money."""
    charges = [
        messages.make_charge(ACCOUNT, msgspec.structs.replace(ORDER, payment_type=each), make_payment(each))
        for each in CHARGES
    ]
    follow_ups = [messages.make_follow_up(ACCOUNT, make_follow_up(word), word, ORIGINAL) for word in ACTIONS]
    made = [*charges, *follow_ups, messages.make_reversal_advice(ACCOUNT, ORIGINAL)]
    return [*made, *map(messages.make_repeat, made)]


@pytest.mark.parametrize("message", make_all(), ids=lambda message: message.mti)
def test_a_reading_by_hand_agrees_on_every_message(message: Message) -> None:
    mti, fields = read_by_hand(codec.encode(message))

    assert (mti, fields) == (message.mti, message.fields)
    assert read_tags_by_hand(fields[48]) == message.tags


def test_an_authorization_has_all_that_a_host_needs() -> None:
    mti, fields = read_by_hand(codec.encode(messages.make_charge(ACCOUNT, PA_ORDER, FIRST)))

    assert mti == "0100"
    assert fields == {
        2: NUMBER,
        3: "000000",
        4: "000000009210",
        7: "0921141321",
        11: messages.make_stan(FIRST.id),
        12: "141321",
        13: "0921",
        14: "3405",
        18: "5411",
        22: "812",
        25: "59",
        32: "400123",
        37: messages.make_reference(FIRST.id),
        41: "TERM01  ",
        42: "777000111      ",
        43: "Muller & Sohne                        DE",
        48: f"70032{FIRST.id}74003{CVV}",
        49: "978",
    }


@pytest.mark.parametrize(("payment_type", "mti"), CHARGES.items())
def test_the_payment_type_decides_the_message_type(payment_type: str, mti: str) -> None:
    order = msgspec.structs.replace(ORDER, payment_type=payment_type)
    message = messages.make_charge(ACCOUNT, order, make_payment(payment_type))

    assert message.mti == mti
    assert message.fields[3] == ("200000" if payment_type == "CD" else "000000")


@pytest.mark.parametrize(("currency", "hundredths", "amount", "numeric"), [
    ("EUR", 9210, "000000009210", "978"),
    ("JPY", 9200, "000000000092", "392"),
    ("KWD", 9210, "000000092100", "414"),
    ("EUR", 10**12 - 1, "9" * 12, "978"),
])  # fmt: skip
def test_amounts_are_minor_units(currency: str, hundredths: int, amount: str, numeric: str) -> None:
    payment = make_payment(money=Money(hundredths, currency))
    fields = messages.make_charge(ACCOUNT, PA_ORDER, payment).fields

    assert (fields[4], fields[49]) == (amount, numeric)


def test_an_amount_of_thirteen_digits_is_refused() -> None:
    with pytest.raises(messages.AmountTooLarge):
        messages.make_charge(ACCOUNT, PA_ORDER, make_payment(hundredths=10**12))


@pytest.mark.parametrize(
    ("category", "condition", "entry"),
    [("EC", "59", "812"), ("MO", "08", "012"), ("TO", "08", "012"), ("moto", "08", "012"), ("", "59", "812")],
)
def test_the_category_decides_condition_and_entry(category: str, condition: str, entry: str) -> None:
    payment = make_payment(echo={"transactionCategory": category} if category else {})
    fields = messages.make_charge(ACCOUNT, PA_ORDER, payment).fields

    assert (fields[25], fields[22]) == (condition, entry)


@pytest.mark.parametrize(("word", "code"), [("FUNDING", "100000"), ("PAYMENT", "260000"), ("PURCHASE", "000000")])
def test_a_capture_and_a_reversal_repeat_the_processing_code(word: str, code: str) -> None:
    first = msgspec.structs.replace(FIRST, echo={"transactionProcessingCode": word})
    original = Original(payment=first, first=first)

    assert messages.make_charge(ACCOUNT, PA_ORDER, first).fields[3] == code
    assert messages.make_follow_up(ACCOUNT, make_follow_up("capture"), "capture", original).fields[3] == code
    assert messages.make_reversal_advice(ACCOUNT, original).fields[3] == code


def test_the_trace_number_is_the_same_after_a_crash_and_never_zero() -> None:
    stans = {messages.make_stan(f"8a{number:030x}") for number in range(5_000)}

    assert messages.make_stan(FIRST.id) == messages.make_stan(FIRST.id)
    assert all(1 <= int(stan) <= 999_999 and len(stan) == 6 for stan in stans)
    assert len(stans) > 4_950


def test_references_of_payments_differ() -> None:
    references = {messages.make_reference(f"8a{number:030x}") for number in range(5_000)}

    assert len(references) == 5_000
    assert all(len(each) == 12 and each.isalnum() for each in references)


def charge(echo: Mapping[str, str], **members: Any) -> Message:
    order = msgspec.structs.replace(PA_ORDER, echo=echo, **members)
    return messages.make_charge(ACCOUNT, order, msgspec.structs.replace(FIRST, echo=echo))


def test_every_place_of_a_parameter_is_an_element_or_a_tag_of_the_table() -> None:
    places = {row.to[ConnectorName.ISO8583] for row in PARAMETERS.values() if ConnectorName.ISO8583 in row.to}
    tags = {place.partition("[")[0].removeprefix("48.") for place in places if place.startswith("48.")}

    assert {place for place in places if not place.startswith("48.")} <= {"18", "43.1", "43.2", "43.3"}
    assert tags == {tag for tag in TAGS if tag < Tag.KEY}


def test_proofs_and_standing_instructions_are_tags() -> None:
    card = msgspec.structs.replace(CARD, cryptogram=Secret("kept"), wallet="APPLEPAY", number_type="DPAN")
    proof = Authentication(eci="05", verification_id="AAAB", ds_transaction_id="d1", version="2.2.0")
    echo = {"standingInstruction.mode": "INITIAL", "standingInstruction.source": "CIT", "threeDSecure.eci": "07"}

    assert charge(echo, account=card, details=Details(authentication=proof)).tags == {
        Tag.KEY: FIRST.id,
        Tag.CVV2: CVV,
        Tag.CRYPTOGRAM: "kept",
        Tag.WALLET: "APPLEPAY",
        Tag.NUMBER_TYPE: "DPAN",
        Tag.ECI: "05",
        Tag.CAVV: "AAAB",
        Tag.DS_TRANSACTION: "d1",
        Tag.THREEDS_VERSION: "2.2.0",
        Tag.STORED_MODE: "INITIAL",
        Tag.STORED_SOURCE: "CIT",
    }


def test_a_card_on_file_has_an_entry_mode_of_its_own() -> None:
    message = charge({"standingInstruction.mode": "REPEATED", "standingInstruction.source": "MIT"})

    assert (message.fields[22], message.fields[25]) == ("102", "59")


def test_a_network_token_is_sent_with_its_cryptogram_and_without_an_expiry_if_it_has_none() -> None:
    token = TokenAccount(number=Secret("4900000000000001"), type="NETWORK", cryptogram=Secret("once"))
    message = messages.make_charge(ACCOUNT, msgspec.structs.replace(PA_ORDER, account=token), FIRST)

    assert message.fields[2] == "4900000000000001"
    assert 14 not in message.fields
    assert (message.tags[Tag.CRYPTOGRAM], message.tags[Tag.NUMBER_TYPE]) == ("once", "NETWORK")


def test_forwarded_parameters_stand_at_their_places() -> None:
    echo = {"merchant.mcc": "7995", "merchant.name": "Café", "merchant.city": "Malmö", "merchant.country": "SE"}
    echo |= {"merchantTransactionId": "order-1", "merchantMemo": "ours alone"}
    echo |= {"airline.passengers[0].ticketNumber": "T1", "airline.passengers[1].ticketNumber": "T2"}
    message = charge(echo)

    assert (message.fields[18], message.fields[43]) == ("7995", f"{'Cafe':25}{'Malmo':13}SE")
    assert (message.tags["01"], message.tags["61"]) == ("order-1", "T1/T2")
    assert "ours alone" not in message.fields[48]


def test_parameters_that_do_not_fit_are_left_out_and_neither_the_payment_nor_its_proof_is() -> None:
    echo = {
        **dict.fromkeys(("merchantTransactionId", "merchant.submerchantId", "merchant.payFacId"), "x" * 255),
        **dict.fromkeys(("merchant.marketplaceId", "airline.bookingRefNum"), "x" * 255),
        "threeDSecure.verificationId": "AAAB",
    }
    message = charge(echo)

    assert len(message.fields[48]) <= 999
    assert (message.tags[Tag.KEY], message.tags[Tag.CAVV], message.tags["01"]) == (FIRST.id, "AAAB", "x" * 255)
    assert "60" not in message.tags
    codec.encode(message)


def test_a_follow_up_repeats_what_acquirers_need_of_the_first_payment() -> None:
    first = msgspec.structs.replace(FIRST, echo={"lifecycleId": "life-1", "threeDSecure.verificationId": "AAAB"})
    attempt = make_follow_up("capture", echo={"merchantTransactionId": "capture-1"})
    tags = messages.make_follow_up(ACCOUNT, attempt, "capture", Original(payment=first, first=first)).tags

    assert (tags["01"], tags["02"]) == ("capture-1", "life-1")
    assert Tag.CAVV not in tags


def test_a_rebill_is_the_merchants_own_whatever_the_first_payment_was() -> None:
    first = msgspec.structs.replace(
        FIRST, echo={"standingInstruction.mode": "INITIAL", "standingInstruction.source": "CIT"}
    )
    original = Original(payment=first, first=first)
    tags = messages.make_follow_up(ACCOUNT, make_follow_up("rebill"), "rebill", original).tags

    assert (tags[Tag.STORED_MODE], tags[Tag.STORED_SOURCE]) == ("REPEATED", "MIT")


@pytest.mark.parametrize("word", ACTIONS)
def test_a_follow_up_names_its_original(word: str) -> None:
    message = messages.make_follow_up(ACCOUNT, make_follow_up(word, 4000), word, ORIGINAL)

    assert message.mti == ACTIONS[word][2]
    assert (message.fields[2], message.fields[14]) == (NUMBER, "3405")
    assert message.tags[Tag.ORIGINAL_KEY] == FIRST.id
    assert message.tags[Tag.ACTION] == word
    assert message.fields[37] == messages.make_reference(make_follow_up(word).id)
    if word == "rebill":
        assert 90 not in message.fields
        assert message.tags[Tag.STORED_REFERENCE] == "MCC0042"
        assert (message.tags[Tag.STORED_MODE], message.tags[Tag.STORED_SOURCE]) == ("REPEATED", "MIT")
    else:
        original = f"0100{messages.make_stan(FIRST.id)}0921141321{'400123':0>11}{'0' * 11}"
        assert (message.fields[90], message.fields[38], message.fields[63]) == (original, "AB1234", "MCC0042")


def test_a_refund_of_a_capture_names_the_capture() -> None:
    capture = make_follow_up("capture")
    original = Original(payment=capture, first=FIRST)
    message = messages.make_follow_up(ACCOUNT, make_follow_up("refund", number=3), "refund", original)

    assert message.fields[90].startswith(f"0220{messages.make_stan(capture.id)}")
    assert (message.fields[3], message.fields[38]) == ("200000", "AB1234")


def test_the_last_capture_says_so() -> None:
    capture = make_follow_up("capture")

    assert messages.make_follow_up(ACCOUNT, capture, "capture", ORIGINAL, is_final=True).tags[Tag.FINAL] == "Y"
    assert Tag.FINAL not in messages.make_follow_up(ACCOUNT, capture, "capture", ORIGINAL).tags


def test_a_reversal_in_part_says_what_remains() -> None:
    message = messages.make_follow_up(ACCOUNT, make_follow_up("reversal", 5210), "reversal", ORIGINAL)

    assert message.fields[4] == "000000009210"
    assert message.fields[95] == "000000004000" + "0" * 12 + "C00000000C00000000"


def test_a_reversal_of_all_has_no_replacement() -> None:
    raised = msgspec.structs.replace(FIRST, balance=Balance(added=1000))
    whole = Original(payment=raised, first=raised)

    assert 95 not in messages.make_follow_up(ACCOUNT, make_follow_up("reversal"), "reversal", ORIGINAL).fields
    fields = messages.make_follow_up(ACCOUNT, make_follow_up("reversal", 10210), "reversal", whole).fields
    assert (fields[4], 95 in fields) == ("000000010210", False)


def test_a_reversal_advice_has_its_own_trace_number_and_the_reference_of_its_payment() -> None:
    message = messages.make_reversal_advice(ACCOUNT, ORIGINAL)

    assert message.mti == "0420"
    assert message.fields[11] == messages.make_stan(f"{FIRST.id}-reversal") != messages.make_stan(FIRST.id)
    assert message.fields[37] == messages.make_reference(FIRST.id)
    assert message.fields[90].startswith(f"0100{messages.make_stan(FIRST.id)}0921141321")
    assert message.tags == {Tag.KEY: f"{FIRST.id}-reversal", Tag.ORIGINAL_KEY: FIRST.id}


@pytest.mark.parametrize(
    ("payment_type", "action", "mti"),
    [("PA", None, "0100"), ("DB", None, "0200"), ("CD", None, "0200"), ("PA", Action.INCREMENT, "0100")],
)
def test_a_reversal_advice_names_the_message_that_it_undoes(payment_type: str, action: Action, mti: str) -> None:
    payment = make_payment(payment_type, action=action)

    assert messages.make_reversal_advice(ACCOUNT, Original(payment=payment, first=FIRST)).fields[90][:4] == mti


def test_an_account_that_was_wiped_is_left_out() -> None:
    wiped = Original(payment=FIRST, first=FIRST)

    for message in (
        messages.make_reversal_advice(ACCOUNT, wiped),
        messages.make_follow_up(ACCOUNT, make_follow_up("refund"), "refund", wiped),
    ):
        assert message.fields.keys().isdisjoint({2, 14})
        codec.encode(message)


def test_a_repeat_differs_in_its_type_and_in_the_proofs_only() -> None:
    first = messages.make_charge(ACCOUNT, PA_ORDER, FIRST)
    repeat = messages.make_repeat(first)

    assert repeat.mti == "0101"
    assert {**repeat.fields, 48: ""} == {**first.fields, 48: ""}
    assert repeat.tags == {tag: text for tag, text in first.tags.items() if tag != Tag.CVV2}


def test_only_the_first_request_of_a_payment_has_a_cvv_or_a_cryptogram() -> None:
    proofs = {Tag.CVV2, Tag.CRYPTOGRAM, Tag.DTVC}
    card = msgspec.structs.replace(CARD, cryptogram=Secret("once"))
    charge = messages.make_charge(ACCOUNT, msgspec.structs.replace(PA_ORDER, account=card), FIRST)
    # An account that was stored wrongly has its CVV still.
    original = Original(payment=FIRST, first=FIRST, account=card)
    others = [
        messages.make_repeat(charge),
        messages.make_reversal_advice(ACCOUNT, original),
        *(messages.make_follow_up(ACCOUNT, make_follow_up(word), word, original) for word in ACTIONS),
    ]

    assert charge.tags.keys() >= {Tag.CVV2, Tag.CRYPTOGRAM}
    for message in (*others, *map(messages.make_repeat, others)):
        assert proofs.isdisjoint(message.tags)
        assert "once" not in codec.encode(message).decode("latin-1")


def test_a_category_of_the_first_payment_counts_for_its_follow_ups() -> None:
    first = msgspec.structs.replace(FIRST, echo={"transactionCategory": "MO"})
    original = Original(payment=first, first=first)

    assert messages.make_follow_up(ACCOUNT, make_follow_up("capture"), "capture", original).fields[25] == "08"
    assert messages.make_reversal_advice(ACCOUNT, original).fields[25] == "08"


@pytest.mark.parametrize("action", ACTIONS)
def test_the_number_behind_a_network_token_is_sent_only_to_charge_it_anew(action: str) -> None:
    """A host that was asked with a token does not know the card's own number, and must not learn it from a refund."""
    first = msgspec.structs.replace(FIRST, details={**FIRST.details, "NetworkTokenUsed": "true"})
    original = msgspec.structs.replace(ORIGINAL, payment=first, first=first)

    follow_up = messages.make_follow_up(ACCOUNT, make_follow_up(action), action, original)
    advice = messages.make_reversal_advice(ACCOUNT, original)

    assert (2 in follow_up.fields) is (action in ("rebill", "renewal"))
    assert not {2, 14} & advice.fields.keys()
