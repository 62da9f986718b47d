"""Registrations without a payment count in risk rules, also after a kill, for a new rule and in a back-test."""

from __future__ import annotations

import asyncio
from datetime import date

import msgspec
import pytest
import sqlalchemy as sa

from databases.searched import move_clock
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.contract.registrations import read_registration_order
from tollgate.flows.pay import pay
from tollgate.flows.registrations import register
from tollgate.flows.sighting_history import write_history
from tollgate.flows.try_rules import evaluate_history
from tollgate.operations.app import App, Call
from tollgate.operations.risk_rules import add_rule
from tollgate.operations.sightings import PARTS, Sightings
from tollgate.payments.payment import IdempotencyKey
from tollgate.payments.velocities import Sighting
from tollgate.store import risk
from tollgate.store import sightings as store
from tollgate.store.database import Database
from tollgate.store.schema import payments, registrations, risk_sightings
from tollgate.store.statements import Statement, Write
from tollgate.values import HOUR, make_id
from tollgate.workers import sightings as workers
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

ALL = Statement(sa.select(*risk_sightings.columns).order_by(risk_sightings.c.key, risk_sightings.c.at))
SENT = {
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "customer.email": "jane@example.com",
}
REGISTERED = {"kind": "count", "attribute": "registered_email", "window": "30d", "count": "2"}
PAIRED = {"kind": "distinct", "attribute": "card_email", "window": "30d", "count": "1"}


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def add(app: App, *rules: dict[str, str]) -> None:
    for sent in rules:
        rule = {"mode": "active", **sent}
        await add_rule(app.database, MERCHANT.id, rule, by="test", now=app.clock.now(), new_id=make_id())
    await app.merchants.refresh(app.database)


async def keep(app: App, key: IdempotencyKey | None = None, **changes: str) -> None:
    fields = read_fields([*{**SENT, **changes}.items()], Situation("create_registration", None))
    order = read_registration_order(fields, CHANNEL, today=date(2026, 11, 15), is_live=False)
    await register(app, order, Call(CHANNEL, make_id(), key))


async def test_of_requests_with_one_key_at_once_only_the_one_that_registers_counts(app: App) -> None:
    await add(app, REGISTERED)
    key = IdempotencyKey(
        merchant_id=CHANNEL.merchant_id, channel_id=CHANNEL.id, key="a key", fingerprint=b"fingerprint", created_at=NOW
    )

    await asyncio.gather(*[keep(app, key) for _ in range(5)])

    assert len(take_noted(app)) == 1


async def pay_as(app: App, email: str) -> None:
    await pay(app, msgspec.structs.replace(ORDER, echo={"customer.email": email}), Call(CHANNEL, make_id()))


async def list_stored(app: App) -> list[Sighting]:
    return [Sighting(*row) for row in await app.database.fetch(ALL, {})]


def take_noted(app: App) -> list[Sighting]:
    return app.sightings.take(range(PARTS))


async def list_codes(app: App) -> list[str]:
    """Lists what a back-test by the present rules says, by the time of the payments."""
    present = await risk.list_rules(app.database, MERCHANT.id)
    found = [each async for page in evaluate_history(app, MERCHANT.id, present) for each in page]
    assert [each.finding.hits for each in found] == [
        each.payment.risk.hits if each.payment.risk else () for each in found
    ]
    return [each.finding.code for each in found]


async def test_a_killed_process_loses_no_sighting_of_a_registration(app: App) -> None:
    await add(app, REGISTERED, PAIRED)
    for _ in range(2):
        await keep(app)
    noted = take_noted(app)

    other = msgspec.structs.replace(app, sightings=Sightings())
    await workers.derive_recent(other)

    assert await list_stored(app) == store.order(noted)
    assert len(noted) == 4


async def test_the_newest_registrations_are_derived_even_if_no_payment_was_ever_made(app: App) -> None:
    await add(app, REGISTERED)
    await keep(app)
    move_clock(app, NOW + LIMITS.sightings_gap + 1)
    await keep(app)
    newest = max(take_noted(app), key=lambda row: row.at)

    await workers.derive_recent(app)

    assert await list_stored(app) == [newest]


async def test_a_registration_that_a_payment_made_is_counted_with_the_payment_only(app: App) -> None:
    await add(app, REGISTERED)
    echo = {"customer.email": "jane@example.com", "createRegistration": "true"}
    await pay(app, msgspec.structs.replace(ORDER, echo=echo, registers=True), Call(CHANNEL, make_id()))
    noted = take_noted(app)

    await workers.derive_recent(app)

    assert await list_stored(app) == store.order(noted)
    assert len(noted) == 1


async def test_a_new_rule_counts_the_registrations_before_it(app: App) -> None:
    await keep(app)
    move_clock(app, NOW + HOUR)
    await add(app, PAIRED)
    while await write_history(app, MERCHANT.id):
        move_clock(app, app.clock.now() + LIMITS.sightings_settled_after)

    await pay_as(app, "john@example.com")

    assert await list_codes(app) == ["800.140.112"]


async def test_a_back_test_counts_registrations_between_payments(app: App) -> None:
    await add(app, PAIRED)
    for number, email in enumerate(("jane@example.com", "jane@example.com", "john@example.com")):
        move_clock(app, NOW + number * HOUR)
        if number == 1:
            await keep(app, None, **{"customer.email": "john@example.com", "card.number": "4111111111111111"})
        await pay_as(app, email)

    assert await list_codes(app) == ["", "", "800.140.112"]


async def test_the_card_of_a_refused_registration_is_unknown_and_its_e_mail_is_not(app: App) -> None:
    await add(app, {**REGISTERED, "count": "0"}, PAIRED)
    await keep(app)
    noted = take_noted(app)

    await workers.derive_recent(app)

    assert len(noted) == 2
    [registered] = await list_stored(app)
    assert registered in noted


@pytest.mark.parametrize("table", [payments, registrations])
async def test_an_account_that_cannot_be_opened_keeps_no_host_from_starting(app: App, table: sa.Table) -> None:
    await add(app, REGISTERED, PAIRED, {"kind": "count", "attribute": "email", "window": "1h", "count": "9"})
    await keep(app)
    await pay_as(app, "jane@example.com")
    app.sightings.take(range(PARTS))
    await app.database.write([Write(Statement(sa.update(table).values(sealed_account=b"damaged")), {})], label="test")

    await workers.derive_recent(app)

    # What does not need the card is there: of the payment its e-mail, of the registration its e-mail.
    assert len(await list_stored(app)) == 3


async def test_a_registration_that_cannot_be_read_is_left_out(app: App) -> None:
    await add(app, REGISTERED)
    await keep(app)
    app.sightings.take(range(PARTS))
    await app.database.write([Write(Statement(sa.update(registrations).values(echo="{")), {})], label="test")

    await workers.derive_recent(app)

    assert await list_stored(app) == []
