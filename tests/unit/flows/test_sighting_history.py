"""A new rule counts payments that were made before it, and a back-test reports what became of payments."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.contract.risk_rules import read_rule
from tollgate.flows.pay import pay
from tollgate.flows.sighting_history import write_history
from tollgate.flows.try_rules import try_rules
from tollgate.operations.app import App, Call
from tollgate.operations.risk_rules import add_rule, change_rule
from tollgate.payments.payment import Payment
from tollgate.payments.risk import RiskOutcome
from tollgate.payments.risk_replay import assume_active
from tollgate.payments.risk_report import Fate
from tollgate.store.payments import find_payment
from tollgate.values import DAY, HOUR, FixedClock, PaymentId
from tollgate.workers.sightings import write_noted
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire, open_app
from unit.flows.chains import follow
from unit.flows.shopping import make_order

RULE_ID = "8a" + "7" * 30
TWICE = {"kind": "count", "attribute": "card", "window": "30d", "count": "2", "mode": "active"}
DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'


def wait(app: App, time: int) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at += time


async def buy(app: App) -> Payment:
    payment_id = PaymentId(f"8a{app.clock.now():030x}")
    await pay(app, replace(make_order(), authentication=None), Call(CHANNEL, "ndc"), payment_id=payment_id)
    found = await find_payment(app.database, MERCHANT.id, payment_id)
    assert found is not None
    return found


async def add(app: App, sent: dict[str, str]) -> None:
    await add_rule(app.database, MERCHANT.id, sent, by="test", now=app.clock.now(), new_id=RULE_ID)
    await app.merchants.refresh(app.database)


async def catch_up(app: App) -> int:
    days = 0
    while await write_history(app, MERCHANT.id):
        wait(app, LIMITS.sightings_settled_after)
        days += 1
    # A worker of every process looks for changes all the time.
    await app.sightings.follow(app.database)
    return days


def test_a_new_rule_counts_the_payments_before_it_once_they_are_derived(tmp_path: Path) -> None:
    async def run() -> None:
        app = await open_app(tmp_path, ScriptedWire())
        for _ in range(2):
            await buy(app)
            wait(app, DAY)
        await add(app, TWICE)
        assert (await buy(app)).risk is None
        await write_noted(app)
        assert await catch_up(app) > 2
        wait(app, HOUR)
        assert (await buy(app)).result_code == "800.120.101"
        await app.database.close()

    asyncio.run(run())


def test_a_rule_with_a_longer_window_gets_what_the_shorter_one_did_not_need(tmp_path: Path) -> None:
    async def run() -> None:
        app = await open_app(tmp_path, ScriptedWire())
        for _ in range(2):
            await buy(app)
            wait(app, 5 * DAY)
        await add(app, {**TWICE, "window": "1d"})
        await catch_up(app)
        wait(app, HOUR)
        assert (await buy(app)).risk is None
        await change_rule(app.database, MERCHANT.id, RULE_ID, {"window": "30d"}, by="test", now=app.clock.now())
        await app.merchants.refresh(app.database)
        await catch_up(app)
        wait(app, HOUR)
        assert (await buy(app)).result_code == "800.120.101"
        await app.database.close()

    asyncio.run(run())


def test_a_total_that_was_added_up_before_counts_what_is_derived_and_loses_it_with_its_window(tmp_path: Path) -> None:
    async def run() -> None:
        app = await open_app(tmp_path, ScriptedWire())
        for _ in range(3):
            await buy(app)
            wait(app, HOUR)
        await add(app, {**TWICE, "attribute": "channel", "window": "1d", "count": "3"})
        assert (await buy(app)).risk is None
        await write_noted(app)
        await catch_up(app)
        assert (await buy(app)).result_code == "800.120.200"
        await write_noted(app)
        wait(app, DAY + HOUR)
        codes = []
        for _ in range(4):
            codes.append((await buy(app)).result_code)
            wait(app, 1)
        assert codes == ["000.100.110"] * 3 + ["800.120.200"]
        await app.database.close()

    asyncio.run(run())


def test_a_back_test_tells_what_became_of_the_payments_that_a_rule_hits(tmp_path: Path) -> None:
    async def run() -> None:
        wire = ScriptedWire()
        app = await open_app(tmp_path, wire)
        bought = []
        for answer in (None, None, None, DECLINED):
            wire.script = [answer] if answer else []
            bought.append(await buy(app))
            wait(app, HOUR)
        await follow(app, bought[2], "RF", 200)
        rule = read_rule(
            {**TWICE, "mode": "shadow"}, merchant_id=MERCHANT.id, rule_id=RULE_ID, version=1, by="test", now=NOW
        )
        report = await try_rules(app, MERCHANT.id, assume_active([rule]))
        assert report.payments.counts == {Fate.APPROVED: 3, Fate.DECLINED: 1, Fate.REFUNDED: 1}
        assert report.rules[RULE_ID].counts == {Fate.APPROVED: 1, Fate.DECLINED: 1, Fate.REFUNDED: 1}
        assert report.rules[RULE_ID].amounts[Fate.REFUNDED] == {"EUR": 200}
        assert report.outcomes[RiskOutcome.REFUSE].counts == report.rules[RULE_ID].counts
        await app.database.close()

    asyncio.run(run())
