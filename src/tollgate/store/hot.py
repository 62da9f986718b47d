"""The two writes of every payment, shaped for group commit: one statement per batch or a few per row.

What a row means is decided by its noun's file; how a batch is gathered and sent, by the batcher and the drivers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from tollgate.catalog.limits import LIMITS
from tollgate.store.schema import outbox, payments
from tollgate.store.statements import Statement

Row = tuple[Any, ...]
Run = Callable[[str, Sequence[Any]], int]
"""Runs one text on the SQLite writer and answers how many rows it changed."""
Columns = tuple[tuple[str, str], ...]
"""Name and PostgreSQL type of each member of a row, in order."""


@dataclass(frozen=True, slots=True)
class BatchText:
    """One PostgreSQL statement for any number of rows, and a shorter one for exactly one row.

    A guarded text answers the positions (from 1) of the rows it accepted; any other accepts all or fails.
    """

    width: int
    """How many members of a row it takes."""
    many: str
    one: str
    is_guarded: bool


@dataclass(frozen=True, slots=True)
class HotWrite:
    name: str
    columns: Columns
    lean: BatchText
    """For batches in which no row is rich: most payments have no key and owe nothing."""
    rich: BatchText
    is_rich: Callable[[Row], bool]
    write_row: Callable[[Run, Row], bool]
    """SQLite: False only when nothing was changed, so that a refused row needs no undoing."""
    is_written: Statement
    """Whether exactly this row is durable; asked when a connection was lost between sending and hearing."""

    def name_members(self, row: Row) -> dict[str, Any]:
        return dict(zip((name for name, _ in self.columns), row, strict=True))


def _place(columns: Columns, name: str) -> int:
    return [column for column, _ in columns].index(name)


def _pick(columns: Columns, names: Sequence[str]) -> Callable[[Row], Sequence[Any]]:
    return itemgetter(*[_place(columns, name) for name in names])


def _make_text(template: str, columns: Columns, *, is_guarded: bool) -> BatchText:
    """GIVEN in the template becomes the rows: arrays of them, or the single one. Lean columns begin a rich row."""
    names = ", ".join(name for name, _ in columns)
    arrays = ", ".join(f"${place}::{kind}[]" for place, (_, kind) in enumerate(columns, 1))
    values = ", ".join(f"${place}::{kind} AS {name}" for place, (name, kind) in enumerate(columns, 1))
    return BatchText(
        width=len(columns),
        many=template.replace("GIVEN", f"unnest({arrays}) WITH ORDINALITY AS given({names}, n)"),
        one=template.replace("GIVEN", f"(SELECT {values}, 1 AS n) AS given"),
        is_guarded=is_guarded,
    )


def _array_type(column: sa.Column[Any]) -> str:
    return {sa.Text: "text", sa.BigInteger: "int8", sa.SmallInteger: "int2", sa.LargeBinary: "bytea"}[type(column.type)]


# ---- start: an attempt, and the claim of its idempotency key ----

AT_START = {"state": "0", "outcome": "NULL", "result_code": "''", "details": "'{}'", "completed_at": "NULL"}
"""A started attempt has no result yet, so these stand in the text instead of travelling in every row."""

_LEFT_OUT = {*AT_START, "action", "chain_id", "mac"}
"""What begins a chain follows nothing, is not sealed yet and has an untouched balance, which is the table's default."""

_STARTED: Columns = tuple(
    (c.name, _array_type(c)) for c in payments.columns if c.name not in _LEFT_OUT and c.server_default is None
)
START_COLUMNS: Columns = (*_STARTED, ("fingerprint", "bytea"), ("claimed_at", "int8"))
_started_names = ", ".join(name for name, _ in _STARTED)
_fixed_names, _fixed_values = ", ".join(AT_START), ", ".join(AT_START.values())
_idempotency_picks = ("channel_id", "idempotency_key", "merchant_id", "fingerprint", "id", "claimed_at")

INSERT_IDEMPOTENCY_KEY = (
    "INSERT INTO idempotency_keys (channel_id, key, merchant_id, fingerprint, payment_id, created_at)"
)
# A claim past its lifetime counts as absent, so the next request may take the key over.
TAKE_OVER = f"""ON CONFLICT (channel_id, key, merchant_id) DO UPDATE SET fingerprint = excluded.fingerprint,
 payment_id = excluded.payment_id, created_at = excluded.created_at, status = NULL, body = NULL
 WHERE idempotency_keys.created_at < excluded.created_at - {LIMITS.idempotency_lifetime}"""
_INSERT_PAYMENT = f"INSERT INTO payments ({_started_names}, {_fixed_names})"


# The word GIVEN stands for the rows.
_START_LEAN = f"{_INSERT_PAYMENT} SELECT {_started_names}, {_fixed_values} FROM GIVEN"
# Sorted and distinct: two batches take keys in one order (no deadlock), and a key that occurs twice in a batch is no
# error that would send the whole batch down the slow path.
_START_RICH = f"""
WITH given AS MATERIALIZED (SELECT * FROM GIVEN),
first AS (SELECT DISTINCT ON (channel_id, idempotency_key) * FROM given WHERE idempotency_key IS NOT NULL
 ORDER BY channel_id, idempotency_key, n),
claimed AS ({INSERT_IDEMPOTENCY_KEY}
 SELECT {", ".join(_idempotency_picks)} FROM first {TAKE_OVER} RETURNING payment_id),
started AS ({_INSERT_PAYMENT} SELECT {_started_names}, {_fixed_values} FROM given
 WHERE idempotency_key IS NULL OR id = ANY (ARRAY(SELECT payment_id FROM claimed)) RETURNING id)
SELECT n FROM given WHERE id = ANY (ARRAY(SELECT id FROM started))"""

_PAYMENT_TEXT = f"{_INSERT_PAYMENT} VALUES ({', '.join('?' * len(_STARTED))}, {_fixed_values})"
_IDEMPOTENCY_TEXT = f"{INSERT_IDEMPOTENCY_KEY} VALUES (?, ?, ?, ?, ?, ?) {TAKE_OVER}"
_pick_idempotency_key = _pick(START_COLUMNS, _idempotency_picks)
_key_at = _place(START_COLUMNS, "idempotency_key")
_started_width = len(_STARTED)


def _start_row(run: Run, row: Row) -> bool:
    if row[_key_at] is not None and not run(_IDEMPOTENCY_TEXT, _pick_idempotency_key(row)):
        return False
    run(_PAYMENT_TEXT, row[:_started_width])
    return True


START = HotWrite(
    name="start",
    columns=START_COLUMNS,
    lean=_make_text(_START_LEAN, _STARTED, is_guarded=False),
    rich=_make_text(_START_RICH, START_COLUMNS, is_guarded=True),
    is_rich=lambda row: row[_key_at] is not None,
    write_row=_start_row,
    is_written=Statement(
        sa.select(payments.c.id).where(
            payments.c.merchant_id == sa.bindparam("merchant_id"),
            payments.c.id == sa.bindparam("id"),
            # A payment that is named before it is made may be another process's: only the trace tells them apart.
            payments.c.ndc == sa.bindparam("ndc"),
        )
    ),
)

# ---- settle: the result, its event, its line in the book, the recovery task still owed, the answer of its claim ----

_SETTLED: Columns = (
    ("merchant_id", "text"),
    ("id", "text"),
    ("state", "int2"),
    ("outcome", "text"),
    ("result_code", "text"),
    ("details", "text"),
    ("completed_at", "int8"),
    ("event_id", "text"),
    ("event_topic", "text"),
    ("mac", "bytea"),
    ("source", "text"),
    ("target", "text"),
    ("channel_id", "text"),
    ("currency", "text"),
    ("amount", "int8"),
)
COMPLETION_COLUMNS: Columns = (
    *_SETTLED,
    ("job_id", "text"),
    ("job_topic", "text"),
    ("job_due_at", "int8"),
    ("status", "int2"),
    ("body", "bytea"),
)
COMPLETED = ("state", "outcome", "result_code", "details", "completed_at", "mac")
_event_picks = ("merchant_id", "event_id", "id", "event_topic", "completed_at", "result_code")
_job_picks = ("merchant_id", "job_id", "job_topic", "id", "job_due_at")

_entry_picks = (
    "merchant_id",
    "event_id",
    "id",
    "channel_id",
    "currency",
    "source",
    "target",
    "amount",
    "completed_at",
)

_INSERT_ENTRY = (
    "INSERT INTO ledger_entries (merchant_id, id, payment_id, channel_id, currency, source, target, amount, posted_at)"
)
_INSERT_EVENT = "INSERT INTO outbox (merchant_id, id, subject_id, topic, created_at, result_code)"
_INSERT_JOB = "INSERT INTO jobs (merchant_id, id, topic, subject_id, due_at, leased_until, lease_owner, tries, body)"
_NEW_JOB = "0, NULL, 0, '{}'"
# Spelled so that no planner takes the index of attempts in flight for it: that index is full of entries that are dead
# until the next vacuum, and scanning it instead of using the primary key was seen to cost a factor of ten.
_STILL_STARTED = "payments.state + 0 = 0"

# Two rows for one payment in a batch: the update takes one of them and returns its position, so the other is refused.
_COMPLETE_LEAN = f"""
WITH settled AS (UPDATE payments SET {", ".join(f"{name} = given.{name}" for name in COMPLETED)} FROM GIVEN
 WHERE payments.merchant_id = given.merchant_id AND payments.id = given.id AND {_STILL_STARTED}
 RETURNING given.*, payments.idempotency_key),
posted AS ({_INSERT_ENTRY} SELECT {", ".join(_entry_picks)} FROM settled WHERE source IS NOT NULL),
announced AS ({_INSERT_EVENT} SELECT {", ".join(_event_picks)} FROM settled)"""
_COMPLETE_RICH = f"""{_COMPLETE_LEAN},
owed AS ({_INSERT_JOB} SELECT {", ".join(_job_picks)}, {_NEW_JOB} FROM settled WHERE job_id IS NOT NULL),
answered AS (UPDATE idempotency_keys SET status = settled.status, body = settled.body FROM settled
 WHERE idempotency_keys.channel_id = settled.channel_id AND idempotency_keys.key = settled.idempotency_key
 AND idempotency_keys.merchant_id = settled.merchant_id AND idempotency_keys.payment_id = settled.id
 AND settled.status IS NOT NULL AND idempotency_keys.status IS NULL)"""
_POSITIONS = " SELECT n FROM settled"

_COMPLETE_TEXT = (
    f"UPDATE payments SET {', '.join(f'{name} = ?' for name in COMPLETED)}"
    f" WHERE merchant_id = ? AND id = ? AND {_STILL_STARTED}"
)
_ENTRY_TEXT = f"{_INSERT_ENTRY} VALUES ({', '.join('?' * len(_entry_picks))})"
_EVENT_TEXT = f"{_INSERT_EVENT} VALUES (?, ?, ?, ?, ?, ?)"
_JOB_TEXT = f"{_INSERT_JOB} VALUES (?, ?, ?, ?, ?, {_NEW_JOB})"
# A key replays the first answer, also where the payment waited for its shopper and was settled again.
_ANSWER_TEXT = """UPDATE idempotency_keys SET status = ?, body = ? WHERE payment_id = ? AND status IS NULL AND
 (channel_id, key, merchant_id) =
 (SELECT channel_id, idempotency_key, merchant_id FROM payments WHERE merchant_id = ? AND id = ?)"""
_pick_completed = _pick(COMPLETION_COLUMNS, (*COMPLETED, "merchant_id", "id"))
_pick_event = _pick(COMPLETION_COLUMNS, _event_picks)
_pick_entry = _pick(COMPLETION_COLUMNS, _entry_picks)
_pick_job = _pick(COMPLETION_COLUMNS, _job_picks)
_pick_answer = _pick(COMPLETION_COLUMNS, ("status", "body", "id", "merchant_id", "id"))
_source_at, _job_at, _status_at = (_place(COMPLETION_COLUMNS, name) for name in ("source", "job_id", "status"))


def _complete_row(run: Run, row: Row) -> bool:
    if not run(_COMPLETE_TEXT, _pick_completed(row)):
        return False
    run(_EVENT_TEXT, _pick_event(row))
    if row[_source_at] is not None:
        run(_ENTRY_TEXT, _pick_entry(row))
    if row[_job_at] is not None:
        run(_JOB_TEXT, _pick_job(row))
    if row[_status_at] is not None:
        run(_ANSWER_TEXT, _pick_answer(row))
    return True


COMPLETE = HotWrite(
    name="settle",
    columns=COMPLETION_COLUMNS,
    lean=_make_text(_COMPLETE_LEAN + _POSITIONS, _SETTLED, is_guarded=True),
    rich=_make_text(_COMPLETE_RICH + _POSITIONS, COMPLETION_COLUMNS, is_guarded=True),
    is_rich=lambda row: row[_job_at] is not None or row[_status_at] is not None,
    write_row=_complete_row,
    # The event shares the commit and is never changed, while the payment may have moved on since.
    is_written=Statement(
        sa.select(outbox.c.id).where(
            outbox.c.merchant_id == sa.bindparam("merchant_id"), outbox.c.id == sa.bindparam("event_id")
        )
    ),
)

HOT_WRITES = (START, COMPLETE)
