"""The story of what follows a payment, told against a real store: judge, reserve, send, settle, answer."""

from __future__ import annotations

import dataclasses
import json
import sys

import pytest
from msgspec.structs import replace

from tollgate.catalog import LIMITS
from tollgate.catalog.limits import Limits
from tollgate.contract import Fields
from tollgate.flows import find_earlier_answer, make_claim, settle_overdue
from tollgate.payments import Action, Balance, Claim, Door, Errand, State, TestMode, list_lines
from tollgate.steps import House, seal_facts
from tollgate.store import find_lines, list_events
from tollgate.values import DAY, HUNDREDTHS_MAX, ChannelId, Conflict, FixedClock, MerchantId, Money, Refusal
from tollgate.wire import Silent, Unsent
from unit.flows.telling import (
    DECLINED,
    PENDING,
    begin,
    follow,
    lease_jobs,
    meddle_with,
    read,
    read_answered,
    read_chain,
    show,
    tell,
)
from unit.premises import CHANNEL, MERCHANT, NOW, ScriptedWire

pytestmark = pytest.mark.anyio


def make_key(house: House, named_id: str, **values: str) -> Claim:
    claim = make_claim(house, "key", CHANNEL, "POST", f"/v1/payments/{named_id}", Fields(values, frozenset(), {}))
    assert claim is not None
    return claim


async def test_it_is_written_and_its_amount_reserved_before_it_is_sent(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "PA")
    seen: list[Balance] = []

    async def look() -> None:
        seen.append((await read(house, named.id)).balance)
        assert [row.state for row in await read_chain(house, named)] == [State.APPROVED, State.STARTED]

    wire.meanwhile = look
    await follow(house, named, "CP", 4_000)

    assert seen == [Balance(held=4_000, draws=1, chain_length=2)]


async def test_a_success_is_answered_sealed_booked_and_announced(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "PA", echo={"lifecycleId": "life-0001"})

    answer = await follow(house, named, "CP", 4_000, merchant_transaction_id="parcel-1")

    capture = await read_answered(house, answer)
    body = json.loads(answer.body)
    assert tell(answer) == (200, "000.100.110")
    assert (body["referencedId"], body["amount"], body["currency"]) == (named.id, "40.00", "EUR")
    assert (body["descriptor"], capture.merchant_transaction_id) == ("Shop", "parcel-1")
    assert (capture.action, capture.position, capture.chain_id) == (Action.CAPTURE, 2, named.id)
    assert capture.echo["lifecycleId"] == "life-0001"
    assert capture.mac == seal_facts(capture, house.keyring)
    assert len(await find_lines(house.database, MERCHANT.id, [line.id for line in list_lines(capture)])) == 1
    assert capture.id in {event.subject_id for event in await list_events(house.database, MERCHANT.id)}
    message = show(wire.sent[-1])
    assert (message["type"], message["original"], message["amount"]) == ("capture", named.id, 4_000)
    assert message["key"] == capture.id


async def test_a_decline_gives_the_reservation_back(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "PA")
    wire.script = [DECLINED]

    answer = await follow(house, named, "CP", 4_000, is_final=True)

    assert answer.status == 400
    assert (await read(house, named.id)).balance == Balance(chain_length=2)
    assert tell(await follow(house, named, "CP", 9_200)) == (200, "000.100.110")


async def test_what_never_left_gives_the_reservation_back(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "DB")
    wire.script = [Unsent(), Unsent()]

    answer = await follow(house, named, "RF", 4_000)

    assert (await read_answered(house, answer)).state is State.DECLINED
    assert (await read(house, named.id)).left == 9_200
    assert await lease_jobs(house) == []


@pytest.mark.parametrize("line", [Silent(), b"{", PENDING], ids=["silent", "garbled", "pending"])
@pytest.mark.parametrize(("begun", "kind", "amount"), [("PA", "CP", 4_000), ("PA", "RV", None), ("DB", "RF", 4_000)])
async def test_what_nobody_knows_answers_pending_and_keeps_its_reservation(
    house: House, wire: ScriptedWire, begun: str, kind: str, amount: int | None, line: bytes | Exception
) -> None:
    named = await begin(house, begun)
    wire.script = [line]

    answer = await follow(house, named, kind, amount)

    assert tell(answer) == (200, "000.200.000")
    assert (await read(house, named.id)).balance.held == (amount or 9_200)
    [job] = await lease_jobs(house)
    assert (job.topic, job.subject_id) == (Errand.REPEAT, json.loads(answer.body)["id"])


async def test_a_silent_increment_fails_and_is_reversed(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "PA")
    wire.script = [Silent()]

    answer = await follow(house, named, "PA", 800, practice="INCREMENTAL_AUTH")

    assert tell(answer) == (400, "900.100.300")
    assert (await read(house, named.id)).total == 9_200
    [job] = await lease_jobs(house)
    assert job.topic == Errand.REVERSE


async def test_an_authorisation_raised_by_the_largest_amounts_can_still_be_raised_and_captured(house: House) -> None:
    named = await begin(house, "PA", money=Money(HUNDREDTHS_MAX, "EUR"))

    for _ in range(95):
        answer = await follow(house, named, "PA", HUNDREDTHS_MAX, practice="INCREMENTAL_AUTH")
        assert tell(answer) == (200, "000.100.110")

    assert tell(await follow(house, named, "CP", HUNDREDTHS_MAX)) == (200, "000.100.110")
    assert (await read(house, named.id)).left == 95 * HUNDREDTHS_MAX


async def test_what_is_refused_is_written_numbered_and_sealed_and_nothing_is_sent(
    house: House, wire: ScriptedWire
) -> None:
    named = await begin(house, "PA")
    wire.sent.clear()

    answer = await follow(house, named, "CP", 9_201)

    refused = await read_answered(house, answer)
    assert tell(answer) == (400, "700.400.100")
    assert wire.sent == []
    assert (refused.state, refused.action, refused.position) == (State.DECLINED, None, 2)
    assert refused.money == Money(9_201, "EUR")
    assert refused.mac == seal_facts(refused, house.keyring)
    assert (await read(house, named.id)).balance == Balance(chain_length=2)


@pytest.mark.parametrize(("kind", "code"), [("RC", "700.400.562"), ("CB", "700.400.402"), ("CR", "700.400.402")])
async def test_what_only_the_system_makes_cannot_be_asked_for(house: House, kind: str, code: str) -> None:
    assert tell(await follow(house, await begin(house), kind, 100)) == (400, code)


async def test_another_merchants_payment_is_unknown_and_another_channels_is_named(house: House) -> None:
    named = await begin(house)
    channels = {
        "700.400.580": replace(CHANNEL, merchant_id=MerchantId("8a" + "9" * 30)),
        "700.400.700": replace(CHANNEL, id=ChannelId("8a" + "9" * 30)),
    }

    for code, channel in channels.items():
        with pytest.raises(Refusal) as refused:
            await follow(house, named, "RF", 100, channel=channel)
        assert refused.value.result.code == code
    assert len(await read_chain(house, named)) == 1


@pytest.mark.parametrize(
    ("kind", "code"), [("CP", "700.400.510"), ("RV", "700.400.530"), ("RF", "600.200.500"), ("RB", "700.400.580")]
)
async def test_a_lenient_channel_hears_of_an_unknown_payment_as_its_clients_expect(
    house: House, kind: str, code: str
) -> None:
    unknown = replace(await begin(house), id="8a" + "0" * 30)

    with pytest.raises(Refusal) as refused:
        await follow(house, unknown, kind, 100, channel=replace(CHANNEL, is_lenient=True))

    assert refused.value.result.code == code


async def test_another_test_mode_is_refused(house: House) -> None:
    answer = await follow(house, await begin(house), "RF", 100, test_mode=TestMode.EXTERNAL)

    assert tell(answer) == (400, "700.100.600")


async def test_an_authorisation_expires_by_business_time(house: House) -> None:
    named = await begin(house, "PA")
    assert isinstance(house.clock, FixedClock)

    house.clock.at = NOW + 7 * DAY - 1
    assert tell(await follow(house, named, "CP", 100)) == (200, "000.100.110")
    house.clock.at += 1
    assert tell(await follow(house, named, "CP", 100)) == (400, "700.300.400")


async def test_a_key_answers_again_and_moves_nothing_twice(house: House, wire: ScriptedWire) -> None:
    named = await begin(house)
    first = await follow(house, named, "RF", 4_000, claim=make_key(house, named.id))
    sent = len(wire.sent)

    earlier = await find_earlier_answer(house, make_key(house, named.id))
    raced = await follow(house, named, "RF", 4_000, claim=make_key(house, named.id))

    assert earlier is not None
    assert first.body == earlier.body == raced.body
    assert len(wire.sent) == sent
    assert (await read(house, named.id)).balance.drawn == 4_000


async def test_a_neighbour_that_was_faster_is_noticed_and_the_request_judged_again(house: House) -> None:
    named = await begin(house, "DB")
    neighbours = [7_000]

    async def meddle() -> bool:
        if neighbours:
            await follow(house, named, "RF", neighbours.pop())
        return True

    answer = await follow(meddle_with(house, meddle), named, "RF", 5_000)

    assert tell(answer) == (400, "700.400.200")
    assert (await read(house, named.id)).left == 2_200
    assert [row.money.hundredths for row in await read_chain(house, named)] == [9_200, 7_000, 5_000]


async def test_a_reservation_that_never_comes_through_is_a_conflict(house: House) -> None:
    named = await begin(house, "DB")
    tries: list[int] = []

    async def meddle() -> bool:
        tries.append(1)
        return False

    with pytest.raises(Conflict) as refused:
        await follow(meddle_with(house, meddle), named, "RF", 100)

    assert refused.value.result.code == "800.600.100"
    assert len(tries) == LIMITS.reservation_tries_max
    assert len(await read_chain(house, named)) == 1


async def test_where_reconcile_was_faster_its_word_is_the_answer(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "DB")

    async def give_up() -> None:
        wire.meanwhile = None
        await settle_overdue(house, (await read_chain(house, named))[-1])

    wire.meanwhile = give_up
    answer = await follow(house, named, "RF", 4_000)

    assert tell(answer) == (200, "000.200.000")
    assert (await read(house, named.id)).balance.held == 4_000


async def test_a_final_capture_tells_the_acquirer_and_closes_the_door(house: House, wire: ScriptedWire) -> None:
    named = await begin(house, "PA")

    await follow(house, named, "CP", 4_000, is_final=True, echo={"sequence": "FINAL"})

    assert show(wire.sent[-1])["is_final"] is True
    assert (await read(house, named.id)).balance.closed == Door.CAPTURES | Door.INCREMENTS
    assert tell(await follow(house, named, "CP", 1)) == (400, "700.400.100")


async def test_whoever_asks_in_vain_again_and_again_leaves_room_for_what_may_be(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["tollgate.flows.follow_up"], "LIMITS", replace_limits(chain_max=8))
    debit = await begin(house)
    for _ in range(3):
        assert tell(await follow(house, debit, "RF", 9_999)) == (400, "700.400.200")

    with pytest.raises(Refusal) as refused:
        await follow(house, debit, "RF", 9_999)
    assert refused.value.result.code == "700.400.200"
    for _ in range(4):
        assert tell(await follow(house, debit, "RF", 1))[0] == 200
    with pytest.raises(Refusal) as full:
        await follow(house, debit, "RF", 1)

    assert full.value.result.code == "700.500.001"
    assert (await read(house, debit.id)).balance.chain_length == 8


def replace_limits(**changes: int) -> Limits:
    return dataclasses.replace(LIMITS, **changes)
