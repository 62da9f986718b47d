"""A bounded load of careful shops: each order has a key and an amount of its own and is tried until it is answered.

What happens to the servers meanwhile is the test's affair.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from acquirer import DECLINED_CENTS
from crash.store_reader import PENDING, StoreReader, find_contradictions
from crash.world import World, insist
from gateway import Answer, Client
from tollgate.payments.payment import State

SHOPS = 6
THINK_S = 0.01
PAYMENT_TYPES = ("DB", "DB", "DB", "PA", "CD")
REPLAYS_MAX = 40


@dataclass(frozen=True)
class Order:
    number: int
    payment_type: str
    cents: int

    @property
    def amount(self) -> str:
        return f"{self.number}.{self.cents:02d}"

    @property
    def key(self) -> str:
        return f"order-{self.number:06d}"


@dataclass
class Load:
    clients: Sequence[Client]
    seed: int
    answers: dict[Order, Answer] = field(default_factory=dict)
    faults: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random_bytes = random.Random(self.seed)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._numbers = iter(range(1, 1_000_000))

    def run_during(self, accidents: Callable[[random.Random], None]) -> None:
        shops = [threading.Thread(target=self._shop, args=(number,)) for number in range(SHOPS)]
        for shop in shops:
            shop.start()
        try:
            accidents(self._random_bytes)
        finally:
            self._is_over.set()
            for shop in shops:
                shop.join()
        assert self.faults == []

    def _shop(self, number: int) -> None:
        """Each has a server it asks first."""
        first = number % len(self.clients)
        client, *others = [*self.clients[first:], *self.clients[:first]]
        try:
            while not self._is_over.is_set():
                order = self._draw()
                self.answers[order] = insist(client, order.amount, order.key, order.payment_type, others=others)
                time.sleep(THINK_S)
        except BaseException as fault:
            self.faults.append(fault)

    def _draw(self) -> Order:
        with self._lock:
            cents = self._random_bytes.choice((0, 0, 0, DECLINED_CENTS))
            return Order(next(self._numbers), self._random_bytes.choice(PAYMENT_TYPES), cents)


def pause(rng: random.Random, least_s: float, most_s: float) -> None:
    time.sleep(rng.uniform(least_s, most_s))


class Answered(Protocol):
    @property
    def answers(self) -> Mapping[Order, Answer]: ...


def check_aftermath(world: World, load: Answered, client: Client, replays_max: int = REPLAYS_MAX) -> None:
    """Everything completes by itself, and then every answer that any shop was given is still true."""
    world.store.wait_until_nothing_is_open()
    assert find_contradictions(world.store, world.acquirer.read_ledger()) == []
    assert _find_broken_promises(world.store, load) == []
    assert _find_changed_answers(client, load, replays_max) == []


def _find_broken_promises(store: StoreReader, load: Answered) -> list[str]:
    records = {record.key: record for record in store.read_payments() if record.key}
    broken = []
    for order, answer in load.answers.items():
        record = records.get(order.key)
        if record is None or record.id != answer.json["id"]:
            broken.append(f"{order} was answered and is recorded as {record}")
        elif record.code != answer.code and answer.code != PENDING:
            broken.append(f"{order} was answered {answer.code} and is recorded as {record}")
    return broken + [f"{record} is still open" for record in records.values() if record.state is State.STARTED]


def _find_changed_answers(client: Client, load: Answered, replays_max: int) -> list[str]:
    """The same key gives the same answer, to the byte, whichever process answers now."""
    asked = list(load.answers.items())[:: max(1, len(load.answers) // replays_max)]
    again = [(order, answer, insist(client, order.amount, order.key, order.payment_type)) for order, answer in asked]
    return [f"{order}: {old.body!r} became {new.body!r}" for order, old, new in again if new.body != old.body]
