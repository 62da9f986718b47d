"""The audit of archived months finds what was done to the files, and to what the database knows of them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from databases.archiving import Shelf, open_paid
from databases.auditing import run, tamper
from tollgate.store.database import Database
from tollgate.store.schema import payments
from tollgate.vault.archive_files import Manifest
from tollgate.vault.archive_writing import PartWriter, put_manifest, sign_manifest

pytestmark = pytest.mark.anyio

Line = dict[str, Any]


@pytest.fixture
async def shelf(db: Database, tmp_path: Path) -> Shelf:
    shelf = await open_paid(db, tmp_path / "archive")
    await shelf.archive()
    assert await shelf.list_findings() == []
    return shelf


def find_part(shelf: Shelf) -> Path:
    [part] = (each for each in shelf.folder.iterdir() if each.is_dir())
    return part


async def change_lines(shelf: Shelf, change: Callable[[Line], None]) -> None:
    """Changes the lines as somebody who has the key could, so that only what the lines say is wrong."""
    part = find_part(shelf)
    manifest = msgspec.json.decode((part / "manifest.json").read_bytes(), type=Manifest)
    lines = [json.loads(line) for line in gzip.decompress((part / manifest.chains.name).read_bytes()).splitlines()]
    writer = PartWriter(part)
    for line in lines:
        change(line)
        writer.add(json.dumps(line).encode(), [(line["merchant_id"], each["id"]) for each in line["payments"]])
    chains, index = writer.finish()
    changed = sign_manifest(msgspec.structs.replace(manifest, chains=chains, index=index), shelf.app.keyring)
    put_manifest(part, changed)
    await tamper(shelf.app.database, "UPDATE archived_months SET proof = :proof", proof=changed.proof)


def set_amount(line: Line) -> None:
    line["payments"][0]["amount"] += 1


def drop_entry(line: Line) -> None:
    line["ledger_entries"].clear()


def drop_event(line: Line) -> None:
    line["outbox"].clear()


def drop_refund(line: Line) -> None:
    del line["payments"][1:]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (set_amount, "its signature is wrong"),
        (drop_entry, "the entry of DB"),
        (drop_event, "the event of DB"),
        (drop_refund, "its chain has 2 transactions and number 2 is missing"),
    ],
)
async def test_a_line_that_was_changed_is_found(shelf: Shelf, change: Callable[[Line], None], expected: str) -> None:
    await change_lines(shelf, change)

    assert any(expected in finding for finding in await shelf.list_findings())


async def test_a_part_that_is_missing_is_found(shelf: Shelf) -> None:
    shutil.rmtree(find_part(shelf))

    [finding] = await shelf.list_findings()
    assert finding.startswith("archive: archived_months 2026-11.1: cannot open ")


async def test_a_place_that_is_missing_is_found(shelf: Shelf) -> None:
    payment_id = shelf.lives.ids["db 1"]
    await tamper(shelf.app.database, "DELETE FROM archived_payments WHERE id = :id", id=payment_id)

    assert sorted(await shelf.list_findings()) == [
        "archive: archived_months 2026-11.1: it has 4 payments, and the database knows 3 of them",
        f"archive: archived_months 2026-11.1: the database does not know that payment {payment_id} is in it",
    ]


async def test_a_payment_that_is_in_both_is_found(db: Database, tmp_path: Path) -> None:
    shelf = await open_paid(db, tmp_path / "archive")
    await run(db, "CREATE TABLE kept AS SELECT * FROM payments WHERE id = '{}'".format(shelf.lives.ids["db 1"]))
    await shelf.archive()
    columns = ", ".join(column.name for column in payments.columns)
    await run(db, f"INSERT INTO payments ({columns}) SELECT {columns} FROM kept")

    found = await shelf.list_findings()
    payment_id = shelf.lives.ids["db 1"]
    assert f"archive: archived_months 2026-11.1: payment {payment_id} is in it and in the database" in found


async def test_sums_that_were_changed_are_found(shelf: Shelf) -> None:
    await tamper(shelf.app.database, "UPDATE archived_months SET accounts = '{}'")

    assert await shelf.list_findings() == [
        "archive: archived_months 2026-11.1: its chains do not add up to the sums that the database carries for it"
    ]
