"""Follow-ups, disputes and other runs that come while a month is archived, and an answer that is lost on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from databases.archiving import open_paid
from tollgate.flows import archive as archiving_flow
from tollgate.flows.archive_lease import Run
from tollgate.store.database import Database, Unavailable
from tollgate.store.statements import Write
from tollgate.values import Refusal
from tollgate.vault import archive_writing
from tollgate.vault.archive_files import ArchiveError

pytestmark = pytest.mark.anyio

ARCHIVED = "700.500.004"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def act_after(monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[[], Awaitable[object]]) -> None:
    """Lets something happen when chains were chosen for the first time, or when they were closed as well."""
    take = getattr(archiving_flow, step)
    done: list[str] = []

    async def take_and_act(*args: Any) -> Any:
        taken = await take(*args)
        if not done:
            done.append(step)
            await act()
        return taken

    monkeypatch.setattr(archiving_flow, step, take_and_act)


CHOSEN, CLOSED = "choose_chains", "choose_unchanged"


async def test_a_follow_up_that_comes_before_its_chain_is_closed_keeps_it(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    act_after(monkeypatch, CHOSEN, lambda: shelf.lives.follow("late", "RF", "db 1", 100))
    [moved] = await shelf.archive()

    assert moved.kept == {"it went on after the month": 1}
    [first] = [each for each in await shelf.list_live() if each.id == shelf.lives.ids["db 1"]]
    assert first.balance.chain_length == 2
    await shelf.lives.follow("later still", "RF", "db 1", 100)
    assert await shelf.list_findings() == []


async def test_a_follow_up_that_comes_while_its_chain_is_moved_is_refused(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    codes: list[str] = []

    async def refund() -> None:
        with pytest.raises(Refusal) as refused:
            await shelf.lives.follow("late", "RF", "db 1", 100)
        codes.append(refused.value.result.code)
        # While it is closed, the audit has nothing to say against it.
        assert await shelf.list_findings() == []

    act_after(monkeypatch, CLOSED, refund)
    await shelf.archive()

    assert codes == [ARCHIVED]
    await shelf.expect_whole()


async def test_a_dispute_that_comes_while_its_chain_is_moved_is_refused(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    refused: list[str] = []

    async def dispute() -> None:
        try:
            await shelf.lives.record("cb", "CB", "db 1", 9200)
        except Refusal as refusal:
            refused.append(refusal.result.code)

    act_after(monkeypatch, CLOSED, dispute)
    await shelf.archive()

    assert refused == [ARCHIVED]


async def test_a_second_run_at_the_same_time_is_refused(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    refused: list[str] = []

    async def archive_too() -> None:
        with pytest.raises(ArchiveError) as fault:
            await shelf.archive()
        refused.append(str(fault.value))

    act_after(monkeypatch, CHOSEN, archive_too)
    await shelf.archive()

    assert refused == [
        "another run or erasure is changing archived months now, or was killed within the last 30 seconds"
    ]
    await shelf.expect_whole()


async def test_a_run_that_was_overtaken_changes_nothing_any_more(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    moved: list[int] = []

    async def overtake() -> None:
        # The first run stood still for longer than its lease.
        shelf.outlive_lease()
        moved.extend(each.payments for each in await shelf.archive())

    act_after(monkeypatch, CHOSEN, overtake)
    with pytest.raises(ArchiveError, match="another run took over"):
        await shelf.archive()

    assert moved == [4]
    await shelf.expect_whole()


async def test_a_run_that_was_overtaken_before_its_file_counted_leaves_the_other_file_alone(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    loop, put = asyncio.get_running_loop(), archive_writing.put_manifest

    def put_late(*args: Any) -> None:
        monkeypatch.setattr(archive_writing, "put_manifest", put)
        shelf.outlive_lease()
        asyncio.run_coroutine_threadsafe(shelf.archive(), loop).result()
        put(*args)

    monkeypatch.setattr(archive_writing, "put_manifest", put_late)
    with pytest.raises(FileNotFoundError):
        await shelf.archive()

    assert [path.name for path in folder.iterdir()] == ["2026-11.2"]
    assert await shelf.list_live() == []
    await shelf.expect_whole()


async def test_a_file_of_which_only_the_answer_of_the_commit_was_lost_is_finished(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    write = Run.write

    async def lose(self: Run, writes: Sequence[Write], label: str) -> None:
        await write(self, writes, label)
        if label == "archive written":
            raise Unavailable("the connection was lost")

    with monkeypatch.context() as patched:
        patched.setattr(Run, "write", lose)
        with pytest.raises(Unavailable):
            await shelf.archive()
    # Its chains stay closed: a follow-up would be removed with them.
    with pytest.raises(Refusal) as refused:
        await shelf.lives.follow("late", "RF", "db 1", 100)
    await shelf.archive()

    assert refused.value.result.code == ARCHIVED
    assert await shelf.list_live() == []
    await shelf.expect_whole()
