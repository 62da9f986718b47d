"""Payments from registered cards by their token: what the acquirer and the merchant get, that none fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors import tokens
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.table import CONNECTORS
from tollgate.flows.tokenize import accept_token_event
from tollgate.operations import routes
from tollgate.operations.app import App
from tollgate.payments.order import TestMode
from tollgate.payments.payment import State
from tollgate.payments.registration import TokenState
from tollgate.sandbox.token_vault import Event
from tollgate.store.jobs import finish_job
from tollgate.store.registrations import change_registration_writes
from tollgate.values import MINUTE, SECOND, FixedClock
from tollgate.wire import Silent, Unsent, Wire
from unit.flows.chains import read
from unit.flows.registration_samples import ALONE, CARD, INITIAL, KEEP, PRESENT, Answered, look_at, register_card, send
from unit.flows.shopping import BROWSER_FIELDS, FRICTIONLESS, Bank, tick
from unit.flows.test_pay_costs import CountingDatabase
from unit.flows.tokenizing import (
    TOKENIZING,
    TokenWorld,
    fire,
    get_stored_registration,
    get_token,
    keep_token,
    list_token_jobs,
    make_knock,
    open_token_app,
    run_tokens,
)

pytestmark = pytest.mark.anyio

PAN = "4200000000000000"


@pytest.fixture
def world() -> TokenWorld:
    return TokenWorld()


@pytest.fixture
async def app(tmp_path: Path, world: TokenWorld) -> AsyncIterator[App]:
    async with open_token_app(tmp_path, world) as app:
        yield app


async def pay(app: App, registration_id: str, *words: Mapping[str, str]) -> Answered:
    return await send(app, *words, stored=registration_id, channel=TOKENIZING)


def get_use(received: Answered) -> dict[str, str]:
    details = received.body["resultDetails"]
    return {name: text for name, text in details.items() if name.startswith("NetworkToken")}


@pytest.mark.parametrize("words", [{}, {"card.cvv": "731"}, PRESENT, INITIAL])
async def test_a_payment_with_its_shopper_sends_the_token_with_a_cryptogram_and_no_number(
    app: App, world: TokenWorld, words: Mapping[str, str]
) -> None:
    registration_id = await keep_token(app)
    token = await get_token(app, registration_id)

    received = await pay(app, registration_id, words)

    sent = world.charged
    assert "card" not in sent
    assert sent["token"]["number"].endswith(token.last_digits)
    assert (sent["token"]["type"], sent["token"]["expiry"]) == ("NETWORK", "2031-05")
    assert len(sent["token"]["cryptogram"]) == 28
    assert (sent["brand"], received.body["paymentBrand"]) == ("VISA", "VISA")
    assert received.body["card"]["last4Digits"] == "0000"
    assert received.registration_id == registration_id
    assert get_use(received) == {"NetworkTokenUsed": "true", "NetworkTokenLast4Digits": token.last_digits}
    assert sent["token"]["number"] not in str(received.body)


@pytest.mark.parametrize("words", [ALONE, {"paymentType": "CD"}])
async def test_what_needs_no_shopper_needs_no_cryptogram(app: App, world: TokenWorld, words: Mapping[str, str]) -> None:
    registration_id = await keep_token(app)

    received = await pay(app, registration_id, words)

    assert "cryptogram" not in world.charged["token"]
    assert world.asked == [tokens.PROVISIONS]
    assert get_use(received)["NetworkTokenUsed"] == "true"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Silent(), "800.100.321"),
        (Unsent(), "800.100.321"),
        (b"\xff\x00", "800.100.321"),
        (b"[" * 5000, "800.100.321"),
    ],
)
async def test_a_vault_that_says_nothing_costs_the_payment_its_token_and_nothing_else(
    app: App, world: TokenWorld, fault: bytes | Exception, code: str
) -> None:
    registration_id = await keep_token(app)
    world.faults = [fault, fault]

    received = await pay(app, registration_id)

    assert received.code == "000.100.110"
    assert world.charged["card"]["number"] == PAN
    assert get_use(received) == {"NetworkTokenUsed": "false", "NetworkTokenResponse": code}
    assert await list_token_jobs(app) == []


async def test_a_token_in_a_bad_state_is_asked_about_and_the_number_is_used(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app, "2041")

    received = await pay(app, registration_id)

    assert get_use(received) == {"NetworkTokenUsed": "false", "NetworkTokenResponse": "800.100.307"}
    assert world.charged["card"]["number"] == PAN
    assert [job.id.rpartition(".")[2] for job in await list_token_jobs(app)] == ["refused"]


async def test_a_suspension_without_an_event_is_found_by_the_next_payment(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app)
    await fire(app, registration_id, Event.SUSPENDED)

    first = await pay(app, registration_id)
    await run_tokens(app)
    asked = len(world.asked)
    second = await pay(app, registration_id)

    assert (await get_token(app, registration_id)).state is TokenState.SUSPENDED
    assert get_use(first) == get_use(second) == {"NetworkTokenUsed": "false", "NetworkTokenResponse": "800.100.317"}
    assert len(world.asked) == asked


async def test_a_token_that_may_go_on_is_used_again_and_a_deleted_one_is_not(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app, "2034")
    used = []
    for _ in range(4):
        used.append(get_use(await pay(app, registration_id))["NetworkTokenUsed"])
        tick(app, MINUTE)
        await run_tokens(app)

    assert used == ["true", "false", "true", "false"]
    assert world.charged["card"]["number"] == PAN


async def test_the_payment_that_stores_a_card_is_made_with_the_card(app: App, world: TokenWorld) -> None:
    counting: Any = CountingDatabase(app.database)

    received = await send(replace(app, database=counting), CARD, KEEP, channel=TOKENIZING)

    assert world.charged["card"]["number"] == PAN
    assert get_use(received) == {}
    assert (counting.reads, world.asked) == ([], [])


async def test_a_channel_without_a_vault_owes_and_answers_nothing(app: App, world: TokenWorld) -> None:
    """A merchant without a token vault does not pay for a question that nobody can answer."""
    unset = replace(app, simulator=world.acquirer)
    registration_id = await register_card(unset)
    registration, sealed, _ = await get_stored_registration(unset, registration_id)
    for job in await list_token_jobs(unset):
        await finish_job(unset.database, job)
    live = replace(registration, test_mode=TestMode.EXTERNAL)
    assert await unset.database.write(
        change_registration_writes(live, sealed, None, event=None, at=unset.clock.now()), label="test"
    )
    channel = replace(TOKENIZING, test_url="https://acquirer.example")
    app.merchants.fill([channel], [])

    received = await send(unset, {"testMode": "EXTERNAL"}, stored=registration_id, channel=channel)

    assert received.code == "000.100.112"
    assert get_use(received) == {}
    assert await list_token_jobs(unset) == []


async def test_a_payment_without_its_registrations_test_mode_goes_by_the_number(app: App, world: TokenWorld) -> None:
    """Another acquirer does not know the token."""
    registration_id = await keep_token(app)
    registration, sealed, sealed_token = await get_stored_registration(app, registration_id)
    external = replace(registration, test_mode=TestMode.EXTERNAL)
    unit = change_registration_writes(external, sealed, sealed_token, event=None, at=app.clock.now())
    assert await app.database.write(unit, label="test")

    received = await pay(app, registration_id)

    assert world.charged["card"]["number"] == PAN
    assert get_use(received) == {}


async def test_a_silent_acquirer_is_reversed_by_key_as_ever(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app)
    world.acquirer.script = [Silent()]

    received = await pay(app, registration_id)

    assert received.code == "900.100.300"
    assert get_use(received)["NetworkTokenUsed"] == "true"
    assert (await read(app, received.body["id"])).state is State.DECLINED


async def test_the_acquirers_time_is_what_the_proof_left_of_it(app: App, world: TokenWorld) -> None:
    """Nobody works on an attempt for longer than its deadline says, or else two would complete it."""
    registration_id = await keep_token(app)
    waits: list[float] = []
    acquirer = world.acquirer

    class Watched:
        async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
            waits.append(timeout_s)
            return await acquirer.send(request, timeout_s)

    async def take_time() -> None:
        assert isinstance(app.clock, FixedClock)
        app.clock.at += SECOND

    world.acquirer = Watched()  # type: ignore[assignment]
    world.meanwhile = take_time
    await pay(app, registration_id)

    assert waits == [app.acquirer_timeout_s - 1]


async def test_a_proof_is_waited_for_a_quarter_of_that_time(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app)
    waits: list[float] = []
    assert world.vault is not None
    vault: Wire = world.vault

    class Watched:
        async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
            waits.append(timeout_s)
            return await vault.send(request, timeout_s)

    world.vault = Watched()
    await pay(app, registration_id)

    assert waits == [app.acquirer_timeout_s / 4]


async def test_paying_by_token_costs_one_read_more(app: App) -> None:
    registration_id = await keep_token(app)
    counting: Any = CountingDatabase(app.database)

    await send(replace(app, database=counting), ALONE, stored=registration_id, channel=TOKENIZING)

    assert (len(counting.reads), counting.units, counting.hot) == (2, [], ["start", "complete"])


async def test_after_a_challenge_the_charge_goes_by_token_too(app: App, world: TokenWorld) -> None:
    registration_id = await keep_token(app)
    bank = Bank(world.acquirer, answers=[FRICTIONLESS])
    assert world.vault is not None
    behind: Wire = world.vault

    class Both:
        async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
            other: Wire = behind if request.path == tokens.CRYPTOGRAMS else bank
            return await other.send(request, timeout_s)

    guarded = replace(app, simulator=Both())
    back = {"shopperResultUrl": "https://shop.example/back", **BROWSER_FIELDS}
    received = await send(guarded, {"card.cvv": "731"}, back, stored=registration_id, channel=TOKENIZING)

    assert received.code == "000.100.110"
    assert len(bank.asked) == 1
    sent = world.charged
    assert "card" not in sent
    assert sent["token"]["cryptogram"]
    assert sent["details"]["authentication"]["eci"] == "05"
    assert get_use(received)["NetworkTokenUsed"] == "true"


async def test_a_renewed_card_without_a_good_token_is_tried_by_the_number_that_is_known(
    app: App, world: TokenWorld
) -> None:
    registration_id = await keep_token(app)
    shopper_token = await fire(app, registration_id, Event.CARD_UPDATED, "e-1")
    tick(app)
    await fire(app, registration_id, Event.SUSPENDED, "e-2")
    await accept_token_event(app, shopper_token, make_knock(registration_id, "e-2"))
    await run_tokens(app)

    received = await pay(app, registration_id)

    assert (await look_at(app, registration_id)).revision > 0
    assert world.charged["card"]["number"] == PAN
    assert world.charged["card"]["expiry"] == "2035-05"
    assert received.body["card"]["last4Digits"] == "1111"


async def test_a_card_that_is_not_stored_is_not_looked_up(app: App, world: TokenWorld) -> None:
    counting: Any = CountingDatabase(app.database)

    await send(replace(app, database=counting), CARD, channel=TOKENIZING)

    assert (counting.reads, world.asked) == ([], [])
    assert await register_card(app)


async def test_an_acquirer_that_takes_no_tokens_gets_the_number(
    app: App, world: TokenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = routes.choose_route
    monkeypatch.setattr(routes, "choose_route", lambda *named: replace(choose(*named), takes_tokens=False))
    registration_id = await keep_token(app)

    received = await pay(app, registration_id, PRESENT)

    assert "token" not in world.charged
    assert world.charged["card"]["number"] == PAN
    assert get_use(received) == {}


def test_a_processor_with_the_stripe_api_takes_no_tokens() -> None:
    assert [name for name, row in CONNECTORS.items() if not row.takes_tokens] == [ConnectorName.STRIPE]
