"""Follow-ups that share a commit: numbered and guarded as if each had its own, and each fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from databases.chained import APPROVED, CHAIN_MAX, begin, check_chain, finish, follow, plan_attempt, read, reserve
from databases.samples import MERCHANT, make_idempotency_key, make_payment
from databases.test_lost_connections import lay_cable
from postgres import PostgresCluster
from tollgate.contract.answers import Answer
from tollgate.payments.chain import FollowUpRequest, Plan, list_start_changes
from tollgate.payments.completion import complete
from tollgate.payments.ledger import Balance, BalanceChange
from tollgate.payments.payment import Payment
from tollgate.payments.splits import Share
from tollgate.store.database import Database, Unavailable, Unconfirmed, Unwritable
from tollgate.store.idempotency import find_idempotency_record
from tollgate.store.named_payments import find_with_first
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, find_payment, list_chain, start_follow_up
from tollgate.values import MerchantId, Money

pytestmark = pytest.mark.anyio

STRANGER = MerchantId("8a" + "9" * 30)
REFUND = FollowUpRequest(payment_type="RF", money=Money(1_000, "EUR"))


def plan(named: Payment, first: Payment | None = None) -> tuple[Payment, list[BalanceChange]]:
    attempt, decided = plan_attempt(named, first or named, REFUND)
    return attempt, list_start_changes(attempt, decided, named.id)


@pytest.fixture
def postgres_url(cluster: PostgresCluster, postgres_template: str) -> str:
    return cluster.create_database(postgres_template)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    db = await open_database(url)
    try:
        yield db
    finally:
        await db.close()


async def test_the_answer_is_the_number_within_the_chain(db: Database) -> None:
    debits = [await begin(db, "DB") for _ in range(3)]
    planned = [plan(debits[n]) for n in (0, 1, 0, 2, 0)]

    numbers = await asyncio.gather(*(start_follow_up(db, *each, None) for each in planned))

    assert numbers == [2, 2, 3, 2, 4]
    assert [(await read(db, attempt.id)).position for attempt, _ in planned] == numbers


async def test_refunds_of_many_payments_and_captures_at_once_leave_every_balance_right(db: Database) -> None:
    holds = [await begin(db, "PA") for _ in range(3)]
    captures = [await follow(db, await read(db, hold.id), "CP", 4_000) for hold in holds for _ in range(2)]
    firsts = {hold.id: await read(db, hold.id) for hold in holds}
    planned = [plan(capture, firsts[capture.first_id]) for capture in captures for _ in range(3)]

    assert all(await asyncio.gather(*(start_follow_up(db, *each, None) for each in planned)))
    await asyncio.gather(*(finish(db, attempt) for attempt, _ in planned))

    for hold in holds:
        chain = await check_chain(db, hold.id)
        assert (len(chain), chain[hold.id].balance.chain_net) == (9, 2_000)


async def test_payments_that_are_named_at_once_are_read_with_the_first_of_their_chains(db: Database) -> None:
    hold, debit = await begin(db, "PA"), await begin(db, "DB")
    capture = await follow(db, hold, "CP", 4_000)
    hold = await read(db, hold.id)
    named = [capture.id, debit.id, "8a" + "0" * 32, hold.id, capture.id]

    found = await asyncio.gather(*(find_with_first(db, MERCHANT, each) for each in named))

    assert found == [(capture, hold), (debit, debit), None, (hold, hold), (capture, hold)]
    assert await find_with_first(db, STRANGER, capture.id) is None


async def test_a_guard_of_either_payment_leaves_both_as_they_were(db: Database) -> None:
    first = await begin(db, "PA")
    capture = await follow(db, first, "CP", 4_000)
    before = await check_chain(db, first.id)

    for bounds in ({"left_min": 3_001}, {}):
        net = {} if bounds else {"net_min": 3_001}
        attempt = make_payment(payment_type="RF", referenced_id=capture.id, chain_id=first.id)
        changes = [
            BalanceChange(payment_id=capture.id, reserved=1_000, **bounds),
            BalanceChange(payment_id=first.id, chain_length=1, chain_net=-1_000, **net),
        ]
        assert await start_follow_up(db, attempt, changes, make_idempotency_key("key")) == 0

    assert await check_chain(db, first.id) == before
    assert await find_idempotency_record(db, first.merchant_id, first.channel_id, "key", 0) is None


async def test_one_key_at_the_same_moment_starts_one_follow_up_of_any_payment(db: Database) -> None:
    debits = [await begin(db, "DB") for _ in range(4)]
    planned = [plan(debit) for debit in debits for _ in range(2)]

    numbers = await asyncio.gather(*(start_follow_up(db, *each, make_idempotency_key("key")) for each in planned))

    assert sorted(numbers) == [0] * 7 + [2]
    for (attempt, _), number in zip(planned, numbers, strict=True):
        assert ((await find_payment(db, MERCHANT, attempt.id)) is None) is (number == 0)
    balances = [(await read(db, debit.id)).balance for debit in debits]
    assert sorted(balance.reserved for balance in balances) == [0, 0, 0, 1_000]


async def test_a_completion_keeps_the_answer_of_its_key(db: Database) -> None:
    debit = await begin(db, "DB")
    attempt, changes = plan(debit)
    key = make_idempotency_key("key")
    await start_follow_up(db, attempt, changes, key)
    started = await read(db, attempt.id)

    answer = Answer(200, b"refunded")
    assert await complete_payment(db, complete(started, APPROVED, started.created_at + 9), answer)

    record = await find_idempotency_record(db, debit.merchant_id, debit.channel_id, "key", 0)
    assert record is not None
    assert (record.payment_id, record.status, record.body) == (attempt.id, 200, b"refunded")


async def test_a_follow_up_that_cannot_be_written_fails_alone(db: Database) -> None:
    debits = [await begin(db, "DB") for _ in range(5)]
    planned = [plan(debit) for debit in debits]
    attempt, decided = plan_attempt(debits[0], debits[0], REFUND)
    await reserve(db, attempt, decided, debits[0])
    planned[2] = (make_twin(attempt, debits[2]), planned[2][1])

    answers = await asyncio.gather(*(start_follow_up(db, *each, None) for each in planned), return_exceptions=True)

    assert isinstance(answers.pop(2), Unwritable)
    assert answers == [3, 2, 2, 2]
    assert (await read(db, debits[2].id)).balance == Balance()


def make_twin(attempt: Payment, named: Payment) -> Payment:
    """An attempt with the id of one that is written already."""
    return make_payment(id=attempt.id, payment_type="RF", referenced_id=named.id, chain_id=named.id)


class WriteOnly:
    """A database that cannot be read any more."""

    def __init__(self, database: Database) -> None:
        self.write = database.write

    async def fetch_one(self, _statement: object, _params: object) -> None:
        raise Unavailable("gone")


async def test_a_split_follow_up_whose_number_cannot_be_read_is_not_told_to_come_again(db: Database) -> None:
    debit = await begin(db, "DB")
    attempt, changes = plan(debit)
    write_only: Any = WriteOnly(db)

    with pytest.raises(Unconfirmed, match="was started"):
        await start_follow_up(write_only, replace(attempt, split=(Share("ann", 1_000),)), changes, None)

    assert (await read(db, attempt.id)).position == 2


async def test_two_processes_never_reserve_more_than_there_is(postgres_url: str) -> None:
    """Their statements begin before the other's commit, so what they test is what they have locked."""
    async with opened(postgres_url) as one, opened(postgres_url) as other:
        hold = await begin(one, "PA", 20_000)
        captures = [await follow(one, await read(one, hold.id), "CP", 10_000) for _ in range(2)]
        first = await read(one, hold.id)
        planned = [plan(capture, first) for _ in range(15) for capture in captures]

        numbers = await asyncio.gather(
            *(start_follow_up((one, other)[n // 2 % 2], *each, None) for n, each in enumerate(planned))
        )

        won = [attempt for (attempt, _), number in zip(planned, numbers, strict=True) if number]
        assert sorted(number for number in numbers if number) == list(range(4, 24))
        await asyncio.gather(*(finish((one, other)[n % 2], attempt) for n, attempt in enumerate(won)))
        chain = await check_chain(one, hold.id)
        assert [chain[capture.id].left for capture in captures] == [0, 0]


async def test_two_rows_of_one_chain_in_one_statement_never_lose_a_reservation(postgres_url: str) -> None:
    """The batches keep them apart; if they did not, the later one would be decided again."""
    async with opened(postgres_url) as db:
        debit, other = [await begin(db, "DB") for _ in range(2)]
        writers: Any = db
        writers._writers["follow_up"]._batcher._get_key = None

        numbers = await asyncio.gather(
            *(start_follow_up(db, *plan(named), None) for named in (debit, debit, other, debit))
        )

        assert numbers == [2, 0, 2, 0]
        await check_chain(db, debit.id)
        assert (await read(db, debit.id)).balance.reserved == 1_000


async def test_follow_ups_whose_answer_was_lost_are_found_again_with_their_numbers(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url), opened(url) as db:
        debits = [await begin(db, "DB") for _ in range(3)]
        planned = [plan(debit) for debit in debits]
        cable.cut_reply_to = planned[0][0].id.encode()

        numbers = await asyncio.gather(
            *(start_follow_up(db, *each, make_idempotency_key(f"key-{n % 2}")) for n, each in enumerate(planned))
        )

        assert (cable.cuts, numbers) == (1, [2, 2, 0])
        for debit in debits:
            assert len(await check_chain(db, debit.id)) == (1 if debit is debits[2] else 2)


async def test_a_reservation_of_everything_whose_answer_was_lost_is_made_once(
    cluster: PostgresCluster, postgres_url: str
) -> None:
    async with lay_cable(cluster, postgres_url) as (cable, url), opened(url) as db:
        debit = await begin(db, "DB")
        attempt, decided = plan_attempt(debit, debit, FollowUpRequest(payment_type="RV"))
        assert isinstance(decided, Plan)
        cable.cut_reply_to = debit.id.encode()
        assert await find_with_first(db, MERCHANT, debit.id) == (debit, debit)
        cable.cut_reply_to = attempt.id.encode()

        assert await reserve(db, attempt, decided, debit)
        cable.cut_reply_to = attempt.id.encode()
        assert await complete_payment(db, complete(attempt, APPROVED, attempt.created_at + 9))

        assert cable.cuts == 3
        assert (await read(db, debit.id)).balance.drawn == 10_000
        assert len(await list_chain(db, MERCHANT, debit.id, CHAIN_MAX)) == 2
        await check_chain(db, debit.id)
