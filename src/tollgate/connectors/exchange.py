"""The requests and replies between connectors and wires: a connector yields requests and returns a verdict. No I/O."""

from collections.abc import Generator, Mapping
from functools import cache
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from tollgate.catalog.connectors import ConnectorName
from tollgate.payments.accounts import Instrument
from tollgate.payments.merchants import TlsTerms
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment, Verdict
from tollgate.values import Secret

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

_Result = TypeVar("_Result")
_Message = TypeVar("_Message", bound=msgspec.Struct)

encode_message = msgspec.json.Encoder().encode
_get_decoder = cache(msgspec.json.Decoder)


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One message to an acquirer. The key belongs to the attempt, so that a repeat is recognised as one."""

    path: str
    body: bytes
    key: str
    simulator_overrides: Mapping[str, str] = {}
    """The overrides for a simulator; a wire to a real system drops them."""
    method: str = "POST"
    content_type: str = JSON
    headers: Mapping[str, str] = {}
    """Headers of the protocol, such as a credential; they are never noted."""


class WireReply(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    content_type: str = JSON


Conversation: TypeAlias = Generator[WireRequest, WireReply, _Result]
Exchange: TypeAlias = Conversation[Verdict]
"""A conversation about money: whatever is answered, it ends in exactly one verdict."""


def make_request(
    path: str, message: msgspec.Struct, key: str, simulator_overrides: Mapping[str, str] = {}
) -> WireRequest:
    return WireRequest(path=path, body=encode_message(message), key=key, simulator_overrides=simulator_overrides)


def read_message(body: bytes | str, kind: type[_Message]) -> _Message | None:
    """Returns None for what is no such message."""
    try:
        message: _Message = _get_decoder(kind).decode(body)
        return message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def read_reply(reply: WireReply, kind: type[_Message]) -> _Message | None:
    """Returns None for what is no answer of the protocol: the other side may have acted and failed while answering."""
    return None if reply.status >= 500 else read_message(reply.body, kind)


class AcquirerAccount(msgspec.Struct, frozen=True, kw_only=True):
    """The terms under which a channel reaches an acquirer, and by which the acquirer knows it."""

    id: str
    connector: ConnectorName
    merchant_name: str
    merchant_number: str = ""
    acquirer_number: str = ""
    terminal_id: str = ""
    category: str = ""
    country: str = ""
    secrets: Mapping[str, Secret] = {}
    tls: TlsTerms = TlsTerms()


class Original(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier payment that the acquirer has, or may have, as later messages need it."""

    payment: Payment
    first: Payment
    """The first payment of its chain, which may be the same."""
    account: Instrument | None = None
    """The account that was charged, without a CVV; None if the connector needs none, or if it has been wiped."""


class Connector(Protocol):
    """A protocol that moves money: a module with these functions, or an object made for an acquirer account.

    The id of an attempt is the key of its message. A connector may take keywords that its protocol has no use for as
    `**_: object`.
    """

    def charge(self, order: Order, attempt: Payment, approved_code: str, *, back_url: str = "") -> Exchange:
        """Authorizes, debits or credits. A provider's page sends the shopper to `back_url`."""

    def follow_up(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        original: Original,
        is_final: bool = False,
        simulator_overrides: Mapping[str, str] = {},
    ) -> Exchange:
        """Captures, refunds, reverses or rebills an earlier transaction."""

    def repeat(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        original: Original,
        is_final: bool = False,
        was_accepted: bool = False,
    ) -> Exchange:
        """Finishes a follow-up that stayed silent: asks for it, and sends it again where it was never seen."""

    def reverse(self, original: Original) -> Exchange:
        """Undoes a charge whose outcome is unknown."""

    def inquire(self, original: Original, approved_code: str, /) -> Exchange:
        """Asks for the outcome of a charge."""
