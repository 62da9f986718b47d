"""A bank's report is certain: nothing is sent, the same rows decide what it moves, and misfits are refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.flows.recover import complete_overdue
from tollgate.operations import charging
from tollgate.operations.app import App
from tollgate.operations.signing import make_signature
from tollgate.payments.chain import Plan, count_chain, decide_follow_up
from tollgate.payments.completion import list_entries
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance
from tollgate.payments.payment import Payment, State
from tollgate.store import audit
from tollgate.values import Conflict, Refusal
from unit.app_fixture import CHANNEL, MERCHANT, ScriptedWire
from unit.flows.chains import begin, follow, happen, make_request, meddle_with, read, read_answered, read_chain

pytestmark = pytest.mark.anyio


async def check_ledgers(app: App, first: Payment) -> None:
    """Balances are what the chain adds up to; every entry that is due is in the ledger; every row has its signature."""
    rows = await read_chain(app, first)
    assert {row.id: row.balance for row in rows} == count_chain(rows)
    due = {entry.id for row in rows for entry in list_entries(row)}
    assert {entry.id for entry in await audit.ENTRIES.list_by_ids(app.database, MERCHANT.id, sorted(due))} == due
    assert all(row.mac == make_signature(row, app.keyring) for row in rows)


async def refuse(app: App, named: Payment, payment_type: str, amount: int | None = None) -> str:
    before = await read_chain(app, named)
    with pytest.raises(Refusal) as refused:
        await happen(app, named, payment_type, amount)
    assert await read_chain(app, named) == before
    return refused.value.result.code


async def test_a_chargeback_moves_the_money_and_bars_a_refund(app: App, wire: ScriptedWire) -> None:
    debit = await begin(app)
    wire.sent.clear()

    chargeback = await happen(app, debit, "CB", notice="000.100.203")

    assert wire.sent == []
    assert (chargeback.action, chargeback.result_code) == (Action.CHARGEBACK, "000.100.203")
    assert (chargeback.state, chargeback.money) == (State.APPROVED, debit.money)
    assert (await read(app, debit.id)).balance == Balance(disputed=9_200, chain_length=2, chain_net=-9_200)
    refund = await read_answered(app, await follow(app, debit, "RF", 100))
    assert refund.result_code == "700.300.600"
    await check_ledgers(app, debit)


async def test_a_chargeback_may_be_won_and_come_again(app: App) -> None:
    debit = await begin(app)
    chargeback = await happen(app, debit, "CB")
    won = await happen(app, chargeback, "CR")
    assert (await read(app, debit.id)).balance.disputed == 0

    again = await happen(app, won, "CB")

    assert again.action is Action.REPEATED_CHARGEBACK
    assert (await read(app, debit.id)).balance.disputed == 9_200
    assert await refuse(app, chargeback, "CR") == "700.400.410"
    assert await refuse(app, won, "CB") == "700.400.400"
    await check_ledgers(app, debit)


async def test_a_refund_that_comes_back_may_be_made_again(app: App) -> None:
    debit = await begin(app)
    refund = await read_answered(app, await follow(app, debit, "RF", 9_200))

    returned = await happen(app, refund, "CB")

    assert returned.action is Action.RETURN
    assert (await read(app, debit.id)).left == 9_200
    second = await read_answered(app, await follow(app, debit, "RF", 9_200))
    assert second.state is State.APPROVED
    await check_ledgers(app, debit)


async def test_a_receipt_draws_on_the_authorization_and_is_refundable(app: App) -> None:
    authorisation = await begin(app, "PA")

    receipt = await happen(app, authorisation, "RC", 5_000)

    assert receipt.result_code == "000.100.110"
    assert (await read(app, authorisation.id)).left == 4_200
    assert (await read_answered(app, await follow(app, receipt, "RF", 5_000))).state is State.APPROVED
    assert await refuse(app, authorisation, "RC", 4_201) == "700.400.100"
    await check_ledgers(app, authorisation)


async def test_a_fact_that_fits_nothing_is_refused_and_leaves_no_trace(app: App) -> None:
    debit, authorisation = await begin(app), await begin(app, "PA")

    assert await refuse(app, debit, "RC", 100) == "700.400.560"
    assert await refuse(app, debit, "CR") == "700.400.420"
    assert await refuse(app, authorisation, "CB") == "700.400.550"
    assert await refuse(app, debit, "CB", 9_201) == "700.400.400"


async def test_a_fact_that_was_written_and_not_completed_is_completed_as_what_it_is(app: App) -> None:
    """A process died between the two writes."""
    debit = await begin(app)
    context = await charging.read_chain_context(app, debit)
    decision = decide_follow_up(
        charging.make_follow_up_request(make_request("CB"), debit), context, charging.make_terms(app, CHANNEL, debit)
    )
    assert isinstance(decision, Plan)
    bare = replace(charging.start_after(app, debit, "CB", "ndc"), result_code="000.100.200")
    assert await app.database.write(
        charging.start_writes(charging.plan_attempt(bare, decision), context, decision), label="test"
    )

    [_, left_behind] = await read_chain(app, debit)
    await complete_overdue(app, left_behind)

    [_, chargeback] = await read_chain(app, debit)
    assert (chargeback.state, chargeback.result_code) == (State.APPROVED, "000.100.200")
    assert (await read(app, debit.id)).balance.disputed == 9_200
    await check_ledgers(app, debit)


async def test_facts_that_race_are_judged_again(app: App) -> None:
    debit = await begin(app)
    neighbours = [1]

    async def meddle() -> bool:
        if neighbours:
            neighbours.pop()
            await happen(app, debit, "CB", 100)
        return True

    with pytest.raises(Refusal) as refused:
        await happen(meddle_with(app, meddle), debit, "CB")

    assert refused.value.result.code == "700.400.400"
    assert (await read(app, debit.id)).balance.disputed == 100


async def test_a_fact_that_never_comes_through_is_a_conflict(app: App) -> None:
    debit = await begin(app)

    async def refuse_all() -> bool:
        return False

    with pytest.raises(Conflict):
        await happen(meddle_with(app, refuse_all), debit, "CB")
