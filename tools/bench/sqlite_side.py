"""SQLite beside the server: fresh files, the limit by a bare loop, and filling with stored payments."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import apsw
from tools.bench.indexed import render_index
from tools.bench.signing import Sign
from tools.bench.specimen import (
    COUNT_COMPLETED,
    COUNT_REFUNDS,
    FILLED_BEFORE_US,
    INSTANT_DIGITS,
    PICK_STORED,
    READ_EVENT,
    READ_LINE,
    READ_PAYMENT,
    Specimen,
    Value,
)

from tollgate.store.sqlite import WRITER_PRAGMAS

FILL_STEP = 50_000


class SqliteSide:
    name = "SQLite"
    is_embedded = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def version(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"

    @property
    def process_counts(self) -> Sequence[int]:
        return (1,)

    def create_database(self) -> str:
        return f"sqlite:///{self._folder / secrets.token_hex(6)}.db"

    def read_specimen(self, address: str) -> Specimen:
        connection = _open(address)
        rows = [_read_row(connection, text) for text in (READ_PAYMENT, READ_EVENT, READ_LINE)]
        connection.close()
        return Specimen(*rows)

    def count_completed(self, address: str) -> tuple[int, int]:
        """Counts approved payments, and events."""
        connection = _open(address)
        payments, events = _read_row(connection, COUNT_COMPLETED).values()
        connection.close()
        return int(str(payments)), int(str(events))

    def count_refunds(self, address: str) -> tuple[int, int]:
        """Counts approved refunds, and ledger entries that give back."""
        connection = _open(address)
        refunds, lines = _read_row(connection, COUNT_REFUNDS).values()
        connection.close()
        return int(str(refunds)), int(str(lines))

    def pick_stored(self, address: str, count: int) -> list[str]:
        """Returns the ids of so many filled payments, from anywhere among them."""
        connection = _open(address)
        ids = [str(row[0]) for row in connection.execute(f"{PICK_STORED}{count}")]
        connection.close()
        return ids

    def measure_limit(self, address: str, specimen: Specimen, seconds: int) -> Mapping[str, float]:
        """Pays in one thread: a commit to start, a commit to complete, again."""
        connection = _open(address)
        for pragma in WRITER_PRAGMAS:
            connection.execute(pragma)
        pay = _Loop(connection.cursor(), specimen)
        count, began = 0, time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            pay()
            count += 1
        connection.close()
        return {"one loop": count / spent}

    def fill(self, address: str, specimen: Specimen, count: int, sign: Sign) -> None:
        """Fills in completed payments, events and entries, then moves everything from the log into the file."""
        connection = _open(address)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -524288")
        pattern = (("payments", specimen.payment), ("outbox", specimen.event), ("ledger_entries", specimen.line))
        inserts = [_render_insert(table, row) for table, row in pattern]
        for first in range(0, count, FILL_STEP):
            made = zip(*_make_rows(specimen, first, min(FILL_STEP, count - first), sign), strict=True)
            connection.execute("BEGIN IMMEDIATE")
            for insert, rows in zip(inserts, made, strict=True):
                connection.executemany(insert, rows)
            connection.execute("COMMIT")
        for text in render_index(specimen):
            connection.execute(text)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        descriptor = os.open(_path_of(address), os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


class _Loop:
    """Everything that can be prepared is, so that the loop pays for SQLite and for little else."""

    def __init__(self, cursor: apsw.Cursor, specimen: Specimen) -> None:
        self._execute = cursor.execute
        self._start = _render_insert("payments", specimen.payment)
        changes = ", ".join(f"{name} = ?" for name in specimen.completed)
        self._complete = f"UPDATE payments SET {changes} WHERE merchant_id = ? AND id = ? AND +state = 0"
        self._announce = _render_insert("outbox", specimen.event)
        self._post = _render_insert("ledger_entries", specimen.line)
        self._started, self._completed = specimen.started, specimen.completed
        self._event, self._line = dict(specimen.event), dict(specimen.line)
        self._merchant_id = specimen.payment["merchant_id"]

    def __call__(self) -> None:
        execute = self._execute
        payment_id, now = f"8a{os.urandom(15).hex()}", time.time_ns() // 1000
        started = {"id": payment_id, "merchant_transaction_id": f"limit-{payment_id}", "created_at": now}
        execute(self._start, tuple((self._started | started | {"deadline_at": now}).values()))
        completed = tuple((self._completed | {"completed_at": now}).values())
        timed_id = f"{now:0{INSTANT_DIGITS}x}{payment_id}"
        event = {"id": timed_id, "subject_id": payment_id, "created_at": now}
        line = {"id": timed_id, "payment_id": payment_id, "posted_at": now}
        execute("BEGIN IMMEDIATE")
        execute(self._complete, (*completed, self._merchant_id, payment_id))
        execute(self._announce, tuple((self._event | event).values()))
        execute(self._post, tuple((self._line | line).values()))
        execute("COMMIT")


def _make_rows(specimen: Specimen, first: int, count: int, sign: Sign) -> Iterator[tuple[tuple[Value, ...], ...]]:
    """Returns a payment, its event and its ledger entry, as the bindings of their statements."""
    payment, event, line = dict(specimen.payment), dict(specimen.event), dict(specimen.line)
    began_at = int(str(payment["created_at"])) - FILLED_BEFORE_US
    for n in range(first, first + count):
        payment_id, instant = f"8a{os.urandom(15).hex()}", began_at + n
        timed_id = f"{instant:0{INSTANT_DIGITS}x}{payment_id}"
        varied: dict[str, Value] = {"id": payment_id, "merchant_transaction_id": f"stored-{n}"}
        varied |= {"created_at": instant, "completed_at": instant}
        payment |= {**varied, "mac": sign(**varied)}
        event |= {"id": timed_id, "subject_id": payment_id, "created_at": instant}
        line |= {"id": timed_id, "payment_id": payment_id, "posted_at": instant}
        yield tuple(payment.values()), tuple(event.values()), tuple(line.values())


def _render_insert(table: str, row: Mapping[str, Value]) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"


def _read_row(connection: apsw.Connection, text: str) -> dict[str, Value]:
    cursor = connection.execute(text)
    names = [column[0] for column in cursor.get_description()]
    return dict(zip(names, next(cursor), strict=True))


def _open(address: str) -> apsw.Connection:
    connection = apsw.Connection(str(_path_of(address)), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    return connection


def _path_of(address: str) -> Path:
    return Path(address.removeprefix("sqlite:///"))
