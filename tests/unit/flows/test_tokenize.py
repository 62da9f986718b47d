"""Registered cards and their network tokens stay in step through silence, delay, repeats and crashes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.connectors import tokens
from tollgate.operations.app import App
from tollgate.operations.network_tokens import make_token_owner
from tollgate.payments.accounts import TokenAccount
from tollgate.payments.registration import TokenState
from tollgate.store.jobs import ensure_job_writes
from tollgate.store.merchants import update_channel
from tollgate.store.registrations import make_token_job, note_use
from tollgate.values import DAY, HOUR, SECOND
from tollgate.vault.sealing import open_account
from tollgate.wire import Silent, Unsent
from unit.app_fixture import CHANNEL, MERCHANT
from unit.flows.chains import DECLINED
from unit.flows.registration_samples import CARD, KEEP, look_at, register_card, send
from unit.flows.shopping import tick
from unit.flows.tokenizing import (
    TOKENIZING,
    TokenWorld,
    get_stored_registration,
    get_token,
    get_vault_status,
    keep_token,
    list_token_jobs,
    open_token_app,
    run_tokens,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def world() -> TokenWorld:
    return TokenWorld()


@pytest.fixture
async def app(tmp_path: Path, world: TokenWorld) -> AsyncIterator[App]:
    async with open_token_app(tmp_path, world) as app:
        yield app


# ---- issued ----


async def test_a_card_that_was_stored_gets_a_token_after_its_payment_was_answered(app: App, world: TokenWorld) -> None:
    registration_id = await register_card(app, {"card.expiryYear": "2031"})
    assert (await look_at(app, registration_id)).network_token is None
    assert world.asked == []

    assert await run_tokens(app) == 1

    token = await get_token(app, registration_id)
    assert (token.state, token.expiry_month, token.expiry_year) == (TokenState.ACTIVE, "05", "2031")
    registration, _, sealed = await get_stored_registration(app, registration_id)
    assert sealed is not None
    account = open_account(sealed, owner=make_token_owner(registration), keyring=app.keyring)
    assert isinstance(account, TokenAccount)
    assert token.last_digits.encode() not in sealed
    assert await run_tokens(app) == 0


async def test_a_channel_that_uses_no_tokens_owes_and_asks_nothing(app: App, world: TokenWorld) -> None:
    await update_channel(app.database, CHANNEL)
    await app.merchants.refresh(app.database)

    registration_id = await register_card(app)
    received = await send(app, stored=registration_id)

    assert await list_token_jobs(app) == []
    assert world.asked == []
    assert "NetworkTokenUsed" not in received.body["resultDetails"]
    assert world.charged["card"]["number"] == "4200000000000000"


async def test_what_was_rejected_or_has_no_network_gets_none(app: App, world: TokenWorld) -> None:
    world.acquirer.script = [DECLINED]
    await send(app, CARD, KEEP)
    await send(app, CARD, KEEP, {"card.number": "5078030000000006", "paymentBrand": "MEEZA"})

    assert await list_token_jobs(app) == []


@pytest.mark.parametrize(("year", "code"), [("2032", "800.100.301"), ("2033", "800.100.302"), ("2036", "800.100.312")])
async def test_a_final_no_is_recorded_and_not_asked_again(app: App, world: TokenWorld, year: str, code: str) -> None:
    registration_id = await keep_token(app, year)

    token = await get_token(app, registration_id)
    assert (token.state, token.code, token.reference) == (TokenState.REFUSED, code, "")
    received = await send(app, stored=registration_id)
    assert received.code == "000.100.110"
    assert received.body["resultDetails"]["NetworkTokenResponse"] == code
    assert world.asked == [tokens.PROVISIONS]
    assert await list_token_jobs(app) == []


@pytest.mark.parametrize("fault", [Silent(), Unsent(), b"\xff", b'{"key":"other","status":"active"}'])
async def test_a_vault_that_says_nothing_is_asked_again_and_has_issued_one_token(
    app: App, world: TokenWorld, fault: bytes | Exception
) -> None:
    world.faults = [fault, fault]

    registration_id = await keep_token(app)
    assert (await look_at(app, registration_id)).network_token is None
    for _ in range(3):
        tick(app, 5 * SECOND)
        await run_tokens(app)

    assert (await get_token(app, registration_id)).state is TokenState.ACTIVE
    assert await list_token_jobs(app) == []


async def test_a_vault_that_stays_silent_is_left_alone_until_the_card_is_used_again(
    app: App, world: TokenWorld
) -> None:
    world.faults = [Silent() for _ in range(100)]
    registration_id = await keep_token(app)
    for _ in range(40):
        tick(app, HOUR)
        await run_tokens(app)
    assert await list_token_jobs(app) == []
    assert (await look_at(app, registration_id)).network_token is None

    world.faults = []
    received = await send(app, stored=registration_id)
    await run_tokens(app)

    assert received.body["resultDetails"]["NetworkTokenResponse"] == "800.100.311"
    assert (await get_token(app, registration_id)).state is TokenState.ACTIVE


async def test_a_card_from_before_the_setting_gets_its_token_with_its_next_payment(app: App, world: TokenWorld) -> None:
    await update_channel(app.database, CHANNEL)
    await app.merchants.refresh(app.database)
    registration_id = await register_card(app, {"card.expiryYear": "2031"})
    await update_channel(app.database, TOKENIZING)
    await app.merchants.refresh(app.database)

    await send(app, stored=registration_id)
    await run_tokens(app)
    received = await send(app, stored=registration_id)

    assert received.body["resultDetails"]["NetworkTokenUsed"] == "true"
    assert "card" not in world.charged


async def test_two_who_provision_at_once_end_with_one_token_and_one_change(app: App, world: TokenWorld) -> None:
    registration_id = await register_card(app, {"card.expiryYear": "2031"})
    before = await look_at(app, registration_id)
    again = make_token_job(MERCHANT.id, before.id, app.clock.now(), "again")
    await app.database.write(ensure_job_writes(again), label="test")

    assert await run_tokens(app) == 2

    after = await look_at(app, registration_id)
    assert after.revision == before.revision + 1
    assert world.asked.count(tokens.PROVISIONS) == 2
    assert (await get_token(app, registration_id)).reference == f"sim-{registration_id}"
    assert await list_token_jobs(app) == []


async def test_one_killed_between_the_vault_and_the_store_is_repeated_under_the_same_key(
    app: App, world: TokenWorld
) -> None:
    registration_id = await register_card(app, {"card.expiryYear": "2031"})

    async def die() -> None:
        raise RuntimeError("killed")

    world.meanwhile = die
    await run_tokens(app)
    assert (await look_at(app, registration_id)).network_token is None
    assert await get_vault_status(app, registration_id) == "active"
    tick(app, 2 * SECOND)
    await run_tokens(app)

    assert (await get_token(app, registration_id)).reference == f"sim-{registration_id}"


async def test_a_registration_that_is_used_meanwhile_is_looked_at_again(app: App, world: TokenWorld) -> None:
    registration_id = await register_card(app, {"card.expiryYear": "2031"})
    used_at = app.clock.now() + 2 * DAY

    async def use() -> None:
        registration = await look_at(app, registration_id)
        await note_use(app.database, registration, used_at, registration.keep_until)

    world.meanwhile = use
    await run_tokens(app)

    registration = await look_at(app, registration_id)
    assert registration.used_at == used_at
    assert registration.network_token is not None
    assert world.asked == [tokens.PROVISIONS, tokens.PROVISIONS]
