"""Checkouts and payment links: found, sealed, opened and signed. What may be done with one is decided by the flows."""

import base64
import io

import msgspec
import segno

from tollgate.contract.checkouts import make_session_refusal, read_prepared_money
from tollgate.contract.links import make_link_refusal
from tollgate.operations.app import App
from tollgate.operations.signing import trust
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState, PaymentLink
from tollgate.payments.merchants import Channel
from tollgate.store.checkouts import find_checkout
from tollgate.store.links import find_link
from tollgate.values import MerchantId, Money, find_link_node, find_node
from tollgate.vault import sealing

CHECKOUT_NOUN = "checkout"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode


async def find_any_checkout(app: App, checkout_id: str) -> Checkout | None:
    """Finds a checkout by its id alone, which is all that a shopper's browser has."""
    node = find_node(checkout_id)
    for merchant_id in () if node is None else sorted(app.merchants.list_merchants_of(node)):
        found = await find_checkout(app.database, merchant_id, checkout_id)
        if found is not None:
            return found
    return None


async def get_open_checkout(app: App, checkout_id: str) -> Checkout:
    """Returns a checkout that is neither spent nor expired, as a shopper may see it."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or checkout.is_over(app.clock.now()):
        raise make_session_refusal()
    return checkout


async def get_own_checkout(
    app: App, channel: Channel, checkout_id: str, kind: CheckoutKind | None, *, with_cancelled: bool = False
) -> Checkout:
    """Returns a checkout as its merchant may see it; another merchant's is unknown."""
    checkout = None
    if find_node(checkout_id) is not None:
        checkout = await find_checkout(app.database, channel.merchant_id, checkout_id)
    if checkout is None or kind not in (None, checkout.kind):
        raise make_session_refusal()
    is_shown = with_cancelled and checkout.state is CheckoutState.CANCELLED
    if checkout.expires_at <= app.clock.now() or (checkout.is_over(app.clock.now()) and not is_shown):
        raise make_session_refusal()
    if checkout.channel_id != channel.id:
        raise make_session_refusal(" (it was made with another entityId)")
    return checkout


def make_checkout_owner(merchant_id: MerchantId, checkout_id: str) -> str:
    return sealing.make_owner(CHECKOUT_NOUN, merchant_id, checkout_id)


def seal_prepared(app: App, merchant_id: MerchantId, checkout_id: str, prepared: dict[str, str]) -> bytes:
    """Seals what was prepared as a whole, so that nobody can read it or change the amount in the store."""
    owner = make_checkout_owner(merchant_id, checkout_id)
    return sealing.seal(_encode(prepared), owner=owner, keyring=app.keyring)


def open_prepared(app: App, checkout: Checkout) -> dict[str, str]:
    if checkout.sealed_fields is None:
        raise make_session_refusal()
    owner = make_checkout_owner(checkout.merchant_id, checkout.id)
    return _decode(sealing.open_sealed(checkout.sealed_fields, owner=owner, keyring=app.keyring))


def find_prepared_money(app: App, checkout: Checkout) -> Money | None:
    return read_prepared_money(open_prepared(app, checkout))


LINK_NOUN = "payment link"


async def find_any_link(app: App, link_id: str) -> PaymentLink | None:
    """Finds a link by its id alone, which is all that a shopper's browser has."""
    node = find_link_node(link_id)
    for merchant_id in () if node is None else sorted(app.merchants.list_merchants_of(node)):
        found = await find_link(app.database, merchant_id, link_id)
        if found is not None:
            return trust(app, found)
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
    return trust(app, link)


def make_link_owner(merchant_id: MerchantId, link_id: str) -> str:
    return sealing.make_owner(LINK_NOUN, merchant_id, link_id)


def seal_link(app: App, merchant_id: MerchantId, link_id: str, prepared: dict[str, str]) -> bytes:
    return sealing.seal(_encode(prepared), owner=make_link_owner(merchant_id, link_id), keyring=app.keyring)


def open_link_fields(app: App, link: PaymentLink) -> dict[str, str] | None:
    """Returns None where they were wiped, some time after the link's end."""
    if link.sealed_fields is None:
        return None
    owner = make_link_owner(link.merchant_id, link.id)
    return _decode(sealing.open_sealed(link.sealed_fields, owner=owner, keyring=app.keyring))


_SCALE = 8
"""The pixels of each square, for a sharp picture on a screen and in print."""


def draw_code(url: str) -> str:
    """Returns a PNG, in base64."""
    picture = io.BytesIO()
    segno.make(url, error="m", micro=False).save(picture, kind="png", scale=_SCALE)
    return base64.b64encode(picture.getvalue()).decode()
