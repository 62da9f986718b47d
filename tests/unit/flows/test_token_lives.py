"""What happens to the network token of a stored card: events, who may tell of them, and that it is given back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.connectors import tokens
from tollgate.flows import hear_token_event
from tollgate.flows.tokenize import make_events_url
from tollgate.payments import RegistrationEvent, RegistrationState, TokenState
from tollgate.sandbox.token_years import Event
from tollgate.steps import House
from tollgate.store import (
    find_sealed_registration,
    steps_change_registration,
)
from tollgate.values import DAY, MINUTE, SECOND
from tollgate.wire import Silent
from unit.flows.keeping import keep_card, list_announced, look_at, send
from unit.flows.shopping import tick
from unit.flows.tokenizing import (
    TokenWorld,
    delete,
    find_stored,
    fire,
    get_token,
    get_vault_status,
    keep_token,
    list_token_jobs,
    make_knock,
    open_token_house,
    run_tokens,
)
from unit.premises import MERCHANT

pytestmark = pytest.mark.anyio


@pytest.fixture
def world() -> TokenWorld:
    return TokenWorld()


@pytest.fixture
async def house(tmp_path: Path, world: TokenWorld) -> AsyncIterator[House]:
    async with open_token_house(tmp_path, world) as house:
        yield house


# ---- what happens to it ----


@pytest.mark.parametrize(
    ("event", "state"), [(Event.SUSPENDED, TokenState.SUSPENDED), (Event.DELETED, TokenState.DELETED)]
)
async def test_an_event_moves_the_token_and_tells_the_merchant_nothing(
    house: House, event: Event, state: TokenState
) -> None:
    registration_id = await keep_token(house)
    ticket = await fire(house, registration_id, event)

    assert await hear_token_event(house, ticket, make_knock(registration_id))
    await run_tokens(house)

    token = await get_token(house, registration_id)
    assert token.state is state
    _, _, sealed = await find_stored(house, registration_id)
    assert (sealed is None) is (state is TokenState.DELETED)
    assert [each.topic for each in await list_announced(house)] == [RegistrationEvent.CREATED]


async def test_a_renewed_card_changes_its_face_its_expiry_and_its_end_and_is_announced_once(house: House) -> None:
    registration_id = await keep_token(house)
    before = await look_at(house, registration_id)
    assert before.card is not None
    tick(house)
    ticket = await fire(house, registration_id, Event.CARD_UPDATED)

    for _ in range(3):
        assert await hear_token_event(house, ticket, make_knock(registration_id))
        await run_tokens(house)
        tick(house)

    after = await look_at(house, registration_id)
    assert after.card == replace(before.card, last_digits="1111", expiry_year="2035")
    assert after.keep_until > before.keep_until
    assert after.fingerprint == before.fingerprint
    topics = [each.topic for each in await list_announced(house)]
    assert topics == [RegistrationEvent.CREATED, RegistrationEvent.UPDATED]
    told = await send(house, stored=registration_id)
    assert told.body["card"]["last4Digits"] == "1111"
    assert told.body["card"]["expiryYear"] == "2035"


async def test_a_renewed_card_can_be_paid_with_after_its_old_expiry(house: House, world: TokenWorld) -> None:
    registration_id = await keep_token(house)
    ticket = await fire(house, registration_id, Event.CARD_UPDATED)
    await hear_token_event(house, ticket, make_knock(registration_id))
    await run_tokens(house)
    tick(house, 7 * 366 * DAY)

    told = await send(house, stored=registration_id)

    assert told.code == "000.100.110"
    assert world.charged["token"]["expiry"] == "2035-05"


async def test_events_out_of_order_end_with_what_the_vault_says_last(house: House) -> None:
    registration_id = await keep_token(house)
    ticket = await fire(house, registration_id, Event.SUSPENDED, "e-1")
    tick(house)
    await fire(house, registration_id, Event.RESUMED, "e-2")
    tick(house)
    await fire(house, registration_id, Event.CARD_UPDATED, "e-3")

    for event_id in ("e-3", "e-1", "e-2"):
        await hear_token_event(house, ticket, make_knock(registration_id, event_id))
        await run_tokens(house)

    registration = await look_at(house, registration_id)
    assert registration.network_token is not None
    assert registration.network_token.state is TokenState.ACTIVE
    assert registration.card is not None
    assert registration.card.last_digits == "1111"


async def test_what_the_merchant_knows_better_stays(house: House) -> None:
    """An expiry that its merchant corrected is not undone by a network that has not heard of it."""
    registration_id = await keep_token(house)
    registration, sealed, sealed_token = await find_stored(house, registration_id)
    assert registration.card is not None
    newer = replace(registration, card=replace(registration.card, expiry_year="2040"))
    unit = steps_change_registration(newer, sealed, sealed_token, event=None, at=house.clock.now())
    assert await house.database.write(unit)
    ticket = await fire(house, registration_id, Event.SUSPENDED)

    await hear_token_event(house, ticket, make_knock(registration_id))
    await run_tokens(house)

    after = await look_at(house, registration_id)
    assert after.card is not None
    assert after.card.expiry_year == "2040"
    assert (await get_token(house, registration_id)).state is TokenState.SUSPENDED


async def test_the_years_of_a_cycle_and_of_a_renewal_come_by_the_clock(house: House) -> None:
    cycling, renewed = await keep_token(house, "2034"), await keep_token(house, "2035")
    states = []
    for _ in range(4):
        states.append((await get_token(house, cycling)).state)
        tick(house, MINUTE)
        await run_tokens(house)

    assert states == [TokenState.ACTIVE, TokenState.SUSPENDED, TokenState.ACTIVE, TokenState.DELETED]
    face = (await look_at(house, renewed)).card
    assert face is not None
    assert (face.last_digits, face.expiry_year) == ("1111", "2039")
    assert await list_token_jobs(house) == []


# ---- who may tell ----


async def test_only_who_was_given_the_address_is_heard(house: House) -> None:
    registration_id, other_id = await keep_token(house), await keep_token(house)
    ticket = await fire(house, registration_id, Event.SUSPENDED)
    other_url = make_events_url(house, await look_at(house, other_id))
    forged = ticket[:-4] + ("AAAA" if not ticket.endswith("AAAA") else "BBBB")

    for text in (forged, other_url.rpartition("/")[2], ticket[:43], "", "x" * 500, "ünicode"):
        assert not await hear_token_event(house, text, make_knock(registration_id))
    for body in (b"", b"\xff", b"{}", make_knock(other_id), b'{"id":"a b","key":"' + registration_id.encode() + b'"}'):
        assert not await hear_token_event(house, ticket, body)

    assert await list_token_jobs(house) == []


async def test_an_event_about_what_is_gone_changes_nothing(house: House) -> None:
    registration_id = await keep_token(house)
    ticket = await fire(house, registration_id, Event.CARD_UPDATED)
    await delete(house, registration_id)
    ended = await look_at(house, registration_id)

    assert await hear_token_event(house, ticket, make_knock(registration_id))
    await run_tokens(house)

    assert await look_at(house, registration_id) == ended
    assert await list_token_jobs(house) == []


# ---- given back ----


@pytest.mark.parametrize("ended", [RegistrationState.DELETED, RegistrationState.ERASED])
async def test_who_removes_a_registration_removes_its_token_at_the_vault(
    house: House, world: TokenWorld, ended: RegistrationState
) -> None:
    registration_id = await keep_token(house)
    await delete(house, registration_id, ended)
    world.faults = [Silent(), b"nonsense"]

    for _ in range(3):
        await run_tokens(house)
        tick(house, 5 * SECOND)

    assert await get_vault_status(house, registration_id) == "deleted"
    assert world.asked[1:] == [tokens.DELETIONS] * 3
    assert (await get_token(house, registration_id)).state is TokenState.DELETED
    kept = await find_sealed_registration(house.database, MERCHANT.id, registration_id)
    assert kept is not None
    assert kept[1:] == (None, None)
    assert await list_token_jobs(house) == []


async def test_a_token_that_was_issued_while_its_registration_ended_is_given_back(
    house: House, world: TokenWorld
) -> None:
    registration_id = await keep_card(house, {"card.expiryYear": "2031"})
    world.meanwhile = lambda: delete(house, registration_id)

    await run_tokens(house)

    assert world.asked == [tokens.PROVISIONS, tokens.DELETIONS]
    assert await get_vault_status(house, registration_id) == "deleted"
    assert (await look_at(house, registration_id)).network_token is None


async def test_removing_what_has_no_token_owes_nothing(house: House) -> None:
    registration_id = await keep_token(house, "2032")

    await delete(house, registration_id)

    assert await list_token_jobs(house) == []
