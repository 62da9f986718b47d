"""Who is calling: the credential first, then the entity it speaks for.

Another merchant's entity is as unreachable as none.
"""

from __future__ import annotations

import re

import msgspec

from tollgate.catalog import get_result
from tollgate.contract import Pairs
from tollgate.payments import Channel, Credential
from tollgate.steps import Directory
from tollgate.values import Fault, Forbidden, InvalidParameters, Refusal, Secret, Unauthenticated
from tollgate.vault import make_token
from tollgate.web.request import Access, Caller, Request

_BEARER = re.compile(r"[Bb]earer +([A-Za-z0-9+/=._~-]{1,1024})")
_ENTITY_ID = re.compile("[a-f0-9]{32}")
_IDENTITY_NAMES = {
    "entityId": "entity_id",
    "authentication.entityId": "entity_id",
    "authentication.userId": "user_id",
    "authentication.password": "password",
}


class Identity(msgspec.Struct, frozen=True):
    """What a request says of its sender; a password is a secret from the first moment."""

    entity_id: str | None = None
    user_id: str | None = None
    password: Secret | None = None


def is_identity_name(name: str) -> bool:
    return name in _IDENTITY_NAMES


def recognise(request: Request, access: Access, directory: Directory) -> Caller:
    identity = read_identity(request.pairs)
    named = directory.find_channel(identity.entity_id or "")
    credential = _find_credential(request, identity, directory)
    if identity.entity_id is None and access is Access.TOKEN:
        return Caller(merchant_id=credential.merchant_id, channel=None, ndc=request.trace)
    channel = _check_entity(identity, named, credential)
    if identity.user_id is not None and request.header(b"authorization") is None and not channel.is_lenient:
        # Only now, so that a stranger's login learns nothing about which channels are lenient.
        raise Unauthenticated(get_result("800.900.300"), "this channel takes an Authorization header only")
    return Caller(merchant_id=credential.merchant_id, channel=channel, ndc=f"{channel.id}_{request.trace}")


def read_identity(pairs: Pairs) -> Identity:
    """Named once or not at all: two identities in one request would let two readers see two callers."""
    found: dict[str, str] = {}
    for name, value in pairs:
        member = _IDENTITY_NAMES.get(name)
        if member is None:
            continue
        if member in found:
            raise _faulty(name, "must not be repeated")
        found[member] = value
    password = found.get("password")
    # One public plugin glues a second query to the entity with another question mark.
    entity_id = found.get("entity_id", "").partition("?")[0]
    return Identity(entity_id or None, found.get("user_id") or None, Secret(password) if password else None)


def _find_credential(request: Request, identity: Identity, directory: Directory) -> Credential:
    header = request.header(b"authorization")
    if header is not None:
        match = _BEARER.fullmatch(header.strip())
        token = Secret(match[1]) if match else None
    elif identity.user_id and identity.password:
        token = make_token(identity.user_id, identity.password)
    else:
        token = None
    if token is None:
        raise Unauthenticated(get_result("800.900.300"))
    credential = directory.find_credential(token)
    if credential is None:
        raise Forbidden(get_result("800.900.300"))
    return credential


def _check_entity(identity: Identity, channel: Channel | None, credential: Credential) -> Channel:
    if identity.entity_id is None:
        raise _faulty("entityId", "may not be empty")
    if _ENTITY_ID.fullmatch(identity.entity_id) is None:
        raise _faulty("entityId", "must match ^[a-f0-9]{32}$")
    if channel is None or channel.merchant_id != credential.merchant_id:
        raise Forbidden(get_result("800.900.201"), "the entityId is not one this token reaches")
    if channel.is_closed:
        raise Refusal(get_result("500.100.203"))
    return channel


def _faulty(name: str, message: str) -> InvalidParameters:
    return InvalidParameters(get_result("200.300.404"), [Fault(name, message)])
