"""The network token of a registered card: its events, who may report them, and its deletion at the vault."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.connectors import tokens
from tollgate.flows.tokenize import accept_token_event, make_events_url
from tollgate.operations.app import App
from tollgate.payments.registration import RegistrationEvent, RegistrationState, TokenState
from tollgate.sandbox.token_vault import Event
from tollgate.store.registrations import change_registration_writes, find_sealed_registration
from tollgate.values import DAY, MINUTE, SECOND
from tollgate.wire import Silent
from unit.app_fixture import MERCHANT
from unit.flows.registration_samples import list_announced, look_at, register_card, send
from unit.flows.shopping import tick
from unit.flows.tokenizing import (
    TokenWorld,
    delete,
    fire,
    get_stored_registration,
    get_token,
    get_vault_status,
    keep_token,
    list_token_jobs,
    make_knock,
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


# ---- what happens to it ----


@pytest.mark.parametrize(
    ("event", "state"), [(Event.SUSPENDED, TokenState.SUSPENDED), (Event.DELETED, TokenState.DELETED)]
)
async def test_an_event_moves_the_token_and_announces_nothing(app: App, event: Event, state: TokenState) -> None:
    registration_id = await keep_token(app)
    shopper_token = await fire(app, registration_id, event)

    assert await accept_token_event(app, shopper_token, make_knock(registration_id))
    await run_tokens(app)

    token = await get_token(app, registration_id)
    assert token.state is state
    _, _, sealed = await get_stored_registration(app, registration_id)
    assert (sealed is None) is (state is TokenState.DELETED)
    assert [each.topic for each in await list_announced(app)] == [RegistrationEvent.CREATED]


async def test_a_renewed_card_changes_its_summary_its_expiry_and_its_end_and_is_announced_once(app: App) -> None:
    registration_id = await keep_token(app)
    before = await look_at(app, registration_id)
    assert before.card is not None
    tick(app)
    shopper_token = await fire(app, registration_id, Event.CARD_UPDATED)

    for _ in range(3):
        assert await accept_token_event(app, shopper_token, make_knock(registration_id))
        await run_tokens(app)
        tick(app)

    after = await look_at(app, registration_id)
    assert after.card == replace(before.card, last_digits="1111", expiry_year="2035")
    assert after.keep_until > before.keep_until
    assert after.fingerprint == before.fingerprint
    topics = [each.topic for each in await list_announced(app)]
    assert topics == [RegistrationEvent.CREATED, RegistrationEvent.UPDATED]
    received = await send(app, stored=registration_id)
    assert received.body["card"]["last4Digits"] == "1111"
    assert received.body["card"]["expiryYear"] == "2035"


async def test_a_renewed_card_can_be_paid_with_after_its_old_expiry(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app)
    shopper_token = await fire(app, registration_id, Event.CARD_UPDATED)
    await accept_token_event(app, shopper_token, make_knock(registration_id))
    await run_tokens(app)
    tick(app, 7 * 366 * DAY)

    received = await send(app, stored=registration_id)

    assert received.code == "000.100.110"
    assert world.charged["token"]["expiry"] == "2035-05"


async def test_events_out_of_order_end_with_what_the_vault_says_last(app: App) -> None:
    registration_id = await keep_token(app)
    shopper_token = await fire(app, registration_id, Event.SUSPENDED, "e-1")
    tick(app)
    await fire(app, registration_id, Event.RESUMED, "e-2")
    tick(app)
    await fire(app, registration_id, Event.CARD_UPDATED, "e-3")

    for event_id in ("e-3", "e-1", "e-2"):
        await accept_token_event(app, shopper_token, make_knock(registration_id, event_id))
        await run_tokens(app)

    registration = await look_at(app, registration_id)
    assert registration.network_token is not None
    assert registration.network_token.state is TokenState.ACTIVE
    assert registration.card is not None
    assert registration.card.last_digits == "1111"


async def test_what_the_merchant_knows_better_stays(app: App) -> None:
    """An expiry that its merchant corrected is not undone by a network that does not know of it."""
    registration_id = await keep_token(app)
    registration, sealed, sealed_token = await get_stored_registration(app, registration_id)
    assert registration.card is not None
    newer = replace(registration, card=replace(registration.card, expiry_year="2040"))
    unit = change_registration_writes(newer, sealed, sealed_token, event=None, at=app.clock.now())
    assert await app.database.write(unit, label="test")
    shopper_token = await fire(app, registration_id, Event.SUSPENDED)

    await accept_token_event(app, shopper_token, make_knock(registration_id))
    await run_tokens(app)

    after = await look_at(app, registration_id)
    assert after.card is not None
    assert after.card.expiry_year == "2040"
    assert (await get_token(app, registration_id)).state is TokenState.SUSPENDED


async def test_the_years_of_a_cycle_and_of_a_renewal_come_by_the_clock(app: App) -> None:
    cycling, renewed = await keep_token(app, "2034"), await keep_token(app, "2035")
    states = []
    for _ in range(4):
        states.append((await get_token(app, cycling)).state)
        tick(app, MINUTE)
        await run_tokens(app)

    assert states == [TokenState.ACTIVE, TokenState.SUSPENDED, TokenState.ACTIVE, TokenState.DELETED]
    card_summary = (await look_at(app, renewed)).card
    assert card_summary is not None
    assert (card_summary.last_digits, card_summary.expiry_year) == ("1111", "2039")
    assert await list_token_jobs(app) == []


# ---- who may report events ----


async def test_events_count_only_at_the_address_that_was_given(app: App) -> None:
    registration_id, other_id = await keep_token(app), await keep_token(app)
    shopper_token = await fire(app, registration_id, Event.SUSPENDED)
    other_url = make_events_url(app, await look_at(app, other_id))
    forged = shopper_token[:-4] + ("AAAA" if not shopper_token.endswith("AAAA") else "BBBB")

    for text in (forged, other_url.rpartition("/")[2], shopper_token[:43], "", "x" * 500, "ünicode"):
        assert not await accept_token_event(app, text, make_knock(registration_id))
    for body in (b"", b"\xff", b"{}", make_knock(other_id), b'{"id":"a b","key":"' + registration_id.encode() + b'"}'):
        assert not await accept_token_event(app, shopper_token, body)

    assert await list_token_jobs(app) == []


async def test_an_event_about_what_is_gone_changes_nothing(app: App) -> None:
    registration_id = await keep_token(app)
    shopper_token = await fire(app, registration_id, Event.CARD_UPDATED)
    await delete(app, registration_id)
    ended = await look_at(app, registration_id)

    assert await accept_token_event(app, shopper_token, make_knock(registration_id))
    await run_tokens(app)

    assert await look_at(app, registration_id) == ended
    assert await list_token_jobs(app) == []


# ---- given back ----


@pytest.mark.parametrize("ended", [RegistrationState.DELETED, RegistrationState.ERASED])
async def test_who_removes_a_registration_removes_its_token_at_the_vault(
    app: App, world: TokenWorld, ended: RegistrationState
) -> None:
    registration_id = await keep_token(app)
    await delete(app, registration_id, ended)
    world.faults = [Silent(), b"nonsense"]

    for _ in range(3):
        await run_tokens(app)
        tick(app, 5 * SECOND)

    assert await get_vault_status(app, registration_id) == "deleted"
    assert world.asked[1:] == [tokens.DELETIONS] * 3
    assert (await get_token(app, registration_id)).state is TokenState.DELETED
    kept = await find_sealed_registration(app.database, MERCHANT.id, registration_id)
    assert kept is not None
    assert kept[1:] == (None, None)
    assert await list_token_jobs(app) == []


async def test_a_token_that_was_issued_while_its_registration_ended_is_given_back(app: App, world: TokenWorld) -> None:
    registration_id = await register_card(app, {"card.expiryYear": "2031"})
    world.meanwhile = lambda: delete(app, registration_id)

    await run_tokens(app)

    assert world.asked == [tokens.PROVISIONS, tokens.DELETIONS]
    assert await get_vault_status(app, registration_id) == "deleted"
    assert (await look_at(app, registration_id)).network_token is None


async def test_removing_what_has_no_token_owes_nothing(app: App) -> None:
    registration_id = await keep_token(app, "2032")

    await delete(app, registration_id)

    assert await list_token_jobs(app) == []
