"""What an order is paid from: an account sent along, opened out of a wallet's token, or stored before; and its brand.

Whether the brand can do what is asked for is judged with the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.catalog import BRANDS, AccountType, Brand, detect_brand, find_brand, get_result
from tollgate.contract.accounts import read_account, show_account
from tollgate.contract.fields import Fields
from tollgate.contract.objections import find_account_objection
from tollgate.contract.standing import is_by_merchant
from tollgate.contract.stored import check_brand, find_registration_objection, show_registered, take_registered
from tollgate.payments import CardSummary, Channel, Instrument, OpenedCard, RegisteredAccount
from tollgate.values import Fault, InvalidParameters, Refusal


class Source(msgspec.Struct, frozen=True, kw_only=True):
    brand: Brand
    account: Instrument | None
    """None where it could not be opened, and then there is an objection."""
    card_summary: CardSummary | None
    objection: str | None
    network: str | None
    echo: dict[str, str]


def take_source(
    fields: Fields,
    channel: Channel,
    *,
    today: date,
    opened: OpenedCard | str | None = None,
    stored: RegisteredAccount | None = None,
) -> Source:
    if stored is not None:
        return _take_stored(fields, channel, stored, today)
    brand = choose_brand(fields.values, channel.is_lenient, opened)
    account, card_summary, objection = _take_account(fields, brand, channel, today, opened)
    return Source(
        brand=brand,
        account=account,
        card_summary=card_summary,
        objection=objection,
        network=find_network(brand, fields.values, opened),
        echo=show_account(fields, account),
    )


def _take_stored(fields: Fields, channel: Channel, stored: RegisteredAccount, today: date) -> Source:
    brand = BRANDS[stored.registration.brand]
    check_brand(fields, brand, is_lenient=channel.is_lenient)
    account, card_summary = take_registered(fields, stored)
    network = find_network(brand, tell_number(card_summary), None)
    issuer = BRANDS[network] if network else brand
    needs_cvv = _needs_cvv(fields, channel)
    return Source(
        brand=brand,
        account=account,
        card_summary=card_summary,
        objection=find_registration_objection(fields, account, issuer, cvv_required=needs_cvv, today=today),
        network=network,
        echo=show_registered(fields, stored, account),
    )


def _take_account(
    fields: Fields,
    brand: Brand,
    channel: Channel,
    today: date,
    opened: OpenedCard | str | None,
) -> tuple[Instrument | None, CardSummary | None, str | None]:
    if isinstance(opened, str):
        return None, None, opened
    if opened is not None:
        expiry = int(opened.account.expiry_year), int(opened.account.expiry_month)
        return opened.account, opened.card_summary, "100.100.303" if expiry < (today.year, today.month) else None
    account, card_summary = read_account(fields, brand)
    needs_cvv = _needs_cvv(fields, channel)
    objection = find_account_objection(fields.values, account, brand, cvv_required=needs_cvv, today=today)
    return account, card_summary, objection


def _needs_cvv(fields: Fields, channel: Channel) -> bool:
    """Nobody may keep a security code, so a merchant that charges alone has none."""
    return channel.requires_cvv and not is_by_merchant(fields.values)


def tell_number(card_summary: CardSummary | None) -> Mapping[str, str]:
    """As much of a number as shows its network."""
    return {"card.number": card_summary.bin} if card_summary else {}


def choose_brand(values: Mapping[str, str], is_lenient: bool, opened: OpenedCard | str | None = None) -> Brand:
    """The brand named, or else the one its number shows; a lenient channel's odd spelling is settled by the number."""
    code = values.get("paymentBrand")
    brand = find_brand(code, lenient=is_lenient) if code else None
    if brand is None and (code is None or is_lenient):
        brand = _detect(values, opened)
    if brand is None:
        message = "is not a brand of this gateway" if code else "cannot be told from the card number"
        raise InvalidParameters(get_result("200.300.404"), [Fault("paymentBrand", message, code)])
    if brand.account is AccountType.WALLET and not brand.wallet:
        raise Refusal(get_result("600.200.100"), f"{brand.code} is not available on this channel")
    return brand


def find_network(brand: Brand, values: Mapping[str, str], opened: OpenedCard | str | None) -> str | None:
    network = _detect(values, opened) if brand.account is AccountType.WALLET else None
    return network.code if network else None


def _detect(values: Mapping[str, str], opened: OpenedCard | str | None) -> Brand | None:
    if isinstance(opened, OpenedCard):
        return find_brand(opened.network) if opened.network else None
    return detect_brand(values.get("card.number") or values.get("tokenAccount.number") or "")
