"""The filters of the list of payments, as its address has them and as the store is asked.

The list itself is shown by another module.
"""

import re
from collections.abc import Mapping
from datetime import date
from urllib.parse import urlencode

import msgspec

from tollgate.catalog import limits, permissions, results
from tollgate.contract import search_words, searching
from tollgate.office.visits import Visit, refuse_field
from tollgate.payments.reporting import Place
from tollgate.values import DAY, is_id, read_hundredths

FILTERS = ("q", "channel", "type", "brand", "result", "from", "to", "min", "max")
"""The names in the address that narrow the list; a page of it has `before` or `after` besides."""
_AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{2})?")
_PLACE = re.compile(r"([0-9]{1,16})-([0-9a-f]{32})")
_RESULTS = frozenset({*searching.ResultState, *(group.id for group in results.GROUPS)})


class Asked(msgspec.Struct, frozen=True):
    """The list that an address asks for."""

    filters: Mapping[str, str]
    """The filters that are set, as they were sent."""
    query: searching.PaymentQuery
    meanings: tuple[search_words.Meaning, ...]
    after: Place | None
    """The place behind which the page begins."""
    is_newest_first: bool

    @property
    def address(self) -> str:
        """Returns the filters as the query of an address."""
        return urlencode(self.filters)


def read_asked(visit: Visit, permission: permissions.Permission = permissions.Permission.VIEW_PAYMENTS) -> Asked:
    """Reads the filters; of the channels that the user has no permission for, nothing is found."""
    filters = {name: text for name in FILTERS if (text := visit.find(name))}
    if len(filters.get("q", "")) > limits.LIMITS.search_text_length_max or not all(
        map(str.isprintable, filters.values())
    ):
        raise refuse_field("q", f"up to {limits.LIMITS.search_text_length_max} printable characters")
    read = search_words.read_text(filters.get("q", ""), visit.app.clock.now())
    allowed = [channel.id for channel in visit.list_channels(permission)]
    chosen = filters.get("channel")
    before, after = read_place(visit, "before"), read_place(visit, "after")
    query = _make_query(filters, read, tuple(each for each in allowed if chosen in (None, each)))
    return Asked(filters, query, read.meanings, before or after, after is None or before is not None)


def _make_query(
    filters: Mapping[str, str], read: search_words.ReadText, channel_ids: tuple[str, ...]
) -> searching.PaymentQuery:
    if filters.get("result", searching.ResultState.OPEN) not in _RESULTS:
        raise refuse_field("result", "must be a state or a group of result codes")
    query = searching.PaymentQuery(
        channel_ids=channel_ids,
        words=read.words,
        currency=read.currency,
        begins_at=read.begins_at,
        ends_at=read.ends_at,
        payment_type=filters.get("type", ""),
        brand=filters.get("brand", ""),
        result=filters.get("result", ""),
        amount_min=_read_amount(filters, "min"),
        amount_max=_read_amount(filters, "max"),
    )
    if "from" in filters:
        begins_at = search_words.begin_day(read_day(filters["from"], "from"))
        query = msgspec.structs.replace(query, begins_at=max(query.begins_at, begins_at))
    if "to" in filters:
        ends_at = search_words.begin_day(read_day(filters["to"], "to")) + DAY
        query = msgspec.structs.replace(query, ends_at=min(query.ends_at, ends_at))
    return query


def read_day(text: str, name: str) -> date:
    """Reads a day of a form; a day that does not exist, or is before 1970, is refused."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise refuse_field(name, "must be a date such as 2026-11-18") from None
    if search_words.begin_day(day) < 0:
        raise refuse_field(name, "must be a date after 1970")
    return day


def _read_amount(filters: Mapping[str, str], name: str) -> int | None:
    text = filters.get(name)
    if text is None:
        return None
    if not _AMOUNT.fullmatch(text):
        raise refuse_field(name, "must be an amount such as 92.00")
    return read_hundredths(text)


def read_place(visit: Visit, name: str) -> Place | None:
    """Reads a place as `render_place` writes it; None if the field was not sent."""
    text = visit.find(name)
    if not text:
        return None
    match = _PLACE.fullmatch(text)
    if match is None or not is_id(match[2]):
        raise refuse_field(name, "must be the place of an earlier page")
    return Place(int(match[1]), match[2])


def render_place(place: Place) -> str:
    return f"{place.at}-{place.id}"
