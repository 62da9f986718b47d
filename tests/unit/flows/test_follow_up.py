"""Follow-ups on a real store: decide, reserve, send, complete, answer."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys

import pytest
from msgspec.structs import replace

from outbox import list_events
from tollgate.catalog.limits import LIMITS, Limits
from tollgate.contract.fields import Fields
from tollgate.flows.recover import complete_overdue
from tollgate.operations.app import App
from tollgate.operations.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.operations.signing import make_signature
from tollgate.payments.completion import list_entries
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance, Closure
from tollgate.payments.order import TestMode
from tollgate.payments.payment import IdempotencyKey, RecoveryTask, State
from tollgate.store import audit
from tollgate.values import DAY, HUNDREDTHS_MAX, ChannelId, Conflict, FixedClock, MerchantId, Money, Refusal
from tollgate.wire import Silent, Unsent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows.chains import (
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

pytestmark = pytest.mark.anyio


def make_key(app: App, named_id: str, **values: str) -> IdempotencyKey:
    fields = Fields(values, frozenset(), {})
    return make_idempotency_key(app, "key", CHANNEL, "POST", f"/v1/payments/{named_id}", fields)


async def test_it_is_written_and_its_amount_reserved_before_it_is_sent(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA")
    seen: list[Balance] = []

    async def look() -> None:
        seen.append((await read(app, named.id)).balance)
        assert [row.state for row in await read_chain(app, named)] == [State.APPROVED, State.STARTED]

    wire.meanwhile = look
    await follow(app, named, "CP", 4_000)

    assert seen == [Balance(reserved=4_000, counted=1, chain_length=2)]


async def test_a_success_is_answered_signed_entered_in_the_ledger_and_announced(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA", echo={"lifecycleId": "life-0001"})

    answer = await follow(app, named, "CP", 4_000, merchant_transaction_id="parcel-1")

    capture = await read_answered(app, answer)
    body = json.loads(answer.body)
    assert tell(answer) == (200, "000.100.110")
    assert (body["referencedId"], body["amount"], body["currency"]) == (named.id, "40.00", "EUR")
    assert (body["descriptor"], capture.merchant_transaction_id) == ("Shop", "parcel-1")
    assert (capture.action, capture.position, capture.chain_id) == (Action.CAPTURE, 2, named.id)
    assert capture.echo["lifecycleId"] == "life-0001"
    assert capture.mac == make_signature(capture, app.keyring)
    assert (
        len(await audit.ENTRIES.list_by_ids(app.database, MERCHANT.id, [entry.id for entry in list_entries(capture)]))
        == 1
    )
    assert capture.id in {event.subject_id for event in await list_events(app.database, MERCHANT.id)}
    message = show(wire.sent[-1])
    assert (message["type"], message["original"], message["amount"]) == ("capture", named.id, 4_000)
    assert message["key"] == capture.id


async def test_a_decline_gives_the_reservation_back(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA")
    wire.script = [DECLINED]

    answer = await follow(app, named, "CP", 4_000, is_final=True)

    assert answer.status == 400
    assert (await read(app, named.id)).balance == Balance(chain_length=2)
    assert tell(await follow(app, named, "CP", 9_200)) == (200, "000.100.110")


async def test_what_never_left_gives_the_reservation_back(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "DB")
    wire.script = [Unsent(), Unsent()]

    answer = await follow(app, named, "RF", 4_000)

    assert (await read_answered(app, answer)).state is State.DECLINED
    assert (await read(app, named.id)).left == 9_200
    assert await lease_jobs(app) == []


@pytest.mark.parametrize("entry", [Silent(), b"{", PENDING], ids=["silent", "garbled", "pending"])
@pytest.mark.parametrize(
    ("begun", "payment_type", "amount"), [("PA", "CP", 4_000), ("PA", "RV", None), ("DB", "RF", 4_000)]
)
async def test_what_nobody_knows_answers_pending_and_keeps_its_reservation(
    app: App, wire: ScriptedWire, begun: str, payment_type: str, amount: int | None, entry: bytes | Exception
) -> None:
    named = await begin(app, begun)
    wire.script = [entry]

    answer = await follow(app, named, payment_type, amount)

    assert tell(answer) == (200, "000.200.000")
    assert (await read(app, named.id)).balance.reserved == (amount or 9_200)
    [job] = await lease_jobs(app)
    assert (job.topic, job.subject_id) == (RecoveryTask.REPEAT, json.loads(answer.body)["id"])


async def test_a_silent_increment_fails_and_is_reversed(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA")
    wire.script = [Silent()]

    answer = await follow(app, named, "PA", 800, practice="INCREMENTAL_AUTH")

    assert tell(answer) == (400, "900.100.300")
    assert (await read(app, named.id)).total == 9_200
    [job] = await lease_jobs(app)
    assert job.topic == RecoveryTask.REVERSE


async def test_an_authorization_raised_by_the_largest_amounts_can_still_be_raised_and_captured(app: App) -> None:
    named = await begin(app, "PA", money=Money(HUNDREDTHS_MAX, "EUR"))

    for _ in range(95):
        answer = await follow(app, named, "PA", HUNDREDTHS_MAX, practice="INCREMENTAL_AUTH")
        assert tell(answer) == (200, "000.100.110")

    assert tell(await follow(app, named, "CP", HUNDREDTHS_MAX)) == (200, "000.100.110")
    assert (await read(app, named.id)).left == 95 * HUNDREDTHS_MAX


async def test_a_refused_follow_up_is_written_numbered_and_signed_and_nothing_is_sent(
    app: App, wire: ScriptedWire
) -> None:
    named = await begin(app, "PA")
    wire.sent.clear()

    answer = await follow(app, named, "CP", 9_201)

    refused = await read_answered(app, answer)
    assert tell(answer) == (400, "700.400.100")
    assert wire.sent == []
    assert (refused.state, refused.action, refused.position) == (State.DECLINED, None, 2)
    assert refused.money == Money(9_201, "EUR")
    assert refused.mac == make_signature(refused, app.keyring)
    assert (await read(app, named.id)).balance == Balance(chain_length=2)


@pytest.mark.parametrize(
    ("payment_type", "code"), [("RC", "700.400.562"), ("CB", "700.400.402"), ("CR", "700.400.402")]
)
async def test_what_only_the_system_makes_cannot_be_asked_for(app: App, payment_type: str, code: str) -> None:
    assert tell(await follow(app, await begin(app), payment_type, 100)) == (400, code)


async def test_another_merchants_payment_is_unknown_and_another_channels_is_named(app: App) -> None:
    named = await begin(app)
    channels = {
        "700.400.580": replace(CHANNEL, merchant_id=MerchantId("8a" + "9" * 30)),
        "700.400.700": replace(CHANNEL, id=ChannelId("8a" + "9" * 30)),
    }

    for code, channel in channels.items():
        with pytest.raises(Refusal) as refused:
            await follow(app, named, "RF", 100, channel=channel)
        assert refused.value.result.code == code
    assert len(await read_chain(app, named)) == 1


@pytest.mark.parametrize(
    ("payment_type", "code"),
    [("CP", "700.400.510"), ("RV", "700.400.530"), ("RF", "600.200.500"), ("RB", "700.400.580")],
)
async def test_a_lenient_channel_answers_an_unknown_payment_as_its_clients_expect(
    app: App, payment_type: str, code: str
) -> None:
    unknown = replace(await begin(app), id="8a" + "0" * 30)

    with pytest.raises(Refusal) as refused:
        await follow(app, unknown, payment_type, 100, channel=replace(CHANNEL, is_lenient=True))

    assert refused.value.result.code == code


async def test_another_test_mode_is_refused(app: App) -> None:
    answer = await follow(app, await begin(app), "RF", 100, test_mode=TestMode.EXTERNAL)

    assert tell(answer) == (400, "700.100.600")


async def test_an_authorization_expires_by_business_time(app: App) -> None:
    named = await begin(app, "PA")
    assert isinstance(app.clock, FixedClock)

    app.clock.at = NOW + 7 * DAY - 1
    assert tell(await follow(app, named, "CP", 100)) == (200, "000.100.110")
    app.clock.at += 1
    assert tell(await follow(app, named, "CP", 100)) == (400, "700.300.400")


async def test_a_key_answers_again_and_moves_nothing_twice(app: App, wire: ScriptedWire) -> None:
    named = await begin(app)
    first = await follow(app, named, "RF", 4_000, idempotency_key=make_key(app, named.id))
    sent = len(wire.sent)

    earlier = await find_earlier_answer(app, make_key(app, named.id))
    raced = await follow(app, named, "RF", 4_000, idempotency_key=make_key(app, named.id))

    assert earlier is not None
    assert first.body == earlier.body == raced.body
    assert len(wire.sent) == sent
    assert (await read(app, named.id)).balance.drawn == 4_000


async def test_a_neighbour_that_was_faster_is_noticed_and_the_request_judged_again(app: App) -> None:
    named = await begin(app, "DB")
    neighbours = [7_000]

    async def meddle() -> bool:
        if neighbours:
            await follow(app, named, "RF", neighbours.pop())
        return True

    answer = await follow(meddle_with(app, meddle), named, "RF", 5_000)

    assert tell(answer) == (400, "700.400.200")
    assert (await read(app, named.id)).left == 2_200
    assert [row.money.hundredths for row in await read_chain(app, named)] == [9_200, 7_000, 5_000]


async def test_a_reservation_that_never_comes_through_is_a_conflict(app: App) -> None:
    named = await begin(app, "DB")
    tries: list[int] = []

    async def meddle() -> bool:
        tries.append(1)
        return False

    with pytest.raises(Conflict) as refused:
        await follow(meddle_with(app, meddle), named, "RF", 100)

    assert refused.value.result.code == "800.600.100"
    assert len(tries) == LIMITS.reservation_tries_max
    assert len(await read_chain(app, named)) == 1


async def test_where_reconcile_was_faster_its_word_is_the_answer(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "DB")

    async def give_up() -> None:
        wire.meanwhile = None
        await complete_overdue(app, (await read_chain(app, named))[-1])

    wire.meanwhile = give_up
    answer = await follow(app, named, "RF", 4_000)

    assert tell(answer) == (200, "000.200.000")
    assert (await read(app, named.id)).balance.reserved == 4_000


async def test_a_final_capture_is_final_at_the_acquirer_and_sets_the_closure(app: App, wire: ScriptedWire) -> None:
    named = await begin(app, "PA")

    await follow(app, named, "CP", 4_000, is_final=True, echo={"sequence": "FINAL"})

    assert show(wire.sent[-1])["is_final"] is True
    assert (await read(app, named.id)).balance.closed == Closure.CAPTURES | Closure.INCREMENTS
    assert tell(await follow(app, named, "CP", 1)) == (400, "700.400.100")


async def test_whoever_asks_in_vain_again_and_again_leaves_room_for_what_may_be(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["tollgate.flows.follow_up"], "LIMITS", replace_limits(chain_max=8))
    debit = await begin(app)
    for _ in range(3):
        assert tell(await follow(app, debit, "RF", 9_999)) == (400, "700.400.200")

    with pytest.raises(Refusal) as refused:
        await follow(app, debit, "RF", 9_999)
    assert refused.value.result.code == "700.400.200"
    for _ in range(4):
        assert tell(await follow(app, debit, "RF", 1))[0] == 200
    with pytest.raises(Refusal) as full:
        await follow(app, debit, "RF", 1)

    assert full.value.result.code == "700.500.001"
    assert (await read(app, debit.id)).balance.chain_length == 8


def replace_limits(**changes: int) -> Limits:
    return dataclasses.replace(LIMITS, **changes)


async def test_of_two_refunds_of_a_chain_that_both_judged_one_is_made(app: App) -> None:
    named = await begin(app, "DB")
    judged = (await read_chain(app, named))[0]

    made = await asyncio.gather(
        *(follow(app, named, "RF", 1_000, judged=judged) for _ in range(2)), return_exceptions=True
    )

    assert [isinstance(each, Conflict) for each in made].count(True) == 1
    assert [row.payment_type for row in await read_chain(app, named)] == ["DB", "RF"]


async def test_a_refund_is_refused_if_the_chain_has_grown_since_it_was_judged(app: App) -> None:
    named = await begin(app, "DB")
    judged = (await read_chain(app, named))[0]
    await follow(app, named, "RF", 1_000)

    with pytest.raises(Conflict, match=r"800\.600\.100"):
        await follow(app, named, "RF", 1_000, judged=judged)

    assert len(await read_chain(app, named)) == 2
