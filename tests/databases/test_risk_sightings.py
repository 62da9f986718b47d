"""Sightings of payments: counted at once, written behind, read by other processes, derived after a kill, removed."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from databases.searched import move_clock
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.risk_rows import RISK_KINDS, Attribute
from tollgate.cli.erasing import ACTOR
from tollgate.flows import erase_person
from tollgate.flows.pay import pay
from tollgate.operations import geography, risk_rules
from tollgate.operations.app import App, Call
from tollgate.operations.sightings import PARTS, Sightings
from tollgate.payments.erasure import SearchKind
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.payments.risk import Entry, ListName, RiskOutcome, Rule, RuleMode, Terms
from tollgate.payments.velocities import Sighting
from tollgate.store import risk, risk_lists
from tollgate.store import sightings as store
from tollgate.store.database import Database, Unavailable
from tollgate.store.payments import find_payment
from tollgate.store.schema import risk_sightings
from tollgate.store.statements import Dialect, Statement
from tollgate.values import DAY, HOUR, MINUTE, SECOND, Money, PaymentId, Refusal, make_id
from tollgate.workers import sightings as workers
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

EMAIL = {"customer.email": "jane@example.com"}
ALL = Statement(sa.select(*risk_sightings.columns).order_by(risk_sightings.c.key, risk_sightings.c.at))
HOUR_S = HOUR // SECOND


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


def make_rule(kind: str, attribute: Attribute, code: str = "", **terms: Any) -> Rule:
    return Rule(
        merchant_id=MERCHANT.id,
        id=make_id(),
        name=kind,
        kind=kind,
        terms=Terms(attribute=attribute, window_s=terms.pop("window_s", HOUR_S), **terms),
        mode=RuleMode.ACTIVE,
        outcome=RiskOutcome.REFUSE,
        code=code or RISK_KINDS[kind].codes[attribute],
        created_at=NOW,
        created_by="test",
    )


def at_most(count: int, attribute: Attribute = Attribute.EMAIL, **terms: Any) -> Rule:
    return make_rule("count", attribute, count=count, **terms)


def open_process(app: App) -> App:
    """Another process on the same store: it shares no memory of what was seen."""
    return msgspec.structs.replace(app, sightings=Sightings())


async def pay_once(app: App, key: IdempotencyKey | None = None, **changes: Any) -> Payment:
    payment_id = PaymentId(make_id())
    order = msgspec.structs.replace(ORDER, **{"echo": EMAIL, **changes})
    await pay(app, order, Call(CHANNEL, f"{CHANNEL.id}_{payment_id}", key), payment_id=payment_id)
    payment = await find_payment(app.database, MERCHANT.id, payment_id)
    assert payment is not None
    return payment


async def pay_codes(app: App, times: int, **changes: Any) -> list[str]:
    return [(await pay_once(app, **changes)).result_code for _ in range(times)]


APPROVED, TOO_MANY = "000.100.110", "800.120.103"


@pytest.mark.parametrize("is_written", [True, False])
async def test_a_payment_counts_before_and_after_its_sighting_is_written(app: App, is_written: bool) -> None:
    app.merchants.fill_risk([at_most(2)])
    assert await pay_codes(app, 2) == [APPROVED] * 2
    if is_written:
        await workers.write_noted(app)

    assert await pay_codes(app, 2) == [TOO_MANY] * 2
    assert len(await app.database.fetch(ALL, {})) == (2 if is_written else 0)


async def test_of_many_payments_at_once_as_many_pass_as_the_rule_allows(app: App) -> None:
    app.merchants.fill_risk([at_most(3)])

    made = await asyncio.gather(*[pay_once(app) for _ in range(20)])

    assert sorted(each.result_code for each in made) == [APPROVED] * 3 + [TOO_MANY] * 17
    assert len({each.created_at for each in made}) == 20


async def test_a_payment_counts_in_another_process_once_its_sighting_is_written(app: App) -> None:
    app.merchants.fill_risk([at_most(1)])
    other = open_process(app)
    assert await pay_codes(app, 1) == [APPROVED]
    await workers.write_noted(app)
    move_clock(app, NOW + SECOND)

    assert await pay_codes(other, 1) == [TOO_MANY]


async def test_payments_before_the_window_do_not_count(app: App) -> None:
    app.merchants.fill_risk([at_most(1)])
    assert await pay_codes(app, 1) == [APPROVED]
    move_clock(app, NOW + HOUR)
    assert await pay_codes(app, 1) == [TOO_MANY]
    move_clock(app, NOW + 2 * HOUR + SECOND)

    assert await pay_codes(app, 1) == [APPROVED]


async def test_a_longer_window_counts_payments_that_a_shorter_one_had_let_go(app: App) -> None:
    app.merchants.fill_risk([at_most(1)])
    assert await pay_codes(app, 1) == [APPROVED]
    await workers.write_noted(app)
    move_clock(app, NOW + 2 * HOUR)
    assert await pay_codes(app, 1) == [APPROVED]

    app.merchants.fill_risk([at_most(2, window_s=3 * HOUR_S)])
    assert await pay_codes(app, 1) == [TOO_MANY]


async def test_a_payment_that_is_made_and_written_during_a_read_is_not_forgotten(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.merchants.fill_risk([at_most(2)])
    read = store.read_sightings

    async def read_slowly(db: Database, looks: Sequence[store.Look]) -> dict[bytes, list[Sighting]]:
        found = await read(db, looks)
        if not others:
            others.append(Sighting(MERCHANT.id, looks[0].key, NOW + 1, "another", 1, 100, "EUR"))
            app.sightings.note(others)
            app.sightings.settle(others, is_written=True)
            await workers.write_noted(app)
        return found

    others: list[Sighting] = []
    monkeypatch.setattr(store, "read_sightings", read_slowly)
    assert await pay_codes(app, 1) == [APPROVED]
    move_clock(app, NOW + SECOND)

    assert await pay_codes(app, 1) == [TOO_MANY]


async def test_a_payment_is_judged_by_the_rules_that_counted_when_it_came(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules may change while the country of an address is looked up."""
    proxy = msgspec.structs.replace(at_most(0), id=make_id(), kind="proxy", terms=Terms(), mode=RuleMode.SHADOW)
    app.merchants.fill_risk([at_most(0), proxy])

    async def find_place(app: App, _ip: str | None) -> None:
        app.merchants.fill_risk([])

    monkeypatch.setattr(type(app.countries), "has_any", True)
    monkeypatch.setattr(geography, "find_ip_place", find_place)

    assert await pay_codes(app, 2) == [TOO_MANY, APPROVED]


async def test_a_request_that_started_no_payment_does_not_count(app: App) -> None:
    app.merchants.fill_risk([at_most(1)])
    with pytest.raises(Refusal):
        await pay_once(app, brand="VISA", test_mode=None)
    assert await pay_codes(app, 1) == [APPROVED]
    await workers.write_noted(app)

    assert len(await app.database.fetch(ALL, {})) == 1


async def test_of_tries_to_make_one_payment_at_once_only_the_one_that_makes_it_counts(app: App) -> None:
    app.merchants.fill_risk([at_most(2)])
    payment_id = PaymentId(make_id())
    order = msgspec.structs.replace(ORDER, echo=EMAIL)
    tries = [pay(app, order, Call(CHANNEL, f"{CHANNEL.id}_{payment_id}"), payment_id=payment_id) for _ in range(2)]

    await asyncio.gather(*tries, return_exceptions=True)

    [counted] = app.sightings.take(range(PARTS))
    made = await find_payment(app.database, MERCHANT.id, payment_id)
    assert made is not None
    assert counted.at == made.created_at
    assert await pay_codes(app, 2) == [APPROVED, TOO_MANY]


async def test_a_killed_process_loses_no_sighting(app: App) -> None:
    """The next process derives from the payments what would have been written."""
    pairs = [make_rule("distinct", each, count=5) for each in (Attribute.CARD_EMAIL, Attribute.EMAIL_CARD)]
    counts = [at_most(5, each) for each in (Attribute.CARD, Attribute.EMAIL, Attribute.CHANNEL, Attribute.ACCOUNT)]
    duplicates = [make_rule("duplicate", each) for each in (Attribute.PAYMENT, Attribute.MERCHANT_TRANSACTION_ID)]
    app.merchants.fill_risk([*pairs, *counts, *duplicates])
    for place in range(3):
        await pay_once(app, merchant_transaction_id=f"order-{place}", money=Money(100 + place, "EUR"))
    noted = app.sightings.take(range(PARTS))
    app.sightings.put_back(noted)

    other = open_process(app)
    await workers.derive_recent(other)
    derived = [Sighting(*row) for row in await app.database.fetch(ALL, {})]
    assert derived == store.order(noted)
    assert len(noted) == 3 * 6

    await workers.write_noted(app)
    assert [Sighting(*row) for row in await app.database.fetch(ALL, {})] == derived


async def test_wrong_security_codes_are_derived_from_the_result(app: App) -> None:
    app.merchants.fill_risk([make_rule("wrong_tries", Attribute.WRONG_CVV, count=1)])
    assert isinstance(app.simulator, ScriptedWire)
    app.simulator.script.append(b'{"status":"declined","response_code":"82","message":"No"}')
    assert await pay_codes(app, 1) == ["800.100.153"]
    app.sightings.take(range(PARTS))
    other = open_process(app)
    await workers.derive_recent(other)
    move_clock(app, NOW + SECOND)

    assert await pay_codes(other, 1) == ["800.300.500"]


@pytest.mark.parametrize("processes", [1, 2])
async def test_totals_of_a_channel_are_those_of_a_window_that_moves(app: App, processes: int) -> None:
    """Sums are carried on from payment to payment; each must equal the sum that is counted anew."""
    rule = make_rule("volume", Attribute.CHANNEL, amount=800, currency="EUR", window_s=10 * 60)
    app.merchants.fill_risk([rule])
    apps = [app, *[open_process(app) for _ in range(processes - 1)]]
    made: list[Payment] = []
    at = NOW
    for place in range(60):
        at += [SECOND, 20 * SECOND, 90 * SECOND, 3 * MINUTE][place % 4]
        move_clock(app, at)
        payment = await pay_once(apps[place % processes], money=Money(100 + place, "EUR" if place % 5 else "USD"))
        begin = payment.created_at - 10 * MINUTE
        begin -= begin % MINUTE
        before = sum(
            each.money.hundredths
            for each in made
            if each.created_at >= begin and each.money.currency == payment.money.currency
        )
        is_over = payment.money.currency == "EUR" and before + payment.money.hundredths > 800
        assert (payment.result_code == "800.120.200") is is_over, place
        made.append(payment)
        for each in apps:
            await workers.write_noted(each)
    assert len({each.result_code for each in made}) == 2


async def test_sightings_are_removed_after_the_longest_window(app: App) -> None:
    app.merchants.fill_risk([at_most(9, window_s=3 * DAY // SECOND), at_most(9, Attribute.CARD)])
    await pay_once(app)
    await workers.write_noted(app)
    move_clock(app, NOW + 3 * DAY)
    assert await workers.remove_old_sightings(app) == 0
    move_clock(app, NOW + 3 * DAY + HOUR + MINUTE)

    assert await workers.remove_old_sightings(app) == 2
    assert await app.database.fetch(ALL, {}) == []


async def test_what_cannot_be_written_is_written_later(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.merchants.fill_risk([at_most(9)])
    await pay_once(app)

    async def fail(*_: object) -> None:
        raise Unavailable("no disk")

    with monkeypatch.context() as patch:
        patch.setattr(store, "write_new", fail)
        with pytest.raises(Unavailable):
            await workers.write_noted(app)
    assert await app.database.fetch(ALL, {}) == []

    await workers.write_noted(app)
    assert len(await app.database.fetch(ALL, {})) == 1


async def test_the_sightings_of_an_erased_person_are_gone(app: App) -> None:
    app.merchants.fill_risk([at_most(9), at_most(9, Attribute.CARD)])
    await pay_once(app)
    kept = await pay_once(app, echo={"customer.email": "joe@example.com"})
    await workers.write_noted(app)

    await erase_jane(app)

    assert {row[3] for row in await app.database.fetch(ALL, {})} == {kept.id}


async def erase_jane(app: App) -> None:
    begun = await erase_person.begin_erasure(app, MERCHANT.id, SearchKind.EMAIL, "jane@example.com")
    found = await erase_person.finish_erasure(app, begun, ACTOR)
    await erase_person.finish_erasure(app, await erase_person.confirm_erasure(app, found, ACTOR), ACTOR)


async def test_a_total_loses_the_payments_of_an_erased_person(app: App) -> None:
    app.merchants.fill_risk([at_most(2, Attribute.CHANNEL)])
    assert await pay_codes(app, 2) == [APPROVED] * 2
    await workers.write_noted(app)
    move_clock(app, NOW + MINUTE)
    assert await pay_codes(app, 1) == ["800.120.200"]
    await workers.write_noted(app)
    await erase_jane(app)
    await app.sightings.follow(app.database)

    assert await pay_codes(app, 1, echo={}) == [APPROVED]


async def test_only_what_others_may_have_added_up_already_is_told_as_late(app: App) -> None:
    """A file has no other process, so nothing is late there."""
    app.merchants.fill_risk([at_most(9)])
    await pay_once(app)
    await workers.write_noted(app)
    assert await store.count_past_changes(app.database) == 0
    await pay_once(app)
    move_clock(app, NOW + MINUTE)
    await workers.write_noted(app)

    assert await store.count_past_changes(app.database) == (app.database.dialect is Dialect.POSTGRESQL)


# ---- rules and lists ----


async def add(app: App, **sent: str) -> Rule:
    return await risk_rules.add_rule(app.database, MERCHANT.id, sent, by="jo", now=NOW, new_id=make_id())


async def test_versions_stay_and_the_newest_counts_also_if_two_change_a_rule_at_once(app: App) -> None:
    rule = await add(app, kind="count", attribute="card", window="24h", count="3")
    assert (rule.mode, rule.code) == (RuleMode.SHADOW, "800.120.101")

    async def change(**sent: str) -> Rule:
        return await risk_rules.change_rule(app.database, MERCHANT.id, rule.id, sent, by="jo", now=NOW + 1)

    await asyncio.gather(change(mode="active"), change(count="5"), change(attribute="ip"))

    versions = await risk.list_versions(app.database, MERCHANT.id, rule.id)
    assert [each.version for each in versions] == [1, 2, 3, 4]
    assert versions[0] == rule
    (newest,) = await risk.list_rules(app.database, MERCHANT.id)
    assert newest == versions[-1]
    assert (newest.mode, newest.terms.count, newest.terms.attribute) == (RuleMode.ACTIVE, 5, Attribute.IP)
    assert newest.code == "800.120.102"


async def test_the_end_of_a_value_is_replaced_also_on_a_full_list(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(risk_rules, "LIMITS", dataclasses.replace(LIMITS, risk_entries_max=1))

    async def block(value: str, ends_at: int | None) -> Entry:
        sent = {"list": "block", "attribute": "email", "value": value}
        return await risk_rules.add_entry(
            app.database, app.keyring, MERCHANT.id, sent, by="jo", now=NOW, new_id=make_id(), ends_at=ends_at
        )

    first, again = await block("eve@example.com", None), await block("eve@example.com", NOW + DAY)
    with pytest.raises(Refusal):
        await block("joe@example.com", None)

    assert await risk_lists.list_entries(app.database, MERCHANT.id) == [again]
    assert again.id == first.id


async def test_a_value_is_on_a_list_once_and_its_end_is_replaced(app: App) -> None:
    sent = {"list": "block", "attribute": "email", "value": "Eve@Example.com"}

    async def block(ends_at: int | None) -> str:
        entry = await risk_rules.add_entry(
            app.database, app.keyring, MERCHANT.id, sent, by="jo", now=NOW, new_id=make_id(), ends_at=ends_at
        )
        return entry.id

    first, second = await block(None), await block(NOW + DAY)

    (entry,) = await risk_lists.list_entries(app.database, MERCHANT.id)
    assert first == second == entry.id
    assert (entry.list, entry.ends_at, entry.shown) == (ListName.BLOCK, NOW + DAY, "e***@example.com")
    assert b"eve" not in entry.value_hash.lower()
    await risk_rules.remove_entry(app.database, MERCHANT.id, entry.id)
    with pytest.raises(Refusal):
        await risk_rules.remove_entry(app.database, MERCHANT.id, entry.id)
