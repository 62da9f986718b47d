"""Retention: registrations are wiped when their time is over, and so are the accounts of old payments.

Open chains are left alone.
"""

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.payments.merchants import Channel
from tollgate.payments.registration import UNUSABLE, Registration, RegistrationEvent, RegistrationState, wipe
from tollgate.store import opening, registrations, retention, schedules
from tollgate.values import DAY, Instant

BOOKMARKS = "accounts_wiped."
"""The prefix of settings, one for each channel, that say how far its payments were wiped."""


class Bookmark(msgspec.Struct, frozen=True, omit_defaults=True):
    at: Instant = 0
    id: str = ""
    left: tuple[str, ...] = ()
    """The first payments of chains that were open at that time; they are tried again in every round."""


_read_bookmark = msgspec.json.Decoder(Bookmark).decode


async def erase_registration(app: App, outlived: Registration) -> bool:
    """Returns false where the registration was used, changed or extended meanwhile."""
    now = app.clock.now()
    erased = wipe(outlived, RegistrationState.ERASED)
    # A registration that was never confirmed was never announced.
    event = RegistrationEvent.DELETED if outlived.state is RegistrationState.ACTIVE else None
    unit = [
        *registrations.change_registration_writes(erased, None, None, event=event, at=now),
        *schedules.end_schedules_writes(erased.merchant_id, erased.id, now, UNUSABLE[RegistrationState.ERASED]),
    ]
    return await app.database.write(unit, label="registration erased")


async def wipe_old_accounts(app: App, channel: Channel) -> int:
    """Wipes a page of a channel's old accounts, oldest first, and returns zero where there is nothing to do.

    Every member of a chain is tried when its own time is over, so the youngest one succeeds.
    """
    name = BOOKMARKS + channel.id
    written = await opening.get_setting(app.database, name)
    if not written:
        written = msgspec.json.encode(Bookmark()).decode()
        await opening.put_setting(app.database, name, written)
    mark = _read_bookmark(written)
    before = app.clock.now() - app.retention.payment_days * DAY
    may_go_on = len(mark.left) < LIMITS.accounts_left_max
    page = (
        await retention.list_outlived_accounts(app.database, channel, mark.at, mark.id, before, LIMITS.erase_batch)
        if may_go_on
        else []
    )
    firsts = dict.fromkeys([*mark.left, *[each.first_id for each in page if each.has_account]])
    left = tuple([first_id for first_id in firsts if not await _wipe(app, channel, first_id, before)])
    at, last_id = (page[-1].created_at, page[-1].id) if page else (mark.at, mark.id)
    moved = Bookmark(at, last_id, left)
    if moved != mark:
        # Another process may have moved the bookmark; then its value stays, and nothing is lost.
        await opening.replace_setting(app.database, name, written, msgspec.json.encode(moved).decode())
    return len(page) + max(0, len(mark.left) - len(left))


async def _wipe(app: App, channel: Channel, first_id: str, before: Instant) -> bool:
    """Returns false where the chain is still open, so that it is tried again. A younger member is tried by itself."""
    if await retention.has_open_chain(app.database, channel.merchant_id, first_id):
        return False
    if await retention.wipe_account(app.database, channel.merchant_id, first_id, before):
        return True
    # The write was refused: a follow-up came at this moment, or another process has wiped the account.
    return not await retention.has_open_chain(app.database, channel.merchant_id, first_id)
