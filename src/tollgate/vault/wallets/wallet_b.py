"""walletB: tokens of protocol ECv2, signed by an intermediate key that a root signed, encrypted to the recipient.

Older protocols are refused.
"""

from hmac import compare_digest
from typing import Literal

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import load_der_public_key

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, WalletPublic
from tollgate.values import Instant
from tollgate.vault.wallets.contents import WalletTokenError, make_opened
from tollgate.vault.wallets.keys import UnsealedKey

_PROTOCOL, _SENDER = "ECv2", "Google"
_CARD = "CARD"
_SIGNATURES_MAX = 8
_KEY_BYTES = 32
_MILLISECOND: Instant = 1000


class _Intermediate(msgspec.Struct, frozen=True, rename="camel"):
    signed_key: str
    signatures: list[bytes]


class _Token(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: str
    signature: bytes
    intermediate_signing_key: _Intermediate
    signed_message: str


class _SignedKey(msgspec.Struct, frozen=True, rename="camel"):
    key_value: bytes
    key_expiration: str


class _SignedMessage(msgspec.Struct, frozen=True, rename="camel"):
    encrypted_message: bytes
    ephemeral_public_key: bytes
    tag: bytes


class _Card(msgspec.Struct, frozen=True, rename="camel"):
    pan: str
    expiration_month: int
    expiration_year: int
    auth_method: Literal["PAN_ONLY", "CRYPTOGRAM_3DS"]
    cryptogram: str | None = None
    eci_indicator: str | None = None


class _Contents(msgspec.Struct, frozen=True, rename="camel"):
    message_expiration: str
    message_id: str
    payment_method: str
    payment_method_details: _Card
    gateway_merchant_id: str | None = None


_read_token = msgspec.json.Decoder(_Token).decode
_read_key = msgspec.json.Decoder(_SignedKey).decode
_read_message = msgspec.json.Decoder(_SignedMessage).decode
_read_contents = msgspec.json.Decoder(_Contents).decode


def open_with(text: str, key: UnsealedKey, now: Instant) -> OpenedWallet:
    token = _read_token(text)
    if token.protocol_version != _PROTOCOL:
        raise ValueError("another protocol")
    signer = _check_intermediate(token.intermediate_signing_key, key.public, now)
    _verify(signer, token.signature, _SENDER, key.public.recipient, _PROTOCOL, token.signed_message)
    contents = _read_contents(_decrypt(_read_message(token.signed_message), key.get_curve_key()))
    if key.public.gateway_merchant not in (None, contents.gateway_merchant_id) or contents.payment_method != _CARD:
        raise ValueError("made for another merchant, or no card")
    opened = _make_opened(contents)
    _check_expiration(_read_milliseconds(contents.message_expiration), now)
    return opened


def _check_intermediate(intermediate: _Intermediate, public: WalletPublic, now: Instant) -> ec.EllipticCurvePublicKey:
    """Returns the key that signed the message; raises unless a root has signed that key."""
    roots = [each.key for each in public.signing_keys if each.expires_at is None or each.expires_at > now]
    pairs = [(root, signature) for root in roots for signature in intermediate.signatures[:_SIGNATURES_MAX]]
    if not any(_is_signed(_load_key(root), signature, intermediate.signed_key) for root, signature in pairs):
        raise ValueError("no root signed the signing key")
    signed_key = _read_key(intermediate.signed_key)
    if _read_milliseconds(signed_key.key_expiration) <= now:
        raise ValueError("the signing key has expired")
    return _load_key(signed_key.key_value)


def _is_signed(root: ec.EllipticCurvePublicKey, signature: bytes, signed_key: str) -> bool:
    try:
        _verify(root, signature, _SENDER, _PROTOCOL, signed_key)
    except InvalidSignature:
        return False
    return True


def _verify(key: ec.EllipticCurvePublicKey, signature: bytes, *parts: str) -> None:
    """Every signed part is preceded by its length, so that text cannot be shifted between parts."""
    encoded = [part.encode() for part in parts]
    signed = b"".join(len(part).to_bytes(4, "little") + part for part in encoded)
    key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))


def _decrypt(message: _SignedMessage, recipient: ec.EllipticCurvePrivateKey) -> bytes:
    sender = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), message.ephemeral_public_key)
    shared = recipient.exchange(ec.ECDH(), sender)
    derivation = HKDF(hashes.SHA256(), 2 * _KEY_BYTES, salt=bytes(_KEY_BYTES), info=_SENDER.encode())
    keys = derivation.derive(message.ephemeral_public_key + shared)
    mac = HMAC(keys[_KEY_BYTES:], hashes.SHA256())
    mac.update(message.encrypted_message)
    if not compare_digest(mac.finalize(), message.tag):
        raise ValueError("the message was changed, or encrypted to another key")
    opening = Cipher(algorithms.AES(keys[:_KEY_BYTES]), modes.CTR(bytes(16))).decryptor()
    return opening.update(message.encrypted_message) + opening.finalize()


def _make_opened(contents: _Contents) -> OpenedWallet:
    card = contents.payment_method_details
    is_device = card.auth_method == "CRYPTOGRAM_3DS"
    if is_device and not card.cryptogram:
        raise ValueError("a device's card number without its cryptogram")
    return make_opened(
        Wallet.B,
        number=card.pan,
        expiry=(f"{card.expiration_month:02d}", str(card.expiration_year)),
        unique=contents.message_id,
        number_type="DPAN" if is_device else "PAN",
        cryptogram=card.cryptogram if is_device else None,
        eci=card.eci_indicator if is_device else None,
    )


def _check_expiration(expires_at: Instant, now: Instant) -> None:
    if expires_at <= now:
        raise WalletTokenError(is_expired=True)
    if expires_at > now + LIMITS.wallet_use_lifetime:
        # The record of its use is deleted before it expires, and then it could be used again.
        raise ValueError("the token expires too late")


def _load_key(source: bytes) -> ec.EllipticCurvePublicKey:
    key = load_der_public_key(source)
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise ValueError("a signing key of another type")
    return key


def _read_milliseconds(text: str) -> Instant:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError("not an instant")
    return int(text) * _MILLISECOND
