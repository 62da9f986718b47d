"""The money message of a first payment, and the address by which its shopper comes back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.contract.shopper_urls import read_shopper_token
from tollgate.flows.pay import start_attempt
from tollgate.flows.recover import complete_overdue
from tollgate.operations.app import App, Call
from tollgate.operations.charging import charge, conclude, make_shopper_url
from tollgate.operations.risk import Judgement
from tollgate.operations.routes import Route, choose_route
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, State, Verdict
from tollgate.store.payments import find_payment, start_payment
from tollgate.values import SECOND, FixedClock, PaymentId, Secret, make_id
from tollgate.wire import Silent
from unit.app_fixture import CHANNEL, MERCHANT, ORDER, ScriptedWire, open_app

pytestmark = pytest.mark.anyio


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[App]:
    app = replace(await open_app(tmp_path, wire), base_url="https://gate.example")
    yield app
    await app.database.close()


def get_route(app: App, order: Order) -> Route:
    return choose_route(app, CHANNEL, order.test_mode, order.brand)


async def start(app: App, order: Order = ORDER) -> Payment:
    call, judgement = Call(CHANNEL, "ndc"), Judgement(app.clock.now())
    started = start_attempt(app, order, call, PaymentId(make_id()), 5, get_route(app, order), judgement)
    assert await start_payment(app.database, started, None, None)
    return started


async def charge_order(app: App, order: Order) -> Verdict:
    return await charge(app, order, await start(app, order), get_route(app, order))


async def test_the_shoppers_address_names_the_payment_and_hides_its_key(app: App) -> None:
    started = await start(app)

    bare, keyed = make_shopper_url(app, started), make_shopper_url(app, started, bytes(32))

    assert bare.startswith("https://gate.example/v1/shopper/")
    shopper_token = read_shopper_token(bare.rsplit("/", 1)[-1])
    assert shopper_token is not None
    assert (shopper_token.merchant_id, shopper_token.payment_id, len(shopper_token.key)) == (MERCHANT.id, started.id, 0)
    secret = read_shopper_token(keyed.rsplit("/", 1)[-1])
    assert secret is not None
    assert secret.key.matches(Secret("A" * 43))


async def test_an_order_with_an_objection_is_declined_and_not_sent(app: App, wire: ScriptedWire) -> None:
    verdict = await charge_order(app, replace(ORDER, objection="100.100.303"))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, "100.100.303")
    assert wire.sent == []


async def test_a_provider_receives_the_address_to_which_the_shopper_returns(app: App, wire: ScriptedWire) -> None:
    order = replace(ORDER, brand="PAYPAL", method="VA", account=None, card_summary=None)

    await charge_order(app, order)
    await charge_order(app, replace(order, return_url="https://shop.example/back"))

    nowhere, back = (json.loads(request.body)["back_url"] for request in wire.sent)
    assert nowhere == ""
    assert back.startswith("https://gate.example/v1/shopper/")


async def test_what_reconcile_decided_first_is_the_truth(app: App, wire: ScriptedWire) -> None:
    """Two processes that complete one attempt never answer differently."""
    started = await start(app)
    wire.script = [Silent()]
    await complete_overdue(app, started)
    assert isinstance(app.clock, FixedClock)
    app.clock.at += SECOND

    answer = await conclude(app, started, Verdict(outcome=Outcome.APPROVED, code="000.100.110"), None)

    assert json.loads(answer.body)["result"]["code"] == "900.100.300"
    payment = await find_payment(app.database, MERCHANT.id, started.id)
    assert payment is not None
    assert payment.state is State.DECLINED
