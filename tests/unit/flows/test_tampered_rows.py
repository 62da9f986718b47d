"""Rows that somebody changed in the database: nobody is told what they say, and lists go on without them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from tollgate.flows import (
    find_earlier_answer,
    list_all_settled,
    list_settled,
    look_up,
    pay,
    run_errand,
    search,
    show_chain,
    show_chains,
    sum_up,
)
from tollgate.payments import Claim, Errand, Payment, Period, Search, State, Window
from tollgate.steps import BrokenSeal, House
from tollgate.store import Job, Unreadable, start_payment
from tollgate.store.statements import Statement
from tollgate.values import DAY, PaymentId
from tollgate.workers.reconcile import reconcile
from unit.flows.telling import begin, follow, read, read_answered
from unit.premises import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire

pytestmark = pytest.mark.anyio

ALL = Search(reference="order-0001")
TODAY = Period(begins_at=NOW - DAY, ends_at=NOW + DAY)
CHANGES = ["amount = 1", "state = 2", "mac = NULL", "result_code = '000.000.000'", "state = 0"]
UNREADABLE = ["state = 9", "echo = '{'", "card = '['"]


async def tamper(house: House, table: str, row_id: str, change: str, column: str = "id") -> None:
    statement = Statement(sa.text(f"UPDATE {table} SET {change} WHERE {column} = '{row_id}'"), is_write=True)
    await house.database.fetch(statement, {})


def make_claim(key: str = "key", fingerprint: bytes = b"print") -> Claim:
    return Claim(channel_id=CHANNEL.id, key=key, fingerprint=fingerprint, created_at=NOW)


def list_reported(caplog: pytest.LogCaptureFixture) -> set[Any]:
    """The ids of payments that error events name."""
    return {vars(record).get("payment") for record in caplog.records if record.levelno == logging.ERROR}


# ---- one payment ----


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_payment_is_told_to_nobody_and_logged(
    house: House, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    debit = await begin(house)
    await tamper(house, "payments", debit.id, change)

    with pytest.raises(BrokenSeal, match=debit.id):
        await look_up(house, MERCHANT.id, debit.id)

    assert list_reported(caplog) == {debit.id}


@pytest.mark.parametrize("change", UNREADABLE)
async def test_a_payment_that_cannot_be_read_is_named(house: House, change: str) -> None:
    debit = await begin(house)
    await tamper(house, "payments", debit.id, change)

    with pytest.raises(Unreadable, match=debit.id):
        await look_up(house, MERCHANT.id, debit.id)


# ---- lists ----


@pytest.mark.parametrize("change", [*CHANGES, *UNREADABLE])
async def test_pages_go_on_without_a_changed_payment(
    house: House, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    payments = [await begin(house) for _ in range(5)]
    payments.sort(key=lambda payment: payment.id)
    changed = payments.pop(1)
    await tamper(house, "payments", changed.id, change)

    pages = [await search(house, CHANNEL, ALL, Window(rows_max=2))]
    while pages[-1].cursor is not None:
        pages.append(await search(house, CHANNEL, ALL, Window(rows_max=2, cursor=pages[-1].cursor)))

    assert [[payment.id for payment in page.rows] for page in pages] == [
        [payments[0].id],
        [payments[1].id, payments[2].id],
        [payments[3].id],
    ]
    assert changed.id in list_reported(caplog)


@pytest.mark.parametrize("change", ["amount = 1", "echo = '{'"])
async def test_chains_go_on_without_a_changed_payment(house: House, change: str) -> None:
    debit = await begin(house)
    first = await read_answered(house, await follow(house, debit, "RF", 100))
    second = await read_answered(house, await follow(house, debit, "RF", 200))
    await tamper(house, "payments", first.id, change)

    shown = await show_chain(house, await read(house, debit.id))
    of_page = await show_chains(house, CHANNEL, [await read(house, debit.id)])

    assert [payment.id for payment in shown] == [debit.id, second.id]
    assert of_page == {debit.id: shown}


@pytest.mark.parametrize(
    ("table", "column", "change"),
    [
        ("payments", "id", "brand = 'MASTER'"),
        ("payments", "id", "echo = '{'"),
        ("book", "payment_id", "amount = amount + 1"),
        ("book", "payment_id", "source = 'earned', target = 'shopper'"),
    ],
)
async def test_settlement_reports_go_on_without_a_changed_record(
    house: House, table: str, column: str, change: str
) -> None:
    sound, changed = await begin(house), await begin(house)
    await tamper(house, table, changed.id, change, column)

    page = await list_settled(house, CHANNEL, TODAY, Window(rows_max=9))
    everything = await list_all_settled(house, CHANNEL, TODAY)

    assert [posting.payment.id for posting in page.rows] == [sound.id]
    assert everything.rows == page.rows


async def test_a_sum_leaves_out_a_line_that_does_not_say_what_its_payment_says(house: House) -> None:
    await begin(house)
    changed = await begin(house)
    await tamper(house, "book", changed.id, "amount = amount * 100", "payment_id")

    [tally] = await sum_up(house, CHANNEL, TODAY)

    assert (tally.count, tally.amount) == (1, 9200)


# ---- answers kept for a key ----


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
async def test_a_changed_answer_is_not_replayed(house: House, wire: ScriptedWire, change: str) -> None:
    claim = make_claim()
    await pay(house, ORDER, CHANNEL, "ndc", claim)
    await tamper(house, "claims", "key", change, "key")

    with pytest.raises(BrokenSeal, match="Idempotency-Key"):
        await pay(house, ORDER, CHANNEL, "ndc", claim)

    assert len(wire.sent) == 1


async def test_an_answer_that_was_moved_to_another_key_is_not_replayed(house: House) -> None:
    await pay(house, ORDER, CHANNEL, "ndc", make_claim("first"))
    await pay(house, ORDER, CHANNEL, "ndc", make_claim("second"))
    of_first = "(SELECT body FROM claims AS c WHERE c.key = 'first')"
    await tamper(house, "claims", "second", f"body = {of_first}", "key")

    with pytest.raises(BrokenSeal):
        await find_earlier_answer(house, make_claim("second"))


async def test_an_answer_that_was_moved_to_another_request_is_not_replayed(house: House) -> None:
    await pay(house, ORDER, CHANNEL, "ndc", make_claim())
    await tamper(house, "claims", "key", "fingerprint = CAST('other' AS BLOB)", "key")

    with pytest.raises(BrokenSeal):
        await find_earlier_answer(house, make_claim(fingerprint=b"other"))


async def test_an_answer_is_replayed_byte_for_byte(house: House) -> None:
    answer = await pay(house, ORDER, CHANNEL, "ndc", make_claim())

    again = await find_earlier_answer(house, make_claim())

    assert again is not None
    assert (again.status, again.body) == (answer.status, answer.body)


async def test_what_reconcile_answers_for_a_key_is_replayed(house: House) -> None:
    """It knows of the request only what the store kept of it."""
    declined = await begin(house)
    started = _start_again(declined)
    assert await start_payment(house.database, started, None, make_claim())

    assert await reconcile(house) == 1

    answer = await find_earlier_answer(house, make_claim())
    assert answer is not None
    assert b"900.100.300" in answer.body


def _start_again(payment: Payment) -> Payment:
    return replace(
        payment,
        id=PaymentId("8a" + "7" * 30),
        state=State.STARTED,
        result_code="",
        details={},
        settled_at=None,
        mac=None,
        deadline_at=0,
    )


# ---- rows without a MAC that move money ----


async def test_a_job_reverses_no_payment_that_succeeded(house: House, wire: ScriptedWire) -> None:
    debit = await begin(house)
    job = Job(
        id=f"{Errand.REVERSE}.{debit.id}",
        merchant_id=MERCHANT.id,
        topic=Errand.REVERSE,
        subject_id=debit.id,
        due_at=NOW,
    )
    sent = len(wire.sent)

    with pytest.raises(BrokenSeal, match="did not fail"):
        await run_errand(house, job)

    assert len(wire.sent) == sent
    assert (await read(house, debit.id)).state is State.APPROVED
