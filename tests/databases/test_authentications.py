"""Authentications in the store: of two who move one at once one succeeds, what ended is wiped, and waits are reopened
once. The same on both databases.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from databases.samples import MERCHANT, StoredAnswer, make_completion, make_idempotency_key, make_payment
from tollgate.payments.authentication import AuthenticationCase, AuthenticationResult, AuthenticationRow, Stage
from tollgate.payments.payment import Payment, RecoveryTask, State
from tollgate.store import authentications, payments
from tollgate.store.database import Database
from tollgate.store.idempotency import find_idempotency_record
from tollgate.values import HOUR, MINUTE, MerchantId

pytestmark = pytest.mark.anyio

STRANGER = MerchantId("8a" + "9" * 30)


def make_row(payment: Payment, **changes: Any) -> AuthenticationRow:
    row = AuthenticationRow(
        merchant_id=payment.merchant_id,
        id=payment.id,
        stage=Stage.OPEN,
        created_at=payment.created_at,
        expires_at=payment.created_at + 15 * MINUTE,
        body=AuthenticationCase(server_id="8a880000-0000-4000-8000-000000000001", method_url="https://bank.example/m"),
        sealed_secret=b"\x00sealed\xff",
    )
    return msgspec.structs.replace(row, **changes)


async def wait_for_shopper(db: Database, **changes: Any) -> tuple[Payment, AuthenticationRow]:
    """Returns a payment that waits, and what it waits for."""
    payment = make_payment()
    assert await payments.start_payment(db, payment, b"account", None)
    completion = make_completion(
        payment, RecoveryTask.EXPIRE, state=State.WAITING, result_code="000.200.000", mac=b"seal"
    )
    row = make_row(payment, **changes)
    assert await db.write(
        [*payments.completion_writes(completion), *authentications.insert_authentication_writes(row)], label="test"
    )
    return completion.payment, row


async def get_row(db: Database, payment: Payment) -> AuthenticationRow:
    row = await authentications.find_authentication(db, MERCHANT, payment.id)
    assert row is not None
    return row


async def get_payment(db: Database, payment: Payment) -> Payment:
    found = await payments.find_payment(db, MERCHANT, payment.id)
    assert found is not None
    return found


# ---- moving ----


async def test_an_authentication_is_read_back_as_it_was_written(db: Database) -> None:
    payment, row = await wait_for_shopper(db)
    bare, bare_row = await wait_for_shopper(db, body=AuthenticationCase(server_id="x"), sealed_secret=None)

    assert await get_row(db, payment) == row
    assert await get_row(db, bare) == bare_row
    assert await authentications.find_authentication(db, STRANGER, payment.id) is None


async def test_it_moves_from_the_expected_stage_only(db: Database) -> None:
    payment, row = await wait_for_shopper(db)
    result = AuthenticationResult(status="Y", eci="05", value="AAAA")
    moved = make_row(payment, stage=Stage.ANSWERED, body=msgspec.structs.replace(row.body, result=result))

    assert not await authentications.move_authentication(db, moved, Stage.CHALLENGED, label="test")
    assert not await authentications.move_authentication(
        db, msgspec.structs.replace(moved, merchant_id=STRANGER), Stage.OPEN, label="test"
    )
    assert await get_row(db, payment) == row
    assert await authentications.move_authentication(db, moved, Stage.OPEN, label="test")

    assert await get_row(db, payment) == moved


async def test_of_many_who_move_it_at_once_one_succeeds(db: Database) -> None:
    payment, row = await wait_for_shopper(db)
    rivals = [
        msgspec.structs.replace(row, stage=Stage.CHALLENGED, body=AuthenticationCase(server_id=f"{n}"))
        for n in range(20)
    ]

    moved = await asyncio.gather(
        *[authentications.move_authentication(db, rival, Stage.OPEN, label="test") for rival in rivals]
    )

    assert moved.count(True) == 1
    assert await get_row(db, payment) == rivals[moved.index(True)]


# ---- ending ----


@pytest.mark.parametrize("stage", list(Stage))
async def test_closing_wipes_the_secret_at_any_stage_and_as_often_as_one_likes(db: Database, stage: Stage) -> None:
    payment, row = await wait_for_shopper(db, stage=stage)

    for _ in range(2):
        assert await db.write(authentications.close_authentication_writes(payment), label="test")

    closed = await get_row(db, payment)
    assert closed == msgspec.structs.replace(row, stage=Stage.CLOSED, sealed_secret=None)


@pytest.mark.parametrize("stage", [Stage.OPEN, Stage.CHALLENGED, Stage.ANSWERED])
async def test_of_many_who_end_it_at_once_one_succeeds(db: Database, stage: Stage) -> None:
    payment, _ = await wait_for_shopper(db, stage=stage)

    ended = await asyncio.gather(
        *[db.write(authentications.end_authentication_writes(payment), label="test") for _ in range(10)]
    )

    assert ended.count(True) == 1
    row = await get_row(db, payment)
    assert (row.stage, row.sealed_secret) == (Stage.CLOSED, None)


async def test_ending_touches_no_other_merchants_authentication(db: Database) -> None:
    payment, row = await wait_for_shopper(db)
    strange = msgspec.structs.replace(payment, merchant_id=STRANGER)

    assert not await db.write(authentications.end_authentication_writes(strange), label="test")
    assert await db.write(authentications.close_authentication_writes(strange), label="test")

    assert await get_row(db, payment) == row


# ---- reopening ----


async def test_a_reopened_payment_is_an_attempt_like_any_other(db: Database) -> None:
    waiting, _ = await wait_for_shopper(db)

    assert await db.write(payments.reopen_writes(waiting, waiting.created_at + HOUR), label="test")

    reopened = await get_payment(db, waiting)
    assert reopened == msgspec.structs.replace(
        waiting,
        state=State.STARTED,
        outcome=None,
        result_code="",
        details={},
        completed_at=None,
        mac=None,
        deadline_at=waiting.created_at + HOUR,
    )
    assert await payments.list_overdue(db, waiting.created_at + HOUR, 10) == []
    assert await payments.list_overdue(db, waiting.created_at + HOUR + 1, 10) == [reopened]


async def test_of_many_who_reopen_at_once_one_succeeds(db: Database) -> None:
    waiting, _ = await wait_for_shopper(db)
    unit = [*payments.reopen_writes(waiting, 1), *authentications.end_authentication_writes(waiting)]

    reopened = await asyncio.gather(*[db.write(unit, label="test") for _ in range(10)])

    assert reopened.count(True) == 1


@pytest.mark.parametrize("state", [State.STARTED, State.APPROVED, State.DECLINED, State.UNRESOLVED])
async def test_only_what_waits_is_reopened(db: Database, state: State) -> None:
    payment = make_payment()
    await payments.start_payment(db, payment, None, None)
    if state is not State.STARTED:
        assert await payments.complete_payment(db, make_completion(payment, state=state), None)
    before = await get_payment(db, payment)

    assert not await db.write(payments.reopen_writes(payment, 1), label="test")
    assert not await db.write(
        payments.reopen_writes(msgspec.structs.replace(payment, merchant_id=STRANGER), 1), label="test"
    )

    assert await get_payment(db, payment) == before


async def test_what_waits_again_for_the_acquirer_is_not_reopened_by_who_is_late(db: Database) -> None:
    waiting, _ = await wait_for_shopper(db)
    unit = [*payments.reopen_writes(waiting, 1), *authentications.end_authentication_writes(waiting)]
    assert await db.write(unit, label="test")
    again = make_completion(
        await get_payment(db, waiting),
        RecoveryTask.INQUIRE,
        state=State.WAITING,
        result_code="000.200.000",
        completed_at=waiting.created_at + 99,
    )
    assert await payments.complete_payment(db, again, None)

    assert not await db.write(unit, label="test")

    assert await get_payment(db, waiting) == again.payment


async def test_an_idempotency_key_keeps_its_first_answer_when_the_payment_is_completed_again(db: Database) -> None:
    payment = make_payment()
    await payments.start_payment(db, payment, None, make_idempotency_key("first"))
    waits = make_completion(payment, RecoveryTask.EXPIRE, state=State.WAITING, result_code="000.200.000")
    assert await db.write(payments.completion_writes(waits, StoredAnswer(200, b"waits")), label="test")
    assert await db.write(payments.reopen_writes(payment, 1), label="test")
    ends = make_completion(payment, completed_at=payment.created_at + 99)

    assert await payments.complete_payment(db, ends, StoredAnswer(400, b"ended"))

    idempotency_key = await find_idempotency_record(db, payment.merchant_id, payment.channel_id, "first", 0)
    assert idempotency_key is not None
    assert (idempotency_key.status, idempotency_key.body) == (200, b"waits")
