"""Sealing: account data and other secrets are encrypted for one owner and opened again.

Where sealed bytes are stored is not known here.
"""

from collections.abc import Mapping
from datetime import date
from functools import lru_cache

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.catalog.card_numbers import contains_number, normalize_iban, normalize_number
from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.values import MerchantId, RandomBytes, Secret, system_random_bytes
from tollgate.vault.keyring import KEY_BYTES, KEY_ID_BYTES, Keyring

_VERSION = b"\x01"
_NONCE_BYTES = 12
_TAG_BYTES = 16
_WRAP_AT = 1 + KEY_ID_BYTES
_WRAPPED_AT = _WRAP_AT + _NONCE_BYTES
_BODY_AT = _WRAPPED_AT + KEY_BYTES + _TAG_BYTES
_SEALED_MIN = _BODY_AT + _NONCE_BYTES + _TAG_BYTES


class EnvelopeError(Exception):
    """The envelope does not open: changed, moved to another row, or sealed under a key this ring does not hold."""


@lru_cache(maxsize=16)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key)


def seal(plain: bytes, *, owner: str, keyring: Keyring, random_bytes: RandomBytes = system_random_bytes) -> bytes:
    dice = random_bytes(KEY_BYTES + 2 * _NONCE_BYTES)
    record_key, wrap_nonce, nonce = dice[:KEY_BYTES], dice[KEY_BYTES:-_NONCE_BYTES], dice[-_NONCE_BYTES:]
    key_id = keyring.active_id
    wrapped = _cipher(keyring.get_key(key_id)).encrypt(wrap_nonce, record_key, _wrap_ties(key_id, owner))
    body = AESGCM(record_key).encrypt(nonce, plain, _body_ties(owner))
    return b"".join((_VERSION, key_id, wrap_nonce, wrapped, nonce, body))


def open_sealed(sealed: bytes, *, owner: str, keyring: Keyring) -> bytes:
    record_key = _unwrap(sealed, owner, keyring)
    nonce_end = _BODY_AT + _NONCE_BYTES
    try:
        return AESGCM(record_key).decrypt(sealed[_BODY_AT:nonce_end], sealed[nonce_end:], _body_ties(owner))
    except InvalidTag:
        raise EnvelopeError("the sealed record does not open") from None


def rewrap(sealed: bytes, *, owner: str, keyring: Keyring, random_bytes: RandomBytes = system_random_bytes) -> bytes:
    """Returns the same record under the active key; its content is not decrypted."""
    record_key = _unwrap(sealed, owner, keyring)
    key_id, wrap_nonce = keyring.active_id, random_bytes(_NONCE_BYTES)
    wrapped = _cipher(keyring.get_key(key_id)).encrypt(wrap_nonce, record_key, _wrap_ties(key_id, owner))
    return b"".join((_VERSION, key_id, wrap_nonce, wrapped, sealed[_BODY_AT:]))


def sealing_key_id(sealed: bytes) -> bytes:
    return sealed[1:_WRAP_AT]


def sealed_prefix(key_id: bytes) -> bytes:
    """Returns the first bytes of everything sealed under a key, by which a store finds what to rewrap."""
    return _VERSION + key_id


def _unwrap(sealed: bytes, owner: str, keyring: Keyring) -> bytes:
    if len(sealed) < _SEALED_MIN or sealed[:1] != _VERSION:
        raise EnvelopeError("not a sealed record of a known version") from None
    key_id = sealing_key_id(sealed)
    wrap_key = keyring.get_key(key_id)
    try:
        return _cipher(wrap_key).decrypt(
            sealed[_WRAP_AT:_WRAPPED_AT], sealed[_WRAPPED_AT:_BODY_AT], _wrap_ties(key_id, owner)
        )
    except InvalidTag:
        raise EnvelopeError("the sealed record belongs to another owner or was changed") from None


def _wrap_ties(key_id: bytes, owner: str) -> bytes:
    return b"tollgate wrap 1\0" + key_id + b"\0" + owner.encode()


def _body_ties(owner: str) -> bytes:
    return b"tollgate body 1\0" + owner.encode()


_TAG = "of"


class _SealedCard(msgspec.Struct, frozen=True, omit_defaults=True, tag="card", tag_field=_TAG):
    number: str
    expiry_month: str
    expiry_year: str
    holder: str | None = None
    number_type: str = "PAN"
    wallet: str | None = None
    hidden: dict[str, str] = {}
    """Parameters that go to the acquirer and may not be stored in clear; only payments by card have any."""


class _SealedToken(msgspec.Struct, frozen=True, omit_defaults=True, tag="token", tag_field=_TAG):
    number: str
    type: str
    expiry_month: str | None = None
    expiry_year: str | None = None


class _SealedBank(msgspec.Struct, frozen=True, omit_defaults=True, tag="bank", tag_field=_TAG):
    holder: str | None
    iban: str | None
    number: str | None
    bic: str | None
    bank_code: str | None
    bank_name: str | None
    country: str | None
    mandate_id: str | None
    signed_on: date | None


class _SealedVirtual(msgspec.Struct, frozen=True, omit_defaults=True, tag="virtual", tag_field=_TAG):
    account_id: str | None


_Sealed = _SealedCard | _SealedToken | _SealedBank | _SealedVirtual

_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[_Sealed] = msgspec.json.Decoder(_Sealed)


def make_owner(noun: str, merchant_id: MerchantId, subject_id: str) -> str:
    """Names the one row in which a sealed record may be opened."""
    return f"{noun}/{merchant_id}/{subject_id}"


def seal_account(account: Instrument, hidden: Mapping[str, str] = {}, *, owner: str, keyring: Keyring) -> bytes:
    return seal(_encode(_flatten(account, hidden)), owner=owner, keyring=keyring)


def open_account(sealed: bytes, *, owner: str, keyring: Keyring) -> Instrument:
    return _restore(_open(sealed, owner, keyring))


def open_hidden(sealed: bytes, *, owner: str, keyring: Keyring) -> Mapping[str, str]:
    """Returns the parameters that were sealed beside an account."""
    plain = _open(sealed, owner, keyring)
    return plain.hidden if isinstance(plain, _SealedCard) else {}


def _open(sealed: bytes, owner: str, keyring: Keyring) -> _Sealed:
    return _decoder.decode(open_sealed(sealed, owner=owner, keyring=keyring))


def _flatten(account: Instrument, hidden: Mapping[str, str]) -> _Sealed:
    match account:
        case CardAccount():
            return _SealedCard(
                account.number.reveal(),
                account.expiry_month,
                account.expiry_year,
                account.holder,
                account.number_type,
                account.wallet,
                dict(hidden),
            )
        case TokenAccount():
            return _SealedToken(account.number.reveal(), account.type, account.expiry_month, account.expiry_year)
        case BankAccount():
            return _SealedBank(
                account.holder,
                _reveal(account.iban),
                _reveal(account.number),
                account.bic,
                account.bank_code,
                account.bank_name,
                account.country,
                account.mandate_id,
                account.signed_on,
            )
        case VirtualAccount():
            return _SealedVirtual(account.account_id)


def _restore(plain: _Sealed) -> Instrument:
    members = msgspec.structs.asdict(plain)
    members.pop("hidden", None)
    secrets = {name: Secret(members[name]) for name in ("number", "iban") if members.get(name)}
    kind = {_SealedToken: TokenAccount, _SealedBank: BankAccount, _SealedVirtual: VirtualAccount}
    restored: Instrument = kind.get(type(plain), CardAccount)(**members | secrets)
    return restored


def _reveal(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def list_exposed(account: Instrument, texts: Mapping[str, str]) -> list[str]:
    """Lists the names of the texts that contain the number of the account, however it is spelled."""
    numbers = list(filter(None, _list_numbers(account)))
    return [name for name, text in texts.items() if any(contains_number(text, number) for number in numbers)]


def _list_numbers(account: Instrument) -> list[str]:
    """Returns the numbers of an account as they are looked for; one that is too short is empty."""
    match account:
        case CardAccount() | TokenAccount():
            return [normalize_number(account.number.reveal())]
        case BankAccount(iban=iban, number=number):
            known = [] if iban is None else [normalize_iban(iban.reveal())]
            return known if number is None else [*known, normalize_number(number.reveal())]
        case _:
            return []
