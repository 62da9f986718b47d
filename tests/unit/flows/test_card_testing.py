"""Payments of an app that stops card testing: a refused one is recorded, and nothing of it is sent."""

from __future__ import annotations

import json

import msgspec
import pytest

from tollgate.catalog.card_testing import COUNTERS
from tollgate.flows.pay import look_up, pay
from tollgate.operations.app import App, Call
from tollgate.operations.card_testing import CardTesting
from tollgate.payments.order import Customer, Details, Order
from tollgate.payments.payment import State
from unit.app_fixture import CHANNEL, MERCHANT, ORDER, ScriptedWire

pytestmark = pytest.mark.anyio

DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'
BIN = COUNTERS["b"]


async def wait_no_time(_seconds: float) -> None:
    """Stands in for the waits, of which there are many."""


def make_order(number: int) -> Order:
    """An order of another address each time."""
    ip = f"198.51.{number // 250}.{number % 250}"
    return msgspec.structs.replace(ORDER, details=Details(customer=Customer(ip=ip)))


async def test_a_bin_with_many_declines_is_refused_whatever_the_addresses(app: App, wire: ScriptedWire) -> None:
    app = msgspec.structs.replace(app, card_testing=CardTesting(app.keyring, app.clock, pause=wait_no_time))
    wire.script = [DECLINED] * BIN.refuse_from
    for number in range(BIN.refuse_from):
        await pay(app, make_order(number), Call(CHANNEL, "ndc"))
    sent = len(wire.sent)
    assert sent == BIN.refuse_from

    answer = await pay(app, make_order(BIN.refuse_from), Call(CHANNEL, "ndc"))

    assert json.loads(answer.body)["result"]["code"] == "800.300.401"
    assert len(wire.sent) == sent
    written = await look_up(app, MERCHANT.id, json.loads(answer.body)["id"])
    assert written is not None
    assert (written.state, written.result_code) == (State.DECLINED, "800.300.401")
