"""The sightings of payments: a row for each value that a payment was seen with.

What is counted is decided in `operations`.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import orjson
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.catalog.limits import LIMITS
from tollgate.payments.reporting import FOREVER
from tollgate.payments.velocities import Sighting, Velocity
from tollgate.store import opening
from tollgate.store.codec import LIMIT, bind
from tollgate.store.database import Database, Unwritable
from tollgate.store.hot import Row
from tollgate.store.schema import BYTES, WHOLE, payments, risk_sightings
from tollgate.store.statements import Dialect, Statement, Write
from tollgate.values import Instant, MerchantId


class Look(msgspec.Struct, frozen=True):
    """The sightings that are asked for: of one value, between two instants; the end is left out."""

    merchant_id: MerchantId
    key: bytes
    begin: Instant
    end: Instant


SUMS_AT_ONCE = 4
READ_MAX = LIMITS.sightings_read_max

CHANGES = "sighting_changes"
"""The setting that counts how often sightings were written or erased: processes hold some in memory."""
PAST_CHANGES = "sighting_past_changes"
"""The setting that counts how often that was done to old sightings, of which processes hold the sums."""

# ---- writing ----

_ROWS_AT_ONCE = 32
_COLUMNS = tuple(risk_sightings.columns.keys())
_KEY = tuple(column.name for column in risk_sightings.primary_key)
_get_values, _get_key = msgspec.structs.astuple, attrgetter("key")


def _make_insert(count: int) -> Statement:
    """Adds the attributes of a sighting to those that are stored, for which earlier rules have asked."""
    names = [{name: f"{name}_{place}" for name in _COLUMNS} for place in range(count)]
    types = {column.name: column.type for column in risk_sightings.columns}
    inserting = insert(risk_sightings).values(
        [{name: sa.bindparam(bound, type_=types[name]) for name, bound in row.items()} for row in names]
    )
    stored, new = risk_sightings.c, inserting.excluded
    marks = stored.marks.op("|")(new.marks)
    others = {name: sa.func.coalesce(stored[name], new[name]) for name in ("other_1", "other_2")}
    return Statement(
        inserting.on_conflict_do_update(
            index_elements=_KEY, set_={"marks": marks, **others}, where=marks != stored.marks
        )
    )


_insert_many, _insert_one = _make_insert(_ROWS_AT_ONCE), _make_insert(1)

_READ_TEXT: Mapping[type[object], str] = {
    sa.Text: "coalesce({}, '')",
    sa.LargeBinary: "decode({}, 'hex')",
    sa.BigInteger: "{}::bigint",
    sa.SmallInteger: "{}::smallint",
}
"""The expression by which PostgreSQL reads the text of a value; an empty text arrives as NULL."""


def _make_insert_of_texts() -> Statement:
    """Inserts any number of rows into PostgreSQL, from a text for each column with commas between the values.

    The driver would need five times as long for arrays. It fails where a row exists.
    """
    names = ", ".join(_COLUMNS)
    read = ", ".join(_READ_TEXT[type(column.type)].format(column.name) for column in risk_sightings.columns)
    arrays = ", ".join(f"string_to_array(${place}::text, ',', '')" for place, _ in enumerate(_COLUMNS, 1))
    text = f"INSERT INTO {risk_sightings.name} ({names}) SELECT {read} FROM unnest({arrays}) AS new({names})"
    return Statement(sa.text(text), is_write=True)


def _choose_spelling(column: sa.Column[Any]) -> Callable[[Iterable[Any]], Iterable[str]]:
    if isinstance(column.type, sa.LargeBinary):
        return lambda values: [value.hex() if value else "" for value in values]
    return iter if isinstance(column.type, sa.Text) else partial(map, str)


_insert_texts = _make_insert_of_texts()
_SPELLED = [(attrgetter(column.name), _choose_spelling(column)) for column in risk_sightings.columns]


def order(rows: Iterable[Sighting]) -> list[Sighting]:
    """Returns sightings by their keys, as they stand in the store."""
    return sorted(rows, key=_get_key)


def insert_writes(ordered: Sequence[Sighting]) -> list[Write]:
    """Inserts sightings, each of which is there once; to those that exist, attributes are added."""
    full = len(ordered) - len(ordered) % _ROWS_AT_ONCE
    parts = [ordered[start : start + _ROWS_AT_ONCE] for start in range(0, full, _ROWS_AT_ONCE)]
    return [
        *[Write(_insert_many, tuple(chain.from_iterable(map(_get_values, some)))) for some in parts],
        *[Write(_insert_one, _get_values(row)) for row in ordered[full:]],
    ]


def count_change_writes() -> list[Write]:
    return opening.add_to_setting_writes(CHANGES, 1)


def count_past_change_writes() -> list[Write]:
    """Counts a change to sightings that processes may have added up already."""
    return [*count_change_writes(), *opening.add_to_setting_writes(PAST_CHANGES, 1)]


async def count_changes(db: Database) -> int:
    """Returns how often sightings were written or erased."""
    return int(await opening.get_setting(db, CHANGES, "0"))


async def count_past_changes(db: Database) -> int:
    """Returns how often sightings were written or erased that processes may have added up already."""
    return int(await opening.get_setting(db, PAST_CHANGES, "0"))


async def note_past_change(db: Database) -> None:
    await db.write(count_past_change_writes(), label="risk sightings")


async def write_sightings(db: Database, rows: Iterable[Sighting]) -> None:
    await write_ordered(db, order(rows))


async def write_ordered(db: Database, ordered: Sequence[Sighting]) -> None:
    await db.write([*insert_writes(ordered), *count_change_writes()], label="risk sightings")


async def write_new(db: Database, ordered: Sequence[Sighting]) -> None:
    """Writes sightings that most probably nobody wrote: PostgreSQL takes half the time if it need not look for them."""
    if db.dialect is Dialect.POSTGRESQL:
        texts = [",".join(spell(map(get, ordered))) for get, spell in _SPELLED]
        writes = [Write(_insert_texts, tuple(texts)), *count_change_writes()]
        # Another process may have derived one of them, or an earlier try was written although its answer was lost.
        with contextlib.suppress(Unwritable):
            await db.write(writes, label="risk sightings")
            return
    await write_ordered(db, ordered)


# ---- reading ----

_count_all = Statement(sa.select(sa.func.count()).select_from(risk_sightings))
_value = (risk_sightings.c.merchant_id, risk_sightings.c.key)
_values_after = Statement(
    sa.select(*_value)
    .distinct()
    .where(sa.tuple_(*_value) > sa.tuple_(sa.bindparam("merchant"), sa.bindparam("after", type_=BYTES)))
    .order_by(*_value)
    .limit(LIMIT)
)


async def count_sightings(db: Database) -> int:
    row = await db.fetch_one(_count_all, {})
    return int(row[0]) if row else 0


async def list_values(db: Database, after: tuple[MerchantId, bytes], limit: int) -> list[tuple[MerchantId, bytes]]:
    """Lists the values that were seen, with their merchants, in the order of the store."""
    rows = await db.fetch(_values_after, {"merchant": after[0], "after": after[1], "limit": limit})
    return [(MerchantId(merchant_id), bytes(key)) for merchant_id, key in rows]


def _list_conditions(place: int) -> list[sa.ColumnElement[bool]]:
    table = risk_sightings.c
    return [
        table.merchant_id == sa.bindparam(f"merchant_id_{place}", type_=table.merchant_id.type),
        table.key == sa.bindparam(f"key_{place}", type_=table.key.type),
        table.at >= sa.bindparam(f"begin_{place}", type_=table.at.type),
        table.at < sa.bindparam(f"end_{place}", type_=table.at.type),
    ]


def _make_sum(place: int) -> Any:
    table = risk_sightings.c
    return (
        sa.select(sa.literal_column(str(place)), table.currency, sa.func.count(), sa.func.sum(table.amount))
        .where(*_list_conditions(place))
        .group_by(table.currency)
    )


_sums = Statement(sa.union_all(*[_make_sum(place) for place in range(SUMS_AT_ONCE)]))
_FOUND = ", ".join(f'"{name}"' for name in _COLUMNS)
_look = Statement(
    sa.text(
        f"""
        SELECT {_FOUND} FROM risk_sightings
        WHERE merchant_id = :merchant_id AND "key" = :key AND at >= :begin AND at < :end LIMIT {READ_MAX}
        """
    ),
    is_quick=True,
)
_newest = Statement(
    sa.text(
        f"""
        SELECT {_FOUND} FROM risk_sightings
        WHERE merchant_id = :merchant_id AND "key" = :key AND at >= :begin AND at < :end
        ORDER BY at DESC LIMIT {READ_MAX}
        """
    )
)
# One parameter for all looks, because a text of many parts would take longer to prepare than to run.
_looks = Statement(
    sa.text(
        f"""
        SELECT s.* FROM json_array_elements(CAST(:looks AS json)) AS j CROSS JOIN LATERAL (
            SELECT {_FOUND} FROM risk_sightings AS n
            WHERE n.merchant_id = j ->> 0 AND n."key" = decode(j ->> 1, 'hex')
            AND n.at >= CAST(j ->> 2 AS bigint) AND n.at < CAST(j ->> 3 AS bigint)
            ORDER BY n.at DESC LIMIT {READ_MAX}
        ) AS s
        """
    ),
    is_quick=True,
)


def _spread(looks: Sequence[Look], size: int) -> dict[str, Any]:
    """Returns the parameters of a statement; places without a look ask for an instant that is never."""
    nothing = Look(looks[0].merchant_id, b"", 0, 0)
    params: dict[str, Any] = {}
    for place in range(size):
        look = looks[place] if place < len(looks) else nothing
        params |= {
            f"merchant_id_{place}": look.merchant_id,
            f"key_{place}": look.key,
            f"begin_{place}": look.begin,
            f"end_{place}": look.end,
        }
    return params


async def _read_look(db: Database, look: Look) -> list[Row]:
    params = {"merchant_id": look.merchant_id, "key": look.key, "begin": look.begin, "end": look.end}
    rows = await db.fetch(_look, params)
    # Most often there are few, and SQLite takes three times as long to find them from the end.
    return rows if len(rows) < READ_MAX else await db.fetch(_newest, params)


async def read_sightings(db: Database, looks: Sequence[Look]) -> dict[bytes, list[Sighting]]:
    """Returns the sightings of each value that has any. A value may be asked for once only."""
    if db.dialect is Dialect.SQLITE:
        rows = [row for look in looks for row in await _read_look(db, look)]
    else:
        asked = [(look.merchant_id, look.key.hex(), look.begin, look.end) for look in looks]
        rows = await db.fetch(_looks, {"looks": orjson.dumps(asked).decode()})
    found: dict[bytes, list[Sighting]] = {}
    for row in rows:
        found.setdefault(row[1], []).append(Sighting(*row))
    return found


async def read_totals(db: Database, looks: Sequence[Look]) -> list[dict[str, Velocity]]:
    """Adds up the sightings by their currency, for each look in turn."""
    found: list[dict[str, Velocity]] = [{} for _ in looks]
    size = SUMS_AT_ONCE
    for start in range(0, len(looks), size):
        for place, currency, count, total in await db.fetch(_sums, _spread(looks[start : start + size], size)):
            # PostgreSQL sums into a wider type of its own.
            found[start + place][currency] = Velocity(int(count), int(total))
    return found


_places_in_order = tuple(risk_sightings.c[name] for name in ("key", "at", "payment_id"))
_is_of_owner = risk_sightings.c.merchant_id == bind("of", risk_sightings.c.merchant_id)


def _bind_place(prefix: str) -> Any:
    return sa.tuple_(*[sa.bindparam(f"{prefix}_{column.name}", type_=column.type) for column in _places_in_order])


_is_behind = sa.and_(_is_of_owner, sa.tuple_(*_places_in_order) > _bind_place("after"))
_last_of_page = Statement(
    sa.select(*_places_in_order)
    .where(_is_behind)
    .order_by(*_places_in_order)
    .limit(1)
    .offset(sa.bindparam("passed", type_=WHOLE))
)
_purge = Statement(
    sa.delete(risk_sightings)
    .where(
        _is_behind,
        sa.tuple_(*_places_in_order) <= _bind_place("upto"),
        risk_sightings.c.at < sa.bindparam("before", type_=WHOLE),
    )
    .returning(risk_sightings.c.payment_id)
)
FIRST = (b"", 0, "")
_LAST = (b"\xff" * 64, 0, "")


async def purge_sightings(
    db: Database, merchant_id: MerchantId, before: Instant, after: Row, limit: int
) -> tuple[Row | None, int]:
    """Deletes the old ones among the next sightings of a merchant; returns the place to go on from, and their number.

    They are in the order of their values: an index by age would take longer with every payment than this does.
    """
    params = {"of_merchant_id": merchant_id, **_make_place("after", after)}
    last = await db.fetch_one(_last_of_page, {**params, "passed": limit})
    removed = await db.fetch(_purge, {**params, **_make_place("upto", last or _LAST), "before": before})
    return last, len(removed)


def _make_place(prefix: str, place: Row) -> dict[str, Any]:
    return {f"{prefix}_{column.name}": value for column, value in zip(_places_in_order, place, strict=True)}


# ---- the payments from which sightings are derived ----

_is_of_channel = sa.and_(
    payments.c.channel_id == bind("of", payments.c.channel_id),
    payments.c.merchant_id == bind("of", payments.c.merchant_id),
)
_newest_payment = Statement(
    sa.select(sa.func.max(payments.c.created_at)).where(
        _is_of_channel, payments.c.created_at < sa.bindparam("before", type_=WHOLE)
    )
)


async def find_newest_time(
    db: Database, merchant_id: MerchantId, channel_id: str, before: Instant = FOREVER
) -> Instant | None:
    params = {"of_channel_id": channel_id, "of_merchant_id": merchant_id, "before": before}
    row = await db.fetch_one(_newest_payment, params)
    return None if row is None else row[0]
