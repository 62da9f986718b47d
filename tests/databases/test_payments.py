"""A payment's two writes and its reading back, the same on both databases."""

from __future__ import annotations

import asyncio

import pytest

from databases.auditing import tamper
from databases.samples import (
    CHANNEL,
    MERCHANT,
    StoredAnswer,
    list_written,
    make_completion,
    make_idempotency_key,
    make_payment,
)
from outbox import list_events
from postgres import PostgresCluster
from tollgate.payments.payment import RecoveryTask, State
from tollgate.store.database import Database, Unwritable
from tollgate.store.events import Event, append_event_writes
from tollgate.store.idempotency import find_idempotency_record, purge_idempotency_records
from tollgate.store.jobs import lease_due
from tollgate.store.opening import open_database
from tollgate.store.payments import (
    complete_payment,
    completion_writes,
    find_payment,
    find_sealed_account,
    list_overdue,
    start_follow_up_writes,
    start_payment,
)
from tollgate.store.retention import SEALED_ACCOUNTS, SealedRow
from tollgate.values import DAY, HOUR, MerchantId, PaymentId

pytestmark = pytest.mark.anyio


async def test_a_started_payment_is_read_back_as_it_was_written(db: Database) -> None:
    payment = make_payment()

    assert await start_payment(db, payment, b"sealed\x00bytes", None)

    assert await find_payment(db, MERCHANT, payment.id) == payment
    assert await find_sealed_account(db, MERCHANT, payment.id) == b"sealed\x00bytes"


async def test_a_payment_with_only_what_it_must_have_is_read_back_too(db: Database) -> None:
    payment = make_payment(test_mode=None, merchant_transaction_id=None, card=None, echo={})

    assert await start_payment(db, payment, None, None)

    assert await find_payment(db, MERCHANT, payment.id) == payment
    assert await find_sealed_account(db, MERCHANT, payment.id) is None


async def test_a_payment_is_found_only_by_its_own_merchant(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)

    assert await find_payment(db, MerchantId("8a" + "9" * 30), payment.id) is None


async def test_only_a_started_payment_can_be_started(db: Database) -> None:
    with pytest.raises(ValueError, match="no result yet"):
        await start_payment(db, make_payment(state=State.APPROVED), None, None)


async def test_completing_writes_the_result_its_event_its_recovery_task_and_the_answer_of_its_idempotency_key(
    db: Database,
) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, make_idempotency_key("key-1"))
    completion = make_completion(payment, RecoveryTask.REVERSE, state=State.DECLINED, result_code="900.100.300")

    assert await complete_payment(db, completion, StoredAnswer(400, b'{"ndc":"x"}'))

    assert await find_payment(db, MERCHANT, payment.id) == completion.payment
    [event] = await list_events(db, MERCHANT)
    assert (event.subject_id, event.result_code) == (payment.id, "900.100.300")
    [job] = await lease_due(db, now=event.created_at, wall_now=1, owner="me", lease_s=1, limit=9)
    assert (job.topic, job.subject_id) == (RecoveryTask.REVERSE, payment.id)
    idempotency_key = await find_idempotency_record(db, MERCHANT, CHANNEL, "key-1", 0)
    assert idempotency_key is not None
    assert (idempotency_key.payment_id, idempotency_key.status, idempotency_key.body) == (
        payment.id,
        400,
        b'{"ndc":"x"}',
    )


async def test_a_second_completion_is_refused_and_changes_nothing(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)
    first = make_completion(payment)
    second = make_completion(payment, RecoveryTask.REVERSE, state=State.DECLINED, completed_at=payment.created_at + 9)

    assert await complete_payment(db, first, None)
    assert not await complete_payment(db, second, None)

    assert await find_payment(db, MERCHANT, payment.id) == first.payment
    assert len(await list_events(db, MERCHANT)) == 1
    assert await lease_due(db, now=2**60, wall_now=1, owner="me", lease_s=1, limit=9) == []


async def test_of_many_completions_at_once_exactly_one_counts(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)
    rivals = [make_completion(payment, completed_at=payment.created_at + n) for n in range(30)]

    answers = await asyncio.gather(*[complete_payment(db, rival, None) for rival in rivals])

    assert answers.count(True) == 1
    winner = rivals[answers.index(True)]
    assert await find_payment(db, MERCHANT, payment.id) == winner.payment
    assert [event.created_at for event in await list_events(db, MERCHANT)] == [winner.payment.completed_at]


async def test_completing_a_payment_that_does_not_exist_is_refused(db: Database) -> None:
    assert not await complete_payment(db, make_completion(make_payment()), None)
    assert await list_events(db, MERCHANT) == []


async def test_a_taken_key_refuses_the_second_payment_entirely(db: Database) -> None:
    first, second = make_payment(), make_payment()

    assert await start_payment(db, first, None, make_idempotency_key("key"))
    assert not await start_payment(db, second, None, make_idempotency_key("key"))

    assert await find_payment(db, MERCHANT, second.id) is None
    idempotency_key = await find_idempotency_record(db, MERCHANT, CHANNEL, "key", 0)
    assert idempotency_key is not None
    assert (idempotency_key.payment_id, idempotency_key.status) == (first.id, None)


async def test_of_thirty_starts_with_one_key_exactly_one_is_written(db: Database) -> None:
    payments = [make_payment() for _ in range(30)]

    answers = await asyncio.gather(
        *[start_payment(db, payment, None, make_idempotency_key("one")) for payment in payments]
    )

    assert answers.count(True) == 1
    listed = await list_written(db)
    assert listed == [payments[answers.index(True)]]


async def test_neighbours_in_a_batch_keep_their_own_keys(db: Database) -> None:
    payments = [make_payment() for _ in range(40)]
    idempotency_records = [None if n % 3 == 0 else make_idempotency_key(f"key-{n // 2}") for n in range(40)]

    answers = await asyncio.gather(
        *[
            start_payment(db, payment, None, idempotency_key)
            for payment, idempotency_key in zip(payments, idempotency_records, strict=True)
        ]
    )

    written = {payment.id for payment in await list_written(db)}
    assert written == {payment.id for payment, answer in zip(payments, answers, strict=True) if answer}
    won = [
        idempotency_key.key
        for idempotency_key, answer in zip(idempotency_records, answers, strict=True)
        if idempotency_key and answer
    ]
    assert sorted(won) == sorted({idempotency_key.key for idempotency_key in idempotency_records if idempotency_key})
    assert all(
        answer for idempotency_key, answer in zip(idempotency_records, answers, strict=True) if idempotency_key is None
    )


async def test_an_idempotency_key_past_its_lifetime_is_absent_and_can_be_taken_over(db: Database) -> None:
    first, second = make_payment(), make_payment()
    early, late = (
        make_idempotency_key("key"),
        make_idempotency_key("key", created_at=make_idempotency_key("key").created_at + DAY + 1),
    )
    await start_payment(db, first, None, early)
    await complete_payment(db, make_completion(first), StoredAnswer(200, b"first"))
    assert await find_idempotency_record(db, MERCHANT, CHANNEL, "key", late.created_at - DAY) is None

    assert await start_payment(db, second, None, late)

    idempotency_key = await find_idempotency_record(db, MERCHANT, CHANNEL, "key", late.created_at - DAY)
    assert idempotency_key is not None
    assert (idempotency_key.payment_id, idempotency_key.status, idempotency_key.body) == (second.id, None, None)


async def test_a_payment_that_lost_its_key_does_not_answer_for_the_new_owner(db: Database) -> None:
    first, second = make_payment(), make_payment()
    await start_payment(db, first, None, make_idempotency_key("key"))
    await start_payment(
        db, second, None, make_idempotency_key("key", created_at=make_idempotency_key("key").created_at + DAY + 1)
    )

    assert await complete_payment(db, make_completion(first), StoredAnswer(200, b"too late"))

    idempotency_key = await find_idempotency_record(db, MERCHANT, CHANNEL, "key", 0)
    assert idempotency_key is not None
    assert idempotency_key.status is None


async def test_purging_takes_the_oldest_idempotency_keys_and_says_how_many(db: Database) -> None:
    start = make_idempotency_key("key").created_at
    for n in range(5):
        await start_payment(db, make_payment(), None, make_idempotency_key(f"key-{n}", created_at=start + n))

    assert await purge_idempotency_records(db, start + 4, 3) == 3
    assert await purge_idempotency_records(db, start + 4, 3) == 1

    assert await find_idempotency_record(db, MERCHANT, CHANNEL, "key-3", 0) is None
    assert await find_idempotency_record(db, MERCHANT, CHANNEL, "key-4", 0) is not None


async def test_payments_of_one_order_are_listed_oldest_first_and_at_most_so_many(db: Database) -> None:
    payments = [make_payment() for _ in range(5)]
    for payment in reversed(payments):
        await start_payment(db, payment, None, None)
    await start_payment(db, make_payment(merchant_transaction_id="another"), None, None)

    assert await list_written(db, 3) == payments[:3]


async def test_only_attempts_past_their_deadline_are_overdue(db: Database) -> None:
    late, completed, young = (make_payment(deadline_at=deadline) for deadline in (100, 50, 300))
    for payment in (late, completed, young):
        await start_payment(db, payment, None, None)
    await complete_payment(db, make_completion(completed), None)

    assert await list_overdue(db, 200, 10) == [late]


async def test_an_overdue_payment_that_cannot_be_read_stands_in_nobodys_way(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = make_payment(), make_payment()
    for payment in (broken, sound):
        await start_payment(db, payment, None, None)
    await tamper(db, f"UPDATE payments SET details = '{{' WHERE id = '{broken.id}'")
    later = sound.deadline_at + 1

    assert await list_overdue(db, later, 1) == []
    assert await list_overdue(db, later, 1) == [sound]
    assert broken.id in str(caplog.records[-1].__dict__)

    await tamper(db, f"UPDATE payments SET details = '{{}}' WHERE id = '{broken.id}'")
    assert await list_overdue(db, later + HOUR, 1) == [sound]
    assert [payment.id for payment in await list_overdue(db, later + HOUR + 1, 9)] == [sound.id, broken.id]


async def test_one_bad_row_among_twenty_fails_alone(db: Database) -> None:
    payments = [make_payment() for _ in range(20)]
    # What neither database can hold as text: half of a surrogate pair.
    payments[7] = make_payment(descriptor="\ud800")

    answers = await asyncio.gather(
        *[start_payment(db, payment, None, None) for payment in payments], return_exceptions=True
    )

    assert isinstance(answers.pop(7), Unwritable)
    assert answers == [True] * 19
    assert len(await list_written(db)) == 19


async def test_a_bad_row_that_only_the_server_recognises_fails_alone_too(
    cluster: PostgresCluster, postgres_template: str
) -> None:
    db = await open_database(cluster.create_database(postgres_template))
    payments = [make_payment() for _ in range(20)]
    payments[7] = make_payment(descriptor="a NUL \0 in text")

    answers = await asyncio.gather(
        *[start_payment(db, payment, None, None) for payment in payments], return_exceptions=True
    )

    assert isinstance(answers.pop(7), Unwritable)
    assert answers == [True] * 19
    await db.close()


async def test_the_same_id_twice_in_a_batch_fails_for_one_and_not_for_the_neighbours(db: Database) -> None:
    payments = [make_payment() for _ in range(10)]

    answers = await asyncio.gather(
        *[start_payment(db, payment, None, None) for payment in [*payments, payments[0]]], return_exceptions=True
    )

    assert [isinstance(answer, Unwritable) for answer in answers].count(True) == 1
    assert answers.count(True) == 10


async def test_a_unit_whose_guard_fails_is_undone_as_a_whole(db: Database) -> None:
    original = make_payment()
    await start_payment(db, original, None, None)
    reversal = make_payment(payment_type="RV", chain_id=original.id, referenced_id=original.id)
    unit = start_follow_up_writes(reversal, []) + completion_writes(make_completion(original), expected=State.WAITING)

    assert not await db.write(unit, label="test")

    assert await find_payment(db, MERCHANT, reversal.id) is None
    assert await find_payment(db, MERCHANT, original.id) == original
    assert await list_events(db, MERCHANT) == []


async def test_a_unit_that_breaks_is_undone_and_its_neighbours_are_not(db: Database) -> None:
    original = make_payment()
    await start_payment(db, original, None, None)
    first, second = [make_payment(chain_id=original.id, referenced_id=original.id) for _ in range(2)]
    twice = start_follow_up_writes(first, []) + start_follow_up_writes(first, [])
    once = start_follow_up_writes(second, [])

    broken, fine = await asyncio.gather(
        db.write(twice, label="test"), db.write(once, label="test"), return_exceptions=True
    )

    assert isinstance(broken, Unwritable)
    assert fine is True
    assert await find_payment(db, MERCHANT, first.id) is None
    assert await find_payment(db, MERCHANT, second.id) == second


async def test_a_unit_completes_from_the_state_it_expects(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, make_idempotency_key("key"))
    unresolved = make_completion(payment, RecoveryTask.INQUIRE, state=State.UNRESOLVED)
    await complete_payment(db, unresolved, None)
    approved = make_completion(unresolved.payment, completed_at=payment.created_at + 99)

    assert await db.write(
        completion_writes(approved, StoredAnswer(200, b"late"), expected=State.UNRESOLVED), label="test"
    )
    assert not await db.write(completion_writes(approved, expected=State.UNRESOLVED), label="test")

    assert await find_payment(db, MERCHANT, payment.id) == approved.payment
    assert len(await list_events(db, MERCHANT)) == 2
    idempotency_key = await find_idempotency_record(db, MERCHANT, CHANNEL, "key", 0)
    assert idempotency_key is not None
    assert idempotency_key.body == b"late"


async def test_a_unit_may_queue_a_recovery_task(db: Database) -> None:
    payment = make_payment()
    await start_payment(db, payment, None, None)

    assert await db.write(
        completion_writes(make_completion(payment, RecoveryTask.INQUIRE, state=State.UNRESOLVED)), label="test"
    )

    [job] = await lease_due(db, now=2**60, wall_now=1, owner="me", lease_s=1, limit=9)
    assert (job.topic, job.subject_id) == (RecoveryTask.INQUIRE, payment.id)


async def test_events_are_stored_in_the_order_of_their_time(db: Database) -> None:
    events = [
        Event(id=f"{n:016x}x", merchant_id=MERCHANT, subject_id=f"s{n}", topic="t", created_at=n) for n in range(4)
    ]
    for event in reversed(events):
        assert await db.write(append_event_writes(event, CHANNEL), label="test")

    assert await list_events(db, MERCHANT) == events


async def test_sealed_accounts_of_other_keys_are_listed_page_by_page_and_rewrapped(db: Database) -> None:
    payments = [make_payment() for _ in range(5)]
    for n, payment in enumerate(payments):
        await start_payment(db, payment, None if n == 4 else (b"new:" if n == 3 else b"old:") + bytes([n]), None)

    first_page = await SEALED_ACCOUNTS.list_page(db, None, b"new:", 2)
    rest = await SEALED_ACCOUNTS.list_page(db, first_page[-1], b"new:", 10)

    assert [account.id for account in first_page + rest] == sorted(payment.id for payment in payments[:3])
    for account in first_page + rest:
        assert await SEALED_ACCOUNTS.rewrap(db, account, b"new:" + account.sealed[4:])
        assert not await SEALED_ACCOUNTS.rewrap(db, account, b"new: again")
    assert await SEALED_ACCOUNTS.list_page(db, None, b"new:", 10) == []
    moved = first_page[0]
    assert await find_sealed_account(db, MERCHANT, PaymentId(moved.id)) == b"new:" + moved.sealed[4:]


async def test_rewrapping_what_is_not_there_is_refused(db: Database) -> None:
    assert not await SEALED_ACCOUNTS.rewrap(db, SealedRow(MERCHANT, make_payment().id, b"old"), b"new")


async def test_the_account_of_an_unknown_payment_is_breakage(db: Database) -> None:
    with pytest.raises(LookupError):
        await find_sealed_account(db, MERCHANT, make_payment().id)
