"""Registrations: how long they are stored, what is answered, and what another environment may not do."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.registrations import read_registration_order
from tollgate.flows.pay import look_up_registration, show_registration
from tollgate.flows.registrations import deregister, extend_life, register, reregister
from tollgate.operations.accounts import open_registration
from tollgate.operations.app import App, Call
from tollgate.payments.merchants import Channel
from tollgate.payments.registration import Registration, RegistrationState
from tollgate.store import audit
from tollgate.store.merchants import update_channel
from tollgate.store.registrations import find_registration
from tollgate.values import DAY, FixedClock, NotFound, Refusal, add_months, to_datetime, to_instant
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

CARD = {
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
}
BANK = {
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": "DE89370400440532013000",
    "bankAccount.bic": "COBADEFFXXX",
}
FORCE = "customParameters[forceResultCode]"


def read(operation: str, sent: dict[str, str]) -> Fields:
    return read_fields(list(sent.items()), Situation(operation, None))


async def keep(app: App, sent: dict[str, str], channel: Channel = CHANNEL) -> Registration:
    today = to_datetime(app.clock.now()).date()
    order = read_registration_order(read("create_registration", sent), channel, today=today, is_live=app.is_live)
    return await look(app, unpack(await register(app, order, Call(channel, "ndc")))["id"])


async def look(app: App, registration_id: str) -> Registration:
    found = await find_registration(app.database, MERCHANT.id, registration_id)
    assert found is not None
    return found


async def change(app: App, registration: Registration, sent: dict[str, str]) -> Registration:
    await reregister(app, read("update_registration", sent), registration.id, Call(CHANNEL, "ndc"))
    return await look(app, registration.id)


async def extend(app: App, registration: Registration) -> Registration:
    await extend_life(app, read("extend_registration", {}), registration.id, Call(CHANNEL, "ndc"))
    return await look(app, registration.id)


def unpack(answer: Any) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(answer.body)
    return body


def turn(app: App, at: int) -> App:
    assert isinstance(app.clock, FixedClock)
    app.clock.at = at
    return app


# ---- storing ----


@pytest.mark.parametrize(
    ("code", "state", "is_kept"),
    [
        ("000.000.000", RegistrationState.ACTIVE, True),
        ("000.400.000", RegistrationState.ACTIVE, True),
        ("000.200.000", RegistrationState.PENDING, True),
        ("800.400.500", RegistrationState.PENDING, True),
        ("800.100.151", RegistrationState.REJECTED, False),
        ("100.350.314", RegistrationState.REJECTED, False),
    ],
)
async def test_a_result_decides_about_state_and_account(
    app: App, code: str, state: RegistrationState, is_kept: bool
) -> None:
    registration = await keep(app, {**CARD, FORCE: code})

    assert (registration.state, registration.result_code) == (state, code)
    assert (registration.fingerprint is not None) is is_kept


async def test_a_live_host_says_so_in_its_own_words_and_sends_nothing(tmp_path: Path) -> None:
    wire = ScriptedWire()
    live = await open_app(tmp_path, wire, is_live=True)

    registration = await keep(live, CARD)

    assert (registration.result_code, registration.test_mode) == ("000.000.000", None)
    assert wire.sent == []
    await live.database.close()


async def test_an_account_stored_for_tests_is_not_charged_on_a_live_host(app: App) -> None:
    registration = await keep(app, CARD)
    live = msgspec.structs.replace(app, is_live=True)

    with pytest.raises(Refusal, match=r"600\.200\.700"):
        await open_registration(live, MERCHANT.id, registration.id)


async def test_a_channel_that_wants_no_account_twice_is_answered_with_the_first(app: App) -> None:
    thrifty: Channel = msgspec.structs.replace(CHANNEL, reuses_registrations=True)

    first = await keep(app, CARD, thrifty)
    again = await keep(app, {**CARD, "card.holder": "John Jones"}, thrifty)
    forced = await keep(app, {**CARD, FORCE: "800.100.151"}, thrifty)
    renewed = await keep(app, {**CARD, "card.expiryYear": "2035"}, thrifty)

    assert again == first
    assert len({first.id, forced.id, renewed.id, (await keep(app, CARD)).id}) == 4


@pytest.mark.parametrize("uses_tokens", [True, False])
async def test_a_card_that_is_confirmed_gets_its_network_token_where_the_channel_wants_one(
    app: App, uses_tokens: bool
) -> None:
    await update_channel(app.database, msgspec.structs.replace(CHANNEL, uses_network_tokens=uses_tokens))
    await app.merchants.refresh(app.database)
    registration = await keep(app, {**CARD, FORCE: "000.200.000"})
    assert await list_jobs(app) == []

    await change(app, registration, {"paymentType": "CF"})

    assert await list_jobs(app) == ([registration.id] if uses_tokens else [])


async def list_jobs(app: App) -> list[str]:
    """Lists the subjects of all jobs."""
    return [job.subject_id async for page in audit.JOBS.walk(app.database) for job in page]


# ---- until when ----


async def test_a_card_is_kept_by_its_expiry_and_an_update_counts_anew(app: App) -> None:
    registration = await keep(app, CARD)
    assert registration.keep_until == to_instant(datetime(2035, 8, 1, tzinfo=UTC))

    later = await change(app, registration, {"card.expiryYear": "2036", "card.expiryMonth": "12"})
    sooner = await change(app, registration, {"card.expiryYear": "2030"})

    assert later.keep_until == to_instant(datetime(2038, 3, 1, tzinfo=UTC))
    assert sooner.keep_until == to_instant(datetime(2032, 3, 1, tzinfo=UTC))


async def test_what_has_no_expiry_is_kept_from_its_last_use_over_month_ends(app: App) -> None:
    turn(app, to_instant(datetime(2026, 12, 31, 23, 59, tzinfo=UTC)))
    registration = await keep(app, BANK)
    assert registration.keep_until == to_instant(datetime(2028, 2, 29, 23, 59, tzinfo=UTC))

    turn(app, to_instant(datetime(2027, 12, 31, tzinfo=UTC)))
    changed = await change(app, registration, {"bankAccount.holder": "Jane Smith"})

    assert changed.keep_until == to_instant(datetime(2029, 2, 28, tzinfo=UTC))
    assert changed.used_at == to_instant(datetime(2027, 12, 31, tzinfo=UTC))


async def test_an_update_does_not_take_an_extension_back(app: App) -> None:
    registration = await extend(app, await keep(app, BANK))
    assert registration.keep_until == add_months(NOW, 24)

    turn(app, NOW + 30 * DAY)
    changed = await change(app, registration, {"bankAccount.holder": "Jane Smith"})

    assert changed.keep_until == add_months(NOW, 24)


async def test_an_extension_counts_from_its_day_and_never_shortens(app: App) -> None:
    registration = await keep(app, BANK)

    turn(app, to_instant(datetime(2027, 2, 28, tzinfo=UTC)))
    once = await extend(app, registration)
    twice = await extend(app, registration)
    far = await extend(app, await keep(app, {**CARD, "card.expiryYear": "2040"}))

    assert once.keep_until == twice.keep_until == to_instant(datetime(2029, 2, 28, tzinfo=UTC))
    assert far.keep_until == to_instant(datetime(2041, 8, 1, tzinfo=UTC))


async def test_the_last_year_that_can_be_written_is_kept_without_harm(app: App) -> None:
    registration = await keep(app, {**CARD, "card.expiryYear": "2099", "card.expiryMonth": "12"})

    assert registration.keep_until == to_instant(datetime(2101, 3, 1, tzinfo=UTC))


# ---- reading ----


async def test_what_cannot_be_an_id_is_not_looked_for(app: App) -> None:
    for name in ("", "\0", "8A" * 16, "8a" * 16 + "\n", "x" * 1000):
        assert await look_up_registration(app, MERCHANT.id, name) is None
        with pytest.raises(Refusal, match=r"100\.150\.101"):
            await show_registration(app, MERCHANT.id, name)


async def test_an_unknown_one_is_not_found_and_a_removed_one_says_why(app: App) -> None:
    with pytest.raises(NotFound, match=r"100\.150\.200"):
        await show_registration(app, MERCHANT.id, "8a" * 16)
    registration = await keep(app, CARD)
    await deregister(app, read("delete_registration", {}), registration.id, Call(CHANNEL, "ndc"))

    with pytest.raises(Refusal, match=r"100\.150\.202"):
        await show_registration(app, MERCHANT.id, registration.id)
