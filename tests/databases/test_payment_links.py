"""Rows of payment links on both databases: one checkout at a time, unlocked in time, and sealed."""

from __future__ import annotations

import asyncio

import msgspec
import orjson
import pytest

from databases.auditing import audit, tamper
from databases.checkout_lives import CARD, DECLINED, PAYPAL, CheckoutWorld, open_checkout_world
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.contract.checkouts import Submission
from tollgate.contract.fields import read_fields
from tollgate.flows.checkouts import cancel_prepared
from tollgate.flows.payment_links import (
    OpenedLink,
    end_payment_link,
    leave_link_attempt,
    make_payment_link,
    open_link,
    read_payment_link,
)
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.flows.submit import submit_checkout
from tollgate.operations.app import Call
from tollgate.operations.checkouts import open_link_fields
from tollgate.operations.signing import TamperedRow
from tollgate.payments.audit import Proof
from tollgate.payments.checkout import CheckoutKind, CheckoutState, LinkStatus, Reminder
from tollgate.store import links
from tollgate.store.checkouts import find_checkout
from tollgate.store.database import Database, Unwritable
from tollgate.store.schema import payment_links
from tollgate.values import DAY, MINUTE, Refusal
from tollgate.workers import WORKERS
from tollgate.workers.jobs import send_reminders
from unit.app_fixture import CHANNEL, MERCHANT

RUNS = {worker.name: worker.run for worker in WORKERS}


pytestmark = pytest.mark.anyio

ORDER = {"amount": "38.50", "currency": "EUR", "paymentType": "DB"}
NDC = "8a" * 16


@pytest.fixture
async def world(db: Database) -> CheckoutWorld:
    return await open_checkout_world(db)


async def make(world: CheckoutWorld, **more: str) -> str:
    fields = read_fields(list({**ORDER, **more}.items()), Situation("create_payment_link", None, False, False))
    link_id: str = orjson.loads((await make_payment_link(world.app, fields, Call(CHANNEL, NDC))).body)["id"]
    return link_id


async def look(world: CheckoutWorld, link_id: str) -> OpenedLink:
    opened = await open_link(world.app, link_id)
    assert opened is not None
    return opened


async def pay(world: CheckoutWorld, opened: OpenedLink, account: dict[str, str] = CARD, *script: bytes) -> str:
    assert opened.checkout is not None
    world.provider.acquirer.script = list(script)
    sent = Submission(pairs=list(account.items()), address="127.0.0.1", accept=None, user_agent=None)
    done = await submit_checkout(world.app, opened.checkout.id, CheckoutKind.PAYMENT, sent)
    return done.answer.code


async def tell(world: CheckoutWorld, link_id: str) -> int:
    body = orjson.loads((await read_payment_link(world.app, link_id, CHANNEL, NDC)).body)
    status: int = body["paymentLinks"][0]["status"]
    return status


# ---- one checkout at a time ----


async def test_of_many_who_open_a_link_at_once_all_get_the_same_checkout(world: CheckoutWorld) -> None:
    link_id = await make(world)

    opened = await asyncio.gather(*[look(world, link_id) for _ in range(20)])

    assert len({each.checkout.id for each in opened if each.checkout}) == 1


async def test_of_many_who_find_it_expired_all_get_the_same_new_one(world: CheckoutWorld) -> None:
    link_id = await make(world)
    first = await look(world, link_id)
    world.clock.at += LIMITS.checkout_lifetime

    opened = await asyncio.gather(*[look(world, link_id) for _ in range(20)])

    names = {each.checkout.id for each in opened if each.checkout}
    assert len(names) == 1
    assert first.checkout is not None
    assert first.checkout.id not in names
    old = await find_checkout(world.app.database, MERCHANT.id, first.checkout.id)
    assert old is not None
    assert old.state is CheckoutState.CANCELLED


async def test_a_checkout_that_is_being_paid_is_not_replaced(world: CheckoutWorld) -> None:
    link_id = await make(world)
    opened = await look(world, link_id)
    assert opened.checkout is not None
    await tamper(world.app.database, "UPDATE checkouts SET state = 1 WHERE id = :id", id=opened.checkout.id)
    world.clock.at += LIMITS.checkout_lifetime

    again = await look(world, link_id)

    assert again.checkout is not None
    assert (again.checkout.id, again.is_being_paid) == (opened.checkout.id, True)


async def test_looking_at_a_link_withdraws_nothing_that_a_provider_may_still_approve(world: CheckoutWorld) -> None:
    link_id = await make(world)
    opened = await look(world, link_id)
    await pay(world, opened, PAYPAL)
    world.clock.at += LIMITS.checkout_lifetime

    again = await look(world, link_id)

    assert opened.checkout is not None
    assert again.checkout is not None
    assert (again.checkout.id, again.checkout.state) == (opened.checkout.id, CheckoutState.OPEN)
    assert (again.is_awaited, again.may_be_given_up) == (True, True)


async def test_an_attempt_that_is_given_up_at_its_provider_frees_the_link(world: CheckoutWorld) -> None:
    link_id = await make(world)
    await pay(world, await look(world, link_id), PAYPAL)
    world.clock.at += LIMITS.checkout_lifetime
    waiting = await look(world, link_id)
    assert waiting.payment is not None

    await leave_link_attempt(world.app, link_id, waiting.payment.id)

    again = await look(world, link_id)
    assert again.checkout is not None
    assert waiting.checkout is not None
    assert again.checkout.id != waiting.checkout.id
    assert not again.is_awaited


async def test_an_attempt_of_another_link_is_not_given_up(world: CheckoutWorld) -> None:
    link_id, other_id = await make(world), await make(world)
    await look(world, other_id)
    await pay(world, await look(world, link_id), PAYPAL)
    waiting = await look(world, link_id)
    assert waiting.payment is not None

    await leave_link_attempt(world.app, other_id, waiting.payment.id)

    assert (await look(world, link_id)).is_awaited


async def test_a_checkout_that_cannot_be_written_leaves_the_one_before_it_alone(world: CheckoutWorld) -> None:
    link_id = await make(world)
    opened = await look(world, link_id)
    assert opened.checkout is not None
    # The last step of the unit fails, because there is a checkout of this name.
    changed = msgspec.structs.replace(opened.link, mac=b"another")
    with pytest.raises(Unwritable):
        await links.give_checkout(world.app.database, opened.link, changed, opened.checkout, world.clock.now())

    again = await look(world, link_id)

    assert again.link == opened.link
    assert again.checkout == opened.checkout


async def test_ending_and_opening_at_once_leaves_nothing_that_could_be_paid(world: CheckoutWorld) -> None:
    for _ in range(10):
        link_id = await make(world)
        await asyncio.gather(
            end_payment_link(world.app, link_id, CHANNEL, NDC), *[look(world, link_id) for _ in range(5)]
        )

        opened = await look(world, link_id)
        assert opened.status is LinkStatus.ENDED
        assert opened.checkout is None or opened.checkout.state is CheckoutState.CANCELLED


async def test_ending_and_paying_at_once_ends_one_way_or_the_other(world: CheckoutWorld) -> None:
    for _ in range(10):
        link_id = await make(world)
        opened = await look(world, link_id)
        ended, paid = await asyncio.gather(
            end_payment_link(world.app, link_id, CHANNEL, NDC), pay(world, opened), return_exceptions=True
        )

        assert isinstance(ended, Refusal) is (paid == "000.100.110")
        expected = LinkStatus.PAID if paid == "000.100.110" else LinkStatus.ENDED
        assert await tell(world, link_id) == expected


async def test_what_is_approved_for_a_checkout_that_was_replaced_is_given_back(world: CheckoutWorld) -> None:
    link_id = await make(world)
    opened = await look(world, link_id)
    assert await pay(world, opened, PAYPAL) == "000.200.000"
    assert opened.checkout is not None
    seen = await find_checkout(world.app.database, MERCHANT.id, opened.checkout.id)
    assert seen is not None
    await cancel_prepared(world.app, seen.id, CHANNEL)
    assert await pay(world, await look(world, link_id)) == "000.100.110"

    await world.approve_at_provider(seen.subject_id or "")

    assert (await look(world, link_id)).status is LinkStatus.PAID
    late = await find_checkout(world.app.database, MERCHANT.id, seen.id)
    assert late is not None
    assert late.state is CheckoutState.CANCELLED
    assert (await audit(world.app.database, world.keyring)).findings == []


async def test_a_payment_that_is_approved_after_the_links_end_counts(world: CheckoutWorld) -> None:
    link_id = await make(world, validUntil="1", validUntilUnit="HOUR")
    world.clock.at += 50 * MINUTE
    opened = await look(world, link_id)
    assert await pay(world, opened, PAYPAL) == "000.200.000"
    assert opened.checkout is not None
    seen = await find_checkout(world.app.database, MERCHANT.id, opened.checkout.id)
    assert seen is not None
    world.clock.at += 11 * MINUTE
    assert await tell(world, link_id) == LinkStatus.EXPIRED

    await world.approve_at_provider(seen.subject_id or "")

    assert await tell(world, link_id) == LinkStatus.PAID


# ---- with time ----


async def test_nobody_is_called_about_a_link_because_its_shopper_comes_back_to_this_host(world: CheckoutWorld) -> None:
    opened = await look(world, await make(world))
    assert await pay(world, opened) == "000.100.110"
    assert opened.checkout is not None
    world.clock.at = opened.checkout.created_at + LIMITS.checkout_reminder_after

    assert await send_reminders(world.app) == 1

    received = await find_checkout(world.app.database, MERCHANT.id, opened.checkout.id)
    assert received is not None
    assert received.reminder == Reminder.UNNEEDED


async def test_a_link_is_wiped_and_forgotten_and_its_checkout_not_before(world: CheckoutWorld) -> None:
    link_id = await make(world, validUntil="1", validUntilUnit="YEAR")
    opened = await look(world, link_id)
    assert await pay(world, opened) == "000.100.110"
    world.clock.at += LIMITS.checkout_memory + 2 * DAY
    await RUNS["old checkouts"](world.app)
    assert await RUNS["forgotten checkouts"](world.app) == 0
    assert await tell(world, link_id) == LinkStatus.PAID

    world.clock.at = opened.link.expires_at + LIMITS.checkout_fields_memory
    assert await RUNS["old payment links"](world.app) == 0
    world.clock.at += 1
    assert (await RUNS["old payment links"](world.app), await RUNS["old payment links"](world.app)) == (1, 0)
    wiped = await look(world, link_id)
    assert (wiped.status, wiped.page) == (LinkStatus.PAID, None)

    world.clock.at = opened.link.expires_at + LIMITS.checkout_memory
    assert await RUNS["forgotten payment links"](world.app) == 0
    world.clock.at += 1
    assert (await RUNS["forgotten payment links"](world.app), await RUNS["forgotten payment links"](world.app)) == (
        1,
        0,
    )
    assert await open_link(world.app, link_id) is None
    assert await RUNS["forgotten checkouts"](world.app) == 1


# ---- sealing ----


async def test_what_was_prepared_is_read_by_nobody_in_the_store(world: CheckoutWorld) -> None:
    link = await links.find_link(
        world.app.database, MERCHANT.id, await make(world, **{"merchant.name": "Gatehouse Goods"})
    )

    assert link is not None
    assert link.sealed_fields is not None
    assert b"Gatehouse" not in link.sealed_fields
    assert (open_link_fields(world.app, link) or {})["merchant.name"] == "Gatehouse Goods"


async def test_a_rotation_wraps_links_under_the_new_key(world: CheckoutWorld) -> None:
    link_id = await make(world)
    rotated, database = world.keyring.with_new_key(), world.app.database
    assert await count_retired(database, rotated) == 1

    assert await rewrap_everything(database, rotated, lambda _count: None) == 1

    assert await count_retired(database, rotated) == 0
    link = await links.find_link(database, MERCHANT.id, link_id)
    assert link is not None
    assert open_link_fields(msgspec.structs.replace(world.app, keyring=rotated), link) == ORDER


CHANGES = {
    "channel_id": f"'{'8a' * 16}'",
    "state": "1",
    "created_at": "created_at + 1",
    "expires_at": "expires_at + 1",
    "checkout_id": "(SELECT max(id) FROM checkouts)",
    "mac": "sealed_fields",
}


@pytest.mark.parametrize("column", CHANGES)
async def test_a_link_that_a_hand_has_changed_is_shown_to_nobody(world: CheckoutWorld, column: str) -> None:
    link_id = await make(world)
    await world.prepare("another")
    await tamper(
        world.app.database, f"UPDATE payment_links SET {column} = {CHANGES[column]} WHERE id = :id", id=link_id
    )

    with pytest.raises(TamperedRow):
        await open_link(world.app, link_id)
    report = await audit(world.app.database, world.keyring)
    assert [(each.proof, each.row_id) for each in report.findings] == [(Proof.SIGNATURE, link_id)]


@pytest.mark.parametrize(
    ("sql", "proof"),
    [
        ("UPDATE payment_links SET sealed_fields = mac WHERE id = :id", Proof.LINK),
        ("UPDATE payment_links SET state = 7 WHERE id = :id", Proof.ROW),
    ],
)
async def test_an_audit_finds_what_does_not_open_or_cannot_be_read(
    world: CheckoutWorld, sql: str, proof: Proof
) -> None:
    link_id = await make(world)
    await tamper(world.app.database, sql, id=link_id)

    report = await audit(world.app.database, world.keyring)

    assert [(each.proof, each.row_id) for each in report.findings] == [(proof, link_id)]


async def test_an_audit_misses_the_checkout_of_a_link(world: CheckoutWorld) -> None:
    link_id = await make(world)
    await look(world, link_id)
    await tamper(world.app.database, "DELETE FROM checkouts")

    report = await audit(world.app.database, world.keyring)

    assert [(each.proof, each.row_id) for each in report.findings] == [(Proof.LINK, link_id)]
    assert report.rows["payment_links"] == 1


def test_every_column_is_sealed_or_opens_by_itself() -> None:
    own = {"merchant_id", "id", "sealed_fields"}

    assert {column.name for column in payment_links.columns} == {*CHANGES, *own}
    assert set(links.LINKS.names) == {*CHANGES, *own}


async def test_after_ten_declines_a_link_waits_for_the_end_of_its_checkout(world: CheckoutWorld) -> None:
    link_id = await make(world)
    opened = await look(world, link_id)
    for _ in range(LIMITS.checkout_attempts_max):
        assert (await pay(world, opened, CARD, DECLINED)).startswith("800.")

    used_up = await look(world, link_id)
    world.clock.at += LIMITS.checkout_lifetime
    again = await look(world, link_id)

    assert (used_up.status, used_up.is_used_up) == (LinkStatus.OPEN, True)
    assert (again.status, again.is_used_up) == (LinkStatus.OPEN, False)
    names = [each.checkout.id for each in (opened, used_up, again) if each.checkout]
    assert names[0] == names[1] != names[2]
