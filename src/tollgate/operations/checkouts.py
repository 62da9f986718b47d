"""Finding a checkout, and opening what its merchant prepared. What is done with it is told in the flows."""

from __future__ import annotations

import msgspec

from tollgate.contract import make_session_refusal
from tollgate.operations.app import App
from tollgate.payments import Channel, Checkout, CheckoutKind, CheckoutState
from tollgate.store import find_checkout
from tollgate.values import MerchantId, find_node
from tollgate.vault import name_owner, open_sealed, seal

CHECKOUT_NOUN = "checkout"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode


async def find_any_checkout(app: App, checkout_id: str) -> Checkout | None:
    """By its id alone, which is all that a shopper's browser has."""
    node = find_node(checkout_id)
    for merchant_id in () if node is None else sorted(app.merchants.list_merchants_of(node)):
        found = await find_checkout(app.database, merchant_id, checkout_id)
        if found is not None:
            return found
    return None


async def get_open_checkout(app: App, checkout_id: str) -> Checkout:
    """As a shopper may see it: neither told to its merchant nor too old."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or checkout.is_over(app.clock.now()):
        raise make_session_refusal()
    return checkout


async def get_own_checkout(
    app: App, channel: Channel, checkout_id: str, kind: CheckoutKind | None, *, with_cancelled: bool = False
) -> Checkout:
    """As its merchant may see it. Another merchant's is as unknown as none."""
    checkout = None
    if find_node(checkout_id) is not None:
        checkout = await find_checkout(app.database, channel.merchant_id, checkout_id)
    if checkout is None or kind not in (None, checkout.kind) or _is_gone(app, checkout, with_cancelled):
        raise make_session_refusal()
    if checkout.channel_id != channel.id:
        raise make_session_refusal(" (it was made with another entityId)")
    return checkout


def _is_gone(app: App, checkout: Checkout, with_cancelled: bool) -> bool:
    if with_cancelled and checkout.state is CheckoutState.CANCELLED:
        return checkout.expires_at <= app.clock.now()
    return checkout.is_over(app.clock.now())


def name_checkout_owner(merchant_id: MerchantId, checkout_id: str) -> str:
    return name_owner(CHECKOUT_NOUN, merchant_id, checkout_id)


def seal_prepared(app: App, merchant_id: MerchantId, checkout_id: str, prepared: dict[str, str]) -> bytes:
    """As a whole, so that nobody reads it in the store, and nobody changes the amount there."""
    owner = name_checkout_owner(merchant_id, checkout_id)
    return seal(_encode(prepared), owner=owner, keyring=app.keyring)


def open_prepared(app: App, checkout: Checkout) -> dict[str, str]:
    if checkout.sealed_fields is None:
        raise make_session_refusal()
    owner = name_checkout_owner(checkout.merchant_id, checkout.id)
    return _decode(open_sealed(checkout.sealed_fields, owner=owner, keyring=app.keyring))
