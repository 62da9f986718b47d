"""Network tokens on both databases: what is owed is written with what caused it, and crowds end with one truth."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from databases.banking import CHANNEL, Bank, open_bank
from databases.registration_samples import look, order_card, order_debit, read_row, store
from outbox import list_events
from tollgate.payments.registration import RegistrationEvent, RegistrationState, TokenState, wipe
from tollgate.sandbox.simulator import make_simulator
from tollgate.sandbox.token_vault import Event, find_standing, let_happen
from tollgate.store.database import Database
from tollgate.store.jobs import Job, ensure_job_writes, lease_due
from tollgate.store.merchants import update_channel
from tollgate.store.registrations import change_registration_writes, make_token_job
from tollgate.values import DAY, SECOND, RegistrationId
from tollgate.workers.jobs import follow_tokens
from unit.app_fixture import CARD

pytestmark = pytest.mark.anyio

PROCESSES = 3
OCCASIONS = 4


@pytest.fixture
async def banks(db: Database) -> list[Bank]:
    """Processes on one store, with the simulated vault at the end of their wires."""
    first = await open_bank(db)
    await update_channel(db, replace(CHANNEL, uses_network_tokens=True))
    others = [await open_bank(db, keyring=first.app.keyring, is_first=False) for _ in range(PROCESSES - 1)]
    for bank in (first, *others):
        app = bank.app
        await app.merchants.refresh(db)
        simulator = make_simulator(db, app.keyring, "https://gate.example", bank.clock)
        bank.app = replace(app, simulator=simulator, base_url="https://gate.example")
    return [first, *others]


async def keep(bank: Bank) -> RegistrationId:
    order = order_card()
    assert order.card_summary is not None
    card_summary = replace(order.card_summary, expiry_year="2031")
    account = replace(CARD, expiry_year="2031")
    return RegistrationId(await store(bank, replace(order, account=account, card_summary=card_summary)))


async def run_all(banks: list[Bank]) -> None:
    """All processes at once, until nothing is owed; a job that was put off is due some rounds later."""
    for _ in range(20):
        await asyncio.gather(*[follow_tokens(bank.app) for bank in banks])
        for bank in banks:
            bank.clock.at += 20 * SECOND
        if not await list_owed(banks[0]):
            return
    raise AssertionError("something is owed for ever")


async def list_owed(bank: Bank) -> list[Job]:
    return await lease_due(
        bank.app.database,
        now=bank.clock.now() + 1000 * DAY,
        wall_now=bank.clock.wall(),
        owner="looking",
        lease_s=0,
        limit=100,
        topic="network-token",
    )


async def delete(bank: Bank, registration_id: RegistrationId) -> None:
    for _ in range(20):
        seen = await look(bank.app.database, registration_id)
        ended = wipe(seen, RegistrationState.DELETED)
        unit = change_registration_writes(ended, None, None, event=RegistrationEvent.DELETED, at=bank.clock.now())
        if await bank.app.database.write(unit, label="test"):
            return
    raise AssertionError("it is changed without end")


async def owe(bank: Bank, registration_id: RegistrationId, *occasions: str) -> None:
    for occasion in occasions:
        job = make_token_job(CHANNEL.merchant_id, registration_id, bank.clock.now(), occasion)
        assert await bank.app.database.write(ensure_job_writes(job), label="test")


async def test_what_is_owed_comes_with_the_card_and_with_no_other_account(banks: list[Bank]) -> None:
    bank = banks[0]
    registration_id = await keep(bank)
    await store(bank, order_debit())

    (job,) = await list_owed(bank)

    assert (job.subject_id, job.topic) == (registration_id, "network-token")
    await owe(bank, registration_id, "")
    assert len(await list_owed(bank)) == 1


async def test_processes_that_ask_at_once_write_one_token_once(banks: list[Bank], db: Database) -> None:
    registration_id = await keep(banks[0])
    await owe(banks[0], registration_id, *[f"e-{number}" for number in range(OCCASIONS)])
    before = await look(db, registration_id)

    await run_all(banks)

    after = await look(db, registration_id)
    assert after.network_token is not None
    assert after.network_token.state is TokenState.ACTIVE
    assert after.revision == before.revision + 1
    row = await read_row(db, registration_id)
    assert row["sealed_token"] is not None
    assert await list_owed(banks[0]) == []


async def test_one_event_received_by_all_is_announced_once(banks: list[Bank], db: Database) -> None:
    registration_id = await keep(banks[0])
    await run_all(banks)
    await let_happen(db, registration_id, Event.CARD_UPDATED, "e-1", banks[0].clock.now())

    await owe(banks[0], registration_id, *[f"e-{number}" for number in range(OCCASIONS)])
    await run_all(banks)

    events = await list_events(db, CHANNEL.merchant_id)
    topics = [event.topic for event in events if event.subject_id == registration_id]
    assert topics == [RegistrationEvent.CREATED, RegistrationEvent.UPDATED]
    card = (await look(db, registration_id)).card
    assert card is not None
    assert (card.last_digits, card.expiry_year) == ("1111", "2035")


async def test_a_removal_at_any_moment_leaves_no_token_behind(banks: list[Bank], db: Database) -> None:
    """This holds while it is provisioned, while it is asked about, and afterwards."""
    for rounds_before in range(3):
        registration_id = await keep(banks[0])
        await owe(banks[0], registration_id, "e-1", "e-2")
        for _ in range(rounds_before):
            await follow_tokens(banks[0].app)

        await asyncio.gather(delete(banks[1], registration_id), *[follow_tokens(bank.app) for bank in banks])
        await run_all(banks)

        row = await read_row(db, registration_id)
        assert (row["sealed_account"], row["sealed_token"]) == (None, None)
        standing = await find_standing(db, registration_id, banks[0].clock.now())
        assert standing is None or standing.status == "deleted"
        assert await list_owed(banks[0]) == []
