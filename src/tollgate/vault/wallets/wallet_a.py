"""walletA: tokens of version EC_v1, signed by a chain of certificates and encrypted to the merchant's EC key.

Version RSA_v1 is refused.
"""

import hashlib
from hmac import compare_digest

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
from cryptography.hazmat.primitives.serialization import load_der_public_key

from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet
from tollgate.values import Instant
from tollgate.vault.wallets import keys, signed_message
from tollgate.vault.wallets.contents import check_age, make_opened

_VERSION = "EC_v1"
_CRYPTOGRAM_TYPE = "3DSecure"
_ALGORITHM, _SENDER = b"\x0did-aes256-GCM", b"Apple"
_ZERO_NONCE = bytes(16)
_HASH_BYTES = 32


class _Header(msgspec.Struct, frozen=True, rename="camel"):
    ephemeral_public_key: bytes
    public_key_hash: bytes
    transaction_id: str
    application_data: str = ""


class _Token(msgspec.Struct, frozen=True):
    version: str
    data: bytes
    signature: bytes
    header: _Header


class _Cryptogram(msgspec.Struct, frozen=True, rename="camel"):
    online_payment_cryptogram: str
    eci_indicator: str | None = None


class _Contents(msgspec.Struct, frozen=True, rename="camel"):
    application_primary_account_number: str
    application_expiration_date: str
    payment_data_type: str
    payment_data: _Cryptogram
    cardholder_name: str | None = None


_read_token = msgspec.json.Decoder(_Token).decode
_read_contents = msgspec.json.Decoder(_Contents).decode


def open_with(text: str, key: keys.UnsealedKey, now: Instant) -> OpenedWallet:
    token = _read_token(text)
    if token.version != _VERSION or not compare_digest(token.header.public_key_hash, key.public.key_hash):
        raise ValueError("made for another key")
    signed = _join_signed(token)
    signed_at = signed_message.check_signed_message(token.signature, signed, key.public.roots, now)
    contents = _read_contents(_decrypt(token, key))
    sent = contents.payment_data
    if contents.payment_data_type != _CRYPTOGRAM_TYPE or not sent.online_payment_cryptogram:
        raise ValueError("no cryptogram, or one of another type")
    expiry = contents.application_expiration_date
    opened = make_opened(
        Wallet.A,
        number=contents.application_primary_account_number,
        expiry=(expiry[2:4], "20" + expiry[:2]),
        # Not the transaction id: the signed parts have no separators, so bytes could be moved between neighbours.
        unique=hashlib.sha256(signed).hexdigest(),
        cryptogram=sent.online_payment_cryptogram,
        eci=sent.eci_indicator,
        holder=contents.cardholder_name,
    )
    check_age(signed_at, now)
    return opened


def _join_signed(token: _Token) -> bytes:
    header = token.header
    transaction, application = bytes.fromhex(header.transaction_id), bytes.fromhex(header.application_data)
    if len(transaction) != _HASH_BYTES or len(application) not in (0, _HASH_BYTES):
        raise ValueError("ids of another length")
    return header.ephemeral_public_key + token.data + transaction + application


def _decrypt(token: _Token, key: keys.UnsealedKey) -> bytes:
    sender = load_der_public_key(token.header.ephemeral_public_key)
    if not isinstance(sender, ec.EllipticCurvePublicKey):
        raise ValueError("the sender's key is of another type")
    shared = key.get_curve_key().exchange(ec.ECDH(), sender)
    parties = _ALGORITHM + _SENDER + hashlib.sha256(key.public.recipient.encode()).digest()
    content_key = X963KDF(hashes.SHA256(), 32, parties).derive(shared)
    return AESGCM(content_key).decrypt(_ZERO_NONCE, token.data, None)
