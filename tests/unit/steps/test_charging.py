"""The money message of a first payment, and the address by which its shopper comes back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.contract import read_ticket
from tollgate.flows import settle_overdue
from tollgate.flows.pay import start_attempt
from tollgate.payments import Order, Outcome, Payment, State, Verdict
from tollgate.steps import House, charge, choose_route, conclude, make_shopper_url
from tollgate.store import find_payment, start_payment
from tollgate.values import SECOND, FixedClock, PaymentId, Secret, make_id
from tollgate.wire import Silent
from unit.premises import CHANNEL, MERCHANT, ORDER, ScriptedWire, open_house

pytestmark = pytest.mark.anyio


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def house(tmp_path: Path, wire: ScriptedWire) -> AsyncIterator[House]:
    house = replace(await open_house(tmp_path, wire), base_url="https://gate.example")
    yield house
    await house.database.close()


async def start(house: House, order: Order = ORDER) -> Payment:
    started = start_attempt(house, order, CHANNEL, "ndc", PaymentId(make_id()), 5)
    assert await start_payment(house.database, started, None, None)
    return started


async def charge_order(house: House, order: Order) -> Verdict:
    route = choose_route(house, CHANNEL, order.test_mode, order.brand)
    return await charge(house, order, await start(house, order), route)


async def test_the_shoppers_address_names_the_payment_and_hides_its_key(house: House) -> None:
    started = await start(house)

    bare, keyed = make_shopper_url(house, started), make_shopper_url(house, started, bytes(32))

    assert bare.startswith("https://gate.example/v1/shopper/")
    ticket = read_ticket(bare.rsplit("/", 1)[-1])
    assert ticket is not None
    assert (ticket.merchant_id, ticket.payment_id, len(ticket.key)) == (MERCHANT.id, started.id, 0)
    secret = read_ticket(keyed.rsplit("/", 1)[-1])
    assert secret is not None
    assert secret.key.matches(Secret("A" * 43))


async def test_an_order_with_an_objection_is_declined_and_not_sent(house: House, wire: ScriptedWire) -> None:
    verdict = await charge_order(house, replace(ORDER, objection="100.100.303"))

    assert (verdict.outcome, verdict.code) == (Outcome.DECLINED, "100.100.303")
    assert wire.sent == []


async def test_a_provider_is_told_where_the_shopper_comes_back_to(house: House, wire: ScriptedWire) -> None:
    order = replace(ORDER, brand="PAYPAL", method="VA", account=None, face=None)

    await charge_order(house, order)
    await charge_order(house, replace(order, return_url="https://shop.example/back"))

    nowhere, back = (json.loads(request.body)["back_url"] for request in wire.sent)
    assert nowhere == ""
    assert back.startswith("https://gate.example/v1/shopper/")


async def test_what_reconcile_decided_first_is_the_truth(house: House, wire: ScriptedWire) -> None:
    """Two who settle one attempt never tell two stories."""
    started = await start(house)
    wire.script = [Silent()]
    await settle_overdue(house, started)
    assert isinstance(house.clock, FixedClock)
    house.clock.at += SECOND

    answer = await conclude(house, started, Verdict(outcome=Outcome.APPROVED, code="000.100.110"), None)

    assert json.loads(answer.body)["result"]["code"] == "900.100.300"
    payment = await find_payment(house.database, MERCHANT.id, started.id)
    assert payment is not None
    assert payment.state is State.DECLINED
