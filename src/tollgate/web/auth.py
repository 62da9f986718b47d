"""Who is calling: the credential first, then the entity it speaks for.

Another merchant's entity is as unreachable as none.
"""

from __future__ import annotations

import re

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.contract.fields import Identity, check_entity_id, read_identity
from tollgate.operations.app import MerchantCache
from tollgate.payments.merchants import Channel, Credential
from tollgate.values import Forbidden, Refusal, Secret, Unauthenticated, WrongToken
from tollgate.vault.tokens import make_token
from tollgate.web.request import Access, Caller, Request

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9+/=._~-]{1,1024})")


def find_credential(header: bytes | None, merchants: MerchantCache) -> Credential | None:
    """Finds the credential by the Authorization header alone, before the body is read; None without a header."""
    if header is None:
        return None
    match = _BEARER.fullmatch(header.decode("latin-1").strip())
    if match is None:
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED))
    return _look_up(Secret(match[1]), merchants)


def recognise(request: Request, access: Access, merchants: MerchantCache, credential: Credential | None) -> Caller:
    """Identifies the caller by the header's credential; without one, by the login that the parameters name."""
    identity = read_identity(request.pairs)
    named = merchants.find_channel(identity.entity_id or "")
    has_header = credential is not None
    credential = credential or _find_login(identity, merchants)
    if identity.entity_id is None and access is Access.TOKEN and has_header:
        return Caller(merchant_id=credential.merchant_id, channel=None, ndc=request.trace)
    channel = _check_entity(identity, named, credential)
    if identity.user_id is not None and not has_header and not channel.is_lenient:
        # Only now, so that a stranger's login learns nothing about which channels are lenient.
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED), "this channel takes an Authorization header only")
    return Caller(merchant_id=credential.merchant_id, channel=channel, ndc=f"{channel.id}_{request.trace}")


def _find_login(identity: Identity, merchants: MerchantCache) -> Credential:
    if not identity.user_id or not identity.password:
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED))
    return _look_up(make_token(identity.user_id, identity.password), merchants)


def _look_up(token: Secret, merchants: MerchantCache) -> Credential:
    credential = merchants.find_credential(token)
    if credential is None:
        raise WrongToken(get_result(codes.UNAUTHENTICATED))
    return credential


def _check_entity(identity: Identity, channel: Channel | None, credential: Credential) -> Channel:
    check_entity_id(identity)
    if channel is None or channel.merchant_id != credential.merchant_id:
        raise Forbidden(get_result(codes.UNKNOWN_CHANNEL), "the entity is not one this token reaches")
    if channel.is_closed:
        raise Refusal(get_result(codes.CHANNEL_CLOSED))
    return channel
