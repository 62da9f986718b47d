"""Helpers for tests of chains: begin a chain, follow it up, look at what was written. No test here."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from tollgate.connectors.exchange import WireRequest
from tollgate.contract.answers import Answer
from tollgate.flows.follow_up import follow_up, record_fact
from tollgate.flows.pay import pay
from tollgate.flows.recover import run_recovery_task
from tollgate.operations.app import App, Call
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.store.database import Database
from tollgate.store.hot import HotWrite, Row
from tollgate.store.jobs import Job, lease_due
from tollgate.store.payments import find_payment, list_chain
from tollgate.store.statements import Write
from tollgate.values import SECOND, FixedClock
from unit.app_fixture import CHANNEL, MERCHANT, ORDER

DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'
PENDING = b'{"status":"pending","response_code":"09","message":"Later"}'
UNKNOWN = b'{"status":"unknown"}'
REVERSED = b'{"status":"reversed"}'


def make_request(payment_type: str, amount: int | None = None, **changes: Any) -> FollowUp:
    request = FollowUp(
        payment_type=payment_type,
        amount=amount,
        currency=None if amount is None else "EUR",
        practice=None,
        is_final=False,
        descriptor="Shop",
        short_id="1234.5678.9012",
    )
    return replace(request, **changes)


async def begin(app: App, payment_type: str = "DB", **changes: Any) -> Payment:
    """Makes a payment of 92.00 EUR."""
    answer = await pay(app, replace(ORDER, payment_type=payment_type, **changes), Call(CHANNEL, "ndc"))
    return await read(app, json.loads(answer.body)["id"])


async def follow(
    app: App,
    named: Payment,
    payment_type: str,
    amount: int | None = None,
    *,
    idempotency_key: IdempotencyKey | None = None,
    channel: Channel = CHANNEL,
    judged: Payment | None = None,
    **changes: Any,
) -> Answer:
    request = make_request(payment_type, amount, **changes)
    return await follow_up(app, request, named.id, Call(channel, "ndc", idempotency_key), judged)


async def happen(
    app: App, named: Payment, payment_type: str, amount: int | None = None, notice: str | None = None
) -> Payment:
    made = await record_fact(app, make_request(payment_type, amount), named.id, Call(CHANNEL, "ndc"), notice)
    return await read(app, made.id)


async def read(app: App, payment_id: str) -> Payment:
    payment = await find_payment(app.database, MERCHANT.id, payment_id)
    assert payment is not None
    return payment


async def read_answered(app: App, answer: Answer) -> Payment:
    return await read(app, json.loads(answer.body)["id"])


async def read_chain(app: App, first: Payment) -> list[Payment]:
    return await list_chain(app.database, MERCHANT.id, first.id, 100)


async def lease_jobs(app: App) -> list[Job]:
    """A moment later, as an event of the same payment has to be."""
    assert isinstance(app.clock, FixedClock)
    app.clock.at += SECOND
    return await lease_due(app.database, now=2**60, wall_now=app.clock.wall(), owner="me", lease_s=1, limit=100)


async def run_only_job(app: App) -> bool:
    [job] = await lease_jobs(app)
    return await run_recovery_task(app, job)


def tell(answer: Answer) -> tuple[int, str]:
    return answer.status, json.loads(answer.body)["result"]["code"]


def show(request: WireRequest) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(request.body)
    return message


class Meddler:
    """A database where something happens just before anything is written; all else is the real one's."""

    def __init__(self, database: Database, meddle: Callable[[], Awaitable[bool]]) -> None:
        self._database = database
        self._meddle = meddle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, steps: list[Write], *, label: str) -> bool:
        """Refused where the meddler says so."""
        return await self._meddle() and await self._database.write(steps, label=label)

    async def submit(self, hot: HotWrite[Any], row: Row, *, label: str) -> Any:
        return await self._meddle() and await self._database.submit(hot, row, label=label)


def meddle_with(app: App, meddle: Callable[[], Awaitable[bool]]) -> App:
    meddler: Any = Meddler(app.database, meddle)
    return replace(app, database=meddler)
