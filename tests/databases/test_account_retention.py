"""The accounts of old payments are wiped, on both databases; what still needs one keeps it, and a refund says so."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from databases.auditing import read_plan
from databases.banking import CHANNEL, MERCHANT, Bank, open_bank
from tollgate.catalog.limits import LIMITS
from tollgate.flows import erase
from tollgate.flows.pay import pay
from tollgate.flows.recover import run_recovery_task
from tollgate.flows.sepa_files import collect
from tollgate.operations.app import Call
from tollgate.payments.payment import State
from tollgate.store import registrations as sealed_registrations
from tollgate.store import retention as aging
from tollgate.store.database import Database
from tollgate.store.instructions import InstructionState, find_instruction
from tollgate.store.opening import get_setting, put_setting
from tollgate.store.payments import find_payment, find_sealed_account
from tollgate.store.statements import Statement
from tollgate.values import PaymentId
from tollgate.workers.upkeep import wipe_accounts
from unit.app_fixture import ORDER, ScriptedWire
from unit.flows.shopping import lease_now

pytestmark = pytest.mark.anyio

ERASED = "700.500.004"
PENDING = b'{"status":"pending","response_code":"","message":"Wait"}'
AGE = 430


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


async def keeps_account(db: Database, payment_id: str) -> bool:
    return await find_sealed_account(db, MERCHANT.id, PaymentId(payment_id)) is not None


async def wipe_all(bank: Bank) -> None:
    while await wipe_accounts(bank.app):
        pass


async def file(bank: Bank) -> None:
    """Brings what is due to the bank."""
    bank.wait(3)
    await collect(bank.app)


async def test_an_account_is_wiped_when_its_payment_is_old_enough(db: Database, bank: Bank) -> None:
    paid = await bank.pay()
    await file(bank)

    bank.wait(AGE - 3)
    await wipe_all(bank)
    assert await keeps_account(db, paid)
    bank.clock.at += 1
    await wipe_all(bank)

    assert not await keeps_account(db, paid)
    left = await find_payment(db, MERCHANT.id, paid)
    assert left is not None
    assert left.state is State.APPROVED


async def test_a_late_refund_of_a_debit_is_refused_and_sent_to_no_bank(db: Database, bank: Bank) -> None:
    paid = await bank.pay()
    await file(bank)
    bank.wait(AGE)
    await wipe_all(bank)

    for payment_type in ("RF", "RB"):
        follower, code = await bank.follow(payment_type, paid, 100)
        assert code == ERASED
        assert await find_instruction(db, MERCHANT.id, follower) is None
    bank.wait(7)
    assert await collect(bank.app) == 0


async def test_a_late_refund_of_a_card_needs_no_account_here(db: Database, bank: Bank) -> None:
    await pay(bank.app, ORDER, Call(CHANNEL, "ndc"), payment_id=PaymentId("8a" + "c" * 30))
    bank.wait(AGE + 1)
    await wipe_all(bank)

    assert not await keeps_account(db, "8a" + "c" * 30)
    _, code = await bank.follow("RF", "8a" + "c" * 30, 100)
    assert code == "000.100.110"


async def test_what_followed_later_keeps_the_account_for_as_long_again(db: Database, bank: Bank) -> None:
    paid = await bank.pay()
    await file(bank)
    bank.wait(AGE - 10)
    _, code = await bank.follow("RB", paid, 100)
    assert code.startswith("000.")
    await file(bank)

    bank.wait(AGE - 5)
    await wipe_all(bank)
    assert await keeps_account(db, paid)
    bank.wait(5)
    await wipe_all(bank)

    assert not await keeps_account(db, paid)


async def test_what_no_file_has_taken_yet_keeps_its_account(db: Database, bank: Bank) -> None:
    paid = await bank.pay()
    bank.wait(AGE + 10)
    await wipe_all(bank)
    assert await keeps_account(db, paid)

    assert await collect(bank.app) == 1
    await wipe_all(bank)

    kept = await find_instruction(db, MERCHANT.id, paid)
    assert kept is not None
    assert kept.state is InstructionState.FILED
    assert not await keeps_account(db, paid)


async def test_what_waits_keeps_its_account_until_it_is_decided(db: Database, bank: Bank) -> None:
    assert isinstance(bank.app.simulator, ScriptedWire)
    bank.app.simulator.script = [PENDING]
    await pay(bank.app, ORDER, Call(CHANNEL, "ndc"), payment_id=PaymentId("8a" + "d" * 30))
    bank.wait(AGE + 1)
    await wipe_all(bank)
    assert await keeps_account(db, "8a" + "d" * 30)

    for job in await lease_now(bank.app):
        assert await run_recovery_task(bank.app, job)
    await wipe_all(bank)

    assert not await keeps_account(db, "8a" + "d" * 30)


async def test_no_round_looks_at_what_an_earlier_one_passed(db: Database, bank: Bank) -> None:
    for _ in range(130):
        await bank.pay("PA")
        bank.clock.at += 1
    bank.wait(AGE + 1)

    walked = [await erase.wipe_old_accounts(bank.app, CHANNEL) for _ in range(4)]

    assert walked == [100, 30, 0, 0]
    bank.wait(AGE)
    await bank.pay("PA")
    assert await erase.wipe_old_accounts(bank.app, CHANNEL) == 0
    bank.wait(AGE + 1)
    assert await erase.wipe_old_accounts(bank.app, CHANNEL) == 1
    # Who goes back walks again and does no harm.
    await put_setting(db, erase.BOOKMARKS + CHANNEL.id, "{}")
    assert await erase.wipe_old_accounts(bank.app, CHANNEL) == 100


async def test_no_more_are_remembered_than_there_is_room_for(
    db: Database, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk stops until the open ones are done, and none is forgotten."""
    monkeypatch.setattr(erase, "LIMITS", replace(LIMITS, erase_batch=2, accounts_left_max=3))
    ids = []
    for _ in range(6):
        ids.append(await bank.pay())
        bank.clock.at += 1
    bank.wait(AGE + 10)

    walked = [await erase.wipe_old_accounts(bank.app, CHANNEL) for _ in range(4)]
    assert walked == [2, 2, 0, 0]
    assert await collect(bank.app) == 1
    await wipe_all(bank)

    assert [await keeps_account(db, each) for each in ids] == [False] * 6


async def test_two_processes_walk_the_same_way_and_lose_nothing(db: Database, bank: Bank) -> None:
    ids = [await bank.pay() for _ in range(8)]
    await file(bank)
    await bank.pay()
    bank.wait(AGE + 1)
    other = await open_bank(db, keyring=bank.app.keyring, is_first=False)
    other.clock.at = bank.clock.at

    await asyncio.gather(*[wipe_accounts(each.app) for each in (bank, other, bank)])

    assert [await keeps_account(db, each) for each in ids] == [False] * 8
    assert "left" in await get_setting(db, erase.BOOKMARKS + CHANNEL.id)


async def test_a_refund_and_the_wiping_at_the_same_moment_agree(db: Database, bank: Bank) -> None:
    """Whatever was promised to a shopper can be sent."""
    ids = [await bank.pay() for _ in range(12)]
    await file(bank)
    bank.wait(AGE + 1)

    async def refund_late(payment_id: str) -> tuple[str, str]:
        await asyncio.sleep(0)
        return await bank.follow("RF", payment_id, 100)

    refunds, *_ = await asyncio.gather(
        asyncio.gather(*[refund_late(each) for each in ids]), wipe_accounts(bank.app), wipe_accounts(bank.app)
    )

    codes = dict(zip(ids, [code for _, code in refunds], strict=True))
    assert set(codes.values()) <= {ERASED, "000.100.110"}
    for payment_id, code in codes.items():
        assert await keeps_account(db, payment_id) is (code != ERASED)
    bank.wait(7)
    await collect(bank.app)
    for refund_id, code in refunds:
        received = await find_instruction(db, MERCHANT.id, refund_id)
        assert (None if received is None else received.state) == (None if code == ERASED else InstructionState.FILED)


BY_KEY = "payments USING INDEX sqlite_autoindex_payments_1 (merchant_id=? AND id=?)"
READS = [
    (aging._aged, "payments USING INDEX payments_by_time (channel_id=? AND merchant_id=? AND (created_at,id)>(?,?)"),
    (aging._hold, BY_KEY),
    (aging._wipe, BY_KEY),
    (aging._open_chain, BY_KEY),
    (aging._lacks, BY_KEY),
    (sealed_registrations._outlived, "registrations USING INDEX registrations_kept (keep_until<?)"),
    (sealed_registrations._page_sealed, "registrations USING INDEX sqlite_autoindex_registrations_1"),
]


@pytest.mark.parametrize(("statement", "way"), READS)
async def test_what_is_looked_for_is_found_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    plan = await read_plan(tmp_path, statement)

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [line for line in plan if line.startswith("SCAN")]
