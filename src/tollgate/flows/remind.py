"""The call to a shop that has not asked how its checkout ended, a minute before the checkout does.

What comes of it is written down together with the end of its job: a process that dies in between calls once more, and
none is lost while there is time.
"""

from __future__ import annotations

import logging

from tollgate.catalog import LIMITS
from tollgate.contract import is_link_url, make_checkout_return_url
from tollgate.operations import App
from tollgate.payments import Checkout, CheckoutState, Reminder
from tollgate.store import Job, find_checkout, finish_job, finish_job_writes, note_reminder_writes
from tollgate.values import hide_checkout_ids
from tollgate.wire import Forbidden, Silent, Unsent

_log = logging.getLogger("tollgate.reminder")


async def remind(app: App, job: Job) -> bool:
    """True when it is decided and its job gone; False asks for another try soon."""
    checkout = await find_checkout(app.database, job.merchant_id, job.subject_id)
    if checkout is None or checkout.reminder == Reminder.SENT:
        return await finish_job(app.database, job)
    word = _find_word(app, job, checkout) or await _call(app, checkout)
    if word is None:
        return False
    noting = note_reminder_writes(checkout, word, app.clock.now())
    is_done = await app.database.write([*noting, *finish_job_writes(job)])
    if is_done:
        level = logging.WARNING if word in (Reminder.MISSED, Reminder.FAILED) else logging.INFO
        facts = {"checkout": hide_checkout_ids(checkout.id), "reminder": word.value}
        _log.log(level, "a reminder was decided", extra=facts)
    return is_done


def _find_word(app: App, job: Job, checkout: Checkout) -> Reminder | None:
    """What is decided without a call."""
    if not checkout.is_unread or checkout.state is CheckoutState.CANCELLED:
        return Reminder.UNNEEDED
    if is_link_url(checkout.return_url):
        # Its shopper comes back to a page of this host, and its merchant asks for the link.
        return Reminder.UNNEEDED
    if checkout.expires_at <= app.clock.now():
        return Reminder.MISSED if job.tries <= 1 else Reminder.FAILED
    return Reminder.IMPOSSIBLE if checkout.return_url is None else None


async def _call(app: App, checkout: Checkout) -> Reminder | None:
    """None: nobody could be reached. Whoever was reached was told, whatever came back."""
    url = make_checkout_return_url(checkout.return_url or "", checkout)
    try:
        status = await app.notifier.get(url, LIMITS.notification_timeout_s)
    except Forbidden:
        return Reminder.IMPOSSIBLE
    except Unsent:
        return None
    except Silent:
        status = 0
    _log.info("a shop was called", extra={"checkout": hide_checkout_ids(checkout.id), "status": status or "none"})
    return Reminder.SENT
