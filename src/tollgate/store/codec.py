"""The codec between a struct and the columns of its table, and the statements that are alike for all tables.

What a change means is decided by the module of its table.
"""

from __future__ import annotations

import types
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from sqlalchemy.dialects.postgresql import insert

from tollgate.store.database import Database
from tollgate.store.hot import Row
from tollgate.store.schema import TEXT, WHOLE, merchants
from tollgate.store.statements import Statement, Write
from tollgate.values import Instant, Money, make_timed_id

T = TypeVar("T", bound=msgspec.Struct)
Convert = Callable[[Any], Any]
BY_ID = ("merchant_id", "id")

UNREADABLE = (ValueError, TypeError, msgspec.MsgspecError)
"""The exceptions by which a row that the gateway did not write fails to be decoded."""

ZERO: sa.ColumnElement[int] = sa.literal_column("0")
ONE: sa.ColumnElement[int] = sa.literal_column("1")
LIMIT = sa.bindparam("limit", type_=WHOLE)

_encode_json = msgspec.json.Encoder().encode


def encode_json(value: Any) -> str:
    return _encode_json(value).decode()


def _encode_map(mapping: Mapping[str, str]) -> str:
    return orjson.dumps(mapping, default=dict).decode() if mapping else "{}"


def bind(prefix: str, column: sa.Column[Any]) -> sa.BindParameter[Any]:
    """Names a parameter after a column. In an update it may not be called like the column, hence the prefix."""
    return sa.bindparam(f"{prefix}_{column.name}", type_=column.type)


IDS_MAX = 200
"""Ids of one statement."""
_IDS = [sa.bindparam(f"id_{place}", type_=TEXT) for place in range(IDS_MAX)]


def is_among_ids(column: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    return column.in_(_IDS)


def spread_ids(ids: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the parameters of as many statements as it takes, with how many ids each of them names.

    The last one names its last id several times.
    """
    for start in range(0, len(ids), IDS_MAX):
        some = ids[start : start + IDS_MAX]
        yield len(some), {f"id_{place}": some[min(place, len(some) - 1)] for place in range(IDS_MAX)}


def is_as_seen(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Compares a column with the value that was read; two NULLs are the same."""
    seen = bind("seen", column)
    return column.is_not_distinct_from(seen) if column.nullable else column == seen


class Codec(Generic[T]):
    """Encodes a struct as columns of a table, decodes it again, and builds statements about its row.

    A member has the column of its name. Money has the columns amount and currency, and another struct that has no
    column has those of its members.
    """

    def __init__(self, table: sa.Table, struct: type[T], key: Sequence[str] = BY_ID) -> None:
        self.table, self.key = table, tuple(key)
        hints = {name: _strip_none(hint) for name, hint in get_type_hints(struct).items()}
        parts = {name: _list_parts(hint) for name, (hint, _) in hints.items() if name not in table.c}
        flat = {column for members in parts.values() for column in members.values()}
        self.columns = tuple(column for column in table.columns if column.name in hints or column.name in flat)
        self.names = tuple(column.name for column in self.columns)
        self.at = {name: place for place, name in enumerate(self.names)}
        self._sources: dict[str, str] = {}
        self._known: dict[str, Any] = {"struct": struct}
        decoded = []
        for name, (hint, is_optional) in hints.items():
            if name in parts:
                self._known[f"make_{name}"] = hint
                self._sources |= {column: f"value.{name}.{member}" for member, column in parts[name].items()}
                members = [f"{member}=row[{self.at[column]}]" for member, column in parts[name].items()]
                decoded.append(f"{name}=make_{name}({', '.join(members)})")
            else:
                encode, decode = _choose_converters(hint)
                self._sources[name] = self._call("encode", name, f"value.{name}", encode, is_optional)
                decoded.append(f"{name}={self._call('decode', name, f'row[{self.at[name]}]', decode, is_optional)}")
        # Compiled once, because a loop over the members of each row takes twice as long.
        self.decode: Callable[[Row], T] = eval(f"lambda row: struct({', '.join(decoded)})", self._known)
        self.encode: Callable[[T], dict[str, Any]] = self.make_encoder(self.names)
        self.is_it = [column == bind("of", column) for column in (table.c[name] for name in key)]
        """Compares the key with the parameters that `of` and `make_key` return."""
        self.of = self.make_encoder(self.key, "of_")
        self.by_key = Statement(lambda: self.select(*self.is_it), is_quick=True)

    def _call(self, verb: str, name: str, source: str, convert: Convert | None, is_optional: bool) -> str:
        if convert is None:
            return source
        self._known[f"{verb}_{name}"] = convert
        call = f"{verb}_{name}({source})"
        return f"None if {source} is None else {call}" if is_optional else call

    def make_encoder(self, names: Sequence[str], prefix: str = "") -> Callable[[Any], dict[str, Any]]:
        """Makes a function from a struct, or another that has these members, to the values of these columns."""
        members = ", ".join(f"{prefix + name!r}: {self._sources[name]}" for name in names)
        encode: Callable[[Any], dict[str, Any]] = eval(f"lambda value: {{{members}}}", self._known)
        return encode

    def make_row_encoder(self, names: Sequence[str]) -> Callable[[T], Row]:
        """Makes a function from a struct to the values of these columns in this order."""
        encode: Callable[[T], Row] = eval(
            f"lambda value: ({', '.join(self._sources[name] for name in names)},)", self._known
        )
        return encode

    def make_key(self, *key: Any) -> dict[str, Any]:
        return {f"of_{name}": value for name, value in zip(self.key, key, strict=True)}

    # ---- reading ----

    def select(self, *where: Any) -> sa.Select[Any]:
        return sa.select(*self.columns).where(*where)

    async def find(self, db: Database, *key: Any) -> T | None:
        return await self.fetch_one(db, self.by_key, self.make_key(*key))

    async def fetch_one(self, db: Database, statement: Statement, params: Mapping[str, Any]) -> T | None:
        row = await db.fetch_one(statement, params)
        return None if row is None else self.decode(row)

    async def fetch(self, db: Database, statement: Statement, params: Mapping[str, Any]) -> list[T]:
        return [self.decode(row) for row in await db.fetch(statement, params)]

    def make_list(self, *order: str) -> Callable[[Database], Awaitable[list[T]]]:
        """Makes a function that lists all rows in the order of these columns."""
        statement = Statement(self.select().order_by(*[self.table.c[name] for name in order]))
        return lambda db: self.fetch(db, statement, {})

    # ---- writing ----

    def insert(
        self, *more: str, ignores_taken: bool = False, ignores_taken_key: bool = False, **fixed: Any
    ) -> Insert[T]:
        """Inserts a struct, columns that are no members of it, and others that are the same in every row.

        With `ignores_taken`, a row that breaks a unique index is not written, and that is no fault; with
        `ignores_taken_key`, only where it is the index of the primary key.
        """

        def build() -> sa.Insert:
            values = {name: sa.bindparam(name) for name in (*self.names, *more)} | fixed
            if ignores_taken or ignores_taken_key:
                index = list(self.table.primary_key) if ignores_taken_key else None
                return insert(self.table).values(values).on_conflict_do_nothing(index_elements=index)
            return sa.insert(self.table).values(values)

        return Insert(self, Statement(build, is_write=True))

    def update(self, *guards: Any, seen: Sequence[str] = (), new: Sequence[str] = (), **values: Any) -> Change[T]:
        """Updates one row where all guards hold and the columns `seen` are as they were read.

        The columns `new` are taken from a struct or from parameters, the others are set to expressions.
        """

        def build() -> sa.Update:
            given = {name: bind("new", self.table.c[name]) for name in new}
            expected = [is_as_seen(self.table.c[name]) for name in seen]
            return sa.update(self.table).where(*self.is_it, *guards, *expected).values(given | values)

        return Change(self, Statement(build, is_write=True), seen, new)

    def delete(self, *guards: Any, seen: Sequence[str] = ()) -> Change[T]:

        def build() -> sa.Delete:
            expected = [is_as_seen(self.table.c[name]) for name in seen]
            return sa.delete(self.table).where(*self.is_it, *guards, *expected)

        return Change(self, Statement(build, is_write=True), seen, ())

    def purge(self, age: sa.Column[Any], *where: Any, wiped: str | None = None) -> Purge:
        """Deletes the oldest rows, or wipes one of their columns."""
        key = [self.table.c[name] for name in self.key]
        oldest = sa.select(*key).where(age < sa.bindparam("before"), *where).order_by(age).limit(LIMIT)
        # SQLite leaves the lock out: there the single writer is the lock.
        is_old = sa.tuple_(*key).in_(oldest.with_for_update(skip_locked=True))
        if wiped is None:
            return Purge(Statement(sa.delete(self.table).where(is_old).returning(key[0])))
        return Purge(Statement(sa.update(self.table).where(is_old).values({wiped: sa.null()}).returning(key[0])))

    def purge_timed(self) -> TimedPurge:
        """Deletes the oldest rows of a table whose ids begin with their time."""
        of_merchant, timed_id = self.table.c.merchant_id, self.table.c.id
        is_old = sa.and_(of_merchant == bind("of", of_merchant), timed_id < sa.bindparam("before"))
        oldest = sa.select(timed_id).where(is_old).order_by(timed_id).limit(LIMIT).with_for_update(skip_locked=True)
        deleting = sa.delete(self.table).where(of_merchant == bind("of", of_merchant), timed_id.in_(oldest))
        return TimedPurge(Statement(deleting.returning(timed_id)))


class Insert(Generic[T]):
    def __init__(self, codec: Codec[T], statement: Statement) -> None:
        self.statement = statement
        self._encode = codec.encode

    def __call__(self, value: T, /, *, rows: int | None = 1, **more: Any) -> list[Write]:
        return [Write(self.statement, {**self._encode(value), **more}, rows)]


class Change(Generic[T]):
    """A guarded change of one row: it affects no row where the row is no longer as expected."""

    def __init__(self, codec: Codec[T], statement: Statement, seen: Sequence[str], new: Sequence[str]) -> None:
        self.statement = statement
        self._of, self._make_key = codec.of, codec.make_key
        self._seen, self._new = (
            codec.make_encoder([name for name in names if name in codec.at], prefix)
            for names, prefix in ((seen, "seen_"), (new, "new_"))
        )

    def __call__(self, of: Any, new: T | None = None, /, *, rows: int | None = 1, **more: Any) -> list[Write]:
        """Names the row by a struct that has the members of its key and those that must be as they were seen."""
        given = {} if new is None else self._new(new)
        return [Write(self.statement, {**self._of(of), **self._seen(of), **given, **more}, rows)]

    def by_key(self, *key: Any, rows: int | None = 1, **more: Any) -> list[Write]:
        return [Write(self.statement, {**self._make_key(*key), **more}, rows)]


class Purge:
    def __init__(self, statement: Statement) -> None:
        self.statement = statement

    async def __call__(self, db: Database, before: Instant, limit: int) -> int:
        """Returns how many rows were too old."""
        return len(await db.fetch(self.statement, {"before": before, "limit": limit}))


_MERCHANT_IDS = Statement(sa.select(merchants.c.id))


class TimedPurge:
    """Deletes merchant by merchant, along the key, so that the table needs no index by age."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement

    async def __call__(self, db: Database, before: Instant, limit: int) -> int:
        """Returns how many rows were too old; of each merchant it deletes so many at most."""
        params = {"before": make_timed_id(before, ""), "limit": limit}
        merchant_ids = [row[0] for row in await db.fetch(_MERCHANT_IDS, {})]
        return sum([len(await db.fetch(self.statement, {**params, "of_merchant_id": each})) for each in merchant_ids])


def _strip_none(hint: Any) -> tuple[Any, bool]:
    """Returns a type without None, and whether None was part of it."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    [bare] = [each for each in get_args(hint) if each is not type(None)]
    return bare, True


def _list_parts(hint: Any) -> dict[str, str]:
    """Returns the columns of a struct that has none by itself, by member."""
    if hint is Money:
        return {"hundredths": "amount", "currency": "currency"}
    return {name: name for name in hint.__struct_fields__}


def _choose_converters(hint: Any) -> tuple[Convert | None, Convert | None]:
    """Returns how a member is encoded and decoded; None where it is bound or read as it is."""
    origin = get_origin(hint)
    if origin is tuple:
        decode = msgspec.json.Decoder(hint).decode
        return lambda items: encode_json(items) if items else None, lambda text: decode(text or "[]")
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _encode_map, orjson.loads
    if not isinstance(hint, type):
        return None, None
    if issubclass(hint, Enum):
        # The drivers bind the members of an IntEnum and a StrEnum as numbers and texts.
        return None, hint
    if hint is bool:
        return int, bool
    if hint is date:
        return date.isoformat, date.fromisoformat
    if issubclass(hint, msgspec.Struct):
        return encode_json, msgspec.json.Decoder(hint).decode
    return None, None
