"""Checkouts whose shop has not asked yet, and a courier that follows a script. No test lives here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from tollgate.catalog import LIMITS
from tollgate.payments import REMIND_TOPIC, Checkout, CheckoutEnd, CheckoutKind
from tollgate.steps import House
from tollgate.store import (
    find_checkout,
    lease_due,
    note_read,
    purge_checkouts,
    steps_insert_checkout,
    steps_submit_checkout,
)
from tollgate.store.checkouts import steps_end_attempt
from tollgate.values import DAY, SECOND, CheckoutId, FixedClock, Instant
from unit.premises import CHANNEL, MERCHANT, NOW

SUBJECT_ID = "8a" + "5" * 30
RETURN_URL = "https://shop.example/result?order=7"


@dataclass
class ScriptedCourier:
    """Plays its script from the front; what stands there is a status or a fault. At the end all is well."""

    script: list[int | Exception] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    meanwhile: Callable[[str], Awaitable[object]] | None = None
    """Happens while a shop is being called."""

    async def get(self, url: str, timeout_s: float) -> int:
        assert timeout_s == LIMITS.notification_timeout_s
        self.called.append(url)
        if self.meanwhile is not None:
            await self.meanwhile(url)
        next_line = self.script.pop(0) if self.script else 200
        if isinstance(next_line, Exception):
            raise next_line
        return next_line


def name_checkout(number: int) -> CheckoutId:
    return CheckoutId(f"{number:032X}.test")


async def prepare(house: House, number: int = 1, **changes: object) -> Checkout:
    """One that nobody has submitted."""
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
    assert await house.database.write(steps_insert_checkout(checkout))
    return checkout


async def submit(house: House, checkout: Checkout, return_url: str | None = RETURN_URL) -> None:
    unit = steps_submit_checkout(checkout, SUBJECT_ID, return_url, house.clock.now())
    assert await house.database.write(unit)


async def prepare_submitted(house: House, number: int = 1, **changes: object) -> Checkout:
    """Submitted ten seconds after it was made."""
    checkout = await prepare(house, number, **changes)
    move_to(house, NOW + 10 * SECOND)
    await submit(house, checkout)
    return checkout


async def reopen(house: House, checkout: Checkout) -> None:
    """Its attempt failed, so that another may be made."""
    end = CheckoutEnd(
        id=checkout.id, merchant_id=checkout.merchant_id, subject_id=SUBJECT_ID, is_done=False, is_sole=True
    )
    assert await house.database.write(steps_end_attempt(end))


async def forget(house: House) -> None:
    """All checkouts, as years would."""
    assert await purge_checkouts(house.database, house.clock.now() + DAY, 100)


async def count_owed(house: House) -> int:
    """Reminders that would ever be made, whoever holds them now."""
    far, owner = house.clock.now() + 1000 * DAY, "counting"
    return len(
        await lease_due(house.database, now=far, wall_now=far, owner=owner, lease_s=1, limit=100, topic=REMIND_TOPIC)
    )


async def read(house: House, checkout: Checkout) -> None:
    await note_read(house.database, checkout, house.clock.now())


async def look(house: House, checkout: Checkout) -> Checkout:
    found = await find_checkout(house.database, checkout.merchant_id, checkout.id)
    assert found is not None
    return found


def move_to(house: House, at: Instant) -> None:
    assert isinstance(house.clock, FixedClock)
    house.clock.at = at
