"""Checked fields to a typed order. What is asked for is understood here; whether it may happen is decided elsewhere."""

from __future__ import annotations

from datetime import date

from tollgate.catalog import Account, Brand, detect_brand, find_brand, get_result
from tollgate.contract.fields import Fields
from tollgate.contract.levers import read_levers
from tollgate.contract.objections import find_amount_objection, find_card_objection, find_fraction_objection
from tollgate.contract.structures import read_details
from tollgate.payments import CardAccount, Channel, Order, ProcessingCode, TestMode, list_amounts, make_card_face
from tollgate.values import Fault, InvalidParameters, Money, Refusal, Secret, read_hundredths

_DESCRIPTOR_MAX = 127
_CARD_NEEDS = frozenset({"card.number", "card.expiryMonth", "card.expiryYear"})


def read_order(fields: Fields, channel: Channel, *, today: date, short_id: str, is_live: bool) -> Order:
    values = fields.values
    kind, currency = values["paymentType"], values["currency"]
    money = Money(read_hundredths(values["amount"]), currency)
    number = values.get("card.number", "")
    brand = choose_brand(values.get("paymentBrand"), number, channel.is_lenient)
    card = _read_card(fields)
    expiry = int(card.expiry_year), int(card.expiry_month)
    details = read_details(fields, currency)
    objection = (
        find_amount_objection(kind, money)
        or find_fraction_objection(list_amounts(details))
        or find_card_objection(
            number, brand, expiry, values.get("card.cvv"), cvv_required=channel.requires_cvv, today=today
        )
    )
    descriptor = make_descriptor(values.get("descriptor"), short_id, channel)
    return Order(
        kind=kind,
        money=money,
        brand=brand.code,
        method=brand.method,
        account=card,
        face=make_card_face(number, card),
        statement=values.get("merchant.name") or descriptor,
        descriptor=descriptor,
        short_id=short_id,
        processing_code=ProcessingCode(values.get("transactionProcessingCode", ProcessingCode.PURCHASE)),
        test_mode=read_test_mode(values.get("testMode"), is_live) or (None if is_live else TestMode.INTERNAL),
        merchant_transaction_id=values.get("merchantTransactionId"),
        details=details,
        levers=read_levers(values) if "customParameters" in fields.groups and not is_live else {},
        objection=objection,
        echo=fields.echo,
    )


def choose_brand(code: str | None, number: str, is_lenient: bool) -> Brand:
    """The brand named, or else the one its number shows; a lenient channel's odd spelling is settled by the number."""
    brand = find_brand(code, lenient=is_lenient) if code else None
    if brand is None and (code is None or is_lenient):
        brand = detect_brand(number)
    if brand is None:
        message = "is not a brand of this gateway" if code else "cannot be told from the card number"
        raise InvalidParameters(get_result("200.300.404"), [Fault("paymentBrand", message, code)])
    if brand.account is not Account.CARD:
        raise Refusal(get_result("600.200.100"), f"{brand.code} is not available on this channel")
    return brand


def _read_card(fields: Fields) -> CardAccount:
    values = fields.values
    if not values.keys() >= _CARD_NEEDS:
        # The rules let other accounts stand in for a card; this channel is not set up for any of them.
        raise Refusal(get_result("600.200.201"), "send the card's number and expiry")
    cvv = values.get("card.cvv")
    return CardAccount(
        number=Secret(values["card.number"]),
        expiry_month=values["card.expiryMonth"].zfill(2),
        expiry_year=values["card.expiryYear"],
        holder=values.get("card.holder"),
        cvv=Secret(cvv) if cvv else None,
        number_type=values.get("card.numberType", "PAN"),
    )


def read_test_mode(text: str | None, is_live: bool) -> TestMode | None:
    """None where nothing was said."""
    if text is None:
        return None
    if is_live:
        raise Refusal(get_result("600.200.701"))
    return TestMode(text)


def make_descriptor(sent: str | None, short_id: str, channel: Channel) -> str:
    return sent or f"{short_id} {channel.name}"[:_DESCRIPTOR_MAX]
