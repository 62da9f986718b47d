"""Finding a payment link, and opening what its merchant prepared. What is done with it is told in the flows."""

from __future__ import annotations

from hmac import compare_digest

import msgspec

from tollgate.contract import make_link_refusal
from tollgate.operations.app import App
from tollgate.operations.sealing import TamperedRow, report_tampering
from tollgate.payments import Channel, PaymentLink
from tollgate.store import find_link
from tollgate.values import MerchantId, find_link_node
from tollgate.vault import Keyring, make_mac, name_owner, open_sealed, seal

LINK_NOUN = "payment link"
_PURPOSE = "link"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode


async def find_any_link(app: App, link_id: str) -> PaymentLink | None:
    """Finds a link by its id alone, which is all that a shopper's browser has."""
    node = find_link_node(link_id)
    for merchant_id in () if node is None else sorted(app.merchants.list_merchants_of(node)):
        found = await find_link(app.database, merchant_id, link_id)
        if found is not None:
            return _check_link(app, found)
    return None


async def get_own_link(app: App, channel: Channel, link_id: str) -> PaymentLink:
    """Returns a link as its merchant may see it. Another merchant's is as unknown as none."""
    link = None
    if find_link_node(link_id) is not None:
        link = await find_link(app.database, channel.merchant_id, link_id)
    if link is None:
        raise make_link_refusal()
    if link.channel_id != channel.id:
        raise make_link_refusal(" (it was made with another entityId)")
    return _check_link(app, link)


def sign_link(app: App, link: PaymentLink) -> PaymentLink:
    """Returns the link to be written; whoever changes it signs it anew."""
    return msgspec.structs.replace(link, mac=make_link_mac(link, app.keyring))


def make_link_mac(link: PaymentLink, keyring: Keyring) -> bytes:
    return make_mac(_PURPOSE, link.facts, keyring)


def _check_link(app: App, link: PaymentLink) -> PaymentLink:
    if compare_digest(link.mac, make_link_mac(link, app.keyring)):
        return link
    report_tampering("payment_link", link.id)
    raise TamperedRow("the seal of a payment link does not fit: run `tollgate verify`")


def name_link_owner(merchant_id: MerchantId, link_id: str) -> str:
    return name_owner(LINK_NOUN, merchant_id, link_id)


def seal_link(app: App, merchant_id: MerchantId, link_id: str, prepared: dict[str, str]) -> bytes:
    """Seals it as a whole, so that nobody reads it in the store, and nobody changes the amount there."""
    return seal(_encode(prepared), owner=name_link_owner(merchant_id, link_id), keyring=app.keyring)


def open_link_fields(app: App, link: PaymentLink) -> dict[str, str] | None:
    """Returns None where they were wiped, some time after the link's end."""
    if link.sealed_fields is None:
        return None
    owner = name_link_owner(link.merchant_id, link.id)
    return _decode(open_sealed(link.sealed_fields, owner=owner, keyring=app.keyring))
