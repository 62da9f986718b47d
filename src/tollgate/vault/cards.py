"""Cards in and out of the vault. The CVV is not a member of what is sealed, so it cannot be stored by mistake."""

from __future__ import annotations

import msgspec

from tollgate.payments import CardAccount
from tollgate.values import MerchantId, Secret
from tollgate.vault.envelope import open_sealed, seal
from tollgate.vault.keyring import Keyring


class _SealedCard(msgspec.Struct, frozen=True, omit_defaults=True):
    number: str
    expiry_month: str
    expiry_year: str
    holder: str | None = None
    number_type: str = "PAN"


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_SealedCard).decode


def name_owner(noun: str, merchant_id: MerchantId, subject_id: str) -> str:
    """The one row in which a sealed record may be opened."""
    return f"{noun}/{merchant_id}/{subject_id}"


def seal_card(card: CardAccount, *, owner: str, keyring: Keyring) -> bytes:
    plain = _SealedCard(card.number.reveal(), card.expiry_month, card.expiry_year, card.holder, card.number_type)
    return seal(_encode(plain), owner=owner, keyring=keyring)


def open_card(sealed: bytes, *, owner: str, keyring: Keyring) -> CardAccount:
    plain = _decode(open_sealed(sealed, owner=owner, keyring=keyring))
    return CardAccount(
        number=Secret(plain.number),
        expiry_month=plain.expiry_month,
        expiry_year=plain.expiry_year,
        holder=plain.holder,
        number_type=plain.number_type,
    )
