"""A charge that its acquirer decides later counts for the success rate of the account when it is decided."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.connectors.exchange import AcquirerAccount
from tollgate.flows import resume
from tollgate.flows.pay import pay
from tollgate.flows.recover import run_recovery_task
from tollgate.operations import acquirer_accounts
from tollgate.operations.app import App, Call
from tollgate.operations.caches import MerchantCache
from tollgate.operations.success_rates import list_buckets
from tollgate.payments.merchants import AcquirerTerms
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment, State
from tollgate.store import merchants
from tollgate.values import SECOND, FixedClock, PaymentId, make_id
from tollgate.wire import Silent, Wire
from unit.app_fixture import CHANNEL, NOW, ORDER, ScriptedWire, open_app
from unit.flows.chains import DECLINED, PENDING, lease_jobs, read

pytestmark = pytest.mark.anyio

FIRST = replace(CHANNEL, test_url="https://first.example", acquirer=AcquirerTerms())
ORDERED = replace(ORDER, test_mode=TestMode.EXTERNAL)
APPROVED = b'{"status":"approved","response_code":"00","message":"","reference":"1"}'


FindOut = Callable[[App, Payment], Awaitable[object]]


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[App]:
    def find_wire(_address: str, _account: AcquirerAccount | None = None) -> Wire:
        return wire

    app = await open_app(tmp_path, ScriptedWire())
    app = replace(app, merchants=MerchantCache(app.keyring), find_wire=find_wire)
    await merchants.update_channel(app.database, FIRST)
    await app.merchants.refresh(app.database)
    sent = {"name": "second", "test_url": "https://second.example", "acquirer_priority": "2"}
    await acquirer_accounts.add_account(app, FIRST, sent)
    yield app
    await app.database.close()


async def make_waiting(app: App, wire: ScriptedWire) -> Payment:
    wire.script = [PENDING]
    payment_id = PaymentId(make_id())
    await pay(app, ORDERED, Call(app.merchants.get_channel(CHANNEL.id), "ndc"), payment_id=payment_id)
    waiting = await read(app, payment_id)
    assert waiting.state is State.WAITING
    return waiting


async def inquire(app: App, _payment: Payment) -> None:
    for job in await lease_jobs(app):
        await run_recovery_task(app, job)


def count(app: App) -> tuple[float, float]:
    """Returns the tries and approvals of the first account for all charges of the currency."""
    currency = list_buckets(ORDERED)[1]
    counts = [each for each in app.success_rates.list_new() if (each.account_id, each.bucket) == (CHANNEL.id, currency)]
    return sum(each.tries for each in counts), sum(each.approvals for each in counts)


@pytest.mark.parametrize("find_out", [inquire, resume.ask_provider])
@pytest.mark.parametrize(("answer", "counted"), [(APPROVED, (1, 1)), (DECLINED, (1, 0)), (PENDING, (0, 0))])
async def test_what_an_acquirer_decides_later_is_counted_once(
    app: App,
    wire: ScriptedWire,
    find_out: Callable[[App, Payment], Awaitable[object]],
    answer: bytes,
    counted: tuple[int, int],
) -> None:
    waiting = await make_waiting(app, wire)
    assert count(app) == (0, 0)
    wire.script = [answer, answer]

    later = replace(app, clock=FixedClock(NOW + SECOND))
    for _ in range(2):
        await find_out(later, await read(app, waiting.id))

    assert count(app) == counted


async def test_a_silent_answer_to_the_question_says_nothing(app: App, wire: ScriptedWire) -> None:
    waiting = await make_waiting(app, wire)
    wire.script = [Silent()]

    await inquire(app, waiting)

    assert len(wire.sent) == 2
    assert count(app) == (0, 0)
