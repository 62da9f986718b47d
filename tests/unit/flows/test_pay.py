"""Payments on a real store: write, send, write, answer."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.contract.fields import Fields
from tollgate.flows.pay import look_up, pay
from tollgate.flows.report import search
from tollgate.operations.app import App, Call
from tollgate.operations.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.payments.payment import IdempotencyKey, Payment, State
from tollgate.payments.reporting import Search, Window
from tollgate.store.payments import list_overdue
from tollgate.values import Conflict, FixedClock, MerchantId, Refusal
from tollgate.wire import Silent, Unsent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire

pytestmark = pytest.mark.anyio


def idempotency_key(app: App, key: str = "key", **values: str) -> IdempotencyKey:
    made = make_idempotency_key(app, key, CHANNEL, "POST", "/v1/payments", Fields(values, frozenset(), {}))
    assert made is not None
    return made


async def list_written(app: App) -> list[Payment]:
    return (await search(app, CHANNEL, Search(reference="order-0001"), Window(rows_max=10))).rows


async def test_a_payment_is_written_before_it_is_sent(app: App, wire: ScriptedWire) -> None:
    seen: list[int] = []

    async def count_started() -> None:
        seen.append(len(await list_overdue(app.database, NOW * 2, 10)))

    wire.meanwhile = count_started

    answer = await pay(app, ORDER, Call(CHANNEL, "ndc"))

    assert seen == [1]
    assert answer.status == 200
    assert await list_overdue(app.database, NOW * 2, 10) == []


async def test_an_approved_payment_is_read_as_it_was_answered(app: App) -> None:
    body = json.loads((await pay(app, ORDER, Call(CHANNEL, "ndc"))).body)

    payment = await look_up(app, MERCHANT.id, body["id"])

    assert payment is not None
    assert (payment.state, payment.result_code) == (State.APPROVED, "000.100.110")
    assert (body["ndc"], body["amount"]) == ("ndc", "92.00")
    assert [row.id for row in await list_written(app)] == [payment.id]


async def test_an_objection_is_recorded_and_nothing_is_sent(app: App, wire: ScriptedWire) -> None:
    answer = await pay(app, replace(ORDER, objection="100.100.101"), Call(CHANNEL, "ndc"))

    assert (answer.status, json.loads(answer.body)["result"]["code"]) == (400, "100.100.101")
    assert wire.sent == []
    assert len(await list_written(app)) == 1


async def test_what_never_left_is_tried_again_and_what_left_is_not(app: App, wire: ScriptedWire) -> None:
    wire.script = [Unsent()]
    assert (await pay(app, ORDER, Call(CHANNEL, "ndc"))).status == 200
    assert len({request.key for request in wire.sent}) == 1
    assert len(wire.sent) == 2

    wire.sent.clear()
    wire.script = [Silent()]
    assert json.loads((await pay(app, ORDER, Call(CHANNEL, "ndc"))).body)["result"]["code"] == "900.100.300"
    assert len(wire.sent) == 1


async def test_a_route_that_is_not_there_is_refused_before_anything_is_written(app: App) -> None:
    with pytest.raises(Refusal):
        await pay(app, replace(ORDER, test_mode=None), Call(CHANNEL, "ndc"))

    assert await list_written(app) == []


async def test_a_used_idempotency_key_answers_again_without_sending(app: App, wire: ScriptedWire) -> None:
    first = await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key(app, amount="92.00")))

    earlier = await find_earlier_answer(app, idempotency_key(app, amount="92.00"))
    raced = await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key(app, amount="92.00")))

    assert earlier is not None
    assert earlier.body == raced.body == first.body
    assert len(wire.sent) == 1


async def test_a_key_for_another_request_is_a_conflict(app: App) -> None:
    await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key(app, amount="92.00")))

    with pytest.raises(Conflict) as refused:
        await find_earlier_answer(app, idempotency_key(app, amount="1.00"))

    assert refused.value.result.code == "800.110.100"


async def test_a_key_in_flight_is_a_conflict_of_its_own(app: App, wire: ScriptedWire) -> None:
    codes: list[str] = []

    async def ask_again() -> None:
        with pytest.raises(Conflict) as refused:
            await find_earlier_answer(app, idempotency_key(app))
        codes.append(refused.value.result.code)

    wire.meanwhile = ask_again
    await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key(app)))

    assert codes == ["800.600.100"]


async def test_a_key_expires_by_business_time(app: App) -> None:
    await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key(app)))
    assert isinstance(app.clock, FixedClock)

    app.clock.at = NOW + LIMITS.idempotency_lifetime + 1

    assert await find_earlier_answer(app, idempotency_key(app)) is None
    assert (await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key(app, amount="1.00")))).status == 200


async def test_the_cvv_does_not_distinguish_two_requests(app: App) -> None:
    first, second = (idempotency_key(app, **{"card.cvv": cvv, "amount": "1"}) for cvv in ("123", "321"))

    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != idempotency_key(app, amount="2").fingerprint


async def test_another_merchants_payment_is_as_unknown_as_none(app: App) -> None:
    payment_id = json.loads((await pay(app, ORDER, Call(CHANNEL, "ndc"))).body)["id"]

    assert await look_up(app, MerchantId("8a" + "9" * 30), payment_id) is None
    assert await look_up(app, MERCHANT.id, payment_id[:-1]) is None
    assert await look_up(app, MERCHANT.id, "\0") is None
