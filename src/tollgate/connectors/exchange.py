"""The interface of connectors: a generator that yields requests and returns what they came to.

No I/O here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from tollgate.payments.order import Order
from tollgate.payments.payment import Payment, Verdict

_Told = TypeVar("_Told")


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One message to an acquirer. The key belongs to the attempt, so that a repeat is recognised as one."""

    path: str
    body: bytes
    key: str
    simulator_overrides: Mapping[str, str] = {}
    """What a simulator is asked to do; a wire to a real system drops it."""


class WireReply(msgspec.Struct, frozen=True):
    status: int
    body: bytes


Conversation: TypeAlias = Generator[WireRequest, WireReply, _Told]
Exchange: TypeAlias = Conversation[Verdict]
"""A conversation about money: whatever is answered, it ends in exactly one verdict."""


class Connector(Protocol):
    """What every protocol that moves money can do; each is a module with these functions."""

    def charge(self, order: Order, key: str, approved_code: str, *, back_url: str = "") -> Exchange:
        """Begin: authorise, debit or credit. `back_url` is where a provider's page sends the shopper."""

    def follow_up(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        is_final: bool = False,
        simulator_overrides: Mapping[str, str] = {},
    ) -> Exchange:
        """Do something with an earlier transaction, such as capturing or refunding it."""

    def repeat(
        self, attempt: Payment, action: str, approved_code: str, *, is_final: bool = False, was_accepted: bool = False
    ) -> Exchange:
        """Finish a follow-up that stayed silent: ask for it, and send it again where it was never seen."""

    def reverse(self, key: str) -> Exchange:
        """Undo what `charge` began and nobody heard the end of."""

    def inquire(self, key: str, approved_code: str) -> Exchange:
        """Ask what became of what `charge` began."""
