"""Stored accounts whose time is over are wiped and announced; so are the accounts that old payments were made with.

What is still open is left alone, and whoever changes a registration at the same moment wins or loses as a whole.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.payments.merchants import Channel
from tollgate.payments.registration import UNUSABLE, Registration, RegistrationEvent, RegistrationState, wipe
from tollgate.store import opening, registrations, retention, schedules
from tollgate.values import DAY, Instant

BOOKMARKS = "accounts_wiped."
"""Settings, one for each channel, in which the walk through its payments writes how far it came."""


class Bookmark(msgspec.Struct, frozen=True, omit_defaults=True):
    at: Instant = 0
    id: str = ""
    left: tuple[str, ...] = ()
    """First payments of chains that were open when the walk came by; they are asked again in every round."""


_read_bookmark = msgspec.json.Decoder(Bookmark).decode


async def erase_registration(app: App, outlived: Registration) -> bool:
    """False: it was used, changed or extended meanwhile, so that its time is not over any more."""
    now = app.clock.now()
    erased = wipe(outlived, RegistrationState.ERASED)
    # Of one that nobody ever confirmed, its merchant was never told that it was there.
    event = RegistrationEvent.DELETED if outlived.state is RegistrationState.ACTIVE else None
    unit = [
        *registrations.change_registration_writes(erased, None, None, event=event, at=now),
        *schedules.end_schedules_writes(erased.merchant_id, erased.id, now, UNUSABLE[RegistrationState.ERASED]),
    ]
    return await app.database.write(unit, label="registration erased")


async def wipe_old_accounts(app: App, channel: Channel) -> int:
    """One page further through a channel's payments, oldest first; zero where there is nothing to do at this moment.

    Every member of a chain tries when its own time is over, so the youngest one succeeds.
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
    moved = _move_on(mark, page, left)
    if moved != mark:
        # Another process may have gone the same way; then its bookmark stays, and nothing is lost with this one.
        await opening.replace_setting(app.database, name, written, msgspec.json.encode(moved).decode())
    return len(page) + max(0, len(mark.left) - len(left))


async def _wipe(app: App, channel: Channel, first_id: str, before: Instant) -> bool:
    """False: something in its chain is still open, so it has to be asked again. A younger member asks by itself."""
    if await retention.has_open_chain(app.database, channel.merchant_id, first_id):
        return False
    if await retention.wipe_account(app.database, channel.merchant_id, first_id, before):
        return True
    # Refused: something followed it this very moment, or somebody else has wiped it.
    return not await retention.has_open_chain(app.database, channel.merchant_id, first_id)


def _move_on(mark: Bookmark, page: list[retention.OutlivedAccount], left: tuple[str, ...]) -> Bookmark:
    return Bookmark(page[-1].created_at, page[-1].id, left) if page else Bookmark(mark.at, mark.id, left)
