"""The objects that every operation needs. They are built in `wiring`."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from tollgate.catalog import codes, permissions, rule, shape, throttles
from tollgate.connectors.exchange import AcquirerAccount, Conversation, Exchange
from tollgate.contract import answers, domains
from tollgate.operations.caches import CardRangeCache, CountryCache, MerchantCache
from tollgate.operations.card_testing import CardTesting
from tollgate.operations.circuits import Circuits
from tollgate.operations.dispatch import Note, converse, dispatch
from tollgate.operations.journal import Journal, Subject
from tollgate.operations.sightings import Sightings
from tollgate.operations.success_rates import SuccessRates
from tollgate.payments import checkout, order, registration, schedule
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import IdempotencyKey, Payment, Verdict
from tollgate.store.database import Database
from tollgate.store.replicas import Replica
from tollgate.store.shared_counts import SharedCounts
from tollgate.values import Clock, Instant, RandomBytes, pooled_random_bytes, to_datetime
from tollgate.vault.keyring import Keyring
from tollgate.wire import Guard, HttpNotifier, Notifier, Wire


class Call(msgspec.Struct, frozen=True):
    """One request of a merchant: its channel, its trace id and its idempotency key."""

    channel: Channel
    ndc: str
    idempotency_key: IdempotencyKey | None = None
    form_address: str = ""
    """The address of the shopper's browser, where it sent the payment form."""


class Activity:
    """Counts what a process does, so that its work can be put in a good order."""

    completions = 0
    """The payments completed so far. While there are many, work in the background steps back."""
    requests = 0
    """The requests that are being answered."""
    is_draining = False
    """The process was asked to stop, and serves on until load balancers have noticed."""


NO_SCRIPT = checkout.Script("", "", b"")
"""The script of an app that serves no shoppers, such as a command's."""

_Told = TypeVar("_Told")


class Planning(Protocol):
    """Knows what was planned for the next messages to the simulated partners of a test host."""

    async def choose_overrides(
        self, app: "App", partner: order.Partner, wire: Wire, payment: Payment, sent: Mapping[str, str]
    ) -> Mapping[str, str]: ...


class FindWire(Protocol):
    def __call__(self, address: str, account: AcquirerAccount | None = None, /) -> Wire:
        """Returns the wire to an address, under the terms of an acquirer account where there is one."""


class App(msgspec.Struct, frozen=True, kw_only=True):
    database: Database
    merchants: MerchantCache
    keyring: Keyring
    clock: Clock
    envelope: answers.Envelope
    is_live: bool
    acquirer_timeout_s: float
    completion_margin_s: float
    """The time after the acquirer's time-out in which the result may still be written."""
    authorization_lifetime: Instant
    """The time in which an authorization may be captured."""
    retention: registration.Retention = registration.Retention()
    """The periods after which account data is wiped."""
    retrying: schedule.RetryTerms = schedule.RetryTerms()
    """The number and the times of the tries of a scheduled payment."""
    find_wire: FindWire
    """The wire to a configured address; one pool of connections for each."""
    notifier: Notifier = msgspec.field(default_factory=partial(HttpNotifier, Guard(is_live=True, ports=frozenset())))
    """Sends to addresses that merchants gave; by default to none."""
    simulator: Wire | None = None
    """Answers like an acquirer; exists on a test host only."""
    ranges: CardRangeCache = msgspec.field(default_factory=CardRangeCache)
    """The cards that take part in 3-D Secure."""
    countries: CountryCache = msgspec.field(default_factory=CountryCache)
    """The countries of addresses and cards, as imported."""
    replica: Replica | None = None
    """The standby from which reports and pages are read; None where all is read from the primary."""
    shared: SharedCounts | None = None
    """The counts of throttles that all processes share; None where each process counts alone."""
    sightings: Sightings = msgspec.field(default_factory=Sightings)
    """The payments that risk rules count and that are not written yet."""
    card_testing: CardTesting | None = None
    """Stops card testing; None where that is switched off."""
    circuits: Circuits = msgspec.field(default_factory=Circuits)
    success_rates: SuccessRates = msgspec.field(default_factory=SuccessRates)
    """The rates of approval by which payments are routed."""
    script: checkout.Script = NO_SCRIPT
    """The script that shops load to show the payment form."""
    status_reads: throttles.Throttle = throttles.THROTTLES["read_checkout"]
    """The limit on reading the status of a checkout."""
    base_url: str = ""
    """The address by which browsers and partners reach this host."""
    disturb: Callable[[Wire], Wire] = lambda wire: wire
    """Lets simulator overrides disturb real wires on a test host."""
    planning: Planning | None = None
    """Chooses what messages to simulated partners meet; exists on a test host only."""
    activity: Activity = msgspec.field(default_factory=Activity)
    journal: Journal = msgspec.field(default_factory=Journal)
    """Notes messages and log lines for the back office."""
    key_path: Path | None = None
    """The key file to follow when a rotation replaces it."""
    data_folder: Path | None = None
    """The folder of the host's files; None for an app that has none."""
    archive: Path | None = None
    """The folder of archived months; None for an app that cannot read them."""
    four_eyes: Mapping[permissions.ApprovalKind, permissions.FourEyesRow] = {}
    """The actions in the back office that a second person confirms."""
    allows_plain_loopback: bool = False
    """Whether a live host may send card data to its own machine without TLS."""
    random_bytes: RandomBytes = pooled_random_bytes

    @property
    def patience_s(self) -> float:
        """A process that has worked on one attempt for longer is dead, and another may take over."""
        return self.acquirer_timeout_s + self.completion_margin_s

    @property
    def today(self) -> date:
        return to_datetime(self.clock.now()).date()

    def may_handle(self, test_mode: order.TestMode | None) -> bool:
        """Refuses what a copied store brought from another environment: a live host handles no test, a test host
        nothing real."""
        return self.is_live is (test_mode is None)

    async def choose_overrides(
        self, partner: order.Partner, wire: Wire, payment: Payment, sent: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Returns the simulator overrides of a message: those that its request sent, or else what was planned."""
        if self.planning is None:
            return sent
        return await self.planning.choose_overrides(self, partner, wire, payment, sent)

    def dispatch(
        self, exchange: Exchange, wire: Wire, *, about: Subject, label: str, spent_s: float = 0.0
    ) -> Awaitable[Verdict]:
        """Runs an exchange that moves money; `spent_s` of the acquirer's time is gone already."""
        timeout_s = self.acquirer_timeout_s - spent_s
        note = self._make_note(about, label)
        return dispatch(exchange, wire, timeout_s=timeout_s, label=label, probe=self.database.probe, note=note)

    def converse(
        self,
        conversation: Conversation[_Told],
        wire: Wire,
        *,
        about: Subject,
        label: str,
        timeout_s: float | None = None,
    ) -> Awaitable[_Told | None]:
        """Runs a conversation that moves no money; None after a transport fault."""
        timeout_s = timeout_s or self.acquirer_timeout_s
        note = self._make_note(about, label)
        return converse(conversation, wire, timeout_s=timeout_s, label=label, probe=self.database.probe, note=note)

    def _make_note(self, about: Subject, label: str) -> Note:
        return lambda request, reply: self.journal.note_message(self.clock.now(), about, label, request, reply)

    def make_situation(self, operation: str, channel: Channel, payment_type: str | None = None) -> rule.Situation:
        """Returns what the rules have to know about a request besides its fields."""
        schemes, listed = channel.return_schemes, self.list_domains(channel)
        return rule.Situation(operation, payment_type, channel.is_lenient, self.is_live, schemes, listed)

    def list_domains(self, channel: Channel) -> tuple[str, ...]:
        """Lists the domains that a channel allows, with this host, which shows payment links; none if it allows all."""
        return (
            (*channel.domains, self.base_url.partition("://")[2].partition("/")[0].lower()) if channel.domains else ()
        )

    def may_lead_to(self, channel: Channel, address: str) -> bool:
        """Tells whether a channel still allows an address, because its lists may have changed since it was named."""
        is_known = shape.may_return_to(address, channel.return_schemes, is_lenient=channel.is_lenient)
        return is_known and domains.may_lead_to(address, self.list_domains(channel))


SUCCESS_CODES: dict[order.TestMode | None, str] = {
    None: codes.SUCCEEDED,
    order.TestMode.INTERNAL: codes.SUCCEEDED_INTERNAL_TEST,
    order.TestMode.EXTERNAL: codes.SUCCEEDED_EXTERNAL_TEST,
}
