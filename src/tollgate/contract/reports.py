"""What a report is asked for, read from its query. Which payments answer it is decided elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from tollgate.catalog import Situation, is_true
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.form import Pairs
from tollgate.contract.identity import is_identity_name
from tollgate.payments import FOREVER, Search, Window
from tollgate.values import DAY, SECOND, Instant, to_instant

_DAY_LENGTH = len("yyyy-MM-dd")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of payments: which of them, which page, and whether with the rest of their chains."""

    search: Search
    window: Window
    with_linked: bool


def read_question(pairs: Pairs, situation: Situation, rows_max: int) -> Question:
    """`rows_max` is how long a page is unless the caller says otherwise."""
    fields = read_report_fields(pairs, situation)
    return Question(
        search=Search(
            reference=fields.get("merchantTransactionId"),
            lifecycle_id=fields.get("lifecycleId"),
            short_id=fields.get("shortId"),
            payment_types=_read_list(fields.get("paymentTypes")),
            methods=_read_list(fields.get("paymentMethods")),
            begins_at=read_begin(fields.get("date.from")),
            ends_at=read_end(fields.get("date.to")),
        ),
        window=read_window(fields, int(fields.get("limit") or rows_max)),
        with_linked=is_true(fields.get("includeLinkedTransactions")),
    )


def read_report_fields(pairs: Pairs, situation: Situation) -> Fields:
    """Without the caller's identity: it was read before, and forgiven what one public plugin glues to it."""
    return read_fields([pair for pair in pairs if not is_identity_name(pair[0])], situation)


def read_window(fields: Fields, rows_max: int) -> Window:
    return Window(rows_max=rows_max, page_no=int(fields.get("pageNo") or 1), cursor=fields.get("cursor"))


def read_begin(text: str | None) -> Instant:
    return 0 if text is None else _read_moment(text)


def read_end(text: str | None) -> Instant:
    """The first instant after the day or the second that is named, because both are meant as a whole."""
    if text is None:
        return FOREVER
    return _read_moment(text) + (DAY if len(text) == _DAY_LENGTH else SECOND)


def _read_moment(text: str) -> Instant:
    return to_instant(datetime.fromisoformat(text).replace(tzinfo=UTC))


def _read_list(text: str | None) -> tuple[str, ...]:
    """Sorted and without repetitions, so that the same filter is the same value however it was written."""
    return tuple(sorted(set(text.split(",")))) if text else ()
