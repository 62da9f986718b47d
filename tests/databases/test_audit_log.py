"""The chain of the audit log is one for all processes, and an audit names the first entry that was changed."""

from __future__ import annotations

import asyncio

import pytest

from databases.auditing import audit, tamper
from tollgate.catalog.audit_actions import AuditAction
from tollgate.operations.audit_log import Actor, record
from tollgate.store.audit_log import AUDIT_HEAD, EntryFilter, list_entries, list_last_times
from tollgate.store.database import Database
from tollgate.store.opening import get_setting, open_database, put_setting
from tollgate.values import FixedClock
from tollgate.vault.keyring import Keyring, make_keyring
from unit.app_fixture import NOW

pytestmark = pytest.mark.anyio
RING = make_keyring()
COUNT = 6


async def write_entries(db: Database, count: int = COUNT, ring: Keyring = RING) -> None:
    for number in range(count):
        await record(
            db,
            ring,
            FixedClock(NOW + number),
            Actor("u1", "ann", "127.0.0.1"),
            AuditAction.TOKEN_VIEWED if number % 2 else AuditAction.SIGNED_IN,
            subject=f"token {number % 3}",
            merchant_id="m1",
            details={"label": "shop"},
        )


async def find(db: Database) -> list[tuple[str, str]]:
    """Lists what an audit finds about the log."""
    return [(each.row_id, each.text) for each in (await audit(db, RING)).findings if each.table == "audit_log"]


async def test_a_log_that_nobody_touched_passes_and_an_empty_one_too(db: Database) -> None:
    assert await find(db) == []
    await write_entries(db)
    report = await audit(db, RING)
    assert (report.findings, report.rows["audit_log"]) == ([], COUNT)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "at + 1"),
        ("merchant_id", "'m2'"),
        ("user_id", "'u2'"),
        ("user_name", "'anm'"),
        ("action", "'signed out'"),
        ("subject", "'token 9'"),
        ("details", """'{"label":"shot"}'"""),
        ("details", "'{'"),
        ("address", "'127.0.0.2'"),
        ("hash", "hash"),
        ("number", "number + 1000"),
    ],
)
async def test_one_changed_byte_of_any_column_is_found_and_its_entry_named(
    db: Database, column: str, value: str
) -> None:
    await write_entries(db)
    if column == "hash":
        [entry] = await list_entries(db, EntryFilter(), 4, 1)
        changed = entry.hash[:-1] + bytes([entry.hash[-1] ^ 1])
        await tamper(db, "UPDATE audit_log SET hash = :new WHERE number = 3", new=changed)
    else:
        await tamper(db, f"UPDATE audit_log SET {column} = {value} WHERE number = 3")

    [(number, _)] = await find(db)

    assert number == "3"


async def test_a_removed_entry_is_named(db: Database) -> None:
    await write_entries(db)
    await tamper(db, "DELETE FROM audit_log WHERE number = 2")
    assert await find(db) == [("2", "it is missing")]


async def test_a_removed_end_is_noticed_even_if_its_record_is_rewritten(db: Database) -> None:
    await write_entries(db)
    await tamper(db, "DELETE FROM audit_log WHERE number > 4", rows=2)
    assert await find(db) == [("5", "it is missing: there were 6 entries")]

    [last] = await list_entries(db, EntryFilter(), None, 1)
    for forged in (f"4:{last.hash.hex()}:00", f"4:{last.hash.hex()}", "nonsense"):
        await put_setting(db, AUDIT_HEAD, forged)
        [(number, text)] = await find(db)
        assert number == "4"
        assert AUDIT_HEAD in text
    await tamper(db, f"DELETE FROM settings WHERE name = '{AUDIT_HEAD}'")
    assert [number for number, _ in await find(db)] == ["4"]


async def test_two_entries_that_changed_places_are_noticed(db: Database) -> None:
    await write_entries(db)
    for old, new in ((3, 900), (4, 3), (900, 4)):
        await tamper(db, f"UPDATE audit_log SET number = {new} WHERE number = {old}")
    assert await find(db) == [("3", "it is not what was written")]


async def test_a_chain_made_with_another_key_is_noticed(db: Database) -> None:
    await write_entries(db, ring=make_keyring())
    assert await find(db) == [("1", "it is not what was written")]


async def test_entries_of_two_processes_at_once_are_one_chain(db: Database, url: str) -> None:
    other = await open_database(url)
    try:
        await asyncio.gather(*[write_entries(each, 4) for each in (db, other, db, other)])
        assert await find(db) == []
        entries = await list_entries(db, EntryFilter(), None, 100)
        assert [entry.number for entry in entries] == list(range(16, 0, -1))
        assert (await get_setting(db, AUDIT_HEAD)).startswith("16:")
    finally:
        await other.close()


async def test_lists_are_filtered_and_paged_by_key(db: Database) -> None:
    await write_entries(db)

    async def ask(before: int | None = None, limit: int = 10, **wanted: object) -> list[int]:
        found = await list_entries(db, EntryFilter(**wanted), before, limit)  # type: ignore[arg-type]
        return [entry.number for entry in found]

    assert await ask(limit=2) == [6, 5]
    assert await ask(before=5, limit=2) == [4, 3]
    assert await ask(action=AuditAction.SIGNED_IN) == [5, 3, 1]
    assert await ask(user_name="bob") == []
    assert await ask(merchant_id="m2") == []
    assert await ask(merchant_id="m1", since=NOW + 2, until=NOW + 4) == [4, 3]
    subjects = ["token 0", "token 2", "token 9"]
    assert await list_last_times(db, "m1", subjects, AuditAction.TOKEN_VIEWED) == {
        "token 0": NOW + 3,
        "token 2": NOW + 5,
    }
