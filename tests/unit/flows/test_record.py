"""What a bank brings is certain: nothing is sent, the same rows decide what it moves, and misfits are refused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.flows import settle_overdue
from tollgate.payments import Action, Balance, Payment, Plan, State, count_chain, judge, list_lines
from tollgate.steps import (
    House,
    make_deep_link,
    make_start_steps,
    make_terms,
    make_wish,
    plan_attempt,
    seal_facts,
    start_after,
)
from tollgate.store import find_lines
from tollgate.values import Conflict, Refusal
from unit.flows.telling import begin, follow, happen, make_request, meddle_with, read, read_answered, read_chain
from unit.premises import CHANNEL, MERCHANT, ScriptedWire

pytestmark = pytest.mark.anyio


async def check_books(house: House, first: Payment) -> None:
    """Balances are what the chain adds up to; every line that is due is in the book; every row has its seal."""
    rows = await read_chain(house, first)
    assert {row.id: row.balance for row in rows} == count_chain(rows)
    due = {line.id for row in rows for line in list_lines(row)}
    assert {line.id for line in await find_lines(house.database, MERCHANT.id, sorted(due))} == due
    assert all(row.mac == seal_facts(row, house.keyring) for row in rows)


async def refuse(house: House, named: Payment, kind: str, amount: int | None = None) -> str:
    before = await read_chain(house, named)
    with pytest.raises(Refusal) as refused:
        await happen(house, named, kind, amount)
    assert await read_chain(house, named) == before
    return refused.value.result.code


async def test_a_chargeback_moves_the_money_and_bars_a_refund(house: House, wire: ScriptedWire) -> None:
    debit = await begin(house)
    wire.sent.clear()

    chargeback = await happen(house, debit, "CB", notice="000.100.203")

    assert wire.sent == []
    assert (chargeback.action, chargeback.result_code) == (Action.CHARGEBACK, "000.100.203")
    assert (chargeback.state, chargeback.money) == (State.APPROVED, debit.money)
    assert (await read(house, debit.id)).balance == Balance(disputed=9_200, chain_length=2, chain_net=-9_200)
    refund = await read_answered(house, await follow(house, debit, "RF", 100))
    assert refund.result_code == "700.300.600"
    await check_books(house, debit)


async def test_a_chargeback_may_be_won_and_come_again(house: House) -> None:
    debit = await begin(house)
    chargeback = await happen(house, debit, "CB")
    won = await happen(house, chargeback, "CR")
    assert (await read(house, debit.id)).balance.disputed == 0

    again = await happen(house, won, "CB")

    assert again.action is Action.REPEATED_CHARGEBACK
    assert (await read(house, debit.id)).balance.disputed == 9_200
    assert await refuse(house, chargeback, "CR") == "700.400.410"
    assert await refuse(house, won, "CB") == "700.400.400"
    await check_books(house, debit)


async def test_a_refund_that_comes_back_may_be_made_again(house: House) -> None:
    debit = await begin(house)
    refund = await read_answered(house, await follow(house, debit, "RF", 9_200))

    returned = await happen(house, refund, "CB")

    assert returned.action is Action.RETURN
    assert (await read(house, debit.id)).left == 9_200
    second = await read_answered(house, await follow(house, debit, "RF", 9_200))
    assert second.state is State.APPROVED
    await check_books(house, debit)


async def test_a_receipt_draws_on_the_authorisation_and_is_refundable(house: House) -> None:
    authorisation = await begin(house, "PA")

    receipt = await happen(house, authorisation, "RC", 5_000)

    assert receipt.result_code == "000.100.110"
    assert (await read(house, authorisation.id)).left == 4_200
    assert (await read_answered(house, await follow(house, receipt, "RF", 5_000))).state is State.APPROVED
    assert await refuse(house, authorisation, "RC", 4_201) == "700.400.100"
    await check_books(house, authorisation)


async def test_a_fact_that_fits_nothing_is_refused_and_leaves_no_trace(house: House) -> None:
    debit, authorisation = await begin(house), await begin(house, "PA")

    assert await refuse(house, debit, "RC", 100) == "700.400.560"
    assert await refuse(house, debit, "CR") == "700.400.420"
    assert await refuse(house, authorisation, "CB") == "700.400.550"
    assert await refuse(house, debit, "CB", 9_201) == "700.400.400"


async def test_a_fact_that_was_written_and_not_settled_is_settled_as_what_it_is(house: House) -> None:
    """A process died between the two writes."""
    debit = await begin(house)
    link = await make_deep_link(house, debit)
    decision = judge(make_wish(make_request("CB"), debit), link, make_terms(house, CHANNEL, debit))
    assert isinstance(decision, Plan)
    bare = replace(start_after(house, debit, "CB", "ndc"), result_code="000.100.200")
    assert await house.database.write(make_start_steps(plan_attempt(bare, decision), link, decision))

    [_, left_behind] = await read_chain(house, debit)
    await settle_overdue(house, left_behind)

    [_, chargeback] = await read_chain(house, debit)
    assert (chargeback.state, chargeback.result_code) == (State.APPROVED, "000.100.200")
    assert (await read(house, debit.id)).balance.disputed == 9_200
    await check_books(house, debit)


async def test_facts_that_race_are_judged_again(house: House) -> None:
    debit = await begin(house)
    neighbours = [1]

    async def meddle() -> bool:
        if neighbours:
            neighbours.pop()
            await happen(house, debit, "CB", 100)
        return True

    with pytest.raises(Refusal) as refused:
        await happen(meddle_with(house, meddle), debit, "CB")

    assert refused.value.result.code == "700.400.400"
    assert (await read(house, debit.id)).balance.disputed == 100


async def test_a_fact_that_never_comes_through_is_a_conflict(house: House) -> None:
    debit = await begin(house)

    async def refuse_all() -> bool:
        return False

    with pytest.raises(Conflict):
        await happen(meddle_with(house, refuse_all), debit, "CB")
