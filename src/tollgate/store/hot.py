"""The frequent writes, each described once: for a batch of PostgreSQL, for one row, and for a unit.

They are the start and the completion of a payment. Those of a follow-up are in `hot_follow_ups`, and the end of an
attempt to deliver an event in `hot_attempts`. How batches are gathered and sent is decided by the drivers.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from tollgate.catalog.limits import LIMITS
from tollgate.store.payment_months import read_for
from tollgate.store.schema import (
    PARTITIONED,
    announcements,
    idempotency_keys,
    jobs,
    ledger,
    outbox,
    payment_months,
    payments,
)
from tollgate.store.statements import Dialect, Statement, Write

Row = tuple[Any, ...]
Run = Callable[[str, Sequence[Any]], int]
"""Runs one text on the SQLite writer and returns the number that the text returns, or else how many rows it changed."""
Answer = TypeVar("Answer")
"""The answer about a row that was written; false where its guard refused it."""
Columns = tuple[tuple[str, str], ...]
"""Name and PostgreSQL type of each member of a row, in order."""


@dataclass(frozen=True, slots=True)
class BatchText:
    """One PostgreSQL statement for any number of rows, and a shorter one for exactly one row.

    `@payments` stands for the partition that the rows are written to, and so on for the other tables that have some.

    A guarded text returns the place (from 1) of each row that it accepted, with the answer to it; any other accepts all
    or fails.
    """

    width: int
    """It takes so many members of a row."""
    many: str
    one: str
    is_guarded: bool


def make_statement(text: str, on_postgres: str = "") -> Statement:
    """Makes a statement that writes, with the conditions by which PostgreSQL finds the month of a payment."""
    ours, theirs = read_for(Dialect.SQLITE, text), read_for(Dialect.POSTGRESQL, on_postgres or text)
    return Statement(sa.text(ours), on_postgres=sa.text(theirs), is_write=True)


class Part:
    """A statement about one row, whose parameters are members of the row, and the same about all rows of a batch."""

    def __init__(
        self, text: str, batch: str = "", *, on_postgres: str = "", needs: str | None = None, is_guard: bool = False
    ) -> None:
        """Leaves out a part that needs a member which is None, and refuses a row in which a guard changes nothing.

        Guards are the first parts. Without a `batch`, the batch does it in a way of its own. PostgreSQL may need a text
        of its own for a row.
        """
        self.statement, self.batch = make_statement(text, on_postgres), batch
        self.needs, self.is_guard = needs, is_guard


@dataclass(frozen=True, slots=True)
class HotWrite(Generic[Answer]):
    name: str
    columns: Columns
    parts: Sequence[Part]
    texts: tuple[BatchText, ...]
    """Each writes more, and takes more members of a row, than the one before: most payments have no key and owe
    nothing."""
    choose_text: Callable[[Row], int]
    """Returns the place of the leanest text that writes all of a row; a batch takes the richest of its rows."""
    write_row: Callable[[Run, Row], Answer]
    """Writes one row on SQLite; false only when nothing was changed, so that a refused row needs no undoing."""
    is_written: Statement
    """Finds the answer where exactly this row is durable; asked when a connection was lost before the answer came."""
    apart: tuple[str, ...] = ()
    """The members that no two rows of a batch share, because one statement changes a row of a table only once."""
    times: tuple[tuple[str, str], ...] = ()
    """The tables in whose partitions it writes, each with the member that says in which; an id begins with its time."""
    moved: tuple[str, ...] = ()
    """The members that are ids of other payments which it changes; all of them are `@moved` in its texts."""

    def make_params(self, row: Row) -> dict[str, Any]:
        return dict(zip((name for name, _ in self.columns), row, strict=True))

    def make_writes(self, row: Row) -> list[Write]:
        """Returns the same as writes of a unit that does more in one commit."""
        members = self.make_params(row)
        wanted = [part for part in self.parts if part.needs is None or members[part.needs] is not None]
        return [Write(part.statement, members, 1 if part.is_guard else None) for part in wanted]


_TYPES = {sa.Text: "text", sa.BigInteger: "int8", sa.SmallInteger: "int2", sa.LargeBinary: "bytea"}


def type_columns(columns: Mapping[str, sa.Column[Any]]) -> Columns:
    return tuple((name, _TYPES[type(column.type)]) for name, column in columns.items())


def read_from(rows: str, text: str) -> str:
    """Returns a text with the columns of these rows in place of its parameters."""
    return re.sub(r":(\w+)", rf"{rows}.\1", text)


def make_values(*same: str, **others: str) -> dict[str, str]:
    """Returns the parameter of each column, which is called like the column or as it says."""
    return {name: f":{name}" for name in same} | {name: f":{member}" for name, member in others.items()}


def render_insert(table: sa.Table, values: Mapping[str, str], rows: str = "") -> str:
    """Inserts one row of parameters, or all rows of that name, which are in one partition."""
    names, texts = ", ".join(values), ", ".join(values.values())
    source = f"SELECT {read_from(rows, texts)} FROM {rows}" if rows else f"VALUES ({texts})"
    place = f"@{table.name}" if rows and table in PARTITIONED else table.name
    return f"INSERT INTO {place} ({names}) {source}"


def make_text(
    columns: Columns,
    queries: Sequence[str],
    last: str,
    *,
    is_guarded: bool,
    apart: Sequence[str] = (),
    wrap: str = "{}",
) -> BatchText:
    """The queries and the last one read `given`: the rows of arrays, or the single one. `n` is the place of a row.

    wrap: what is put around the rows.
    """
    names = ", ".join(name for name, _ in columns)
    arrays = ", ".join(f"${place}::{kind}[]" for place, (_, kind) in enumerate(columns, 1))
    values = ", ".join(f"${place}::{kind} AS {name}" for place, (name, kind) in enumerate(columns, 1))
    many, one = f"SELECT * FROM unnest({arrays}) WITH ORDINALITY AS given({names}, n)", f"SELECT {values}, 1 AS n"
    if apart:
        key = ", ".join(apart)
        many = f"SELECT DISTINCT ON ({key}) * FROM ({many}) AS sent ORDER BY {key}, n"
    many, one = (f"WITH {', '.join([f'given AS ({wrap.format(given)})', *queries])} {last}" for given in (many, one))
    return BatchText(len(columns), many, one, is_guarded)


def make_row_writer(columns: Columns, parts: Sequence[Part]) -> Callable[[Run, Row], bool]:
    places: dict[str | None, int] = {name: place for place, (name, _) in enumerate(columns)}
    compiled = [(part, part.statement.compiled_for(Dialect.SQLITE)) for part in parts]
    bound = [
        (each.text, itemgetter(*[places[name] for name in each.names]), places.get(part.needs), part.is_guard)
        for part, each in compiled
    ]

    def write_row(run: Run, row: Row) -> bool:
        for text, pick, needed_at, is_guard in bound:
            if needed_at is not None and row[needed_at] is None:
                continue
            if not run(text, pick(row)) and is_guard:
                return False
        return True

    return write_row


# ---- start: an attempt, and its idempotency key ----

AT_START = {"state": "0", "outcome": "NULL", "result_code": "''", "details": "'{}'", "completed_at": "NULL"}
"""A started attempt has no result yet, so these stand in the text instead of travelling in every row."""

# What begins a chain follows nothing, is not signed yet and has an untouched balance, which is the table's default.
# A split and a finding of risk are written beside it: few payments have one, and no other shall carry a column for it.
_LEFT_OUT = {*AT_START, "action", "chain_id", "mac", "split", "risk"}
_BESIDE = ("sealed_account", "idempotency_key")
START_MEMBERS = tuple(
    column.name
    for column in payments.columns
    if column.name not in {*_LEFT_OUT, *_BESIDE} and not column.server_default
)
"""The columns of a started attempt that are members of a payment; the row goes on with those of its account and key."""

_lean_start = type_columns({name: payments.c[name] for name in (*START_MEMBERS, *_BESIDE)})
START_COLUMNS: Columns = (
    *_lean_start,
    *type_columns({"fingerprint": idempotency_keys.c.fingerprint, "key_created_at": idempotency_keys.c.created_at}),
)
_payment_values = make_values(*START_MEMBERS, *_BESIDE) | AT_START
_key_values = make_values(
    "channel_id", "merchant_id", "fingerprint", key="idempotency_key", payment_id="id", created_at="key_created_at"
)
# A key past its lifetime counts as absent, so the next request may take it over.
_TAKE_OVER = f"""ON CONFLICT (merchant_id, channel_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
 payment_id = excluded.payment_id, created_at = excluded.created_at, status = NULL, body = NULL
 WHERE idempotency_keys.created_at < excluded.created_at - {LIMITS.idempotency_lifetime}"""
TAKE_KEY = Part(
    f"{render_insert(idempotency_keys, _key_values)} {_TAKE_OVER}",
    f"{render_insert(idempotency_keys, _key_values, 'first')} {_TAKE_OVER} RETURNING payment_id",
    needs="idempotency_key",
    is_guard=True,
)
_month_values = make_values("merchant_id", "id", "created_at")


def insert_payment(values: Mapping[str, str], month: Mapping[str, str], batch: str = "") -> Part:
    """Inserts a payment, on PostgreSQL with the row that says where it is."""
    text = render_insert(payments, values)
    return Part(text, batch, on_postgres=f"WITH kept AS ({render_insert(payment_months, month)}) {text}")


_insert_payment = insert_payment(_payment_values, _month_values, render_insert(payments, _payment_values, "given"))
_insert_month = render_insert(payment_months, _month_values, "given")
# Sorted and distinct: two batches take keys in one order (no deadlock), and a key that occurs twice in a batch is no
# error that would send the whole batch down the slow path.
FIRST_KEYS = """SELECT DISTINCT ON (merchant_id, channel_id, idempotency_key) * FROM {}
 WHERE idempotency_key IS NOT NULL ORDER BY merchant_id, channel_id, idempotency_key, n"""
_start_parts = (TAKE_KEY, _insert_payment)
_key_at = len(START_MEMBERS) + _BESIDE.index("idempotency_key")


def make_started_search(answer: sa.ColumnElement[Any]) -> Statement:
    return Statement(
        sa.select(answer).where(
            payments.c.merchant_id == sa.bindparam("merchant_id"),
            payments.c.id == sa.bindparam("id"),
            payments.c.created_at == sa.bindparam("created_at"),
            # A payment that is named before it is made may be another process's: only the trace tells them apart.
            payments.c.ndc == sa.bindparam("ndc"),
        )
    )


START: HotWrite[bool] = HotWrite(
    name="start",
    columns=START_COLUMNS,
    parts=_start_parts,
    texts=(
        make_text(_lean_start, [f"kept AS ({_insert_month})"], _insert_payment.batch, is_guarded=False),
        make_text(
            START_COLUMNS,
            [
                f"first AS ({FIRST_KEYS.format('given')})",
                f"taken AS ({TAKE_KEY.batch})",
                *[
                    f"{name} AS ({insert} WHERE idempotency_key IS NULL"
                    " OR id = ANY (ARRAY(SELECT payment_id FROM taken)) RETURNING id)"
                    for name, insert in (("kept", _insert_month), ("started", _insert_payment.batch))
                ],
            ],
            "SELECT n, true FROM given WHERE id = ANY (ARRAY(SELECT id FROM started))",
            is_guarded=True,
        ),
    ),
    choose_text=lambda row: int(row[_key_at] is not None),
    write_row=make_row_writer(START_COLUMNS, _start_parts),
    is_written=make_started_search(sa.true()),
    times=(("payments", "created_at"),),
)

# ---- complete: the result, its event, its ledger entry, its recovery task, the answer for its key ----

RESULT = ("state", "outcome", "result_code", "details", "completed_at", "mac")
COMPLETION_MEMBERS = ("merchant_id", "id", "created_at", *RESULT, "channel_id", "currency", "amount")
"""The columns of a completed attempt that are members of a payment; the row goes on with what is written elsewhere."""

_lean_completion = type_columns(
    {name: payments.c[name] for name in COMPLETION_MEMBERS}
    | {"expected": payments.c.state, "event_id": outbox.c.id, "topic": outbox.c.topic}
    | {"source": ledger.c.source, "target": ledger.c.target}
)
_announced_completion: Columns = (
    *_lean_completion,
    *type_columns({name: announcements.c[name] for name in ("payment_type", "payload", "notification_url")}),
)
COMPLETION_COLUMNS: Columns = (
    *_announced_completion,
    *type_columns({"job_id": jobs.c.id, "job_topic": jobs.c.topic, "job_due_at": jobs.c.due_at}),
    *type_columns({"status": idempotency_keys.c.status, "body": idempotency_keys.c.body}),
)
_set_result = f"UPDATE payments SET {', '.join(f'{name} = :{name}' for name in RESULT)}, events = payments.events + 1"
# Spelled so that no planner takes the index of attempts in flight for it: that index is full of entries that are dead
# until the next vacuum, and scanning it instead of using the primary key was seen to cost a factor of ten.
_is_it = "payments.merchant_id = :merchant_id AND payments.id = :id AND payments.created_at = :created_at"
_is_expected = f"{_is_it} AND payments.state + 0 = :expected"
# A key replays the first answer, also where the payment waited for its shopper and was completed again.
_set_answer = "UPDATE idempotency_keys SET status = :status, body = :body FROM"
_is_its_key = """idempotency_keys.channel_id = completed.channel_id AND idempotency_keys.key = completed.idempotency_key
 AND idempotency_keys.merchant_id = completed.merchant_id AND idempotency_keys.payment_id = completed.id
 AND idempotency_keys.status IS NULL"""


def insert_completed(table: sa.Table, values: Mapping[str, str], needs: str | None = None) -> Part:
    condition = "" if needs is None else f" WHERE completed.{needs} IS NOT NULL"
    return Part(render_insert(table, values), render_insert(table, values, "completed") + condition, needs=needs)


SET_RESULT = Part(
    f"{_set_result} WHERE {_is_expected}",
    # Two rows for one payment in a batch: the update takes one of them and returns its place, so the other is refused.
    read_from(
        "given",
        f"{_set_result.replace('payments', '@payments AS payments', 1)} FROM given WHERE {_is_expected}"
        " RETURNING given.*, payments.idempotency_key, payments.events AS sequence",
    ),
    is_guard=True,
)
_event_values = make_values(
    "merchant_id", "topic", "result_code", id="event_id", subject_id="id", created_at="completed_at"
)
# The first part has counted the event already.
_COUNTED = f"(SELECT payments.events FROM payments WHERE {_is_it})"
_entry_values = make_values(
    *("merchant_id", "channel_id", "currency", "source", "target", "amount"),
    id="event_id",
    payment_id="id",
    posted_at="completed_at",
)
_job_values = make_values("merchant_id", id="job_id", topic="job_topic", subject_id="id", due_at="job_due_at")
_announcement_values = make_values(
    *("merchant_id", "channel_id", "payment_type", "payload", "notification_url"),
    id="event_id",
    subject_id="id",
    created_at="completed_at",
)
_lean_parts = (
    Part(
        render_insert(outbox, _event_values | {"sequence": _COUNTED}),
        render_insert(outbox, _event_values | {"sequence": "completed.sequence"}, "completed"),
    ),
    insert_completed(ledger, _entry_values, "source"),
)
_announced_parts = (
    *_lean_parts,
    insert_completed(announcements, _announcement_values | {"is_pending": "1"}, "payload"),
)
_rich_parts = (
    *_announced_parts,
    insert_completed(jobs, _job_values | {"leased_until": "0", "tries": "0", "body": "'{}'"}, "job_id"),
    Part(
        f"{_set_answer} payments AS completed WHERE {_is_it.replace('payments.', 'completed.')} AND {_is_its_key}",
        read_from("completed", f"{_set_answer} completed WHERE {_is_its_key} AND :status IS NOT NULL"),
        needs="status",
    ),
)
_completion_parts = (SET_RESULT, *_rich_parts)
COMPLETION_LEVELS: Sequence[tuple[Columns, Sequence[Part]]] = (
    (_lean_completion, _lean_parts),
    (_announced_completion, _announced_parts),
    (COMPLETION_COLUMNS, _rich_parts),
)
"""The columns and the parts after the first, which ever fewer of the completions need."""
# Counted from the end, because the row of a follow-up has more in front of it.
_payload_at, _job_at, _status_at = (
    [name for name, _ in COMPLETION_COLUMNS].index(name) - len(COMPLETION_COLUMNS)
    for name in ("payload", "job_id", "status")
)


def choose_completion(row: Row) -> int:
    if row[_job_at] is not None or row[_status_at] is not None:
        return 2
    return int(row[_payload_at] is not None)


def make_completion(
    columns: Columns, parts: Sequence[Part], *queries: str, apart: Sequence[str] = (), wrap: str = "{}"
) -> BatchText:
    """queries: the last of them is `completed`, which the parts read."""
    named = [f"part_{number} AS ({part.batch})" for number, part in enumerate(parts)]
    last = "SELECT n, true FROM completed"
    return make_text(columns, [*queries, *named], last, is_guarded=True, apart=apart, wrap=wrap)


COMPLETION_TIMES = (("payments", "created_at"), ("outbox", "event_id"), ("ledger_entries", "event_id"))

# The event shares the commit and is never changed, while the payment may have moved on since.
find_completed = Statement(
    sa.select(sa.true()).where(
        outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id == sa.bindparam("event_id")
    )
)

COMPLETE: HotWrite[bool] = HotWrite(
    name="complete",
    columns=COMPLETION_COLUMNS,
    parts=_completion_parts,
    texts=tuple(make_completion(*each, f"completed AS ({SET_RESULT.batch})") for each in COMPLETION_LEVELS),
    choose_text=choose_completion,
    write_row=make_row_writer(COMPLETION_COLUMNS, _completion_parts),
    is_written=find_completed,
    times=COMPLETION_TIMES,
)
