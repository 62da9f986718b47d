"""Stops card testing: payments of an address or BIN with many declines wait, and are then refused.

The counters are kept in the memory of a process; a worker tells them to the other processes.
"""

import asyncio
import base64
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network

import msgspec

from tollgate.catalog import card_testing as rows
from tollgate.catalog import codes
from tollgate.catalog.results import get_result, is_success
from tollgate.contract.answers import Answer
from tollgate.operations.caches import find_address_bytes
from tollgate.payments.accounts import CardSummary
from tollgate.payments.card_testing import Judgement, Levels, find_judgement, get_retry_after_s, is_counted
from tollgate.payments.order import Order
from tollgate.payments.payment import NATURES, Nature
from tollgate.values import HOUR, Clock, Instant, RandomBytes, TooMany, system_random_bytes
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_log = logging.getLogger("tollgate.card_testing")

_OWN_BYTES = 8
"""The owner of one IPv6 address has a network of them, which has the same first bytes."""
_HASH_BYTES = 10
_IPV4 = bytes(10) + b"\xff\xff"
_PRIVATE = (
    *(ip_network(text) for text in ("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")),
    *(ip_network(text) for text in ("0.0.0.0/32", "100.64.0.0/10", "::/127", "fc00::/7", "fe80::/10")),
)


@lru_cache(1024)
def find_network(address: str) -> bytes | None:
    """Returns what identifies a shopper's connection: an IPv4 address, or the /64 of an IPv6 address.

    Private addresses have none: one of them, such as that of a proxy, would stand for many shoppers.
    """
    found = find_address_bytes(address)
    if found is None:
        return None
    is_old = found.startswith(_IPV4)
    read = ip_address(found[len(_IPV4) :] if is_old else found)
    if any(read in network for network in _PRIVATE):
        return None
    return found if is_old else found[:_OWN_BYTES]


class Payer(msgspec.Struct, frozen=True, kw_only=True):
    """A shopper, as far as the counters know one."""

    merchant_id: str
    ndc: str
    ip: str | None
    form_address: str = ""
    """The address of the browser that sent the payment form; "" where there was none."""
    card: CardSummary | None


def make_payer(order: Order, merchant_id: str, ndc: str, form_address: str) -> Payer | None:
    """Returns None where nobody can test cards: the merchant itself charges a shopper who agreed, or pays out."""
    standing, customer = order.details.standing_instruction, order.details.customer
    if (standing is not None and standing.is_by_merchant) or NATURES[order.payment_type] is Nature.GIVES:
        return None
    ip = customer.ip if customer else None
    return Payer(merchant_id=merchant_id, ndc=ndc, ip=ip, form_address=form_address, card=order.card_summary)


class CardTesting:
    """The counters of one process; an app without it lets all cards be tested."""

    def __init__(
        self,
        keyring: Keyring,
        clock: Clock,
        *,
        random_bytes: RandomBytes = system_random_bytes,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._keyring, self._clock, self._pause = keyring, clock, pause
        self.process_id = random_bytes(8).hex()
        self.levels = Levels()
        self.actions: dict[tuple[str, str], int] = {}
        """The number of payments that waited, were refused or were sent away, by counter and action."""
        self._changes: dict[str, int] = {}
        """The changes that other processes do not know yet."""
        self._undecided: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._waiting_count = 0
        self._servers: dict[str, None] = {}
        self._callers: dict[tuple[str, str], Instant] = {}

    # ---- payments ----

    async def guard(self, order: Order, payer: Payer, pay: Callable[[Order], Awaitable[Answer]]) -> Answer:
        """Runs a payment and counts its result. It may wait first, or be declined without being sent."""
        keys = self._list_keys(payer)
        self._undecided.update(keys)
        try:
            code = await self._admit(keys)
            answer = await pay(msgspec.structs.replace(order, objection=code) if code else order)
        finally:
            _take_off(self._undecided, keys)
        if not code:
            self._note(payer, keys, answer.code)
        return answer

    def note_result(self, payer: Payer, code: str) -> None:
        """Counts the result of a payment whose shopper was away for an authentication."""
        self._note(payer, self._list_keys(payer), code)

    async def _admit(self, keys: Sequence[str]) -> str:
        """Returns the result code of a refusal, or "" once the payment may go on."""
        found = find_judgement(keys, self.levels, self._undecided, self._clock.now())
        if found is not None and not found.is_refused:
            await self._wait(keys, found)
            # Others were declined meanwhile.
            found = find_judgement(keys, self.levels, {}, self._clock.now())
        if found is None or not found.is_refused:
            return ""
        self._count(found, "refused")
        return found.counter.code

    async def _wait(self, keys: Sequence[str], found: Judgement) -> None:
        """Waits for some seconds; whoever comes while too many wait is sent away, so that nobody holds all slots."""
        if (
            self._waiting_count >= rows.WAITING_MAX
            or max(self._waiting[key] for key in keys) >= rows.WAITING_PER_KEY_MAX
        ):
            self._count(found, "sent away")
            raise TooMany(get_result(codes.TOO_MANY_REQUESTS), retry_after_s=get_retry_after_s(found))
        self._count(found, "slowed down")
        self._waiting.update(keys)
        self._waiting_count += 1
        try:
            await self._pause(found.wait_s)
        finally:
            self._waiting_count -= 1
            _take_off(self._waiting, keys)

    def _count(self, found: Judgement, action: str) -> None:
        name = found.counter.name, action
        self.actions[name] = self.actions.get(name, 0) + 1

    def _note(self, payer: Payer, keys: Sequence[str], code: str) -> None:
        now = self._clock.now()
        if not code or not keys:
            return
        if is_counted(code):
            for key in keys:
                before, after = self.levels.get(key, now), self.levels.add(key, 1, now, now)
                self._share(key, 1)
                _log_crossing(payer, rows.COUNTERS[key[0]], before, after)
        elif is_success(code):
            raised = [key for key in keys if self.levels.get(key, now) > 0]
            card_key = self._make_card_key(payer) if raised else ""
            # A card lowers the counters once: many payments with one good card do not hide tests of others.
            if card_key and not self.levels.get(card_key, now):
                for key, change in [(card_key, 1), *[(key, -1) for key in raised]]:
                    self.levels.add(key, change, now, now)
                    self._share(key, change)

    # ---- keys ----

    def note_server(self, merchant_id: str, address: str) -> None:
        """Notes an address that a merchant's server called from, which is no shopper's."""
        now = self._clock.now()
        if now - self._callers.get((merchant_id, address), -HOUR) < HOUR:
            return
        if len(self._callers) >= rows.SERVERS_MAX:
            self._callers.clear()
        self._callers[merchant_id, address] = now
        network = find_network(address)
        if network is not None:
            key = rows.SERVER + self._hash(merchant_id, network.hex())
            self._add_server(key)
            self._share(key, 0)

    def _add_server(self, key: str) -> None:
        self._servers.pop(key, None)
        if len(self._servers) >= rows.SERVERS_MAX:
            del self._servers[next(iter(self._servers))]
        self._servers[key] = None

    def _hash(self, *parts: str) -> str:
        """Returns a keyed hash, so that no table and no dump of the memory has an address."""
        return base64.urlsafe_b64encode(make_mac("card testing", parts, self._keyring)[1:_HASH_BYTES]).decode()

    def _list_keys(self, payer: Payer) -> list[str]:
        keys: list[str] = []
        if payer.card is None:
            return keys
        for letter, address in (("i", payer.ip), ("f", payer.form_address)):
            network = find_network(address) if address else None
            hashed = "" if network is None else self._hash(payer.merchant_id, network.hex())
            if hashed and rows.SERVER + hashed not in self._servers:
                keys.append(letter + hashed)
        return [*keys, "b" + self._hash(payer.merchant_id, "bin", payer.card.bin)]

    def _make_card_key(self, payer: Payer) -> str:
        card = payer.card
        return "c" + self._hash(payer.merchant_id, card.bin, card.last_digits, *card.expiry) if card else ""

    # ---- other processes ----

    def _share(self, key: str, change: int) -> None:
        if key in self._changes or len(self._changes) < rows.CHANGES_MAX:
            self._changes[key] = self._changes.get(key, 0) + change

    def take_changes(self) -> dict[str, int]:
        """Returns some changes that the other processes do not know yet, and forgets them."""
        return dict(self._changes.popitem() for _ in range(min(len(self._changes), rows.CHANGES_PER_ROW)))

    def merge(self, changes: Mapping[str, int], at: Instant) -> None:
        """Adds what another process counted; keys that this release does not know are left out."""
        for key, change in changes.items():
            if key.startswith(rows.SERVER):
                self._add_server(key)
            elif key[:1] in rows.COUNTERS:
                self.levels.add(key, change, at, self._clock.now())


def _take_off(counter: Counter[str], keys: Iterable[str]) -> None:
    for key in keys:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]


def _log_crossing(payer: Payer, row: rows.DeclineCounter, before: float, after: float) -> None:
    """Logs the decline with which a counter begins to slow payments down, or to refuse them."""
    facts = {"counter": row.name, "merchant_id": payer.merchant_id, "ndc": payer.ndc}
    if before < row.refuse_from <= after:
        _log.warning("card testing refused", extra=facts)
    elif before < row.slow_from <= after:
        _log.warning("card testing slowed down", extra=facts)
