"""A file can suffer a full disk, a second server or another process beside it."""

from __future__ import annotations

import asyncio
import signal
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from databases.samples import MERCHANT, make_payment
from tollgate.store.database import AlreadyServed, Damaged, Unavailable
from tollgate.store.opening import get_setting, open_database, put_setting
from tollgate.store.payments import find_payment, start_payment
from tollgate.store.sqlite import SqliteDatabase

pytestmark = pytest.mark.anyio

BIG = b"x" * 20_000

PAY_UNTIL_KILLED = """
import asyncio, sys
from databases.samples import make_payment
from tollgate.store.opening import open_database
from tollgate.store.payments import start_payment

async def pay(db):
    while True:
        payment = make_payment()
        await start_payment(db, payment, None, None)
        print(payment.id, flush=True)

async def main():
    db = await open_database(sys.argv[1], exclusive=True)
    await asyncio.gather(*[pay(db) for _ in range(8)])

asyncio.run(main())
"""


async def test_the_file_and_its_companions_are_the_owners_alone(tmp_path: Path) -> None:
    db = await open_database(f"sqlite:///{tmp_path}/folder/store.db", exclusive=True)
    await put_setting(db, "a", "b")

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "folder").iterdir()}
    await db.close()

    assert set(modes) == {"store.db", "store.db-wal", "store.db-shm", "store.db.lock"}
    assert set(modes.values()) == {0o600}


async def test_a_second_server_is_refused_and_other_commands_are_not(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    server = await open_database(path, exclusive=True)

    with pytest.raises(AlreadyServed, match="another server"):
        await open_database(path, exclusive=True)
    command = await open_database(path)
    await put_setting(command, "from", "beside")
    assert await get_setting(server, "from") == "beside"
    await command.close()
    await server.close()

    next_server = await open_database(path, exclusive=True)
    await next_server.close()


async def test_a_full_disk_fails_everyone_in_the_batch_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    db = await open_database(str(tmp_path / "store.db"))
    assert isinstance(db, SqliteDatabase)
    assert db._writer is not None
    before = make_payment()
    assert await start_payment(db, before, None, None)
    pages = db._writer.pragma("page_count")
    db._writer.pragma("max_page_count", pages + 8)

    batch = [make_payment() for _ in range(20)]
    answers = await asyncio.gather(*[start_payment(db, p, BIG, None) for p in batch], return_exceptions=True)

    assert all(isinstance(answer, Damaged) for answer in answers)
    assert [await find_payment(db, MERCHANT, payment.id) for payment in batch] == [None] * 20
    assert await find_payment(db, MERCHANT, before.id) == before

    db._writer.pragma("max_page_count", 2**30)
    after = [make_payment() for _ in range(20)]
    assert await asyncio.gather(*[start_payment(db, p, BIG, None) for p in after]) == [True] * 20
    await db.close()

    reopened = await open_database(str(tmp_path / "store.db"))
    assert [await find_payment(reopened, MERCHANT, payment.id) for payment in [before, *after]] == [before, *after]
    await reopened.close()


async def test_a_closed_database_takes_nothing_more_but_has_written_what_was_queued(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    db = await open_database(path)
    payments = [make_payment() for _ in range(300)]
    starting = [asyncio.ensure_future(start_payment(db, payment, None, None)) for payment in payments]
    await asyncio.sleep(0)

    await db.close()

    assert await asyncio.gather(*starting) == [True] * 300
    with pytest.raises(Unavailable, match="closed"):
        await start_payment(db, make_payment(), None, None)
    reopened = await open_database(path)
    assert await find_payment(reopened, MERCHANT, payments[-1].id) == payments[-1]
    await reopened.close()


async def test_a_caller_that_goes_away_does_not_undo_its_write(tmp_path: Path) -> None:
    db = await open_database(str(tmp_path / "store.db"))
    gone, stays = make_payment(), make_payment()
    leaving = asyncio.ensure_future(start_payment(db, gone, None, None))
    staying = asyncio.ensure_future(start_payment(db, stays, None, None))
    await asyncio.sleep(0)

    leaving.cancel()

    assert await staying
    assert await find_payment(db, MERCHANT, gone.id) == gone
    await db.close()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"not a database, and longer than a header of one hundred bytes " * 3)

    with pytest.raises(Unavailable, match="cannot be opened"):
        await open_database(str(tmp_path / "store.db"))


async def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")

    with pytest.raises(Unavailable, match=r"3\.51\.3 is needed"):
        await open_database(str(tmp_path / "store.db"))


async def test_everything_acknowledged_before_a_kill_is_on_disk_afterwards(disk_path: Path) -> None:
    path = str(disk_path / "store.db")
    process = subprocess.Popen(
        [sys.executable, "-c", PAY_UNTIL_KILLED, path],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path)},
        text=True,
    )
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().strip() for _ in range(400)]
    process.send_signal(signal.SIGKILL)
    acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.stdout.close()
    process.wait()

    db = await open_database(path, exclusive=True)
    missing = [payment_id for payment_id in acknowledged if await find_payment(db, MERCHANT, payment_id) is None]
    await db.close()

    assert len(acknowledged) >= 400
    assert missing == []
