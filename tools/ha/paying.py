"""Careful shops that pay at a steady rate through two gateways, and repeat each payment until it is answered.

What happens to the database meanwhile is decided elsewhere.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from crash.load import PAYMENT_TYPES, Order
from crash.world import is_definite, pay, try_to
from gateway import Answer, Client

SHOPS = 80
REPEAT_AFTER_S = 0.25
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Payment:
    order: Order
    sent_at: float
    answered_at: float
    gateway: int
    """The gateway that gave the definite answer."""
    tries: int
    answer: Answer


@dataclass
class Load:
    clients: Sequence[Client]
    per_s: float
    payments: list[Payment] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    """Maps each status to how often it was answered; 0 stands for a lost connection."""
    faults: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._rng = random.Random(0)
        self._began_at = time.monotonic()
        self._drawn = 0
        self._shops = [threading.Thread(target=self._shop, daemon=True) for _ in range(SHOPS)]

    @property
    def answers(self) -> dict[Order, Answer]:
        return {each.order: each.answer for each in self.payments}

    def start(self) -> None:
        for shop in self._shops:
            shop.start()

    def finish(self) -> None:
        """Returns when every payment that was begun is answered."""
        self._is_over.set()
        for shop in self._shops:
            shop.join()
        if self.faults:
            raise self.faults[0]

    def find_recovery(self, since: float) -> float | None:
        """Finds when both gateways had answered a payment that was sent after an instant."""
        with self._lock:
            first = [
                min(
                    (each.answered_at for each in self.payments if each.sent_at > since and each.gateway == n),
                    default=None,
                )
                for n in range(len(self.clients))
            ]
        known = [instant for instant in first if instant is not None]
        return max(known) if len(known) == len(first) else None

    def _shop(self) -> None:
        try:
            while not self._is_over.is_set():
                number, order = self._draw()
                # What was late does not hurry: a shop that waited for an answer begins with its next customer.
                time.sleep(max(0.0, self._began_at + number / self.per_s - time.monotonic()))
                if not self._is_over.is_set():
                    self._insist(number, order)
        except BaseException as fault:
            self.faults.append(fault)
            self._is_over.set()

    def _draw(self) -> tuple[int, Order]:
        with self._lock:
            now = int((time.monotonic() - self._began_at) * self.per_s)
            self._drawn = max(self._drawn + 1, now)
            cents = self._rng.choice((0, 0, 0, 5))
            return self._drawn, Order(self._drawn, self._rng.choice(PAYMENT_TYPES), cents)

    def _insist(self, number: int, order: Order) -> None:
        """Sends the same key again, at the gateways in turn, until there is a definite answer."""
        sent_at = time.monotonic()
        for tries in range(1, 10_000):
            gateway = (number + tries) % len(self.clients)
            client = self.clients[gateway]
            answer = try_to(partial(pay, client, order.amount, order.key, order.payment_type))
            now = time.monotonic()
            with self._lock:
                status = 0 if answer is None else answer.status
                self.statuses[status] = self.statuses.get(status, 0) + 1
                if answer is not None and is_definite(answer):
                    self.payments.append(Payment(order, sent_at, now, gateway, tries, answer))
                    return
            if now > sent_at + PATIENCE_S:
                break
            time.sleep(REPEAT_AFTER_S)
        raise AssertionError(f"no answer for {order.key} within {PATIENCE_S} s")
