"""Registrations are erased on both databases when their time is over, and not while a payment needs them."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from databases.banking import MERCHANT, Bank, open_bank
from databases.registration_samples import look, order_card, order_debit, read_row, store
from outbox import list_events
from tollgate.flows.erase import erase_registration
from tollgate.flows.recover import run_recovery_task
from tollgate.operations.accounts import open_registration
from tollgate.payments.accounts import CardSummary
from tollgate.payments.registration import NewRegistration, Registration, RegistrationEvent, RegistrationState
from tollgate.store.database import Database
from tollgate.store.events import Event
from tollgate.store.registrations import change_registration_writes, insert_registration_writes, list_outlived, note_use
from tollgate.values import DAY, Refusal, add_months
from tollgate.workers.upkeep import erase_registrations
from unit.flows.shopping import lease_now

pytestmark = pytest.mark.anyio

PENDING = b'{"status":"pending","response_code":"","message":"Wait"}'
LATER_YEARS = 3000


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


async def list_ends(db: Database) -> list[Event]:
    events = await list_events(db, MERCHANT.id)
    return [event for event in events if event.topic == RegistrationEvent.DELETED]


async def test_a_card_is_wiped_when_its_time_is_over_and_a_trace_stays(db: Database, bank: Bank) -> None:
    stored_id = await store(bank, order_card())
    kept = await look(db, stored_id)

    bank.clock.at = kept.keep_until
    assert await erase_registrations(bank.app) == 0
    bank.clock.at += 1
    assert await erase_registrations(bank.app) == 1
    assert await erase_registrations(bank.app) == 0

    row, left = await read_row(db, stored_id), await look(db, stored_id)
    assert (row["sealed_account"], row["sealed_token"], row["fingerprint"]) == (None, None, None)
    assert "Jane" not in repr(row)
    assert left.state is RegistrationState.ERASED
    assert left.card == CardSummary(bin="420000", last_digits="0000", expiry_month="05", expiry_year="2034")
    assert (left.brand, left.created_at, left.made_by) == (kept.brand, kept.created_at, kept.made_by)
    (event,) = await list_ends(db)
    assert (event.subject_id, event.created_at) == (stored_id, bank.clock.at)
    with pytest.raises(Refusal) as refused:
        await open_registration(bank.app, MERCHANT.id, stored_id)
    assert refused.value.result.code == "100.150.206"


async def test_what_has_no_expiry_is_kept_from_its_last_use_on(db: Database, bank: Bank) -> None:
    stored_id = await store(bank, order_debit())
    first = await look(db, stored_id)
    assert first.keep_until == add_months(first.created_at, 14)

    bank.clock.at = first.keep_until - DAY
    await open_registration(bank.app, MERCHANT.id, stored_id)
    bank.clock.at = first.keep_until + DAY
    assert await erase_registrations(bank.app) == 0

    bank.clock.at = (await look(db, stored_id)).keep_until + 1
    assert await erase_registrations(bank.app) == 1
    assert (await look(db, stored_id)).echo == {}


async def test_one_whose_payment_waits_is_left_alone_until_that_is_decided(db: Database, bank: Bank) -> None:
    wire = bank.app.simulator
    wire.script = [PENDING]  # type: ignore[union-attr]
    stored_id = await store(bank, order_card())

    bank.wait(LATER_YEARS * 2)
    assert await erase_registrations(bank.app) == 0
    waiting = await read_row(db, stored_id)
    assert waiting["state"] == RegistrationState.PENDING
    assert waiting["sealed_account"] is not None

    for job in await lease_now(bank.app):
        assert await run_recovery_task(bank.app, job)
    assert (await look(db, stored_id)).state is RegistrationState.ACTIVE
    assert await erase_registrations(bank.app) == 1
    assert (await read_row(db, stored_id))["sealed_account"] is None


async def test_one_that_nobody_confirmed_goes_without_a_word(db: Database, bank: Bank) -> None:
    kept = await look(db, await store(bank, order_card()))
    row = await read_row(db, kept.id)
    bare = msgspec.structs.replace(kept, id="8a" + "9" * 30, state=RegistrationState.PENDING, made_by=None)
    assert await db.write(insert_registration_writes(NewRegistration(bare, row["sealed_account"])), label="test")

    bank.wait(LATER_YEARS * 2)
    assert await erase_registrations(bank.app) == 2

    left = await read_row(db, bare.id)
    assert (left["state"], left["sealed_account"], left["echo"]) == (RegistrationState.ERASED, None, "{}")
    assert [event.subject_id for event in await list_ends(db)] == [kept.id]


async def test_whoever_uses_or_extends_it_first_wins(db: Database, bank: Bank) -> None:
    used_id, extended_id = await store(bank, order_debit()), await store(bank, order_card())
    bank.wait(LATER_YEARS * 2)
    found: dict[str, Registration] = {each.id: each for each in await list_outlived(db, bank.clock.now(), 10)}
    assert set(found) == {used_id, extended_id}

    await note_use(db, found[used_id], bank.clock.at, bank.clock.at + DAY)
    assert await extend(bank, found[extended_id])
    for each in found.values():
        assert not await erase_registration(bank.app, each)

    for registration_id in found:
        assert (await look(db, registration_id)).state is RegistrationState.ACTIVE
        assert (await read_row(db, registration_id))["sealed_account"] is not None
    assert await list_ends(db) == []


async def test_whoever_extends_it_too_late_changes_nothing(db: Database, bank: Bank) -> None:
    stored_id = await store(bank, order_card())
    bank.wait(LATER_YEARS * 2)
    (outlived,) = await list_outlived(db, bank.clock.now(), 10)

    assert await erase_registration(bank.app, outlived)
    assert not await extend(bank, outlived)

    row = await read_row(db, stored_id)
    assert (row["state"], row["sealed_account"]) == (RegistrationState.ERASED, None)
    assert row["keep_until"] == outlived.keep_until


async def extend(bank: Bank, registration: Registration) -> bool:
    longer = msgspec.structs.replace(registration, keep_until=bank.clock.at + DAY)
    row = await read_row(bank.app.database, registration.id)
    unit = change_registration_writes(longer, row["sealed_account"], None, event=None, at=bank.clock.at)
    return await bank.app.database.write(unit, label="test")


async def test_extending_and_erasing_at_once_ends_in_one_of_both(db: Database, bank: Bank) -> None:
    for _ in range(20):
        await store(bank, order_card())
    bank.wait(LATER_YEARS * 2)
    found = await list_outlived(db, bank.clock.now(), 100)

    outcomes = await asyncio.gather(
        *[act for each in found for act in (erase_registration(bank.app, each), extend(bank, each))]
    )

    assert len(found) == 20
    for erased, extended, each in zip(outcomes[::2], outcomes[1::2], found, strict=True):
        row = await read_row(db, each.id)
        assert erased is not extended
        assert (row["state"] == RegistrationState.ERASED) is erased
        assert (row["sealed_account"] is None) is erased
    assert len(await list_ends(db)) == sum(outcomes[::2])


async def test_several_processes_erase_each_of_them_once(db: Database, bank: Bank) -> None:
    ids = {await store(bank, order_card()) for _ in range(12)}
    other = await open_bank(db, keyring=bank.app.keyring, is_first=False)
    for each in (bank, other):
        each.wait(LATER_YEARS * 2)

    await asyncio.gather(*[erase_registrations(each.app) for each in (bank, other, bank)])

    assert sorted(event.subject_id for event in await list_ends(db)) == sorted(ids)
    assert {(await look(db, each)).state for each in ids} == {RegistrationState.ERASED}


async def test_one_without_an_account_goes_as_well(db: Database, bank: Bank) -> None:
    """The customer parameters beside the account are personal data, too."""
    kept = await look(db, await store(bank, order_card()))
    bare = msgspec.structs.replace(kept, id="8a" + "9" * 30, fingerprint=None, card=None)
    assert await db.write(insert_registration_writes(NewRegistration(bare, None)), label="test")

    bank.wait(LATER_YEARS * 2)

    assert await erase_registrations(bank.app) == 2
    assert (await look(db, bare.id)).echo == {}
