"""Checkouts whose shop has not asked yet, and a notifier that follows a script. No test lives here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.payments.checkout import REMIND_TOPIC, Checkout, CheckoutEnd, CheckoutKind
from tollgate.store import checkouts
from tollgate.store.jobs import lease_due
from tollgate.values import DAY, SECOND, CheckoutId, FixedClock, Instant
from tollgate.wire import Outgoing, Received
from unit.app_fixture import CHANNEL, MERCHANT, NOW

SUBJECT_ID = "8a" + "5" * 30
RETURN_URL = "https://shop.example/result?order=7"


@dataclass
class ScriptedNotifier:
    """The notifier plays its script from the front: a status or a fault. At the end all is well."""

    script: list[int | Exception] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    meanwhile: Callable[[str], Awaitable[object]] | None = None
    """This runs while a shop is being called."""

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Received:
        assert (outgoing, timeout_s) == (Outgoing(outgoing.url), LIMITS.notification_timeout_s)
        url = outgoing.url
        self.called.append(url)
        if self.meanwhile is not None:
            await self.meanwhile(url)
        next_line = self.script.pop(0) if self.script else 200
        if isinstance(next_line, Exception):
            raise next_line
        return Received(next_line)


def name_checkout(number: int) -> CheckoutId:
    return CheckoutId(f"{number:032X}.test")


async def prepare(app: App, number: int = 1, **changes: object) -> Checkout:
    """Prepares a checkout that is not submitted."""
    checkout = Checkout(
        id=name_checkout(number),
        merchant_id=MERCHANT.id,
        channel_id=CHANNEL.id,
        kind=CheckoutKind.PAYMENT,
        created_at=NOW,
        expires_at=NOW + LIMITS.checkout_lifetime,
        sealed_fields=b"sealed",
    )
    checkout = msgspec.structs.replace(checkout, **changes)
    assert await app.database.write(checkouts.insert_checkout_writes(checkout), label="test")
    return checkout


async def submit(app: App, checkout: Checkout, return_url: str | None = RETURN_URL) -> None:
    unit = checkouts.submit_checkout_writes(checkout, SUBJECT_ID, return_url, app.clock.now())
    assert await app.database.write(unit, label="test")


async def prepare_submitted(app: App, number: int = 1, **changes: object) -> Checkout:
    """The checkout is submitted ten seconds after it was made."""
    checkout = await prepare(app, number, **changes)
    move_to(app, NOW + 10 * SECOND)
    await submit(app, checkout)
    return checkout


async def reopen(app: App, checkout: Checkout) -> None:
    """The attempt failed, so that another may be made."""
    end = CheckoutEnd(
        id=checkout.id, merchant_id=checkout.merchant_id, subject_id=SUBJECT_ID, is_done=False, is_sole=True
    )
    assert await app.database.write(checkouts.end_attempt_writes(end), label="test")


async def forget(app: App) -> None:
    """All checkouts, as years would."""
    assert await checkouts.purge_checkouts(app.database, app.clock.now() + DAY, 100)


async def count_owed(app: App) -> int:
    """Lists the reminders that would ever be made, leased or not."""
    far, owner = app.clock.now() + 1000 * DAY, "counting"
    return len(
        await lease_due(app.database, now=far, wall_now=far, owner=owner, lease_s=1, limit=100, topic=REMIND_TOPIC)
    )


async def read(app: App, checkout: Checkout) -> None:
    await checkouts.note_read(app.database, checkout, app.clock.now())


async def look(app: App, checkout: Checkout) -> Checkout:
    found = await checkouts.find_checkout(app.database, checkout.merchant_id, checkout.id)
    assert found is not None
    return found


def move_to(app: App, at: Instant) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at = at
