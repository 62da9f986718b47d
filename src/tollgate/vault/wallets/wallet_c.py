"""walletC: payment data in a JWE, its key encrypted by RSA to the merchant. Other algorithms are refused."""

import base64
import hashlib
import warnings
from typing import Literal

import msgspec
from joserfc.errors import SecurityWarning
from joserfc.jwe import JWERegistry, decrypt_compact
from joserfc.jwk import RSAKey

from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet
from tollgate.values import Instant
from tollgate.vault.wallets.contents import check_age, make_opened
from tollgate.vault.wallets.keys import UnsealedKey

_REGISTRY = JWERegistry(algorithms=["RSA-OAEP", "RSA1_5", "A128GCM"], strict_check_header=False)
_MILLISECOND: Instant = 1000
_UTC_DIGITS_MAX = 15


class _Header(msgspec.Struct, frozen=True):
    """The library reads the header again; members that would lead it elsewhere are refused first."""

    alg: Literal["RSA-OAEP", "RSA1_5"]
    enc: Literal["A128GCM"]
    zip: msgspec.UnsetType = msgspec.UNSET
    crit: msgspec.UnsetType = msgspec.UNSET


class _Envelope(msgspec.Struct, frozen=True):
    data: str


class _Wrapped(msgspec.Struct, frozen=True):
    envelope: _Envelope = msgspec.field(name="3DS")


class _Contents(msgspec.Struct, frozen=True):
    utc: int | str
    cryptogram: str
    number: str = msgspec.field(name="tokenPAN")
    expiry: str = msgspec.field(name="tokenPanExpiration")
    eci_indicator: str | None = None
    cardholder_name: str | None = None


_read_header = msgspec.json.Decoder(_Header).decode
_read_wrapped = msgspec.json.Decoder(_Wrapped).decode
_read_contents = msgspec.json.Decoder(_Contents).decode


def open_with(text: str, key: UnsealedKey, now: Instant) -> OpenedWallet:
    compact = _read_wrapped(text).envelope.data if text.lstrip().startswith("{") else text
    contents = _read_contents(_decrypt(compact, key))
    if not contents.cryptogram:
        raise ValueError("a device's card number without its cryptogram")
    opened = make_opened(
        Wallet.C,
        number=contents.number,
        expiry=(contents.expiry[:2], "20" + contents.expiry[2:]),
        # A cryptogram is made for one payment. The time is left out, or wrapping it again would make a new token.
        unique=hashlib.sha256(msgspec.json.encode((contents.number, contents.cryptogram))).hexdigest(),
        cryptogram=contents.cryptogram,
        eci=contents.eci_indicator,
        holder=contents.cardholder_name,
    )
    utc = str(contents.utc)
    if not (utc.isascii() and utc.isdigit() and len(utc) <= _UTC_DIGITS_MAX):
        raise ValueError("not an instant")
    check_age(int(utc) * _MILLISECOND, now)
    return opened


def _decrypt(compact: str, key: UnsealedKey) -> bytes:
    """Decrypts the payment data; a wrong padding fails like a wrong tag.

    Decryption by RSA1_5 never fails: for a wrong padding OpenSSL returns bytes made up from the key and the message,
    and the library replaces a content key of the wrong length by a random one. Either way the tag does not fit.
    """
    head, *rest = compact.split(".")
    _read_header(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    if len(rest) != 4:
        raise ValueError("not a compact JWE")
    private = key.get_rsa_key()
    with warnings.catch_warnings():
        # The library warns of RSA1_5, which is what the wallet's devices send.
        warnings.simplefilter("ignore", SecurityWarning)
        plain = decrypt_compact(compact, RSAKey(private, private), registry=_REGISTRY).plaintext
    if plain is None:
        raise ValueError("nothing was encrypted")
    return plain
