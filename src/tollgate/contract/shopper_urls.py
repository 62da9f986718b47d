"""The addresses that a shopper is sent to, and the shopper tokens in them. The pages are made elsewhere."""

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from tollgate.catalog.payment_types import AUTHENTICATION
from tollgate.payments.checkout import Checkout, CheckoutKind
from tollgate.payments.payment import Payment
from tollgate.values import CheckoutId, MerchantId, PaymentId, Secret

_ID_BYTES = 16
_KEY_BYTES = 32
_LENGTHS = frozenset({2 * _ID_BYTES, 2 * _ID_BYTES + _KEY_BYTES})
_LENGTH_MAX = 128

METHOD_FIELD = "threeDSMethodData"


class ShopperToken(msgspec.Struct, frozen=True):
    """The merchant, the payment, and the key that only the holder of the address has, or an empty one."""

    merchant_id: MerchantId
    payment_id: PaymentId
    key: Secret


def write_shopper_token(merchant_id: str, payment_id: str, key: bytes = b"") -> str:
    """Writes a token for a path. It is a secret where it has a key, so it belongs in no log."""
    return _encode(bytes.fromhex(merchant_id) + bytes.fromhex(payment_id) + key)


def read_shopper_token(text: str) -> ShopperToken | None:
    """Returns None for a text that is no shopper token."""
    if len(text) > _LENGTH_MAX:
        return None
    try:
        raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    if len(raw) not in _LENGTHS:
        return None
    merchant, payment, key = raw[:_ID_BYTES], raw[_ID_BYTES : 2 * _ID_BYTES], raw[2 * _ID_BYTES :]
    return ShopperToken(MerchantId(merchant.hex()), PaymentId(payment.hex()), Secret(_encode(key)))


def make_return_url(address: str, payment: Payment) -> str:
    """Makes the shop's address, with the payment or the checkout that it was made for."""
    if payment.checkout_id is not None:
        path = make_checkout_path(payment.checkout_id, CheckoutKind.PAYMENT)
        return _make_return_url(address, payment.checkout_id, path)
    return _make_return_url(address, payment.id, get_resource_path(payment))


def make_checkout_return_url(address: str, checkout: Checkout) -> str:
    return _make_return_url(address, checkout.id, make_checkout_path(checkout.id, checkout.kind))


def make_registration_url(address: str, registration_id: str) -> str:
    return _make_return_url(address, registration_id, f"/v1/registrations/{registration_id}")


def make_checkout_path(checkout_id: CheckoutId, kind: CheckoutKind) -> str:
    return f"/v1/checkouts/{checkout_id}/{kind}"


def _make_return_url(address: str, subject_id: str, path: str) -> str:
    """Adds the parameters and keeps the rest of the address."""
    base, hash_sign, fragment = address.partition("#")
    joint = "&" if "?" in base else "?"
    if base.endswith(("?", "&")):
        joint = ""
    return f"{base}{joint}id={subject_id}&resourcePath={quote(path, safe='')}{hash_sign}{fragment}"


def get_resource_path(payment: Payment) -> str:
    noun = "threeDSecure" if payment.payment_type == AUTHENTICATION else "payments"
    return f"/v1/{noun}/{payment.id}"


def render_handover(url: str, method_url: str | None = None, method_data: str = "") -> Mapping[str, str]:
    """Renders the address to which the shopper goes next."""
    fields = {"redirect.url": url, "redirect.method": "GET"}
    if method_url is None:
        return fields
    first = "redirect.preconditions[0]"
    return fields | {
        f"{first}.origin": "iframe#hidden",
        f"{first}.waitUntil": "iframe#onload",
        f"{first}.description": "Post these parameters into a hidden frame, then follow the redirect",
        f"{first}.method": "POST",
        f"{first}.url": method_url,
        f"{first}.parameters[0].name": METHOD_FIELD,
        f"{first}.parameters[0].value": method_data,
    }


def find_handover(details: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """Finds the address and the fields that a provider wants posted."""
    url = details.get("redirect.url")
    if url is None:
        return None
    names = [name for name in details if name.startswith("redirect.parameters[") and name.endswith(".name")]
    return url, {details[name]: details[name.removesuffix("name") + "value"] for name in names}


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
