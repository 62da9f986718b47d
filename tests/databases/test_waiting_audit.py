"""The audit passes a store in which shoppers are on their way, at every stage, and finds what a hand did to it.

On both databases.
"""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from databases.lives import Killed, Lives, open_lives
from tollgate.catalog.limits import LIMITS
from tollgate.flows.recover import complete_overdue
from tollgate.flows.report import search
from tollgate.flows.verify import verify
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.authentication import Stage
from tollgate.payments.payment import RecoveryTask, State
from tollgate.payments.reporting import Search, Window
from tollgate.store.database import Database
from tollgate.store.statements import Statement, Write
from tollgate.wire import Silent
from unit.app_fixture import CHANNEL
from unit.flows.shopping import (
    BROWSER_FIELDS,
    FRICTIONLESS,
    REFUSED,
    Bank,
    Shopper,
    go_shopping,
    make_order,
    open_bank,
    run_due,
    tick,
)

pytestmark = pytest.mark.anyio

PENDING = b'{"status":"pending"}'


async def audit(lives: Lives) -> list[Finding]:
    report = await verify(lives.app.database, lives.keyring, lambda *_: None, pauses_s=())
    return report.findings


async def run(db: Database, text: str) -> None:
    assert await db.write([Write(Statement(sa.text(text), is_write=True), {})], label="test")


async def send_shoppers_out(db: Database) -> tuple[Lives, dict[str, Shopper]]:
    """One shopper in every state that a payment can be in because of its shopper."""
    lives = await open_lives(db)
    app, bank = open_bank(lives.app, lives.wire)
    lives.app = app
    alone = make_order({"paymentType": None}, operation="authenticate")
    shoppers = {
        "open": await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS))),
        "challenged": await go_shopping(app, bank),
        "authorisation": await go_shopping(app, bank, order=make_order({"paymentType": "PA"})),
        "alone": await go_shopping(app, bank, order=alone),
        "alone and done": await _walk(await go_shopping(app, bank, order=alone)),
        "done": await _walk(await go_shopping(app, bank)),
        "failed": await _walk(await go_shopping(app, bank), status="N"),
        "answered": await go_shopping(app, bank),
    }
    await shoppers["answered"].tell_result()
    await _answer_oddly(lives, bank, shoppers)
    bank.answers = [FRICTIONLESS]
    shoppers["frictionless"] = await go_shopping(app, bank)
    bank.answers = [REFUSED]
    shoppers["refused"] = await go_shopping(app, bank)
    return lives, shoppers


async def _walk(shopper: Shopper, status: str = "Y") -> Shopper:
    await shopper.walk(status=status)
    return shopper


async def _answer_oddly(lives: Lives, bank: Bank, shoppers: dict[str, Shopper]) -> None:
    lives.wire.script = [PENDING]
    shoppers["pending"] = await _walk(await go_shopping(lives.app, bank))
    lives.wire.script = [Silent()]
    shoppers["silent"] = await _walk(await go_shopping(lives.app, bank))
    shoppers["killed"] = await go_shopping(lives.app, bank)
    lives.wire.script = [Killed()]
    with pytest.raises(Killed):
        await shoppers["killed"].walk()


async def test_shoppers_on_their_way_are_nothing_to_be_found(db: Database) -> None:
    lives, shoppers = await send_shoppers_out(db)

    assert await audit(lives) == []

    states = {name: (await shopper.look()).state for name, shopper in shoppers.items()}
    assert [name for name, state in states.items() if state is State.WAITING] == [
        *("open", "challenged", "authorisation", "alone", "answered", "pending")
    ]
    assert states["killed"] is State.STARTED


async def test_nor_are_those_who_came_too_late(db: Database) -> None:
    lives, shoppers = await send_shoppers_out(db)
    tick(lives.app, LIMITS.challenge_lifetime)

    await complete_overdue(lives.app, await shoppers["killed"].look())
    await run_due(lives.app)

    assert await audit(lives) == []
    codes = {name: (await shopper.look()).result_code for name, shopper in shoppers.items()}
    late = [name for name, code in codes.items() if code == "100.396.103"]
    assert late == ["open", "challenged", "authorisation", "alone", "answered"]
    for name in late:
        row = await shoppers[name].look_at_case()
        assert (row.stage, row.sealed_secret) == (Stage.CLOSED, None)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("open", "amount = amount + 1"),
        ("challenged", "echo = '{}'"),
        ("answered", "state = 1, result_code = '000.100.110'"),
        ("alone", "payment_type = 'DB'"),
        ("pending", "mac = NULL"),
        ("alone and done", "result_code = '000.400.110'"),
        ("killed", "completed_at = created_at"),
    ],
)
async def test_a_hand_on_a_waiting_row_is_found(db: Database, name: str, change: str) -> None:
    lives, shoppers = await send_shoppers_out(db)
    payment_id = shoppers[name].body["id"]

    await run(db, f"UPDATE payments SET {change} WHERE id = '{payment_id}'")

    assert (Proof.SIGNATURE, payment_id) in {(finding.proof, finding.row_id) for finding in await audit(lives)}


@pytest.mark.parametrize(
    ("name", "recovery_task"),
    [
        ("challenged", RecoveryTask.EXPIRE),
        ("alone", RecoveryTask.EXPIRE),
        ("silent", RecoveryTask.REVERSE),
    ],
)
async def test_a_recovery_task_that_is_gone_is_missed(db: Database, name: str, recovery_task: RecoveryTask) -> None:
    lives, shoppers = await send_shoppers_out(db)
    payment_id = shoppers[name].body["id"]

    await run(db, f"DELETE FROM jobs WHERE id = '{recovery_task}.{payment_id}'")

    [finding] = await audit(lives)
    assert finding.proof is Proof.JOB
    assert f"{recovery_task}.{payment_id}" in finding.row_id


async def test_the_question_to_the_acquirer_is_missed_once_the_wait_has_ended(db: Database) -> None:
    lives, shoppers = await send_shoppers_out(db)
    lives.wire.script = [PENDING] * 9
    tick(lives.app, LIMITS.challenge_lifetime)
    await run_due(lives.app)

    await run(db, f"DELETE FROM jobs WHERE id = 'inquire.{shoppers['pending'].body['id']}'")

    assert [finding.proof for finding in await audit(lives)] == [Proof.JOB]


async def test_an_event_of_a_result_that_was_never_there_is_found(db: Database) -> None:
    lives, shoppers = await send_shoppers_out(db)
    payment_id = shoppers["killed"].body["id"]

    await run(db, f"UPDATE outbox SET result_code = '000.100.110' WHERE subject_id = '{payment_id}'")

    assert [finding.proof for finding in await audit(lives)] == [Proof.EVENT]


async def test_reports_list_authentications_by_themselves_like_payments(db: Database) -> None:
    lives, shoppers = await send_shoppers_out(db)

    page = await search(lives.app, CHANNEL, Search(payment_types=("3D",)), Window(rows_max=10))

    assert {row.id for row in page.rows} == {shoppers[name].body["id"] for name in ("alone", "alone and done")}
    everything = await search(lives.app, CHANNEL, Search(reference="order-0001"), Window(rows_max=100))
    assert len(everything.rows) == len(shoppers)
