"""The words of the card protocol: minor units that are exact or not written, and nothing of what stays with us."""

from __future__ import annotations

import msgspec
import pytest

from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.payment_types import INITIAL_PAYMENT_TYPES
from tollgate.connectors.acquiring import (
    CHARGE_TYPES,
    FOLLOW_UP_TYPES,
    FollowUpMessage,
    KeyMessage,
    make_follow_up,
    to_minor_units,
)
from tollgate.connectors.card import ChargeMessage, make_charge
from tollgate.connectors.exchange import encode_message
from tollgate.payments.order import ProcessingCode
from tollgate.values import Money
from unit.connectors.samples import CAPTURE, ORDER


@pytest.mark.parametrize(
    ("money", "units"),
    [(Money(9210, "EUR"), 9210), (Money(50000, "JPY"), 500), (Money(125, "KWD"), 1250), (Money(0, "EUR"), 0)],
)
def test_hundredths_become_minor_units(money: Money, units: int) -> None:
    assert to_minor_units(money) == units


def test_a_fraction_that_a_currency_lacks_is_not_rounded() -> None:
    with pytest.raises(ValueError, match="JPY"):
        to_minor_units(Money(150, "JPY"))


def test_every_currency_of_the_catalogue_can_be_written() -> None:
    for code, currency in CURRENCIES.items():
        assert to_minor_units(Money(100, code)) == 10**currency.exponent


def test_every_kind_a_payment_begins_with_has_a_word() -> None:
    assert set(CHARGE_TYPES) == set(INITIAL_PAYMENT_TYPES)


def test_a_charge_says_what_the_acquirer_needs() -> None:
    sent = msgspec.json.decode(encode_message(make_charge(ORDER, "8a01")))

    assert sent == {
        "key": "8a01",
        "type": "sale",
        "amount": 9210,
        "currency": "EUR",
        "brand": "VISA",
        "card": {"number": "4200000000000000", "expiry": "2034-05", "holder": "Jane Jones", "cvv": "731"},
        "statement": "Jones",
        "processing": "PURCHASE",
    }


def test_what_is_ours_alone_is_not_said() -> None:
    sent = encode_message(make_charge(ORDER, "8a01"))

    for own in (b"ours alone", b"forceResultCode", b"1234.5678.9012"):
        assert own not in sent


def test_details_have_their_places_and_their_amounts_are_minor_units() -> None:
    echo = {
        "forex.amount": "500.00",
        "forex.currency": "JPY",
        "sender.name": "Jane",
        "sender.birthDate": "1980-02-29",
        "cart.items[0].name": "Lamp",
        "cart.items[0].price": "1.25",
        "cart.items[0].currency": "KWD",
    }
    order = msgspec.structs.replace(ORDER, echo=echo, processing_code=ProcessingCode.FUNDING)

    sent = msgspec.json.decode(encode_message(make_charge(order, "8a01")))

    assert sent["processing"] == "FUNDING"
    assert sent["details"] == {
        "forex": {"amount": 500, "currency": "JPY"},
        "sender": {"name": "Jane", "birth_date": "1980-02-29"},
        "cart": [{"name": "Lamp", "price": {"amount": 1250, "currency": "KWD"}}],
    }
    assert msgspec.json.decode(encode_message(make_charge(order, "8a01")), type=ChargeMessage).details is not None


@pytest.mark.parametrize("action", sorted(FOLLOW_UP_TYPES))
def test_a_follow_up_names_what_it_follows_and_nothing_of_ours(action: str) -> None:
    sent = msgspec.json.decode(encode_message(make_follow_up(CAPTURE, action, is_final=False)))

    assert sent == {"key": "8a02", "type": action, "original": "8a01", "amount": 4000, "currency": "EUR"}


def test_only_the_last_of_its_type_says_so() -> None:
    sent = encode_message(make_follow_up(CAPTURE, "capture", is_final=True))

    assert msgspec.json.decode(sent)["is_final"] is True
    assert msgspec.json.decode(sent, type=FollowUpMessage).is_final


def test_a_follow_up_has_minor_units_too() -> None:
    in_yen = msgspec.structs.replace(CAPTURE, money=Money(50000, "JPY"))

    assert make_follow_up(in_yen, "capture", is_final=False).amount == 500


def test_a_word_that_the_protocol_lacks_is_not_sent() -> None:
    with pytest.raises(ValueError, match="dance"):
        make_follow_up(CAPTURE, "dance", is_final=False)


def test_what_follows_nothing_is_no_follow_up() -> None:
    with pytest.raises(ValueError, match="8a02"):
        make_follow_up(msgspec.structs.replace(CAPTURE, referenced_id=None), "capture", is_final=False)


def test_a_question_blocks_unless_it_says_otherwise() -> None:
    assert msgspec.json.decode(b'{"key":"8a01"}', type=KeyMessage).blocks
    assert encode_message(KeyMessage("8a01")) == b'{"key":"8a01"}'
    assert encode_message(KeyMessage("8a01", blocks=False)) == b'{"key":"8a01","blocks":false}'
