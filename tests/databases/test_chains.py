"""Later transactions on both databases: reserved and numbered in one unit, bounded however many ask at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from databases.chained import (
    APPROVED,
    CHAIN_MAX,
    DECLINED,
    TERMS,
    begin,
    check_chain,
    finish,
    follow,
    plan_attempt,
    read,
    reserve,
)
from databases.samples import CHANNEL, MERCHANT, NOON, make_idempotency_key, make_payment
from outbox import list_events
from tollgate.contract.answers import Answer
from tollgate.payments.chain import (
    FollowUpRequest,
    list_start_changes,
)
from tollgate.payments.completion import complete, list_entries
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance, BalanceChange, Closure
from tollgate.payments.payment import Payment, State
from tollgate.store import audit
from tollgate.store.balances import balance_change_writes
from tollgate.store.database import Database
from tollgate.store.idempotency import find_idempotency_record
from tollgate.store.payments import (
    complete_payment,
    completion_writes,
    find_payment,
    list_chain,
    start_follow_up_writes,
)
from tollgate.store.statements import Dialect
from tollgate.values import MerchantId, Money, PaymentId

pytestmark = pytest.mark.anyio

# ---- one at a time ----


def test_both_writes_of_a_follow_up_lock_the_balance_before_the_key() -> None:
    """Otherwise a completion and a repeated request under the same key would wait for each other."""
    named = make_payment(payment_type="PA", state=State.APPROVED)
    attempt, plan = plan_attempt(named, named, FollowUpRequest(payment_type="CP", money=Money(4_000, "EUR")))
    starting = start_follow_up_writes(
        attempt, list_start_changes(attempt, plan, named.id), make_idempotency_key("key-1")
    )
    completing = completion_writes(complete(attempt, APPROVED, attempt.created_at + 9), Answer(200, b"{}"))

    for writes in (starting, completing):
        texts = [write.statement.compiled_for(Dialect.POSTGRESQL).text for write in writes]
        key = next(place for place, text in enumerate(texts) if "idempotency_keys" in text)
        balances = [place for place, text in enumerate(texts) if "chain_net" in text and text.startswith("UPDATE")]
        assert balances
        assert max(balances) < key


async def test_a_started_transaction_is_numbered_and_has_reserved_its_amount(db: Database) -> None:
    named = await begin(db, "PA")
    attempt, plan = plan_attempt(named, named, FollowUpRequest(payment_type="CP", money=Money(4_000, "EUR")))

    assert await reserve(db, attempt, plan, named)

    assert await read(db, attempt.id) == replace(attempt, position=2)
    assert (await read(db, named.id)).balance == Balance(reserved=4_000, counted=1, chain_length=2)


async def test_a_success_draws_what_was_reserved_and_writes_ledger_entries_in_one_commit(db: Database) -> None:
    named = await begin(db, "PA")

    capture = await follow(db, named, "CP", 4_000, is_final=True)

    balance = (await read(db, named.id)).balance
    assert balance == Balance(
        drawn=10_000, counted=1, chain_length=2, chain_net=4_000, closed=Closure.CAPTURES | Closure.INCREMENTS
    )
    entries = list_entries(capture)
    assert len(entries) == 2
    written = await audit.ENTRIES.list_by_ids(db, MERCHANT, [entry.id for entry in entries])
    assert sorted(written, key=lambda entry: entry.id) == entries
    assert capture.id in {event.subject_id for event in await list_events(db, MERCHANT)}


async def test_a_failure_gives_back_the_amount_and_removes_the_closure(db: Database) -> None:
    named = await begin(db, "PA")

    capture = await follow(db, named, "CP", 4_000, DECLINED, is_final=True)

    assert (await read(db, named.id)).balance == Balance(chain_length=2)
    assert list_entries(capture) == []


async def test_a_failure_reopens_only_what_it_had_closed_itself(db: Database) -> None:
    named = await begin(db, "PA")
    await follow(db, named, "PA", 500, practice="INCREMENTAL_AUTH", is_final=True)

    await follow(db, await read(db, named.id), "CP", 1, DECLINED, is_final=True)

    assert (await read(db, named.id)).balance.closed == Closure.INCREMENTS


async def test_a_transaction_is_completed_once(db: Database) -> None:
    named = await begin(db, "DB")
    refund = await follow(db, named, "RF", 4_000)
    again = complete(replace(refund, state=State.STARTED, result_code=""), APPROVED, NOON)

    assert not await complete_payment(db, again)

    assert (await read(db, named.id)).balance.drawn == 4_000
    await check_chain(db, named.id)


async def test_a_chain_of_chains_is_one_chain_and_is_read_in_its_order(db: Database) -> None:
    first = await begin(db, "PA")
    capture = await follow(db, first, "CP", 6_000)
    refund = await follow(db, capture, "RF", 2_000)
    rebill = await follow(db, await read(db, capture.id), "RB", 1_000)
    await begin(db, "DB")

    chain = await check_chain(db, first.id)

    assert list(chain) == [first.id, capture.id, refund.id, rebill.id]
    assert chain[first.id].balance.chain_net == 5_000
    assert await list_chain(db, MERCHANT, first.id, 2) == [chain[first.id], chain[capture.id]]
    assert await list_chain(db, MerchantId("8a" + "9" * 30), first.id, CHAIN_MAX) == []


async def test_an_idempotency_key_is_taken_in_the_commit_of_the_reservation(db: Database) -> None:
    named = await begin(db, "DB")
    request = FollowUpRequest(payment_type="RF", money=Money(1_000, "EUR"))
    (one, plan), (other, _) = plan_attempt(named, named, request), plan_attempt(named, named, request)
    balance_changes = [list_start_changes(attempt, plan, named.id) for attempt in (one, other)]

    assert await db.write(start_follow_up_writes(one, balance_changes[0], make_idempotency_key("key")), label="test")
    assert not await db.write(
        start_follow_up_writes(other, balance_changes[1], make_idempotency_key("key")), label="test"
    )

    idempotency_key = await find_idempotency_record(db, MERCHANT, CHANNEL, "key", 0)
    assert idempotency_key is not None
    assert idempotency_key.payment_id == one.id
    assert (await read(db, named.id)).balance == Balance(reserved=1_000, chain_length=2, chain_net=-1_000)


# ---- guards ----

CHANGED_BALANCE = Balance(
    added=500, drawn=3_000, reserved=2_000, disputed=7, counted=2, closed=Closure.REFUNDS, chain_net=-400
)
"""This leaves 55.00 of 100.00."""

GUARDS: list[tuple[dict[str, int], dict[str, int]]] = [
    ({"reserved": 5_500, "left_min": 0}, {"reserved": 5_501, "left_min": 0}),
    ({"drawn": 5_500, "left_min": 0}, {"drawn": 5_501, "left_min": 0}),
    ({"added": 1, "reserved": 5_501, "left_min": 0}, {"added": 1, "reserved": 5_502, "left_min": 0}),
    ({"reserved": 5_500, "left_max": 0}, {"reserved": 5_499, "left_max": 0}),
    ({"counted": 1, "counted_max": 3}, {"counted": 2, "counted_max": 3}),
    ({"disputed_max": 7}, {"disputed_max": 6}),
    ({"barred_by": Closure.CAPTURES | Closure.REBILLS}, {"barred_by": Closure.CAPTURES | Closure.REFUNDS}),
    ({"chain_net": -600, "net_min": -1_000}, {"chain_net": -601, "net_min": -1_000}),
]


@pytest.mark.parametrize(("allowed", "barred"), GUARDS, ids=[", ".join(row[0]) for row in GUARDS])
async def test_a_guard_holds_to_the_hundredth(db: Database, allowed: dict[str, int], barred: dict[str, int]) -> None:
    first = await begin(db, "PA")
    await set_balance(db, first)
    before = await read(db, first.id)
    assert before.left == 5_500

    assert not await db.write(change_and_start(first, **barred), label="test")
    assert await read(db, first.id) == before
    assert len(await list_chain(db, MERCHANT, first.id, CHAIN_MAX)) == 1

    assert await db.write(change_and_start(first, **allowed), label="test")
    assert len(await list_chain(db, MERCHANT, first.id, CHAIN_MAX)) == 2


async def test_one_guard_of_several_payments_undoes_the_whole_unit(db: Database) -> None:
    first = await begin(db, "PA")
    capture = await follow(db, first, "CP", 4_000)
    before = await check_chain(db, first.id)
    attempt = make_payment(payment_type="RF", referenced_id=capture.id, chain_id=first.id)
    balance_changes = [
        BalanceChange(payment_id=capture.id, reserved=1_000, left_min=0),
        BalanceChange(payment_id=first.id, chain_length=1, chain_net=-5_000, net_min=0),
    ]

    assert not await db.write(start_follow_up_writes(attempt, balance_changes), label="test")

    assert await check_chain(db, first.id) == before


async def test_a_payment_of_another_merchant_is_never_touched(db: Database) -> None:
    first = await begin(db, "PA")
    stranger = MerchantId("8a" + "9" * 30)
    attempt = make_payment(payment_type="CP", merchant_id=stranger, referenced_id=first.id, chain_id=first.id)

    assert not await db.write(
        start_follow_up_writes(attempt, [BalanceChange(payment_id=first.id, chain_length=1)]), label="test"
    )

    assert (await read(db, first.id)).balance == Balance()


@pytest.mark.parametrize("changes", [{"state": State.APPROVED}, {"chain_id": None}])
async def test_only_a_started_transaction_within_a_chain_is_written_so(db: Database, changes: dict[str, Any]) -> None:
    attempt = replace(
        make_payment(payment_type="CP", chain_id=PaymentId("8a01"), referenced_id=PaymentId("8a01")), **changes
    )

    with pytest.raises(ValueError, match="started, and within a chain"):
        start_follow_up_writes(attempt, [])
    assert await find_payment(db, MERCHANT, attempt.id) is None


def change_and_start(first: Payment, **balance_change: int) -> Any:
    attempt = make_payment(payment_type="CP", referenced_id=first.id, chain_id=first.id)
    return start_follow_up_writes(attempt, [BalanceChange(payment_id=first.id, chain_length=1, **balance_change)])


async def set_balance(db: Database, first: Payment) -> None:
    """Moves an untouched balance to the one above."""
    names = ("added", "drawn", "reserved", "disputed", "counted", "closed", "chain_net")
    balance_change = BalanceChange(payment_id=first.id, **{name: getattr(CHANGED_BALANCE, name) for name in names})
    assert await db.write(balance_change_writes(MERCHANT, balance_change), label="test")


# ---- many at once ----


async def race(db: Database, named: Payment, requests: list[FollowUpRequest]) -> list[Payment]:
    """All are judged by what was read before any of them is written; the attempts that won their reservation."""
    planned = [plan_attempt(named, named, request) for request in requests]
    won = await asyncio.gather(*(reserve(db, attempt, plan, named) for attempt, plan in planned))
    return [attempt for (attempt, _), is_won in zip(planned, won, strict=True) if is_won]


@pytest.mark.parametrize(("begun", "payment_type"), [("PA", "CP"), ("DB", "RF")])
async def test_of_many_that_ask_at_once_exactly_as_many_win_as_there_is_money(
    db: Database, begun: str, payment_type: str
) -> None:
    named = await begin(db, begun)

    winners = await race(db, named, [FollowUpRequest(payment_type=payment_type, money=Money(900, "EUR"))] * 40)

    assert len(winners) == 11
    await asyncio.gather(*(finish(db, attempt) for attempt in winners))
    chain = await check_chain(db, named.id)
    assert (chain[named.id].left, len(chain)) == (100, 12)


async def test_captures_and_a_reversal_at_once_have_one_kind_of_winner(db: Database) -> None:
    for _ in range(5):
        named = await begin(db, "PA")
        requests = [FollowUpRequest(payment_type="CP", money=Money(1_000, "EUR"))] * 4

        winners = await race(db, named, [*requests[:2], FollowUpRequest(payment_type="RV"), *requests[2:]])

        kinds = {attempt.payment_type for attempt in winners}
        assert kinds in ({"CP"}, {"RV"})
        await asyncio.gather(*(finish(db, attempt) for attempt in winners))
        await check_chain(db, named.id)


@pytest.mark.parametrize(
    ("begun", "asked"),
    [
        ("PA", FollowUpRequest(payment_type="RV")),
        ("PA", FollowUpRequest(payment_type="CP", money=Money(1, "EUR"), is_final=True)),
        ("DB", FollowUpRequest(payment_type="RV")),
        ("DB", FollowUpRequest(payment_type="RF", money=Money(10_000, "EUR"))),
        ("DB", FollowUpRequest(payment_type="RF", money=Money(1, "EUR"), is_final=True)),
        ("DB", FollowUpRequest(payment_type="RB", money=Money(1, "EUR"), is_final=True)),
        ("DB", FollowUpRequest(payment_type="CB")),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.payment_type}{' FINAL' if value.is_final else ''}",
)
async def test_where_only_one_may_win_exactly_one_wins(db: Database, begun: str, asked: FollowUpRequest) -> None:
    named = await begin(db, begun)

    winners = await race(db, named, [asked] * 16)

    assert len(winners) == 1


async def test_no_more_captures_win_than_the_authorization_allows(db: Database) -> None:
    named = await begin(db, "PA")

    winners = await race(db, named, [FollowUpRequest(payment_type="CP", money=Money(1, "EUR"))] * 16)

    assert len(winners) == TERMS.captures_max


async def test_refunds_of_two_captures_at_once_stay_within_what_the_chain_took(db: Database) -> None:
    """Each capture has enough left, the chain as a whole has not."""
    first = await begin(db, "PA")
    captures = [await follow(db, await read(db, first.id), "CP", 5_000) for _ in range(2)]
    lost = make_payment(payment_type="CB", referenced_id=captures[0].id, chain_id=first.id, action=Action.CHARGEBACK)
    assert await db.write(
        start_follow_up_writes(lost, [BalanceChange(payment_id=first.id, chain_length=1, chain_net=-6_000)]),
        label="test",
    )
    first = await read(db, first.id)
    request = FollowUpRequest(payment_type="RF", money=Money(4_000, "EUR"))
    planned = [(plan_attempt(capture, first, request), capture) for capture in captures]

    won = await asyncio.gather(*(reserve(db, attempt, plan, capture) for (attempt, plan), capture in planned))

    assert sorted(won) == [False, True]
    assert (await read(db, first.id)).balance.chain_net == 0
