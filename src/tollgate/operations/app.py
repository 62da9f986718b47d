"""What every story needs to hand: the store, the keys, the clock, chance, the wires.

Built once in wiring, passed as an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from tollgate.catalog import THROTTLES, Situation, Throttle
from tollgate.contract import Envelope
from tollgate.operations.merchants import MerchantCache
from tollgate.operations.ranges import CardRangeCache
from tollgate.payments import Channel, Retention, RetryTerms, Script, TestMode
from tollgate.store import Database
from tollgate.values import Clock, Instant, RandomBytes, system_random_bytes
from tollgate.vault import Keyring
from tollgate.wire import HttpNotifier, Notifier, Wire

NO_SCRIPT = Script("", "", b"")
"""Of a house without a door for shoppers, such as a command's."""


def leave_alone(wire: Wire) -> Wire:
    return wire


class App(msgspec.Struct, frozen=True, kw_only=True):
    database: Database
    merchants: MerchantCache
    keyring: Keyring
    clock: Clock
    envelope: Envelope
    is_live: bool
    acquirer_timeout_s: float
    completion_margin_s: float
    """How long after the acquirer's time is up somebody may still be writing down what it said."""
    authorization_lifetime: Instant
    """How long an authorisation may be captured."""
    retention: Retention = Retention()
    """How long stored accounts are kept."""
    retrying: RetryTerms = RetryTerms()
    """How often a payment of a schedule is tried."""
    find_wire: Callable[[str], Wire]
    """The wire to a configured address; one pool of connections for each."""
    notifier: Notifier = msgspec.field(default_factory=partial(HttpNotifier, is_live=True))
    """Carries word to shops."""
    simulator: Wire | None = None
    """Answers as an acquirer would; exists on a test host only."""
    ranges: CardRangeCache = msgspec.field(default_factory=CardRangeCache)
    """Which cards can be authenticated."""
    script: Script = NO_SCRIPT
    """What shops load to show the payment form."""
    status_reads: Throttle = THROTTLES["read_checkout"]
    """How often the status of a checkout may be asked for."""
    base_url: str = ""
    """How browsers and partners reach this host."""
    disturb: Callable[[Wire], Wire] = leave_alone
    """On a test host, lets simulator_overrides disturb what is not simulated."""
    key_path: Path | None = None
    """The key file to follow when a rotation replaces it."""
    random_bytes: RandomBytes = system_random_bytes

    @property
    def patience_s(self) -> float:
        """Who has been at work on one thing for longer is dead, and another may take over."""
        return self.acquirer_timeout_s + self.completion_margin_s

    def make_situation(self, operation: str, channel: Channel, payment_type: str | None = None) -> Situation:
        """Returns what the rules have to know about a request besides its fields."""
        return Situation(operation, payment_type, channel.is_lenient, self.is_live, channel.return_schemes)


SUCCESS_CODES: dict[TestMode | None, str] = {
    None: "000.000.000",
    TestMode.INTERNAL: "000.100.110",
    TestMode.EXTERNAL: "000.100.112",
}
