"""Runs of the archive that are killed at each of their steps: the next run goes on, and nothing is lost or doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from databases.archiving import Killed, Killer, Shelf, open_paid
from tollgate.store import archives, detaching
from tollgate.store.database import Database, Probed, When
from tollgate.store.statements import Dialect
from tollgate.vault import archive_writing
from tollgate.vault.keyring import save_keyring

pytestmark = pytest.mark.anyio

MANIFEST = "manifest"
STEPS: list[tuple[str, When]] = [
    ("archive begun", "before"),
    ("archive begun", "after"),
    ("chains closed", "before"),
    ("chains closed", "after"),
    (MANIFEST, "before"),
    (MANIFEST, "after"),
    ("archive written", "before"),
    ("archive written", "after"),
    ("archived rows removed", "before"),
    ("archived rows removed", "after"),
    ("archive finished", "before"),
    ("archive finished", "after"),
]
ERASING: list[tuple[str, When]] = [
    ("archive rewriting", "before"),
    ("archive rewriting", "after"),
    (MANIFEST, "after"),
    ("archive rewritten", "after"),
]


def arm(monkeypatch: pytest.MonkeyPatch, killer: Killer) -> None:
    put = archive_writing.put_manifest

    def put_manifest(*args: Any) -> None:
        killer(MANIFEST, "before")
        put(*args)
        killer(MANIFEST, "after")

    monkeypatch.setattr(archive_writing, "put_manifest", put_manifest)
    monkeypatch.setattr(Probed, "probe", killer)


@pytest.mark.parametrize(("label", "when"), STEPS)
async def test_a_run_that_was_killed_is_finished_by_the_next(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: str, when: When
) -> None:
    # Whole partitions that go are tested apart; here rows are deleted on both databases.
    monkeypatch.setattr(detaching, "STAYING_MAX", -1)
    shelf = await open_paid(db, tmp_path / "archive")

    await kill_and_finish(shelf, monkeypatch, Killer(label, when))


async def kill_and_finish(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, killer: Killer) -> None:
    """Kills a run, and checks that nothing is lost before and after the next one."""
    with monkeypatch.context() as patched:
        arm(patched, killer)
        with pytest.raises(Killed):
            await shelf.archive()
    # The killed process left its chains closed or its rows half removed; both are right as they are.
    await shelf.expect_whole()
    shelf.outlive_lease()
    await shelf.archive()

    await shelf.expect_whole()
    await expect_moved(shelf)


async def expect_moved(shelf: Shelf) -> None:
    """Checks that all payments are in one part, and nothing else is in the folder."""
    assert await shelf.list_live() == []
    [archived] = [each for each in await archives.list_archived_months(shelf.app.database) if each.has_file]
    assert [path.name for path in shelf.folder.iterdir()] == [archived.name]
    assert archived.payments == len(shelf.before)
    names = {path.name for path in (shelf.folder / archived.name).iterdir()}
    assert len(names) == 3
    assert "manifest.json" in names


PROGRAM = """
import asyncio, os, signal, sys
from pathlib import Path
from tollgate.cli.archiving import ACTOR
from tollgate.contract.answers import Envelope
from tollgate.flows.archive import archive_months
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.store.database import Probed
from tollgate.store.opening import open_database
from tollgate.values import DAY, FixedClock
from tollgate.vault.keyring import load_keyring

url, keys, folder, now, label, when = sys.argv[1:]

def kill(step, moment):
    if (step, moment) == (label, when):
        os.kill(os.getpid(), signal.SIGKILL)

async def run():
    keyring = load_keyring(Path(keys))
    app = App(database=await open_database(url), merchants=MerchantCache(keyring), keyring=keyring,
        clock=FixedClock(int(now)), envelope=Envelope("build"), is_live=False, acquirer_timeout_s=5.0,
        completion_margin_s=5.0, authorization_lifetime=7 * DAY, find_wire=lambda *_: None)
    Probed.probe = staticmethod(kill)
    await archive_months(app, Path(folder), "2026-12", ACTOR)

asyncio.run(run())
"""


@pytest.mark.parametrize(
    "labels", [("chains closed", "chains closed"), ("archived rows removed", "partition replaced")]
)
async def test_a_process_that_was_killed_is_followed_by_the_next(
    db: Database, url: str, tmp_path: Path, labels: tuple[str, str]
) -> None:
    label = labels[db.dialect is Dialect.POSTGRESQL]
    shelf = await open_paid(db, tmp_path / "archive")
    save_keyring(shelf.app.keyring, tmp_path / "keys.json")
    arguments = [url, str(tmp_path / "keys.json"), str(shelf.folder), str(shelf.clock.at), label, "after"]
    ran = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], env=dict(os.environ), timeout=300, check=False)
    assert ran.returncode == -signal.SIGKILL
    shelf.outlive_lease()
    await shelf.archive()

    await shelf.expect_whole()
    await expect_moved(shelf)
