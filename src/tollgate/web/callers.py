"""Identifies callers by address, credential and entity, and limits how often each may call.

What a caller may do with a payment is not decided here.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.catalog.scopes import REFUND_TYPES, Scope
from tollgate.catalog.throttles import THROTTLES
from tollgate.contract.fields import Identity, check_entity_id, read_identity
from tollgate.operations.caches import MerchantCache
from tollgate.payments.merchants import Channel, Credential
from tollgate.values import Forbidden, Instant, Refusal, Secret, Unauthenticated, WrongToken
from tollgate.vault.tokens import make_token
from tollgate.web.parsing import Head
from tollgate.web.request import Access, Caller, Request

_ADDRESSES_KEPT = 1024
"""Shops call from the same few, and reading one costs more than routing the request."""
_OWN_BITS = 64
"""The owner of one IPv6 address has a whole network of them."""


@lru_cache(_ADDRESSES_KEPT)
def read_address(sent: str) -> str:
    """Returns the address in its usual spelling; empty for a local socket and for what is no address."""
    try:
        found = ip_address(sent)
    except ValueError:
        return ""
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Address(int(found)))
    return str(found)


def get_network(address: str) -> str:
    """Returns the network of an address that `read_address` returned; an empty address has none."""
    if ":" not in address:
        return address
    return str(ip_network(f"{address}/{_OWN_BITS}", strict=False))


_PEERS_KEPT = 1024


class Origin(msgspec.Struct, frozen=True):
    """The caller's address, empty where it has none, and how the request came."""

    address: str
    is_secure: bool
    is_through_proxy: bool = False


class Proxies:
    """The proxies that end TLS in front of this process, by their addresses and networks."""

    def __init__(self, text: str = "") -> None:
        self._networks = read_networks(text)
        # A process talks to the same few proxies, and comparing addresses costs more than routing a request.
        self.trusts = lru_cache(_PEERS_KEPT)(self._trusts)

    def get_request_origin(self, head: Head, peer: str, *, is_secure: bool) -> Origin:
        if not self._networks or not self.trusts(peer):
            return Origin(read_address(peer), is_secure)
        forwarded = head.headers.get(b"x-forwarded-proto", b"")
        # Where several proxies have written down a scheme, all of them must have seen https.
        is_secure = is_secure or {word.strip().lower() for word in forwarded.split(b",")} == {b"https"}
        return Origin(self._get_address(head, peer), is_secure, is_through_proxy=True)

    def _get_address(self, head: Head, peer: str) -> str:
        """Returns the last address that is no trusted proxy; the caller may have invented everything before it."""
        chain = head.headers.get(b"x-forwarded-for", b"").decode("latin-1")
        if not chain:
            return read_address(peer)
        address = ""
        for sent in reversed(chain.split(",")):
            address = read_address(sent.strip())
            if not address or not self.trusts(address):
                break
        return address

    def _trusts(self, peer: str) -> bool:
        found = read_address(peer)
        return bool(found) and any(ip_address(found) in network for network in self._networks)


def read_networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Reads a text such as `10.0.0.5, 10.1.0.0/16`; anything else is a ValueError."""
    return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())


UNREACHED = "the entity is not one this token reaches"
HEADER_ONLY = "this channel takes an Authorization header only"

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9+/=._~-]{1,1024})")


def find_credential(header: bytes | None, merchants: MerchantCache, now: Instant) -> Credential | None:
    """Finds the credential by the Authorization header alone, before the body is read; None without a header."""
    if header is None:
        return None
    match = _BEARER.fullmatch(header.decode("latin-1").strip())
    if match is None:
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED))
    return _look_up(Secret(match[1]), merchants, now)


def recognise(
    request: Request, access: Access, merchants: MerchantCache, credential: Credential | None, now: Instant
) -> Caller:
    """Identifies the caller by the header's credential; without one, by the login that the parameters name."""
    identity = read_identity(request.pairs)
    named = merchants.find_channel(identity.entity_id or "")
    has_header = credential is not None
    if credential is None:
        if not identity.user_id or not identity.password:
            raise Unauthenticated(get_result(codes.UNAUTHENTICATED))
        credential = _look_up(make_token(identity.user_id, identity.password), merchants, now)
    if identity.entity_id is None and access is Access.TOKEN and has_header:
        _check_scope(request, credential)
        return Caller(
            merchant_id=credential.merchant_id, channel=None, ndc=request.trace, channel_ids=credential.channel_ids
        )
    if named is None and identity.entity_id == credential.merchant_id:
        return _recognise_merchant(request, access, merchants, credential, has_header=has_header)
    channel = _check_entity(identity, named, credential)
    if identity.user_id is not None and not has_header and not channel.is_lenient:
        # Only now, so that a stranger's login learns nothing about which channels are lenient.
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED), HEADER_ONLY)
    _check_scope(request, credential)
    return Caller(
        merchant_id=credential.merchant_id,
        channel=channel,
        ndc=f"{channel.id}_{request.trace}",
        channel_ids=credential.channel_ids,
    )


def _recognise_merchant(
    request: Request, access: Access, merchants: MerchantCache, credential: Credential, *, has_header: bool
) -> Caller:
    """Returns a caller whose channel is still to be chosen, where the route needs one."""
    if not merchants.list_dispatch_rows(credential.merchant_id):
        raise Forbidden(get_result(codes.UNKNOWN_CHANNEL), "the merchant has no dispatch rows: name a channel")
    is_dispatched = access is Access.ENTITY
    if not has_header and not is_dispatched:
        raise Unauthenticated(get_result(codes.UNAUTHENTICATED), HEADER_ONLY)
    _check_scope(request, credential)
    return Caller(
        merchant_id=credential.merchant_id,
        channel=None,
        ndc=f"{credential.merchant_id}_{request.trace}",
        channel_ids=credential.channel_ids,
        is_dispatched=is_dispatched,
        is_by_login=not has_header,
    )


_NAMES_ONE = re.compile(r"referenceUuid|registrationId|registrations\[[0-9]{1,4}\]\.id")


def list_named(request: Request) -> list[str]:
    """Lists the ids of payments, registrations and schedules that a request names, in its path or by a parameter."""
    return [*request.names, *[value for name, value in request.pairs if _NAMES_ONE.fullmatch(name)]]


def _look_up(token: Secret, merchants: MerchantCache, now: Instant) -> Credential:
    credential = merchants.find_credential(token)
    if credential is None or credential.is_expired(now):
        raise WrongToken(get_result(codes.UNAUTHENTICATED))
    return credential


_PAYMENT_TYPE_NAME = re.compile(r"(?i)(?:.*\.)?(?:override)?paymentType(?:\[.*\])?", re.DOTALL)


def _check_scope(request: Request, credential: Credential) -> None:
    """Refuses a token whose scopes do not include what is asked for; most tokens have no scopes."""
    if not credential.scopes and not credential.channel_ids:
        return
    scope = THROTTLES[request.operation].scope
    if scope is None:
        raise Forbidden(get_result(codes.OUT_OF_SCOPE), "this needs an access token for all scopes and all channels")
    missing = [each for each in _list_needed(scope, request) if each not in credential.scopes]
    if credential.scopes and missing:
        raise Forbidden(get_result(codes.OUT_OF_SCOPE), f"this needs an access token with the scope {missing[0]}")


def _list_needed(scope: Scope, request: Request) -> list[Scope]:
    """Lists the scopes that a request needs; whether a payment gives money back depends on the types that it names."""
    if scope is not Scope.PAYMENTS:
        return [scope]
    types = [value.strip().upper() for name, value in request.pairs if _PAYMENT_TYPE_NAME.fullmatch(name) and value]
    needed = {Scope.REFUNDS if each in REFUND_TYPES else scope for each in types} or {scope}
    return sorted(needed)


def _check_entity(identity: Identity, channel: Channel | None, credential: Credential) -> Channel:
    check_entity_id(identity)
    if channel is None or channel.merchant_id != credential.merchant_id:
        raise Forbidden(get_result(codes.UNKNOWN_CHANNEL), UNREACHED)
    check_channel(channel, credential.channel_ids)
    return channel


def check_channel(channel: Channel, channel_ids: Collection[str]) -> None:
    """Refuses a channel of the merchant that the token does not reach, or that is closed."""
    if channel_ids and channel.id not in channel_ids:
        raise Forbidden(get_result(codes.UNKNOWN_CHANNEL), UNREACHED)
    if channel.is_closed:
        raise Refusal(get_result(codes.CHANNEL_CLOSED))
