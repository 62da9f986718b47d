"""The words between a token requestor and a token vault: JSON over HTTP, one key per stored card. No decisions here.

What a vault answers is checked while it is read, because its numbers go on to acquirers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

import msgspec

from tollgate.connectors.acquiring import LongText, ShortText

PROVISIONS = "/v1/network-tokens"
CRYPTOGRAMS = "/v1/network-token-cryptograms"
INQUIRIES = "/v1/network-token-inquiries"
DELETIONS = "/v1/network-token-deletions"

NETWORKS: Mapping[str, str] = {
    "VISA": "visa",
    "VISADEBIT": "visa",
    "VISAELECTRON": "visa",
    "CARTEBLEUE": "visa",
    "MASTER": "mastercard",
    "MASTERDEBIT": "mastercard",
    "MAESTRO": "mastercard",
    "AMEX": "amex",
    "DISCOVER": "discover",
    "DINERS": "discover",
}
"""The brands whose cards can have a token, and the network that issues it."""

# The patterns are searched for, not matched, so each says where the text begins and where it ends.
TokenNumber = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{12,19}\Z")]
Expiry = Annotated[str, msgspec.Meta(pattern=r"\A20[0-9]{2}-(0[1-9]|1[0-2])\Z")]
LastDigits = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{4}\Z")]
Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9._-]{1,64}\Z")]
CryptogramText = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9+/]{25,31}={0,2}\Z", min_length=28, max_length=32)]

_Message = TypeVar("_Message", bound=msgspec.Struct)


class ProvisionMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    """Of the stored card: asked for twice, it is the same token."""
    network: str
    number: str
    expiry: str
    """yyyy-MM"""
    holder: str | None = None
    requestor: str = ""
    events_url: str = ""
    """Where the vault tells that something happened to the token; nobody else knows it."""


class KeyMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    requestor: str = ""


class CryptogramMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    payment: str
    """A cryptogram is good for one."""
    amount: int
    """In minor units."""
    currency: str
    requestor: str = ""


class CardReply(msgspec.Struct, frozen=True, kw_only=True):
    """The card behind a token, as its issuer has it now."""

    last_digits: LastDigits
    expiry: Expiry


class TokenReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: Name
    status: str
    """active, suspended, deleted, refused or unknown"""
    reason: ShortText = ""
    message: LongText = ""
    reference: Name | None = None
    number: TokenNumber | None = None
    expiry: Expiry | None = None
    card: CardReply | None = None


class CryptogramReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: Name
    status: str
    """issued or refused"""
    reason: ShortText = ""
    cryptogram: CryptogramText | None = None


class EventMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """That something happened. What it was is asked for, so nobody can make it up."""

    id: Name
    key: Name
    event: ShortText = ""


write_message = msgspec.json.Encoder().encode


def read_message(body: bytes, kind: type[_Message]) -> _Message | None:
    """None for what is no such message."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
