"""Registrations under another key, on both databases: all of them, whatever happens to them meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import msgspec
import pytest

from databases.banking import MERCHANT, Bank, open_bank
from databases.registration_samples import CARD_NUMBERS, look, order_card, read_row, store
from tollgate.catalog.limits import LIMITS
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.operations.accounts import make_registration_owner, open_registration
from tollgate.operations.app import App
from tollgate.operations.network_tokens import make_token_owner
from tollgate.payments.accounts import CardAccount, TokenAccount
from tollgate.payments.registration import Registration
from tollgate.store import registrations
from tollgate.store.database import Database
from tollgate.store.retention import wipe_account
from tollgate.values import Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import open_account, rewrap, seal_account, sealed_prefix, sealing_key_id

pytestmark = pytest.mark.anyio

TOKEN = TokenAccount(number=Secret("4895370010000005"), type="NETWORK")


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


async def forget_payments(db: Database, app: App) -> None:
    """Wipes the accounts of payments, so that only registrations are sealed."""
    for row in await registrations.list_sealed_registrations(db, None, sealed_prefix(b"none"), 1000):
        made_by = (await look(db, row.id)).made_by
        assert made_by is not None
        assert await wipe_account(db, MERCHANT.id, made_by, app.clock.now() + 1)


async def give_token(app: App, registration: Registration) -> None:
    row = await read_row(app.database, registration.id)
    sealed = seal_account(TOKEN, owner=make_token_owner(registration), keyring=app.keyring)
    unit = registrations.change_registration_writes(
        registration, row["sealed_account"], sealed, event=None, at=app.clock.now()
    )
    assert await app.database.write(unit, label="test")


async def rotate(db: Database, keyring: Keyring) -> int:
    return await rewrap_everything(db, keyring, lambda _count: None)


async def test_accounts_and_tokens_open_under_the_new_key_alone(db: Database, bank: Bank) -> None:
    ids = [await store(bank, order_card(number)) for number in CARD_NUMBERS]
    await give_token(bank.app, await look(db, ids[0]))
    await forget_payments(db, bank.app)
    rotated = bank.app.keyring.with_new_key()
    assert await count_retired(db, rotated) == 1

    assert await rotate(db, rotated) == len(ids)

    assert await count_retired(db, rotated) == 0
    assert await rotate(db, rotated) == 0
    alone = rotated.without_retired_keys()
    for registration_id, number in zip(ids, CARD_NUMBERS, strict=True):
        row, registration = await read_row(db, registration_id), await look(db, registration_id)
        card = open_account(row["sealed_account"], owner=make_registration_owner(registration), keyring=alone)
        assert isinstance(card, CardAccount)
        assert card.number.matches(Secret(number))
    sealed_token = (await read_row(db, ids[0]))["sealed_token"]
    token = open_account(sealed_token, owner=make_token_owner(await look(db, ids[0])), keyring=alone)
    assert isinstance(token, TokenAccount)
    assert token.number.matches(TOKEN.number)


async def test_a_token_under_the_old_key_is_not_overlooked(db: Database, bank: Bank) -> None:
    stored = await store(bank, order_card())
    await forget_payments(db, bank.app)
    rotated = bank.app.keyring.with_new_key()
    await rotate(db, rotated)
    await give_token(bank.app, await look(db, stored))

    assert await count_retired(db, rotated) == 1
    assert await rotate(db, rotated) == 1
    assert await count_retired(db, rotated) == 0


async def test_one_that_is_changed_meanwhile_delays_no_other_and_is_met_again(db: Database, bank: Bank) -> None:
    ids = [await store(bank, order_card()) for _ in range(3)]
    await forget_payments(db, bank.app)
    rotated = bank.app.keyring.with_new_key()
    found = await registrations.list_sealed_registrations(db, None, sealed_prefix(rotated.active_id), 10)
    batch = [make_rewrapping(each, make_registration_owner(await look(db, each.id)), rotated) for each in found]
    await reseal(bank.app, await look(db, ids[1]))

    assert await registrations.rewrap_registrations(db, batch) == 2

    assert await count_retired(db, rotated) == 1
    assert await rotate(db, rotated) == 1
    assert {sealing_key_id((await read_row(db, each))["sealed_account"]) for each in ids} == {rotated.active_id}


async def test_who_read_a_card_before_it_was_wrapped_again_writes_nothing_back(db: Database, bank: Bank) -> None:
    """Otherwise an account would be sealed with a key that is thought to be unused."""
    stored = await store(bank, order_card())
    before, row = await look(db, stored), await read_row(db, stored)
    rotated = bank.app.keyring.with_new_key()
    await rotate(db, rotated)

    unit = registrations.change_registration_writes(
        before, row["sealed_account"], None, event=None, at=bank.clock.now()
    )

    assert not await db.write(unit, label="test")
    assert sealing_key_id((await read_row(db, stored))["sealed_account"]) == rotated.active_id


async def test_no_read_fails_while_everything_is_wrapped_again(
    db: Database, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tollgate.flows.rotate_keys.LIMITS", replace(LIMITS, rewrap_batch=7, rewrap_unit=3))
    ids = [await store(bank, order_card(number)) for number in CARD_NUMBERS * 8]
    rotated = bank.app.keyring.with_new_key()
    app = msgspec.structs.replace(bank.app, keyring=rotated)
    rotation = asyncio.create_task(rotate(db, rotated))
    reads = 0
    while not rotation.done():
        stored = await open_registration(app, MERCHANT.id, ids[reads % len(ids)])
        assert isinstance(stored.account, CardAccount)
        reads += 1
        await asyncio.sleep(0)

    assert await rotation == 2 * len(ids)
    assert reads > 10
    assert await count_retired(db, rotated) == 0


def make_rewrapping(
    found: registrations.SealedRegistration, owner: str, keyring: Keyring
) -> tuple[registrations.SealedRegistration, registrations.SealedRegistration]:
    assert found.sealed_account is not None
    fresh = rewrap(found.sealed_account, owner=owner, keyring=keyring)
    return found, msgspec.structs.replace(found, sealed_account=fresh)


async def reseal(app: App, registration: Registration) -> None:
    """Seals the account again, as a change by its merchant does."""
    row = await read_row(app.database, registration.id)
    owner = make_registration_owner(registration)
    account = open_account(row["sealed_account"], owner=owner, keyring=app.keyring)
    sealed = seal_account(account, owner=owner, keyring=app.keyring)
    assert await app.database.write(
        registrations.change_registration_writes(registration, sealed, None, event=None, at=app.clock.now()),
        label="test",
    )


async def test_an_account_that_does_not_open_stops_no_other_and_keeps_the_old_key(
    db: Database, bank: Bank, caplog: pytest.LogCaptureFixture
) -> None:
    ids = [await store(bank, order_card(number)) for number in CARD_NUMBERS]
    await forget_payments(db, bank.app)
    moved = (await read_row(db, ids[0]))["sealed_account"]
    victim = await look(db, ids[1])
    assert await db.write(
        registrations.change_registration_writes(victim, moved, None, event=None, at=bank.clock.now()), label="test"
    )
    rotated = bank.app.keyring.with_new_key()

    assert await rotate(db, rotated) == 2

    assert await count_retired(db, rotated) == 1
    assert (await read_row(db, ids[1]))["sealed_account"] == moved
    assert [record.row for record in caplog.records if record.name == "tollgate.keys"] == [ids[1]]  # type: ignore[attr-defined]
