"""Rows that were changed in the database are not answered, and lists go on without them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from tollgate.flows.pay import look_up, pay
from tollgate.flows.recover import run_recovery_task
from tollgate.flows.report import list_all_completed, list_completed, search, show_chain, show_chains, sum_up
from tollgate.operations.app import App, Call
from tollgate.operations.idempotency import find_earlier_answer
from tollgate.operations.signing import TamperedRow
from tollgate.payments.payment import IdempotencyKey, Payment, RecoveryTask, State
from tollgate.payments.reporting import Period, Search, Window
from tollgate.store.database import Unreadable
from tollgate.store.jobs import Job
from tollgate.store.payments import start_payment
from tollgate.store.statements import Statement
from tollgate.values import DAY, PaymentId
from tollgate.workers.jobs import recover_payments
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire
from unit.flows.chains import begin, follow, read, read_answered

pytestmark = pytest.mark.anyio

ALL = Search(reference="order-0001")
TODAY = Period(begins_at=NOW - DAY, ends_at=NOW + DAY)
CHANGES = ["amount = 1", "state = 2", "mac = NULL", "result_code = '000.000.000'", "state = 0"]
UNREADABLE = ["state = 9", "echo = '{'", "card = '['"]


async def tamper(app: App, table: str, row_id: str, change: str, column: str = "id") -> None:
    statement = Statement(sa.text(f"UPDATE {table} SET {change} WHERE {column} = '{row_id}'"), is_write=True)
    await app.database.fetch(statement, {})


def make_idempotency_key(key: str = "key", fingerprint: bytes = b"print") -> IdempotencyKey:
    return IdempotencyKey(
        merchant_id=CHANNEL.merchant_id, channel_id=CHANNEL.id, key=key, fingerprint=fingerprint, created_at=NOW
    )


def list_reported(caplog: pytest.LogCaptureFixture) -> set[Any]:
    """Returns the ids of payments that error events name."""
    return {vars(record).get("payment") for record in caplog.records if record.levelno == logging.ERROR}


# ---- one payment ----


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_payment_is_not_answered_and_logged(
    app: App, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    debit = await begin(app)
    await tamper(app, "payments", debit.id, change)

    with pytest.raises(TamperedRow, match=debit.id):
        await look_up(app, MERCHANT.id, debit.id)

    assert list_reported(caplog) == {debit.id}


@pytest.mark.parametrize("change", UNREADABLE)
async def test_a_payment_that_cannot_be_read_is_named(app: App, change: str) -> None:
    debit = await begin(app)
    await tamper(app, "payments", debit.id, change)

    with pytest.raises(Unreadable, match=debit.id):
        await look_up(app, MERCHANT.id, debit.id)


# ---- lists ----


@pytest.mark.parametrize("change", [*CHANGES, *UNREADABLE])
async def test_pages_go_on_without_a_changed_payment(app: App, caplog: pytest.LogCaptureFixture, change: str) -> None:
    payments = [await begin(app) for _ in range(5)]
    payments.sort(key=lambda payment: payment.id)
    changed = payments.pop(1)
    await tamper(app, "payments", changed.id, change)

    pages = [await search(app, CHANNEL, ALL, Window(rows_max=2))]
    while pages[-1].cursor is not None:
        pages.append(await search(app, CHANNEL, ALL, Window(rows_max=2, cursor=pages[-1].cursor)))

    assert [[payment.id for payment in page.rows] for page in pages] == [
        [payments[0].id],
        [payments[1].id, payments[2].id],
        [payments[3].id],
    ]
    assert changed.id in list_reported(caplog)


@pytest.mark.parametrize("change", ["amount = 1", "echo = '{'"])
async def test_chains_go_on_without_a_changed_payment(app: App, change: str) -> None:
    debit = await begin(app)
    first = await read_answered(app, await follow(app, debit, "RF", 100))
    second = await read_answered(app, await follow(app, debit, "RF", 200))
    await tamper(app, "payments", first.id, change)

    shown = await show_chain(app, await read(app, debit.id))
    of_page = await show_chains(app, CHANNEL, [await read(app, debit.id)])

    assert [payment.id for payment in shown] == [debit.id, second.id]
    assert of_page == {debit.id: shown}


@pytest.mark.parametrize(
    ("table", "column", "change"),
    [
        ("payments", "id", "brand = 'MASTER'"),
        ("payments", "id", "echo = '{'"),
        ("ledger_entries", "payment_id", "amount = amount + 1"),
        ("ledger_entries", "payment_id", "source = 'earned', target = 'shopper'"),
    ],
)
async def test_settlement_reports_go_on_without_a_changed_record(
    app: App, table: str, column: str, change: str
) -> None:
    sound, changed = await begin(app), await begin(app)
    await tamper(app, table, changed.id, change, column)

    page = await list_completed(app, CHANNEL, TODAY, Window(rows_max=9))
    everything = await list_all_completed(app, CHANNEL, TODAY)

    assert [entry.payment.id for entry in page.rows] == [sound.id]
    assert everything.rows == page.rows


async def test_a_sum_leaves_out_a_line_that_does_not_say_what_its_payment_says(app: App) -> None:
    await begin(app)
    changed = await begin(app)
    await tamper(app, "ledger_entries", changed.id, "amount = amount * 100", "payment_id")

    [tally] = await sum_up(app, CHANNEL, TODAY)

    assert (tally.count, tally.amount) == (1, 9200)


# ---- answers stored for a key ----


@pytest.mark.parametrize(
    "change",
    [
        "body = CAST(replace(CAST(body AS TEXT), '92.00', '93.00') AS BLOB)",
        "body = substr(body, 34)",
        "body = substr(body, 1, 33)",
        "status = 400",
        "payment_id = '8a99999999999999999999999999999a'",
        "created_at = created_at + 1",
    ],
)
async def test_a_changed_answer_is_not_replayed(app: App, wire: ScriptedWire, change: str) -> None:
    idempotency_key = make_idempotency_key()
    await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key))
    await tamper(app, "idempotency_keys", "key", change, "key")

    with pytest.raises(TamperedRow, match="Idempotency-Key"):
        await pay(app, ORDER, Call(CHANNEL, "ndc", idempotency_key))

    assert len(wire.sent) == 1


async def test_an_answer_that_was_moved_to_another_key_is_not_replayed(app: App) -> None:
    await pay(app, ORDER, Call(CHANNEL, "ndc", make_idempotency_key("first")))
    await pay(app, ORDER, Call(CHANNEL, "ndc", make_idempotency_key("second")))
    of_first = "(SELECT body FROM idempotency_keys AS c WHERE c.key = 'first')"
    await tamper(app, "idempotency_keys", "second", f"body = {of_first}", "key")

    with pytest.raises(TamperedRow):
        await find_earlier_answer(app, make_idempotency_key("second"))


async def test_an_answer_that_was_moved_to_another_request_is_not_replayed(app: App) -> None:
    await pay(app, ORDER, Call(CHANNEL, "ndc", make_idempotency_key()))
    await tamper(app, "idempotency_keys", "key", "fingerprint = CAST('other' AS BLOB)", "key")

    with pytest.raises(TamperedRow):
        await find_earlier_answer(app, make_idempotency_key(fingerprint=b"other"))


async def test_an_answer_is_replayed_byte_for_byte(app: App) -> None:
    answer = await pay(app, ORDER, Call(CHANNEL, "ndc", make_idempotency_key()))

    again = await find_earlier_answer(app, make_idempotency_key())

    assert again is not None
    assert (again.status, again.body) == (answer.status, answer.body)


async def test_what_reconcile_answers_for_a_key_is_replayed(app: App) -> None:
    """It knows of the request only what is in the store."""
    declined = await begin(app)
    started = _start_again(declined)
    assert await start_payment(app.database, started, None, make_idempotency_key())

    assert await recover_payments(app) == 1

    answer = await find_earlier_answer(app, make_idempotency_key())
    assert answer is not None
    assert b"900.100.300" in answer.body


def _start_again(payment: Payment) -> Payment:
    return replace(
        payment,
        id=PaymentId("8a" + "7" * 30),
        state=State.STARTED,
        result_code="",
        details={},
        completed_at=None,
        mac=None,
        deadline_at=0,
    )


# ---- rows without a MAC that move money ----


async def test_a_job_reverses_no_payment_that_succeeded(app: App, wire: ScriptedWire) -> None:
    debit = await begin(app)
    job = Job(
        id=f"{RecoveryTask.REVERSE}.{debit.id}",
        merchant_id=MERCHANT.id,
        topic=RecoveryTask.REVERSE,
        subject_id=debit.id,
        due_at=NOW,
    )
    sent = len(wire.sent)

    with pytest.raises(TamperedRow, match="did not fail"):
        await run_recovery_task(app, job)

    assert len(wire.sent) == sent
    assert (await read(app, debit.id)).state is State.APPROVED
