"""The objects that every operation needs, and the caches of merchants and card ranges.

It builds none of them; that is done in `wiring`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from hmac import compare_digest
from pathlib import Path
from typing import TypeVar

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.catalog.throttles import THROTTLES, Throttle
from tollgate.connectors.exchange import Conversation, Exchange
from tollgate.connectors.threeds import exchanges
from tollgate.contract.answers import Envelope
from tollgate.operations.dispatch import converse, dispatch
from tollgate.payments.accounts import CardAccount, WalletKey
from tollgate.payments.checkout import Script
from tollgate.payments.merchants import Channel, Credential
from tollgate.payments.order import TestMode
from tollgate.payments.payment import IdempotencyKey, Verdict
from tollgate.payments.registration import Retention
from tollgate.payments.schedule import RetryTerms
from tollgate.store import merchants as store_merchants
from tollgate.store.database import Database
from tollgate.values import (
    ChannelId,
    Clock,
    Instant,
    MerchantId,
    RandomBytes,
    Secret,
    make_node_name,
    system_random_bytes,
    to_datetime,
)
from tollgate.vault import tokens
from tollgate.vault.keyring import Keyring
from tollgate.wire import HttpNotifier, Notifier, Wire


class MerchantCache:
    """A snapshot; every process of a host refreshes its own within seconds of a change."""

    def __init__(self, keyring: Keyring | None = None) -> None:
        self._keyring = keyring
        """Finds tokens that merchants brought from other hosts; without it there are none."""
        self._version = -1
        self._channels: dict[str, Channel] = {}
        self._credentials: dict[bytes, Credential] = {}
        self._wallet_keys: dict[tuple[str, str], tuple[WalletKey, ...]] = {}
        self._merchants: dict[str, frozenset[MerchantId]] = {}

    async def refresh(self, database: Database) -> bool:
        """True when something changed."""
        if await store_merchants.get_merchants_version(database) == self._version:
            return False
        rows = await store_merchants.load_merchants(database)
        # Read after the version too, so that a key which comes meanwhile is met again.
        self.fill(rows.channels, rows.credentials, await store_merchants.list_wallet_keys(database))
        self._version = rows.version
        return True

    def fill(
        self, channels: Iterable[Channel], credentials: Iterable[Credential], wallet_keys: Iterable[WalletKey] = ()
    ) -> None:
        self._channels = {channel.id: channel for channel in channels}
        self._credentials = {
            credential.token_hash: credential for credential in credentials if credential.revoked_at is None
        }
        self._merchants = {}
        for merchant_id in {channel.merchant_id for channel in self._channels.values()}:
            node = make_node_name(merchant_id)
            self._merchants[node] = self._merchants.get(node, frozenset()) | {merchant_id}
        self._wallet_keys = {}
        for key in wallet_keys:
            place = key.channel_id, key.wallet
            self._wallet_keys[place] = (*self._wallet_keys.get(place, ()), key)

    def find_channel(self, channel_id: str) -> Channel | None:
        return self._channels.get(channel_id)

    def get_channel(self, channel_id: ChannelId) -> Channel:
        return self._channels[channel_id]

    def list_merchants_of(self, node: str) -> frozenset[MerchantId]:
        """Whose checkouts are named by this node: one merchant's, but for an accident among very many."""
        return self._merchants.get(node, frozenset())

    def get_wallet_keys(self, channel_id: ChannelId, wallet: str) -> tuple[WalletKey, ...]:
        return self._wallet_keys.get((channel_id, wallet), ())

    def find_credential(self, token: Secret) -> Credential | None:
        """Found by hash, which tells nothing of the token, and compared in constant time."""
        return self._find_hashed(tokens.hash_token(token)) or (
            self._find_hashed(tokens.hash_kept_token(token, self._keyring)) if self._keyring else None
        )

    def _find_hashed(self, hashed: bytes) -> Credential | None:
        credential = self._credentials.get(hashed)
        return credential if credential is not None and compare_digest(credential.token_hash, hashed) else None


class _Kept(msgspec.Struct, frozen=True):
    ranges: tuple[exchanges.CardRange, ...] | None
    """None where the directory never told them."""
    asks_at: Instant
    """When it is asked again."""


class CardRangeCache:
    """One list for each directory server; every process of a host keeps its own."""

    def __init__(self, random_bytes: RandomBytes = system_random_bytes) -> None:
        self._random_bytes = random_bytes
        self._kept: dict[str, _Kept] = {}

    async def find(
        self, address: str, wire: Wire, account: CardAccount, *, wall_now: Instant, timeout_s: float
    ) -> exchanges.CardRange | None:
        """None where the directory says that the card takes no part.

        A directory that says nothing is asked about the card itself, and then its silence is a result.
        """
        kept = self._kept.get(address)
        if kept is None or kept.asks_at < wall_now:
            kept = await self._ask(wire, kept, wall_now, timeout_s)
            self._kept[address] = kept
        return exchanges.ANY_CARD if kept.ranges is None else exchanges.find_range(kept.ranges, account)

    async def _ask(self, wire: Wire, kept: _Kept | None, wall_now: Instant, timeout_s: float) -> _Kept:
        """A directory that is in trouble is left alone for a while, or else every payment would wait for it."""
        question = exchanges.ask_ranges(exchanges.make_server_id(self._random_bytes))
        ranges = await converse(question, wire, timeout_s=timeout_s, label="card ranges request")
        if ranges is None:
            return _Kept(kept.ranges if kept else None, wall_now + LIMITS.card_ranges_pause)
        return _Kept(ranges, wall_now + LIMITS.card_ranges_lifetime)


class Call(msgspec.Struct, frozen=True):
    """One request of a merchant: its channel, its trace id and its idempotency key."""

    channel: Channel
    ndc: str
    idempotency_key: IdempotencyKey | None = None


NO_SCRIPT = Script("", "", b"")
"""The script of an app that serves no shoppers, such as a command's."""

_Told = TypeVar("_Told")


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
    disturb: Callable[[Wire], Wire] = lambda wire: wire
    """On a test host, lets simulator overrides disturb what is not simulated."""
    key_path: Path | None = None
    """The key file to follow when a rotation replaces it."""
    random_bytes: RandomBytes = system_random_bytes

    @property
    def patience_s(self) -> float:
        """A process that has worked on one attempt for longer is dead, and another may take over."""
        return self.acquirer_timeout_s + self.completion_margin_s

    @property
    def today(self) -> date:
        return to_datetime(self.clock.now()).date()

    def may_handle(self, test_mode: TestMode | None) -> bool:
        """Refuses what a copied store brought from another environment: a live host handles no test, a test host
        nothing real."""
        return self.is_live is (test_mode is None)

    async def dispatch(self, exchange: Exchange, wire: Wire, *, label: str, spent_s: float = 0.0) -> Verdict:
        """Runs an exchange that moves money; `spent_s` of the acquirer's time is gone already."""
        timeout_s = self.acquirer_timeout_s - spent_s
        return await dispatch(exchange, wire, timeout_s=timeout_s, label=label, probe=self.database.probe)

    async def converse(
        self, conversation: Conversation[_Told], wire: Wire, *, label: str, timeout_s: float | None = None
    ) -> _Told | None:
        """Runs a conversation that moves no money; None after a transport fault."""
        timeout_s = timeout_s or self.acquirer_timeout_s
        return await converse(conversation, wire, timeout_s=timeout_s, label=label, probe=self.database.probe)

    def make_situation(self, operation: str, channel: Channel, payment_type: str | None = None) -> Situation:
        """Returns what the rules have to know about a request besides its fields."""
        return Situation(operation, payment_type, channel.is_lenient, self.is_live, channel.return_schemes)


SUCCESS_CODES: dict[TestMode | None, str] = {
    None: codes.SUCCEEDED,
    TestMode.INTERNAL: codes.SUCCEEDED_INTERNAL_TEST,
    TestMode.EXTERNAL: codes.SUCCEEDED_EXTERNAL_TEST,
}
