"""Rows of payment links on both databases: one checkout at a time, whoever is first; let go of in time, and sealed."""

from __future__ import annotations

import asyncio

import msgspec
import orjson
import pytest

from databases.auditing import audit, tamper
from databases.checkout_lives import CARD, DECLINED, PAYPAL, Till, open_till
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
from tollgate.workers.reminders import send_reminders
from tollgate.workers.upkeep import purge_old_checkouts, purge_old_links, wipe_old_checkouts, wipe_old_links
from unit.premises import CHANNEL, MERCHANT

pytestmark = pytest.mark.anyio

ORDER = {"amount": "38.50", "currency": "EUR", "paymentType": "DB"}
NDC = "8a" * 16


@pytest.fixture
async def till(db: Database) -> Till:
    return await open_till(db)


async def make(till: Till, **more: str) -> str:
    fields = read_fields(list({**ORDER, **more}.items()), Situation("payment_link", None, False, False))
    link_id: str = orjson.loads((await make_payment_link(till.app, fields, Call(CHANNEL, NDC))).body)["id"]
    return link_id


async def look(till: Till, link_id: str) -> OpenedLink:
    opened = await open_link(till.app, link_id)
    assert opened is not None
    return opened


async def pay(till: Till, opened: OpenedLink, account: dict[str, str] = CARD, *script: bytes) -> str:
    assert opened.checkout is not None
    till.provider.acquirer.script = list(script)
    sent = Submission(pairs=list(account.items()), address="127.0.0.1", accept=None, user_agent=None)
    done = await submit_checkout(till.app, opened.checkout.id, CheckoutKind.PAYMENT, sent)
    return done.answer.code


async def tell(till: Till, link_id: str) -> int:
    body = orjson.loads((await read_payment_link(till.app, link_id, CHANNEL, NDC)).body)
    status: int = body["paymentLinks"][0]["status"]
    return status


# ---- one checkout at a time ----


async def test_of_many_who_open_a_link_at_once_all_get_the_same_checkout(till: Till) -> None:
    link_id = await make(till)

    opened = await asyncio.gather(*[look(till, link_id) for _ in range(20)])

    assert len({each.checkout.id for each in opened if each.checkout}) == 1


async def test_of_many_who_find_it_expired_all_get_the_same_new_one(till: Till) -> None:
    link_id = await make(till)
    first = await look(till, link_id)
    till.clock.at += LIMITS.checkout_lifetime

    opened = await asyncio.gather(*[look(till, link_id) for _ in range(20)])

    names = {each.checkout.id for each in opened if each.checkout}
    assert len(names) == 1
    assert first.checkout is not None
    assert first.checkout.id not in names
    old = await find_checkout(till.app.database, MERCHANT.id, first.checkout.id)
    assert old is not None
    assert old.state is CheckoutState.CANCELLED


async def test_a_checkout_that_is_being_paid_is_not_replaced(till: Till) -> None:
    link_id = await make(till)
    opened = await look(till, link_id)
    assert opened.checkout is not None
    await tamper(till.app.database, "UPDATE checkouts SET state = 1 WHERE id = :id", id=opened.checkout.id)
    till.clock.at += LIMITS.checkout_lifetime

    again = await look(till, link_id)

    assert again.checkout is not None
    assert (again.checkout.id, again.is_being_paid) == (opened.checkout.id, True)


async def test_looking_at_a_link_withdraws_nothing_that_a_provider_may_still_approve(till: Till) -> None:
    link_id = await make(till)
    opened = await look(till, link_id)
    await pay(till, opened, PAYPAL)
    till.clock.at += LIMITS.checkout_lifetime

    again = await look(till, link_id)

    assert opened.checkout is not None
    assert again.checkout is not None
    assert (again.checkout.id, again.checkout.state) == (opened.checkout.id, CheckoutState.OPEN)
    assert (again.is_awaited, again.may_be_given_up) == (True, True)


async def test_an_attempt_that_is_given_up_at_its_provider_frees_the_link(till: Till) -> None:
    link_id = await make(till)
    await pay(till, await look(till, link_id), PAYPAL)
    till.clock.at += LIMITS.checkout_lifetime
    waiting = await look(till, link_id)
    assert waiting.payment is not None

    await leave_link_attempt(till.app, link_id, waiting.payment.id)

    again = await look(till, link_id)
    assert again.checkout is not None
    assert waiting.checkout is not None
    assert again.checkout.id != waiting.checkout.id
    assert not again.is_awaited


async def test_an_attempt_of_another_link_is_not_given_up(till: Till) -> None:
    link_id, other_id = await make(till), await make(till)
    await look(till, other_id)
    await pay(till, await look(till, link_id), PAYPAL)
    waiting = await look(till, link_id)
    assert waiting.payment is not None

    await leave_link_attempt(till.app, other_id, waiting.payment.id)

    assert (await look(till, link_id)).is_awaited


async def test_a_checkout_that_cannot_be_written_leaves_the_one_before_it_alone(till: Till) -> None:
    link_id = await make(till)
    opened = await look(till, link_id)
    assert opened.checkout is not None
    # The last step of the unit fails, because there is a checkout of this name.
    changed = msgspec.structs.replace(opened.link, mac=b"another")
    with pytest.raises(Unwritable):
        await links.give_checkout(till.app.database, opened.link, changed, opened.checkout, till.clock.now())

    again = await look(till, link_id)

    assert again.link == opened.link
    assert again.checkout == opened.checkout


async def test_ending_and_opening_at_once_leaves_nothing_that_could_be_paid(till: Till) -> None:
    for _ in range(10):
        link_id = await make(till)
        await asyncio.gather(
            end_payment_link(till.app, link_id, CHANNEL, NDC), *[look(till, link_id) for _ in range(5)]
        )

        opened = await look(till, link_id)
        assert opened.status is LinkStatus.ENDED
        assert opened.checkout is None or opened.checkout.state is CheckoutState.CANCELLED


async def test_ending_and_paying_at_once_ends_one_way_or_the_other(till: Till) -> None:
    for _ in range(10):
        link_id = await make(till)
        opened = await look(till, link_id)
        ended, paid = await asyncio.gather(
            end_payment_link(till.app, link_id, CHANNEL, NDC), pay(till, opened), return_exceptions=True
        )

        assert isinstance(ended, Refusal) is (paid == "000.100.110")
        expected = LinkStatus.PAID if paid == "000.100.110" else LinkStatus.ENDED
        assert await tell(till, link_id) == expected


async def test_what_is_approved_for_a_checkout_that_was_replaced_is_given_back(till: Till) -> None:
    link_id = await make(till)
    opened = await look(till, link_id)
    assert await pay(till, opened, PAYPAL) == "000.200.000"
    assert opened.checkout is not None
    seen = await find_checkout(till.app.database, MERCHANT.id, opened.checkout.id)
    assert seen is not None
    await cancel_prepared(till.app, seen.id, CHANNEL)
    assert await pay(till, await look(till, link_id)) == "000.100.110"

    await till.approve_at_provider(seen.subject_id or "")

    assert (await look(till, link_id)).status is LinkStatus.PAID
    late = await find_checkout(till.app.database, MERCHANT.id, seen.id)
    assert late is not None
    assert late.state is CheckoutState.CANCELLED
    assert (await audit(till.app.database, till.keyring)).findings == []


async def test_a_payment_that_is_approved_after_the_links_end_counts(till: Till) -> None:
    link_id = await make(till, validUntil="1", validUntilUnit="HOUR")
    till.clock.at += 50 * MINUTE
    opened = await look(till, link_id)
    assert await pay(till, opened, PAYPAL) == "000.200.000"
    assert opened.checkout is not None
    seen = await find_checkout(till.app.database, MERCHANT.id, opened.checkout.id)
    assert seen is not None
    till.clock.at += 11 * MINUTE
    assert await tell(till, link_id) == LinkStatus.EXPIRED

    await till.approve_at_provider(seen.subject_id or "")

    assert await tell(till, link_id) == LinkStatus.PAID


# ---- with time ----


async def test_nobody_is_called_about_a_link_because_its_shopper_comes_back_to_this_host(till: Till) -> None:
    opened = await look(till, await make(till))
    assert await pay(till, opened) == "000.100.110"
    assert opened.checkout is not None
    till.clock.at = opened.checkout.created_at + LIMITS.checkout_reminder_after

    assert await send_reminders(till.app) == 1

    told = await find_checkout(till.app.database, MERCHANT.id, opened.checkout.id)
    assert told is not None
    assert told.reminder == Reminder.UNNEEDED


async def test_a_link_is_wiped_and_forgotten_and_its_checkout_not_before(till: Till) -> None:
    link_id = await make(till, validUntil="1", validUntilUnit="YEAR")
    opened = await look(till, link_id)
    assert await pay(till, opened) == "000.100.110"
    till.clock.at += LIMITS.checkout_memory + 2 * DAY
    await wipe_old_checkouts(till.app)
    assert await purge_old_checkouts(till.app) == 0
    assert await tell(till, link_id) == LinkStatus.PAID

    till.clock.at = opened.link.expires_at + LIMITS.checkout_fields_memory
    assert await wipe_old_links(till.app) == 0
    till.clock.at += 1
    assert (await wipe_old_links(till.app), await wipe_old_links(till.app)) == (1, 0)
    wiped = await look(till, link_id)
    assert (wiped.status, wiped.page) == (LinkStatus.PAID, None)

    till.clock.at = opened.link.expires_at + LIMITS.checkout_memory
    assert await purge_old_links(till.app) == 0
    till.clock.at += 1
    assert (await purge_old_links(till.app), await purge_old_links(till.app)) == (1, 0)
    assert await open_link(till.app, link_id) is None
    assert await purge_old_checkouts(till.app) == 1


# ---- seals ----


async def test_what_was_prepared_is_read_by_nobody_in_the_store(till: Till) -> None:
    link = await links.find_link(
        till.app.database, MERCHANT.id, await make(till, **{"merchant.name": "Gatehouse Goods"})
    )

    assert link is not None
    assert link.sealed_fields is not None
    assert b"Gatehouse" not in link.sealed_fields
    assert (open_link_fields(till.app, link) or {})["merchant.name"] == "Gatehouse Goods"


async def test_a_rotation_wraps_links_under_the_new_key(till: Till) -> None:
    link_id = await make(till)
    rotated, database = till.keyring.with_new_key(), till.app.database
    assert await count_retired(database, rotated) == 1

    assert await rewrap_everything(database, rotated, lambda _count: None) == 1

    assert await count_retired(database, rotated) == 0
    link = await links.find_link(database, MERCHANT.id, link_id)
    assert link is not None
    assert open_link_fields(msgspec.structs.replace(till.app, keyring=rotated), link) == ORDER


CHANGES = {
    "channel_id": f"'{'8a' * 16}'",
    "state": "1",
    "created_at": "created_at + 1",
    "expires_at": "expires_at + 1",
    "checkout_id": "(SELECT max(id) FROM checkouts)",
    "mac": "sealed_fields",
}


@pytest.mark.parametrize("column", CHANGES)
async def test_a_link_that_a_hand_has_changed_is_shown_to_nobody(till: Till, column: str) -> None:
    link_id = await make(till)
    await till.prepare("another")
    await tamper(till.app.database, f"UPDATE payment_links SET {column} = {CHANGES[column]} WHERE id = :id", id=link_id)

    with pytest.raises(TamperedRow):
        await open_link(till.app, link_id)
    report = await audit(till.app.database, till.keyring)
    assert [(each.proof, each.row_id) for each in report.findings] == [(Proof.SEAL, link_id)]


@pytest.mark.parametrize(
    ("sql", "proof"),
    [
        ("UPDATE payment_links SET sealed_fields = mac WHERE id = :id", Proof.LINK),
        ("UPDATE payment_links SET state = 7 WHERE id = :id", Proof.ROW),
    ],
)
async def test_an_audit_finds_what_does_not_open_or_cannot_be_read(till: Till, sql: str, proof: Proof) -> None:
    link_id = await make(till)
    await tamper(till.app.database, sql, id=link_id)

    report = await audit(till.app.database, till.keyring)

    assert [(each.proof, each.row_id) for each in report.findings] == [(proof, link_id)]


async def test_an_audit_misses_the_checkout_of_a_link(till: Till) -> None:
    link_id = await make(till)
    await look(till, link_id)
    await tamper(till.app.database, "DELETE FROM checkouts")

    report = await audit(till.app.database, till.keyring)

    assert [(each.proof, each.row_id) for each in report.findings] == [(Proof.LINK, link_id)]
    assert report.rows["payment_links"] == 1


def test_every_column_is_sealed_or_opens_by_itself() -> None:
    own = {"merchant_id", "id", "sealed_fields"}

    assert {column.name for column in payment_links.columns} == {*CHANGES, *own}
    assert set(links.LINK_COLUMNS) == {*CHANGES, *own}


async def test_after_ten_declines_a_link_waits_for_the_end_of_its_checkout(till: Till) -> None:
    link_id = await make(till)
    opened = await look(till, link_id)
    for _ in range(LIMITS.checkout_attempts_max):
        assert (await pay(till, opened, CARD, DECLINED)).startswith("800.")

    used_up = await look(till, link_id)
    till.clock.at += LIMITS.checkout_lifetime
    again = await look(till, link_id)

    assert (used_up.status, used_up.is_used_up) == (LinkStatus.OPEN, True)
    assert (again.status, again.is_used_up) == (LinkStatus.OPEN, False)
    names = [each.checkout.id for each in (opened, used_up, again) if each.checkout]
    assert names[0] == names[1] != names[2]
