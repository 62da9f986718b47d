"""Measures what risk rules cost a payment: a server with many active rules beside one that has none.

Both get the same payments of many shoppers, so that velocities are counted as they are in a shop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tools.bench.plan import Plan, Side
from tools.bench.subject import ORDER, Subject
from tools.bench.wrk import send_load

from tollgate.operations.risk_rules import add_rule
from tollgate.store.merchants import list_merchants
from tollgate.store.opening import open_database
from tollgate.values import SystemClock, make_id

CONNECTIONS = 64
RULES = 200
SHOPPERS = 2_000
WINDOWS = ("1m", "5m", "10m", "30m", "1h", "2h", "6h", "12h", "1d", "7d", "30d", "90d")
TURN_S = 2
"""Turns are short, so that other work on the machine hits both servers alike."""
TURNS_MIN = 30
"""A single turn says little on a machine that others use too."""
SETTLED_S = 12
"""A new rule counts payments after five seconds, and derives those before it again; after that, it only counts."""


@dataclass
class RulesResult:
    without: list[float] = field(default_factory=list)
    """Payments a second without a rule, in each turn."""
    ruled: list[float] = field(default_factory=list)
    """Payments a second with the rules."""

    @property
    def costs(self) -> list[float]:
        """Lists the time of a payment with rules in each turn, as a multiple of one without."""
        return [without / ruled for without, ruled in zip(self.without, self.ruled, strict=True)]

    @property
    def undisturbed_cost(self) -> float:
        """The cost in the quarter of the rounds in which both together were fastest."""
        rounds = sorted(zip(self.without, self.ruled, strict=True), key=sum, reverse=True)
        return median(without / ruled for without, ruled in rounds[: len(rounds) // 4 or 1])


def measure_rules(side: Side, folder: Path, plan: Plan, tell: Callable[[str], None]) -> RulesResult:
    result = RulesResult()
    with ExitStack() as stack:
        subjects = [Subject(folder / name, side.create_database()) for name in ("unruled", "ruled")]
        for subject in subjects:
            stack.callback(subject.stop)
            subject.start()
        _add_rules(subjects[1])
        orders = list_orders()
        calls = [subject.make_call(orders) for subject in subjects]
        turns = list(zip(calls, reversed(subjects), (result.without, result.ruled), strict=True))
        for number in range(max(plan.rounds * plan.seconds, TURNS_MIN) + 1):
            for call, other, rates in turns if number % 2 else reversed(turns):
                with other.pause():
                    load = send_load(call, CONNECTIONS, TURN_S)
                # The first turn warms both up.
                rates.extend([load.per_second] if number else [])
    tell(f"{side.name}: with {RULES} rules a payment takes {median(result.costs):.2f} of its time without")
    return result


def _add_rules(subject: Subject) -> None:
    asyncio.run(_insert_rules(subject.database))
    time.sleep(SETTLED_S)


async def _insert_rules(address: str) -> None:
    database = await open_database(address, must_exist=True)
    try:
        for merchant in await list_merchants(database):
            for sent in list_rules():
                await add_rule(database, merchant.id, sent, by="bench", now=SystemClock().now(), new_id=make_id())
    finally:
        await database.close()


def list_rules() -> list[dict[str, str]]:
    """Lists rules of all kinds that count, in all windows, with limits that no shopper of the load reaches."""
    counted = ("card", "email", "ip", "bin")
    paired = ("card_email", "email_card")
    kinds: list[dict[str, str]] = [
        *[{"kind": "count", "attribute": each, "count": "5000"} for each in counted],
        *[{"kind": "volume", "attribute": each, "amount": "9000000.00", "currency": "EUR"} for each in counted],
        *[{"kind": "distinct", "attribute": each, "count": "100"} for each in paired],
        *[{"kind": "first_time", "attribute": each, "amount": "5000.00", "currency": "EUR"} for each in counted[:2]],
        {"kind": "wrong_tries", "attribute": "wrong_cvv", "count": "100"},
        {"kind": "duplicate", "attribute": "merchant_transaction_id"},
    ]
    timed = [{**kind, "window": window} for window in WINDOWS for kind in kinds]
    plain = [
        *[{"kind": "amount", "amount": f"{hundreds}00.00", "currency": "EUR"} for hundreds in range(50, 90)],
        {"kind": "country_mismatch", "compared": "bin-ip"},
        {"kind": "missing", "attribute": "email"},
    ]
    rules = [*plain, *timed][:RULES]
    return [{"name": f"rule {number}", "mode": "active", "points": "1", **rule} for number, rule in enumerate(rules)]


def list_orders() -> list[Mapping[str, str]]:
    """Lists an order of each shopper; every tenth shares the address of another."""
    return [
        {
            **ORDER,
            "card.number": _add_check_digit(f"42{number % 200:04d}{number:09d}"),
            "customer.email": f"shopper{number}@example.com",
            "customer.ip": f"10.{number % 10}.{number // 10 % 256}.{number // 2560}",
        }
        for number in range(SHOPPERS)
    ]


def _add_check_digit(digits: str) -> str:
    doubled = [int(digit) * (1 if place % 2 else 2) for place, digit in enumerate(reversed(digits))]
    return f"{digits}{-sum(value // 10 + value % 10 for value in doubled) % 10}"
