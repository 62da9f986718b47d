"""What is paid with, in and out of the vault. What may be used once only (a CVV, a cryptogram) is not a member of what
is sealed, so it cannot be stored by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.payments import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.values import MerchantId, Secret
from tollgate.vault.envelope import open_sealed, seal
from tollgate.vault.keyring import Keyring

_TAG = "of"


class _SealedCard(msgspec.Struct, frozen=True, omit_defaults=True, tag="card", tag_field=_TAG):
    number: str
    expiry_month: str
    expiry_year: str
    holder: str | None = None
    number_type: str = "PAN"
    wallet: str | None = None
    hidden: dict[str, str] = {}
    """What travels with the money and may not be stored in clear; only who pays by card may come back for it."""


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


class _UntaggedCard(msgspec.Struct, frozen=True):
    """As cards were sealed before anything else was."""

    number: str
    expiry_month: str
    expiry_year: str
    holder: str | None = None
    number_type: str = "PAN"


_Sealed = _SealedCard | _SealedToken | _SealedBank | _SealedVirtual

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Sealed).decode
_decode_untagged = msgspec.json.Decoder(_UntaggedCard).decode
_TAGGED = b'{"' + _TAG.encode() + b'":'


def name_owner(noun: str, merchant_id: MerchantId, subject_id: str) -> str:
    """The one row in which a sealed record may be opened."""
    return f"{noun}/{merchant_id}/{subject_id}"


def seal_account(account: Instrument, hidden: Mapping[str, str] = {}, *, owner: str, keyring: Keyring) -> bytes:
    return seal(_encode(_flatten(account, hidden)), owner=owner, keyring=keyring)


def open_account(sealed: bytes, *, owner: str, keyring: Keyring) -> Instrument:
    return _restore(_open(sealed, owner, keyring))


def open_hidden(sealed: bytes, *, owner: str, keyring: Keyring) -> Mapping[str, str]:
    """What was sealed beside an account."""
    plain = _open(sealed, owner, keyring)
    return plain.hidden if isinstance(plain, _SealedCard) else {}


def _open(sealed: bytes, owner: str, keyring: Keyring) -> _Sealed | _UntaggedCard:
    plain = open_sealed(sealed, owner=owner, keyring=keyring)
    return _decode(plain) if plain.startswith(_TAGGED) else _decode_untagged(plain)


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


def _restore(plain: _Sealed | _UntaggedCard) -> Instrument:
    members = msgspec.structs.asdict(plain)
    members.pop("hidden", None)
    secrets = {name: Secret(members[name]) for name in ("number", "iban") if members.get(name)}
    kind = {_SealedToken: TokenAccount, _SealedBank: BankAccount, _SealedVirtual: VirtualAccount}
    restored: Instrument = kind.get(type(plain), CardAccount)(**members | secrets)
    return restored


def _reveal(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()
