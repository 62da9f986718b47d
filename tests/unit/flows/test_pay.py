"""The story of a payment, told against a real store: write, send, write, answer."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from tollgate.catalog import LIMITS
from tollgate.contract import Fields
from tollgate.flows import find_earlier_answer, look_up, make_claim, pay, search
from tollgate.payments import Claim, Payment, Search, State, Window
from tollgate.steps import House
from tollgate.store import list_overdue
from tollgate.values import Conflict, FixedClock, MerchantId, Refusal
from tollgate.wire import Silent, Unsent
from unit.premises import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire

pytestmark = pytest.mark.anyio


def claim(house: House, key: str = "key", **values: str) -> Claim:
    made = make_claim(house, key, CHANNEL, "POST", "/v1/payments", Fields(values, frozenset(), {}))
    assert made is not None
    return made


async def list_written(house: House) -> list[Payment]:
    return (await search(house, CHANNEL, Search(reference="order-0001"), Window(rows_max=10))).rows


async def test_a_payment_is_written_before_it_is_sent(house: House, wire: ScriptedWire) -> None:
    seen: list[int] = []

    async def count_started() -> None:
        seen.append(len(await list_overdue(house.database, NOW * 2, 10)))

    wire.meanwhile = count_started

    answer = await pay(house, ORDER, CHANNEL, "ndc", None)

    assert seen == [1]
    assert answer.status == 200
    assert await list_overdue(house.database, NOW * 2, 10) == []


async def test_an_approved_payment_is_read_as_it_was_answered(house: House) -> None:
    body = json.loads((await pay(house, ORDER, CHANNEL, "ndc", None)).body)

    payment = await look_up(house, MERCHANT.id, body["id"])

    assert payment is not None
    assert (payment.state, payment.result_code) == (State.APPROVED, "000.100.110")
    assert (body["ndc"], body["amount"]) == ("ndc", "92.00")
    assert [row.id for row in await list_written(house)] == [payment.id]


async def test_an_objection_is_recorded_and_nothing_is_sent(house: House, wire: ScriptedWire) -> None:
    answer = await pay(house, replace(ORDER, objection="100.100.101"), CHANNEL, "ndc", None)

    assert (answer.status, json.loads(answer.body)["result"]["code"]) == (400, "100.100.101")
    assert wire.sent == []
    assert len(await list_written(house)) == 1


async def test_what_never_left_is_tried_again_and_what_left_is_not(house: House, wire: ScriptedWire) -> None:
    wire.script = [Unsent()]
    assert (await pay(house, ORDER, CHANNEL, "ndc", None)).status == 200
    assert len({request.key for request in wire.sent}) == 1
    assert len(wire.sent) == 2

    wire.sent.clear()
    wire.script = [Silent()]
    assert json.loads((await pay(house, ORDER, CHANNEL, "ndc", None)).body)["result"]["code"] == "900.100.300"
    assert len(wire.sent) == 1


async def test_a_route_that_is_not_there_is_refused_before_anything_is_written(house: House) -> None:
    with pytest.raises(Refusal):
        await pay(house, replace(ORDER, test_mode=None), CHANNEL, "ndc", None)

    assert await list_written(house) == []


async def test_a_claimed_key_answers_again_without_sending(house: House, wire: ScriptedWire) -> None:
    first = await pay(house, ORDER, CHANNEL, "ndc", claim(house, amount="92.00"))

    earlier = await find_earlier_answer(house, claim(house, amount="92.00"))
    raced = await pay(house, ORDER, CHANNEL, "ndc", claim(house, amount="92.00"))

    assert earlier is not None
    assert earlier.body == raced.body == first.body
    assert len(wire.sent) == 1


async def test_a_key_for_another_request_is_a_conflict(house: House) -> None:
    await pay(house, ORDER, CHANNEL, "ndc", claim(house, amount="92.00"))

    with pytest.raises(Conflict) as refused:
        await find_earlier_answer(house, claim(house, amount="1.00"))

    assert refused.value.result.code == "800.110.100"


async def test_a_key_in_flight_is_a_conflict_of_its_own(house: House, wire: ScriptedWire) -> None:
    codes: list[str] = []

    async def ask_again() -> None:
        with pytest.raises(Conflict) as refused:
            await find_earlier_answer(house, claim(house))
        codes.append(refused.value.result.code)

    wire.meanwhile = ask_again
    await pay(house, ORDER, CHANNEL, "ndc", claim(house))

    assert codes == ["800.600.100"]


async def test_a_key_expires_by_business_time(house: House) -> None:
    await pay(house, ORDER, CHANNEL, "ndc", claim(house))
    assert isinstance(house.clock, FixedClock)

    house.clock.at = NOW + LIMITS.idempotency_lifetime + 1

    assert await find_earlier_answer(house, claim(house)) is None
    assert (await pay(house, ORDER, CHANNEL, "ndc", claim(house, amount="1.00"))).status == 200


async def test_the_cvv_does_not_tell_two_requests_apart(house: House) -> None:
    first, second = (claim(house, **{"card.cvv": cvv, "amount": "1"}) for cvv in ("123", "321"))

    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != claim(house, amount="2").fingerprint


async def test_another_merchants_payment_is_as_unknown_as_none(house: House) -> None:
    payment_id = json.loads((await pay(house, ORDER, CHANNEL, "ndc", None)).body)["id"]

    assert await look_up(house, MerchantId("8a" + "9" * 30), payment_id) is None
    assert await look_up(house, MERCHANT.id, payment_id[:-1]) is None
    assert await look_up(house, MERCHANT.id, "\0") is None
