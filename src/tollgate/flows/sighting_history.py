"""Writes the sightings that a new rule needs of payments and registrations before it, from the newest back.

Until they are written, the rule counts the payments since it was added, and those before that were derived already.
"""

from collections.abc import Set

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.risk_rows import Attribute
from tollgate.operations import payment_history, registration_history, risk
from tollgate.operations.app import App
from tollgate.store import opening, registrations
from tollgate.store import sightings as store
from tollgate.values import DAY, SECOND, Instant, MerchantId

SETTING = "sightings_since."
"""This and the merchant: from when on the sightings of each attribute are complete."""


class Covered(msgspec.Struct, frozen=True):
    since: Instant
    """The sightings of payments from this time on are written, and those of payments to come will be."""
    window_s: int
    """The window for which they were kept."""


_Known = dict[Attribute, Covered]


async def write_history(app: App, merchant_id: MerchantId) -> bool:
    """Writes the sightings of the newest day that has any, and returns False if none are missing.

    Two processes may do the same day: a sighting exists once.
    """
    stored = await opening.get_setting(app.database, SETTING + merchant_id)
    known = msgspec.json.decode(stored, type=_Known) if stored else {}
    now, counted = app.clock.now(), app.merchants.get_counted(merchant_id)
    covered = {
        attribute: _cover(known.get(attribute), window_s, now) for attribute, window_s in sorted(counted.items())
    }
    missing = {
        attribute: each.since for attribute, each in covered.items() if each.since > now - each.window_s * SECOND
    }
    end = max(missing.values(), default=0)
    if missing and end <= now:
        due = {attribute for attribute, since in missing.items() if since == end}
        begin = min(now - covered[each].window_s * SECOND for each in due)
        newest = await _get_newest(app, merchant_id, end)
        if newest >= begin:
            begin = max(newest - DAY, begin)
            await _derive(app, merchant_id, due, begin, newest + 1)
        covered |= {attribute: msgspec.structs.replace(covered[attribute], since=begin) for attribute in due}
    if covered != known:
        await _save(app, merchant_id, stored, covered)
    return bool(missing)


async def _get_newest(app: App, merchant_id: MerchantId, before: Instant) -> Instant:
    """Returns the time of the newest payment or registration before an instant; 0 if there is none."""
    channels = app.merchants.list_channels(merchant_id)
    paid = [await store.find_newest_time(app.database, merchant_id, each.id, before) for each in channels]
    registered = await registrations.find_newest_time(app.database, merchant_id, before)
    return max(each or 0 for each in (*paid, registered))


async def _derive(app: App, merchant_id: MerchantId, due: Set[Attribute], begin: Instant, end: Instant) -> None:
    channels, has_any = app.merchants.list_channels(merchant_id), False
    async for page in payment_history.read_payments(app, channels, begin, end):
        rows = await risk.derive_rows(app, page, due)
        if rows:
            has_any = True
            await store.write_sightings(app.database, rows)
    if await registration_history.write_sightings(app, merchant_id, due, begin, end) or has_any:
        await store.note_past_change(app.database)


def _cover(known: Covered | None, window_s: int, now: Instant) -> Covered:
    """Returns what is covered of an attribute at present.

    Every process counts a new attribute after some seconds. Of an attribute whose window was changed, those sightings
    are gone that the earlier window did not need.
    """
    if known is None:
        return Covered(now + LIMITS.sightings_settled_after, window_s)
    if known.window_s == window_s:
        return known
    return Covered(max(known.since, now - known.window_s * SECOND), window_s)


async def _save(app: App, merchant_id: MerchantId, stored: str, covered: _Known) -> None:
    text = msgspec.json.encode(covered).decode()
    name = SETTING + merchant_id
    if stored:
        # Another process may have saved first; then the next call goes on from there.
        await opening.replace_setting(app.database, name, stored, text)
    else:
        await opening.add_setting(app.database, name, text)
