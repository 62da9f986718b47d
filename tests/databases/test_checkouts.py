"""Rows of checkouts on both databases: of two who want the same one has no effect, and what is over is let go of."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from databases.auditing import read_plan
from databases.checkout_lives import CARD, PAYPAL, PAYS, STORES, CheckoutWorld, open_checkout_world
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.flows.checkouts import change_checkout, find_promised_script
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.flows.submit import show_form
from tollgate.operations.app import App, Call
from tollgate.operations.checkouts import open_prepared
from tollgate.payments.checkout import Checkout, CheckoutEnd, CheckoutKind, CheckoutState, Script
from tollgate.store import checkouts
from tollgate.store.database import Database
from tollgate.store.payments import find_payment
from tollgate.store.statements import Statement, Write
from tollgate.values import DAY, MINUTE, SECOND, Refusal
from tollgate.vault.keyring import KeyringError
from tollgate.vault.sealing import EnvelopeError, make_owner, open_sealed, rewrap, sealed_prefix
from tollgate.workers import WORKERS
from tollgate.workers.upkeep import follow_scripts
from unit.app_fixture import CHANNEL, MERCHANT

RUNS = {worker.name: worker.run for worker in WORKERS}


pytestmark = pytest.mark.anyio

ONE, OTHER = "8a" + "5" * 30, "8a" + "6" * 30


@pytest.fixture
async def world(db: Database) -> CheckoutWorld:
    return await open_checkout_world(db)


async def look(world: CheckoutWorld, name: str) -> Checkout:
    found = await checkouts.find_checkout(world.app.database, MERCHANT.id, world.ids[name])
    assert found is not None
    return found


async def prepare(world: CheckoutWorld, name: str = "it") -> Checkout:
    await world.prepare(name)
    return await look(world, name)


def end(checkout: Checkout, subject_id: str, *, is_done: bool, is_sole: bool = True) -> CheckoutEnd:
    return CheckoutEnd(
        id=checkout.id, merchant_id=checkout.merchant_id, subject_id=subject_id, is_done=is_done, is_sole=is_sole
    )


async def take(world: CheckoutWorld, seen: Checkout, subject_id: str) -> bool:
    unit = checkouts.submit_checkout_writes(seen, subject_id, "https://shop.example/", world.clock.now())
    return await world.app.database.write(unit, label="test")


# ---- who has it ----


async def test_of_many_who_take_it_at_once_one_has_it(world: CheckoutWorld) -> None:
    seen = await prepare(world)

    taken = await asyncio.gather(*[take(world, seen, f"8a{number:030d}") for number in range(20)])

    assert taken.count(True) == 1
    held = await look(world, "it")
    assert (held.state, held.attempts, held.subject_id) == (CheckoutState.LOCKED, 1, f"8a{taken.index(True):030d}")


async def test_nobody_takes_what_was_changed_or_is_over_or_was_tried_ten_times(world: CheckoutWorld) -> None:
    seen = await prepare(world)
    database, now = world.app.database, world.clock.now()
    changed = msgspec.structs.replace(seen, sealed_fields=b"other")

    assert await database.write(checkouts.change_checkout_writes(seen, changed, now), label="test")
    assert not await database.write(checkouts.change_checkout_writes(seen, changed, now), label="test")
    assert not await take(world, seen, ONE)
    fresh = await look(world, "it")
    for _ in range(LIMITS.checkout_attempts_max):
        assert await take(world, fresh, ONE)
        assert await database.write(checkouts.end_attempt_writes(end(fresh, ONE, is_done=False)), label="test")
    assert not await take(world, fresh, ONE)

    late = await prepare(world, "late")
    world.clock.at = late.expires_at
    assert not await take(world, late, ONE)
    assert not await database.write(checkouts.lock_checkout_writes(late, ONE, world.clock.now()), label="test")
    assert not await database.write(checkouts.change_checkout_writes(late, late, world.clock.now()), label="test")


class Racing:
    """Another attempt locks a checkout before the first write of this one, and unlocks it after it."""

    def __init__(self, world: CheckoutWorld, seen: Checkout) -> None:
        self.world, self.seen, self.database = world, seen, world.app.database
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.database, name)

    async def write(self, unit: Sequence[Write], *, label: str) -> bool:
        self.writes += 1
        assert await take(self.world, self.seen, ONE)
        is_written = await self.database.write(unit, label=label)
        assert await self.database.write(checkouts.end_attempt_writes(end(self.seen, ONE, is_done=False)), label="test")
        return is_written


class Counting:
    """Counts the reads of a store."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        self.reads += name in ("fetch", "fetch_one")
        return getattr(self.database, name)


async def test_a_form_costs_no_more_reads_for_many_registered_cards_than_for_one(world: CheckoutWorld) -> None:
    """Everybody who has the id may ask for the form as often as they like."""
    await world.prepare("storing", STORES)
    await world.submit("storing", CARD, kind=CheckoutKind.REGISTRATION)
    stored_id = await world.remember_attempt("storing", "stored")
    offered = {"registrations[0].id": stored_id, "registrations[7].id": "8a" + "0" * 30}
    for place in range(8, 100):
        offered[f"registrations[{place}].id"] = f"8a{place:030d}"
    counting = Counting(world.app.database)
    app = msgspec.structs.replace(world.app, database=counting)

    answer = await show_form(app, await world.prepare("offering", PAYS | offered), "VISA")

    assert [each["id"] for each in orjson.loads(answer.body)["registrations"]] == [stored_id]
    assert counting.reads == 2


async def test_a_change_that_meets_an_attempt_which_is_over_at_once_is_refused_in_words(world: CheckoutWorld) -> None:
    seen = await prepare(world)
    racing = Racing(world, seen)
    app = msgspec.structs.replace(world.app, database=racing)
    fields = read_fields([("amount", "1.00")], Situation("update_checkout", None))

    with pytest.raises(Refusal) as refused:
        await change_checkout(app, fields, seen.id, Call(CHANNEL, ""))

    assert (refused.value.result.code, racing.writes) == ("800.700.100", 1)


async def test_an_approval_holds_for_the_checkout_that_it_was_checked_against(world: CheckoutWorld) -> None:
    seen, database = await prepare(world), world.app.database
    changed = msgspec.structs.replace(seen, sealed_fields=b"other")
    assert await database.write(checkouts.change_checkout_writes(seen, changed, world.clock.now()), label="test")
    done = end(seen, ONE, is_done=True)

    assert not await database.write(
        checkouts.end_attempt_writes(msgspec.structs.replace(done, seen_revision=seen.revision)), label="test"
    )
    assert (await look(world, "it")).state is CheckoutState.OPEN
    assert await database.write(
        checkouts.end_attempt_writes(msgspec.structs.replace(done, seen_revision=seen.revision + 1)), label="test"
    )
    assert (await look(world, "it")).state is CheckoutState.DONE


async def test_only_who_has_it_lets_it_go_and_only_the_first_does_it(world: CheckoutWorld) -> None:
    seen, database = await prepare(world), world.app.database
    assert await take(world, seen, ONE)

    await database.write(checkouts.end_attempt_writes(end(seen, OTHER, is_done=False)), label="test")
    assert (await look(world, "it")).state is CheckoutState.LOCKED
    # One that was away comes back with an approval while another has it.
    assert await database.write(checkouts.end_attempt_writes(end(seen, OTHER, is_done=True)), label="test")
    assert not await database.write(checkouts.end_attempt_writes(end(seen, ONE, is_done=True)), label="test")
    assert await database.write(checkouts.end_attempt_writes(end(seen, OTHER, is_done=True)), label="test")
    await database.write(checkouts.end_attempt_writes(end(seen, OTHER, is_done=False)), label="test")

    done = await look(world, "it")
    assert (done.state, done.subject_id) == (CheckoutState.DONE, OTHER)
    received = await asyncio.gather(*[checkouts.spend_checkout(database, done, world.clock.now()) for _ in range(8)])
    assert received.count(True) == 1
    assert not await database.write(checkouts.end_attempt_writes(end(seen, ONE, is_done=True)), label="test")


async def test_a_window_of_questions_is_shared_by_all_who_ask(world: CheckoutWorld) -> None:
    seen, database, now = await prepare(world), world.app.database, world.clock.now()

    asked = await asyncio.gather(*[checkouts.count_read(database, seen, now, 2, MINUTE) for _ in range(10)])

    assert asked.count(True) == 2
    assert not await checkouts.count_read(database, seen, now + MINUTE - 1, 2, MINUTE)
    assert await checkouts.count_read(database, seen, now + MINUTE, 2, MINUTE)


async def test_an_approval_that_is_overtaken_between_two_reads_is_checked_again(world: CheckoutWorld) -> None:
    """The other one pays after this one was checked and before it is written."""
    await world.prepare("it")
    await world.submit("it", PAYPAL)
    waiting = await world.remember_attempt("it", "waiting")
    database, looks = world.app.database, 0

    class Overtaken:
        """Lets the other pay just before the completion of a card payment is written."""

        def __getattr__(self, name: str) -> object:
            return getattr(database, name)

        async def write(self, steps: list[object], *, label: str) -> bool:
            nonlocal looks
            looks += 1
            if looks == 2:
                await world.approve_at_provider(waiting)
            return await database.write(steps, label=label)  # type: ignore[arg-type]

    real, world.app = world.app, msgspec.structs.replace(world.app, database=Overtaken())
    code = await world.submit("it", CARD)
    world.app = real

    assert code == "800.110.100"
    paid = await look(world, "it")
    assert (paid.state, paid.subject_id) == (CheckoutState.DONE, waiting)
    await world.run_recovery_tasks()


# ---- rotation ----


async def test_what_was_prepared_opens_under_the_new_key_alone(db: Database, world: CheckoutWorld) -> None:
    names = [f"checkout {number}" for number in range(5)]
    for name in names:
        await world.prepare(name, {**PAYS, "descriptor": name})
    rotated = world.keyring.with_new_key()
    assert await count_retired(db, rotated) == 1

    assert await rewrap_everything(db, rotated, lambda _count: None) == len(names)

    assert await count_retired(db, rotated) == 0
    alone = msgspec.structs.replace(world.app, keyring=rotated.without_retired_keys())
    for name in names:
        assert open_prepared(alone, await look(world, name))["descriptor"] == name
    with pytest.raises((EnvelopeError, KeyringError)):
        open_prepared(world.app, await look(world, names[0]))


async def test_a_checkout_that_is_open_during_a_rotation_is_shown_changed_and_paid(
    db: Database, world: CheckoutWorld
) -> None:
    """One process has taken the new key already, and another has not."""
    await world.prepare("before")
    rotated = world.keyring.with_new_key()
    [found] = await checkouts.SEALED.list_page(db, None, sealed_prefix(rotated.active_id), 10)
    seen = await look(world, "before")
    changed = msgspec.structs.replace(seen, sealed_fields=seen.sealed_fields)
    assert await db.write(checkouts.change_checkout_writes(seen, changed, world.clock.now()), label="test")

    await rewrap_everything(db, rotated, lambda _count: None)

    owner = make_owner("checkout", found.merchant_id, found.id)
    stale = rewrap(found.sealed, owner=owner, keyring=rotated)
    assert not await checkouts.SEALED.rewrap(db, found, stale)
    world.app = msgspec.structs.replace(world.app, keyring=rotated)
    shown = orjson.loads((await show_form(world.app, world.ids["before"], "VISA")).body)
    assert (shown["amount"], shown["state"]) == ("92.00", "open")
    assert await world.submit("before") == "000.100.110"
    assert await world.ask("before") == "000.100.110"


async def test_sealed_fields_do_not_open_in_another_row(db: Database, world: CheckoutWorld) -> None:
    one, other = await prepare(world, "one"), await prepare(world, "other")
    moved = msgspec.structs.replace(one, sealed_fields=other.sealed_fields)

    with pytest.raises(EnvelopeError):
        open_prepared(world.app, moved)
    [first, *_] = await checkouts.SEALED.list_page(db, None, b"none", 10)
    with pytest.raises(EnvelopeError):
        open_sealed(first.sealed, owner=make_owner("payment", first.merchant_id, first.id), keyring=world.keyring)


# ---- with time ----


async def test_fields_are_wiped_a_day_after_and_rows_are_forgotten_later(world: CheckoutWorld) -> None:
    checkout = await prepare(world)
    app = world.app

    world.clock.at = checkout.expires_at + LIMITS.checkout_fields_memory
    assert await RUNS["old checkouts"](app) == 0
    world.clock.at += 1
    assert (await RUNS["old checkouts"](app), await RUNS["old checkouts"](app)) == (1, 0)
    wiped = await look(world, "it")
    assert wiped == msgspec.structs.replace(checkout, sealed_fields=None)
    with pytest.raises(Refusal):
        open_prepared(app, wiped)

    world.clock.at = checkout.created_at + LIMITS.checkout_memory
    assert await RUNS["forgotten checkouts"](app) == 0
    world.clock.at += 1
    assert (await RUNS["forgotten checkouts"](app), await RUNS["forgotten checkouts"](app)) == (1, 0)
    assert await checkouts.find_checkout(app.database, MERCHANT.id, checkout.id) is None


async def test_what_is_approved_months_later_still_meets_the_checkout_that_was_paid(world: CheckoutWorld) -> None:
    await world.prepare("it")
    await world.submit("it", PAYPAL)
    waiting = await world.remember_attempt("it", "waiting")
    assert await world.submit("it") == "000.100.110"
    world.clock.at += 90 * DAY
    await RUNS["old checkouts"](world.app)
    await RUNS["forgotten checkouts"](world.app)

    await world.approve_at_provider(waiting)

    late = await find_payment(world.app.database, MERCHANT.id, waiting)
    assert late is not None
    assert late.result_code == "800.110.100"


async def test_a_script_outlives_the_last_process_that_promised_it(world: CheckoutWorld) -> None:
    earlier = Script("earlier", "sha384-1", b"one")
    old = msgspec.structs.replace(world.app, script=earlier)
    new = msgspec.structs.replace(world.app, script=Script("newer", "sha384-2", b"two"))
    world.app = old
    await follow_scripts(old)
    world.clock.at += 59 * SECOND
    await world.prepare("last of the old")
    checkout = await look(world, "last of the old")

    world.clock.at = checkout.expires_at - 1
    await follow_scripts(new)
    assert await find_promised_script(new, checkout.id) == earlier
    assert await find_promised_script(old, checkout.id) is None
    world.clock.at = checkout.expires_at
    assert await find_promised_script(new, checkout.id) is None
    world.clock.at += 3 * MINUTE
    await follow_scripts(new)

    assert await checkouts.find_script(new.database, "earlier") is None
    assert await checkouts.find_script(new.database, "newer") == new.script


async def test_a_script_that_is_promised_again_is_kept_for_longer(db: Database, world: CheckoutWorld) -> None:
    script, now = Script("it", "sha384-1", b"one"), world.clock.now()
    await checkouts.keep_script(db, script, now)
    await checkouts.keep_script(db, script, now + MINUTE)

    assert await checkouts.purge_scripts(db, now + MINUTE, 10) == 0
    assert await checkouts.purge_scripts(db, now + MINUTE + 1, 10) == 1


async def test_an_app_without_an_endpoint_promises_nothing(world: CheckoutWorld) -> None:
    app: App = world.app
    await follow_scripts(app)

    assert await checkouts.find_script(app.database, "") is None


# ---- how rows are found ----

WAYS = [
    (checkouts.CHECKOUTS.by_key, "checkouts USING INDEX sqlite_autoindex_checkouts_1"),
    (checkouts._submit.statement, "checkouts USING INDEX sqlite_autoindex_checkouts_1"),
    (checkouts.SEALED.page, "checkouts USING INDEX sqlite_autoindex_checkouts_1"),
]


@pytest.mark.parametrize(("statement", "way"), WAYS)
async def test_every_checkout_is_found_by_its_key(tmp_path: Path, statement: Statement, way: str) -> None:
    plan = await read_plan(tmp_path, statement)

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [line for line in plan if line.startswith("SCAN")]
