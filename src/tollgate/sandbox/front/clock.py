"""The test clock of the front page, and what fires next when it is moved. What fires is decided by the workers."""

from datetime import UTC, date, datetime, time, timedelta

import msgspec

from tollgate.catalog import banking_days
from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.payments.checkout import REMIND_TOPIC
from tollgate.payments.payment import RecoveryTask
from tollgate.payments.registration import TOKEN_TOPIC
from tollgate.payments.schedule import RUN_TOPIC
from tollgate.sandbox import controls, office_pages
from tollgate.store import upcoming
from tollgate.values import Instant, MerchantId, to_instant
from tollgate.web.request import Request

SHOWN = 8
_NEAR = timedelta(days=60)
"""No file is made earlier before the day that it names, whatever the holidays are."""

TEXTS: dict[str, tuple[str, str]] = {
    RecoveryTask.REVERSE: ("The acquirer is asked again to reverse a payment", "payments"),
    RecoveryTask.INQUIRE: ("The acquirer is asked for the result of a payment", "payments"),
    RecoveryTask.REPEAT: ("A follow-up is sent to the acquirer again", "payments"),
    RecoveryTask.EXPIRE: ("A payment ends, because its shopper did not return", "payments"),
    RecoveryTask.COMPLETE: ("A payment is completed that was interrupted", "payments"),
    TOKEN_TOPIC: ("A network token is requested", "registrations"),
    RUN_TOPIC: ("A schedule charges its registration", "schedules"),
    REMIND_TOPIC: ("The shop is told of a shopper who may not have returned", ""),
    upcoming.DELIVERY: ("A webhook is delivered", "webhooks"),
    upcoming.AUTHORIZATION: ("An authorization expires", "payments"),
    upcoming.CHECKOUT: ("A checkout expires", ""),
    upcoming.LINK: ("A payment link expires", ""),
    upcoming.INSTRUCTION: ("A SEPA file is made", "payments"),
}
"""The texts by topic, each with the section of the back office that has a page about its subject."""


class Next(msgspec.Struct, frozen=True, kw_only=True):
    """Something that fires next, as the page shows it."""

    id: str
    at: Instant
    is_due: bool
    text: str
    path: str
    """The page of its subject, below those of the merchant; empty if there is none."""


async def list_next(app: App, merchant_id: MerchantId) -> list[Next]:
    """Lists what fires next, earliest first."""
    now = app.clock.now()
    found = await upcoming.list_upcoming(app.database, merchant_id, now, SHOWN)
    for channel in app.merchants.list_channels(merchant_id):
        found += await upcoming.list_authorizations(
            app.database, merchant_id, channel.id, now, app.authorization_lifetime, SHOWN
        )
    for due_on, payment_id in await upcoming.list_instruction_days(app.database, merchant_id, SHOWN):
        at = max(get_filing(due_on, app.today), now)
        found.append(upcoming.Upcoming(at, upcoming.INSTRUCTION, payment_id))
    return [_show(each, now) for each in sorted(found, key=lambda each: each.at)[:SHOWN]]


def get_filing(due_on: date, today: date) -> Instant:
    """Returns when the file is made that a bank executes on a day: the first day from which that day is near enough."""
    day = max(today, due_on - _NEAR)
    while banking_days.add_banking_days(banking_days.get_banking_day(day), LIMITS.bank_lead_days) < due_on:
        day += timedelta(days=1)
    return to_instant(datetime.combine(day, time(), UTC))


def _show(each: upcoming.Upcoming, now: Instant) -> Next:
    text, section = TEXTS[each.topic]
    path = f"/{section}/{each.subject_id}" if section else ""
    return Next(id=f"{each.topic}-{each.subject_id}", at=each.at, is_due=each.at <= now, text=text, path=path)


async def move(app: App, request: Request) -> str:
    """Moves the clock by what the form says, and returns what was done."""
    count, unit = office_pages.read_forward(request.find("forward").strip(), request.find("unit"))
    await controls.move_clock(app, count * controls.UNITS[unit])
    return f"The clock was moved forward by {count} {unit}"
