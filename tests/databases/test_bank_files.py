"""Files on both databases: every debit that succeeded is in exactly one of them, whichever process collects or dies."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import date
from importlib import import_module
from xml.etree import ElementTree as Tree

import msgspec
import pytest
import sqlalchemy as sa

from databases.banking import CHANNEL, IBAN, MERCHANT, WEDNESDAY, Bank, change_account, open_bank
from tollgate.catalog.limits import LIMITS
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.flows.sepa_files import collect, export_file
from tollgate.payments.order import Sequence
from tollgate.payments.payment import State
from tollgate.store.bank_files import BankFile, get_sealed_body, insert_bank_file_writes, list_bank_files
from tollgate.store.database import Database
from tollgate.store.instructions import InstructionState, find_instruction, list_filed
from tollgate.store.merchants import insert_channel
from tollgate.store.opening import open_database
from tollgate.store.payments import find_sealed_account
from tollgate.store.schema import instructions, payments
from tollgate.store.statements import Statement, Write
from tollgate.values import DAY, ChannelId, PaymentId, Secret

pytestmark = pytest.mark.anyio

OTHER_CHANNEL = msgspec.structs.replace(CHANNEL, id=ChannelId("8a" + "3" * 30))


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


async def read(bank: Bank, file: BankFile) -> Tree.Element:
    return Tree.fromstring(await export_file(bank.app.database, bank.app.keyring, file, bank.clock.now()))


async def change(db: Database, table: sa.Table, row_id: str, **values: object) -> None:
    """Changes a row as somebody with access to the store would."""
    assert await db.write(
        [Write(Statement(sa.update(table).where(table.c.id == row_id).values(**values)), {}, rows=1)], label="test"
    )


async def list_ids(bank: Bank, file: BankFile) -> list[str]:
    return [element.text or "" for element in (await read(bank, file)).iterfind(".//{*}EndToEndId")]


async def test_a_file_is_made_on_the_banking_day_before_it_is_due(db: Database, bank: Bank) -> None:
    paid = await bank.pay()

    assert await collect(bank.app) == 0
    bank.wait()
    assert await collect(bank.app) == 1
    assert await collect(bank.app) == 0

    (file,) = await list_bank_files(db)
    assert (file.scheme, file.due_on, file.sequence) == ("pain.008", WEDNESDAY, "OOFF")
    assert (file.entries, file.total, file.currency) == (1, 9200, "EUR")
    assert await list_ids(bank, file) == [paid]
    assert [each.id for each in await list_filed(db, MERCHANT.id, file.id)] == [paid]
    found = await find_instruction(db, MERCHANT.id, paid)
    assert found is not None
    assert (found.state, found.file_id) == (InstructionState.FILED, file.id)


async def test_directions_sequences_and_days_have_files_of_their_own(db: Database, bank: Bank) -> None:
    once, first, credit = await bank.pay(), await bank.pay(sequence=Sequence.FIRST), await bank.pay("CD")
    later = await bank.pay(due_on=date(2026, 11, 19))
    refunded, _ = await bank.follow("RF", once, 100)

    bank.wait()
    assert await collect(bank.app) == 3
    bank.wait()
    assert await collect(bank.app) == 1

    files = {
        (file.scheme, file.sequence, file.due_on.day): await list_ids(bank, file) for file in await list_bank_files(db)
    }
    assert files == {
        ("pain.008", "OOFF", 18): [once],
        ("pain.008", "FRST", 18): [first],
        ("pain.001", "OOFF", 18): sorted([credit, refunded]),
        ("pain.008", "OOFF", 19): [later],
    }


async def test_only_what_succeeded_is_collected(db: Database, bank: Bank) -> None:
    await bank.pay("PA")
    cancelled = await bank.pay()
    await bank.follow("RV", cancelled)
    open_one = await bank.pay()
    await change(db, payments, open_one, state=int(State.WAITING))

    bank.wait()

    assert await collect(bank.app) == 0
    assert await list_bank_files(db) == []


async def test_a_reversal_comes_too_late_for_what_a_file_has(bank: Bank) -> None:
    paid = await bank.pay()
    bank.wait()
    await collect(bank.app)
    bank.clock.at -= DAY

    _, code = await bank.follow("RV", paid)

    assert code == "700.300.700"


async def test_what_comes_after_its_file_waits_for_the_next_day_without_one(db: Database, bank: Bank) -> None:
    early, late = await bank.pay(), await bank.pay()
    await change(db, payments, late, state=int(State.WAITING))
    bank.wait()
    assert await collect(bank.app) == 1
    await change(db, payments, late, state=int(State.APPROVED))

    assert await collect(bank.app) == 0
    found = await find_instruction(db, MERCHANT.id, late)
    assert found is not None
    assert (found.state, found.due_on) == (InstructionState.OPEN, date(2026, 11, 19))
    bank.wait()
    assert await collect(bank.app) == 1

    assert [await list_ids(bank, file) for file in await list_bank_files(db)] == [[early], [late]]


async def test_more_than_a_file_holds_takes_the_next_day(
    db: Database, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = type("Small", (), {"bank_file_entries_max": 2, "bank_lead_days": LIMITS.bank_lead_days})
    monkeypatch.setattr(import_module("tollgate.flows.sepa_files"), "LIMITS", small)
    paid = [await bank.pay() for _ in range(5)]

    for _ in range(4):
        bank.wait()
        while await collect(bank.app):
            pass

    files = await list_bank_files(db)
    assert [(file.due_on.day, file.entries) for file in files] == [(18, 2), (19, 2), (20, 1)]
    collected = [each for file in files for each in await list_ids(bank, file)]
    assert sorted(collected) == sorted(paid)


async def test_a_host_that_slept_debits_on_the_first_day_that_is_left(db: Database, bank: Bank) -> None:
    await bank.pay()
    await bank.pay(due_on=date(2026, 11, 24))

    bank.wait(14)
    assert await collect(bank.app) == 1

    (file,) = await list_bank_files(db)
    assert (file.due_on, file.entries) == (date(2026, 12, 1), 2)
    assert {each.due_on for each in await list_filed(db, MERCHANT.id, file.id)} == {date(2026, 12, 1)}


async def test_two_processes_at_once_collect_every_debit_once(url: str) -> None:
    databases = [await open_database(url) for _ in range(3)]
    first = await open_bank(databases[0])
    others = [await open_bank(db, keyring=first.app.keyring, is_first=False) for db in databases[1:]]
    paid = [await first.pay() for _ in range(25)]
    for bank in (first, *others):
        bank.wait()

    await asyncio.gather(*[collect(bank.app) for bank in (first, *others) for _ in range(3)])

    files = await list_bank_files(databases[0])
    collected = Counter([each for file in files for each in await list_ids(first, file)])
    assert len(files) == 1
    assert collected == Counter(paid)
    for db in databases:
        await db.close()


async def test_cancellations_and_a_file_at_once_never_both_have_a_debit(url: str) -> None:
    databases = [await open_database(url) for _ in range(2)]
    bank = await open_bank(databases[0])
    other = await open_bank(databases[1], keyring=bank.app.keyring, is_first=False)
    other.wait()
    paid = [await bank.pay() for _ in range(12)]

    async def file_all() -> None:
        for _ in range(6):
            await collect(other.app)

    answers, _ = await asyncio.gather(asyncio.gather(*[bank.follow("RV", each) for each in paid]), file_all())
    while await collect(other.app):
        pass

    files = await list_bank_files(databases[0])
    collected = [each for file in files for each in await list_ids(bank, file)]
    kept = [each for each, (_, code) in zip(paid, answers, strict=True) if code == "700.300.700"]
    assert sorted(collected) == sorted(kept)
    for db in databases:
        await db.close()


async def test_the_day_has_one_file_even_if_somebody_writes_a_second(db: Database, bank: Bank) -> None:
    await bank.pay()
    bank.wait()
    await collect(bank.app)
    (file,) = await list_bank_files(db)

    second = msgspec.structs.replace(file, id="8a" + "9" * 30, exported_at=None)

    assert not await db.write(insert_bank_file_writes(second, b"sealed"), label="test")


@pytest.mark.parametrize(
    "changes",
    [{"amount": 1}, {"direction": "credit"}, {"channel_id": OTHER_CHANNEL.id}],
    ids=lambda each: next(iter(each)),
)
async def test_a_tampered_instruction_stays_out_and_stops_no_other(
    db: Database, bank: Bank, caplog: pytest.LogCaptureFixture, changes: dict[str, object]
) -> None:
    await insert_channel(db, OTHER_CHANNEL)
    await bank.app.merchants.refresh(db)
    changed, honest = await bank.pay(), await bank.pay()
    await change(db, instructions, changed, **changes)
    bank.wait()

    assert await collect(bank.app) == 1

    (file,) = await list_bank_files(db)
    assert await list_ids(bank, file) == [honest]
    assert "cannot be filed" in caplog.text


async def test_the_account_of_another_payment_opens_in_no_other_row(db: Database, bank: Bank) -> None:
    one, two = await bank.pay(), await bank.pay()
    strange = await find_sealed_account(db, MERCHANT.id, PaymentId(two))
    await change(db, payments, one, sealed_account=strange)
    bank.wait()

    await collect(bank.app)

    (file,) = await list_bank_files(db)
    assert await list_ids(bank, file) == [two]


async def test_an_instruction_redirected_to_the_account_of_another_payment_stays_out(
    db: Database, bank: Bank, caplog: pytest.LogCaptureFixture
) -> None:
    """The other account opens, so only the comparison with the first payment of the chain keeps it out."""
    theirs = await bank.pay(account=change_account(iban=Secret("DE02120300000000202051")))
    paid = await bank.pay()
    credit, (refund, _) = await bank.pay("CD"), await bank.follow("RF", paid, 100)
    await change(db, instructions, credit, account_of=theirs)
    await change(db, instructions, refund, account_of=theirs)
    bank.wait()

    assert await collect(bank.app) == 1

    (file,) = await list_bank_files(db)
    assert (file.scheme, await list_ids(bank, file)) == ("pain.008", sorted([theirs, paid]))
    reasons = [vars(record).get("why") for record in caplog.records if record.name == "tollgate.bank"]
    assert reasons.count("the instruction names the account of another payment") == 2


async def test_payments_of_the_other_environment_stay_out(db: Database, bank: Bank) -> None:
    await bank.pay()
    bank.wait()
    live = msgspec.structs.replace(bank.app, is_live=True)

    assert await collect(live) == 0
    assert await list_bank_files(db) == []


async def test_a_file_is_sealed_exported_once_and_wrapped_again(db: Database, bank: Bank) -> None:
    await bank.pay()
    bank.wait()
    await collect(bank.app)
    (file,) = await list_bank_files(db)
    assert IBAN.encode() not in await get_sealed_body(db, file)

    body = await export_file(db, bank.app.keyring, file, 7)
    again = await export_file(db, bank.app.keyring, file, 8)
    assert body == again
    assert (await list_bank_files(db))[0].exported_at == 7

    fresh = bank.app.keyring.with_new_key()
    assert await count_retired(db, fresh) > 0
    await rewrap_everything(db, fresh, lambda _count: None)
    assert await count_retired(db, fresh) == 0
    assert await export_file(db, fresh.without_retired_keys(), file, 9) == body


async def test_a_channel_that_lost_its_creditor_keeps_its_instructions(db: Database, bank: Bank) -> None:
    paid = await bank.pay()
    bank.wait()
    bank.app.merchants.fill([msgspec.structs.replace(CHANNEL, creditor=None)], [])

    assert await collect(bank.app) == 0
    found = await find_instruction(db, MERCHANT.id, paid)
    assert found is not None
    assert found.state is InstructionState.OPEN
