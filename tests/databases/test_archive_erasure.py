"""A person in archived months: found, erased from the files, and not brought back by an older copy of them."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from databases.archiving import Killed, Killer, Shelf, open_shelf
from databases.lives import open_lives
from databases.test_archive_kills import ERASING, arm
from tollgate.flows.erase_person import begin_erasure, confirm_erasure, finish_erasure
from tollgate.flows.erase_rows import erase_chain
from tollgate.flows.pay import look_up
from tollgate.operations.audit_log import Actor
from tollgate.payments.erasure import Erasure, SearchKind
from tollgate.store.database import Database, When
from tollgate.values import Refusal, TemporarilyUnavailable
from unit.app_fixture import MERCHANT

pytestmark = pytest.mark.anyio

JANE, JOE = "Jane_Doe+shop@example.com", "joe@example.com"
ACTOR = Actor(name="test")


async def open_people(db: Database, folder: Path) -> Shelf:
    lives = await open_lives(db)
    for number in range(4):
        await lives.pay(f"jane {number}", echo={"customer.email": JANE})
        await lives.pay(f"joe {number}", echo={"customer.email": JOE, "cart.items[0].name": "x" * 100 * number})
    await lives.follow("rf", "RF", "jane 1", 200)
    return await open_shelf(lives, folder)


@pytest.fixture
async def shelf(db: Database, tmp_path: Path) -> Shelf:
    shelf = await open_people(db, tmp_path / "archive")
    await shelf.archive()
    return shelf


async def erase(shelf: Shelf, kind: SearchKind = SearchKind.EMAIL, value: str = JANE) -> Erasure:
    found = await finish_erasure(shelf.app, await begin_erasure(shelf.app, MERCHANT.id, kind, value), ACTOR)
    return await finish_erasure(shelf.app, await confirm_erasure(shelf.app, found, ACTOR), ACTOR)


def read_files(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield gzip.decompress(content) if path.name.endswith(".gz") else content


def is_named(folder: Path, person: str) -> bool:
    return any(person.encode() in content for content in read_files(folder))


async def test_a_person_is_erased_from_the_files_and_everything_else_stays(shelf: Shelf) -> None:
    assert is_named(shelf.folder, JANE)
    erasure = await erase(shelf)

    assert (erasure.erased, erasure.postponed) == ({"payments": 4}, ())
    assert not is_named(shelf.folder, JANE)
    assert is_named(shelf.folder, JOE)
    assert await shelf.list_findings() == []
    for before in shelf.before:
        after = await look_up(shelf.app, MERCHANT.id, before.id)
        assert after is not None
        assert (after.money, after.result_code, after.balance) == (before.money, before.result_code, before.balance)
        assert after.echo == ({} if JANE in before.echo.values() else before.echo)
    assert len([*shelf.folder.rglob("chains-*")]) == 2


async def test_a_person_is_found_by_an_archived_payment(shelf: Shelf) -> None:
    erasure = await erase(shelf, SearchKind.PAYMENT, shelf.lives.ids["rf"])

    assert erasure.erased == {"payments": 4}
    assert not is_named(shelf.folder, JANE)


async def test_a_file_with_many_blocks_is_copied_but_for_what_changed(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tollgate.vault.archive_files.BLOCK_BYTES", 1)
    shelf = await open_people(db, tmp_path / "archive")
    await shelf.archive()
    erasure = await erase(shelf)

    assert erasure.erased == {"payments": 4}
    assert not is_named(shelf.folder, JANE)
    assert await shelf.list_findings() == []
    for before in shelf.before:
        assert await look_up(shelf.app, MERCHANT.id, before.id) is not None


async def test_without_the_folder_nobody_is_looked_for(shelf: Shelf) -> None:
    blind = msgspec.structs.replace(shelf.app, archive=None)
    with pytest.raises(Refusal) as refused:
        await begin_erasure(blind, MERCHANT.id, SearchKind.EMAIL, JANE)

    assert "give --archive" in refused.value.detail


@pytest.mark.parametrize(("label", "when"), ERASING)
async def test_an_erasure_that_was_killed_goes_on(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, label: str, when: When
) -> None:
    with monkeypatch.context() as patched:
        arm(patched, Killer(label, when))
        with pytest.raises(Killed):
            await erase(shelf)
    assert await shelf.list_findings() == []
    shelf.outlive_lease()
    await erase(shelf)

    assert not is_named(shelf.folder, JANE)
    assert await shelf.list_findings() == []
    assert len([*shelf.folder.rglob("chains-*")]) == 2


async def test_an_older_copy_does_not_bring_a_person_back(shelf: Shelf, tmp_path: Path) -> None:
    shutil.copytree(shelf.folder, tmp_path / "copy")
    await erase(shelf)
    shutil.rmtree(shelf.folder)
    shutil.copytree(tmp_path / "copy", shelf.folder)

    with pytest.raises(TemporarilyUnavailable):
        await look_up(shelf.app, MERCHANT.id, shelf.lives.ids["jane 0"])
    [finding] = await shelf.list_findings()
    assert "another manifest than the database knows" in finding


async def test_a_chain_that_leaves_the_database_meanwhile_is_not_taken_for_erased(shelf: Shelf) -> None:
    assert await erase_chain(shelf.app, MERCHANT.id, shelf.lives.ids["jane 0"]) is not None
