"""The driver of the embedded SQLite database. Statements are made elsewhere."""

import asyncio
import fcntl
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

import apsw

from tollgate.store import database, statements
from tollgate.store.committing import CommitPace, WriterThread
from tollgate.store.hot import Answer, HotWrite, Row, Run
from tollgate.store.migrating import READ_NEEDED, READ_REVISION, make_missing_statements, refuse_unfit
from tollgate.values import Instant

# Older ones can corrupt a file when two connections write and checkpoint at the same moment.
VERSION_MIN = (3, 51, 3)
BUSY_TIMEOUT_MS = 5_000
_OPENINGS_MAX, _OPENING_PAUSE_S = 10, 0.05
READERS = 2
BATCH_MAX = 128

WRITER_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    "PRAGMA wal_autocheckpoint = 2000",
    "PRAGMA cache_size = -65536",
    "PRAGMA temp_store = MEMORY",
)
READER_PRAGMAS = ("PRAGMA query_only = ON", "PRAGMA wal_autocheckpoint = 0", "PRAGMA cache_size = -16384")

# The disk, not a row, is to blame: nobody may be told that anything is durable, and trying again row by row could turn
# a failed flush into a false success.
_DISK_FAULTS = (
    apsw.FullError,
    apsw.IOError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
)
_ROW_FAULTS = (apsw.Error, ValueError, TypeError, OverflowError)

QueuedWrite = tuple[Callable[[Run, Any], Any], Any]
"""A function that writes one item, and its argument."""


class SqliteDatabase(database.Probed):
    dialect = statements.Dialect.SQLITE

    def __init__(self, writer: apsw.Connection | None, readers: Sequence[apsw.Connection], lock: int | None) -> None:
        self._writer = writer
        self._quick_reader, *rest = readers
        self._readers: SimpleQueue[apsw.Connection] = SimpleQueue()
        for reader in rest:
            self._readers.put(reader)
        self._lock = lock
        self._loop = asyncio.get_running_loop()
        self._writer_thread = WriterThread(self._finish_batch, "sqlite-writer")
        self._reader_threads = ThreadPoolExecutor(len(rest), "sqlite-reader")
        self._pace = CommitPace()
        self._batcher: database.Batcher[QueuedWrite, Any] = database.Batcher(self._start_batch, items_max=BATCH_MAX)
        self._health = database.WriteHealth(lambda: self.write(database.WRITE_CHECK, label="write check"))
        if writer is not None:
            self._changes = writer.changes
            self._execute = writer.cursor().execute
            # The loop does not wait for other processes; the thread does.
            writer.set_busy_timeout(0)

    @property
    def path(self) -> Path:
        return Path(self._quick_reader.filename)

    async def fetch(self, statement: statements.Statement, params: Mapping[str, Any]) -> list[Row]:
        compiled = statement.compiled_for(statements.Dialect.SQLITE)
        bindings = compiled.bind(params)
        if statement.is_quick:
            # A point read takes about ten microseconds, a visit to another thread several times that.
            return self._read(self._quick_reader, compiled.text, bindings)
        if statement.is_write:
            rows: list[Row] = await self._submit(self._write_and_fetch, (compiled.text, bindings))
            return rows
        return await self._loop.run_in_executor(self._reader_threads, self._read_in_thread, compiled.text, bindings)

    async def fetch_one(self, statement: statements.Statement, params: Mapping[str, Any]) -> Row | None:
        rows = await self.fetch(statement, params)
        return rows[0] if rows else None

    def read(self, hot: statements.HotRead, params: Mapping[str, Any]) -> Awaitable[list[Row]]:
        return self.fetch(hot.one, params)

    async def write(self, writes: Sequence[statements.Write], *, label: str) -> bool:
        bound = []
        for write in writes:
            compiled = write.statement.compiled_for(statements.Dialect.SQLITE)
            bound.append((compiled.text, compiled.bind(write.params), write.rows))
        self.probe(label, "before")
        is_written: bool = await self._submit(_write_unit, bound)
        self.probe(label, "after")
        return is_written

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        return self._probe_queued(label, self._submit(hot.write_row, row))

    async def make_months(self, _now: Instant) -> int:
        """The tables are not divided by months."""
        return 0

    async def find_trouble(self) -> str | None:
        try:
            self._read(self._quick_reader, READ_REVISION, ())
        except database.StoreFault as fault:
            return str(fault)
        if not self._writer_thread.is_alive:
            return "the writer thread has ended"
        return None if self._writer is None else await self._health.find_trouble()

    async def list_risks(self) -> list[str]:
        """Lists nothing: there is no other machine, and every connection synchronizes fully."""
        return []

    async def close(self) -> None:
        await self._batcher.close()
        await self._loop.run_in_executor(None, self._let_go)

    def _let_go(self) -> None:
        self._writer_thread.stop()
        self._reader_threads.shutdown()
        while not self._readers.empty():
            self._readers.get().close()
        self._quick_reader.close()
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            os.close(self._lock)

    def _submit(self, function: Callable[[Run, Any], Any], argument: object) -> asyncio.Future[Any]:
        if self._writer is None:
            raise database.Unavailable("the database was opened for reading only")
        return self._batcher.submit((function, argument))

    def _start_batch(self, queued: Sequence[QueuedWrite]) -> asyncio.Future[Sequence[Any]]:
        """Writes all rows in one transaction and commits them, on a slow disk in the thread.

        Rows that cannot be written at once are undone and left to the thread.
        """
        answers = None
        try:
            answers = self._write_rows(queued)
        except _ROW_FAULTS:
            self._roll_back()
        if answers is None or not self._pace.is_quick:
            return self._writer_thread.start((queued, answers))
        writing: asyncio.Future[Sequence[Any]] = self._loop.create_future()
        began = time.monotonic()
        try:
            writing.set_result(self._finish_batch((queued, answers)))
        except database.StoreFault as fault:
            writing.set_exception(fault)
        self._pace.note(time.monotonic() - began)
        return writing

    def _finish_batch(self, batch: tuple[Sequence[QueuedWrite], Sequence[Any] | None]) -> Sequence[Any]:
        """A row that cannot be written undoes the transaction, and the batcher then writes each row alone."""
        queued, answers = batch
        try:
            if answers is None:
                answers = self._write_rows_patiently(queued)
            self._execute("COMMIT")
        except _DISK_FAULTS as fault:
            self._roll_back()
            raise self._noted(
                database.Damaged(f"the database file cannot be written ({type(fault).__name__})")
            ) from None
        except apsw.BusyError:
            self._roll_back()
            raise self._noted(database.Unavailable("another process kept the database busy")) from None
        except _ROW_FAULTS as fault:
            self._roll_back()
            # The driver's text may repeat what was stored.
            raise database.Unwritable(type(fault).__name__) from None
        self._health.note_success()
        return answers

    def _noted(self, fault: database.StoreFault) -> database.StoreFault:
        self._health.note_fault(fault)
        return fault

    def _write_rows(self, queued: Sequence[QueuedWrite]) -> Sequence[Any]:
        run = self._run
        self._execute("BEGIN IMMEDIATE")
        return [function(run, argument) for function, argument in queued]

    def _write_rows_patiently(self, queued: Sequence[QueuedWrite]) -> Sequence[Any]:
        writer = cast(apsw.Connection, self._writer)
        writer.set_busy_timeout(BUSY_TIMEOUT_MS)
        try:
            return self._write_rows(queued)
        finally:
            writer.set_busy_timeout(0)

    def _run(self, text: str, bindings: Sequence[Any]) -> int:
        told: int | None = self._execute(text, bindings).get
        return self._changes() if told is None else told

    def _write_and_fetch(self, _: Run, bound: tuple[str, Sequence[Any]]) -> list[Row]:
        return self._execute(*bound).fetchall()

    def _roll_back(self) -> None:
        # A full disk may already have ended the transaction; one that cannot even be ended makes the next BEGIN fail.
        if self._writer is not None and self._writer.in_transaction:
            with suppress(apsw.Error):
                self._execute("ROLLBACK")

    def _read_in_thread(self, text: str, bindings: Sequence[Any]) -> list[Row]:
        reader = self._readers.get()
        try:
            return self._read(reader, text, bindings)
        finally:
            self._readers.put(reader)

    @staticmethod
    def _read(reader: apsw.Connection, text: str, bindings: Sequence[Any]) -> list[Row]:
        try:
            return reader.execute(text, bindings).fetchall()
        except apsw.Error as fault:
            raise database.Unavailable(f"the database file cannot be read ({type(fault).__name__})") from None


def _write_unit(run: Run, bound: Sequence[tuple[str, Sequence[Any], int | None]]) -> bool:
    """Writes a unit within a savepoint, because a guard that does not hold must not undo the rest of the batch."""
    run("SAVEPOINT unit", ())
    for text, bindings, rows in bound:
        changed = run(text, bindings)
        if rows is not None and changed != rows:
            run("ROLLBACK TO unit", ())
            run("RELEASE unit", ())
            return False
    run("RELEASE unit", ())
    return True


async def open_sqlite(path: Path, *, read_only: bool, exclusive: bool, must_exist: bool) -> SqliteDatabase:
    """Opens a file; `exclusive` refuses a second server on the same file, and so may change tables as it likes."""
    if tuple(int(part) for part in apsw.sqlite_lib_version().split(".")[:3]) < VERSION_MIN:
        raise database.Unavailable(
            f"SQLite {apsw.sqlite_lib_version()} is too old, {'.'.join(map(str, VERSION_MIN))} is needed"
        )
    if must_exist:
        _refuse_missing(path)
    lock = _take_lock(path) if exclusive else None
    try:
        writer = None if read_only else await asyncio.to_thread(_open_writer, path, exclusive, must_exist)
        readers = [open_connection(path, READER_PRAGMAS) for _ in range(READERS + 1)]
    except BaseException:
        if lock is not None:
            os.close(lock)
        raise
    return SqliteDatabase(writer, readers, lock)


def _refuse_missing(path: Path) -> None:
    """Raises unless the file is a store of this release; nothing is written to find out."""
    place = path.resolve()
    if not place.is_file():
        raise database.NoStore(
            f"there is no store {place.name} in {place.parent}: name the server's folder with --data, or its database "
            "with --database; a new store is made by `tollgate serve` or `tollgate migrate`"
        )
    reader = open_connection(path, READER_PRAGMAS)
    try:
        _refuse_unfit(reader, place)
    except apsw.Error as fault:
        raise database.Unavailable(f"{place} cannot be read as a database ({type(fault).__name__})") from None
    finally:
        reader.close()


def _take_lock(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise database.AlreadyServed(
            f"another server uses {path}; an embedded database has one, or use PostgreSQL"
        ) from None
    return lock


def _open_writer(path: Path, is_alone: bool, must_exist: bool) -> apsw.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Made before SQLite does, so that the file and its companions are the owner's alone.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    writer = _open_new(path)
    if not must_exist:
        _migrate(writer, is_alone)
        _refuse_unfit(writer, path)
    return writer


def _open_new(path: Path) -> apsw.Connection:
    """Opens a file that may be new: SQLite does not wait where several change its way of journalling at once."""
    for _ in range(_OPENINGS_MAX):
        with suppress(database.Unavailable):
            return open_connection(path, WRITER_PRAGMAS)
        time.sleep(_OPENING_PAUSE_S)
    return open_connection(path, WRITER_PRAGMAS)


def open_connection(path: Path, pragmas: Sequence[str]) -> apsw.Connection:
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        for pragma in pragmas:
            connection.execute(pragma)
    except apsw.Error as fault:
        raise database.Unavailable(f"{path} cannot be opened as a database ({type(fault).__name__})") from None
    return connection


def _migrate(writer: apsw.Connection, is_alone: bool) -> None:
    """Upgrades all or nothing: a fault leaves the transaction open, and it ends with the connection."""
    # Made before the lock is taken: on a busy machine this takes longer than others wait for the lock.
    while texts := make_missing_statements(
        statements.Dialect.SQLITE, revision := _read_revision(writer), contracts=is_alone
    ):
        writer.execute("BEGIN IMMEDIATE")
        # Another process may have migrated in between; then the statements are made anew.
        if _read_revision(writer) == revision:
            for text in texts:
                writer.execute(text)
        writer.execute("COMMIT")


def _refuse_unfit(connection: apsw.Connection, place: Path) -> None:
    revision = _read_revision(connection)
    needed = None if revision is None else connection.execute(READ_NEEDED).get
    refuse_unfit(revision, None if needed is None else str(needed), str(place))


def _read_revision(connection: apsw.Connection) -> str | None:
    # A statement reads the file; what the connection remembers of the tables may be older.
    if connection.execute("SELECT name FROM sqlite_schema WHERE name = 'alembic_version'").get is None:
        return None
    revision = connection.execute(READ_REVISION).get
    return None if revision is None else str(revision)
