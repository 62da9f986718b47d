"""The command that audits the store: what it prints, and which status it ends with."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner, Result

from tollgate.cli.auditing import show_progress
from tollgate.cli.program import program
from tollgate.flows.pay import pay
from tollgate.operations.app import Call
from tollgate.vault.keyring import make_keyring, save_keyring
from unit.app_fixture import CHANNEL, MERCHANT, ORDER, ScriptedWire, open_app

PAYMENTS = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a few payments."""

    async def fill() -> None:
        app = await open_app(tmp_path, ScriptedWire())
        save_keyring(app.keyring, tmp_path / "keys.json")
        for _ in range(PAYMENTS):
            await pay(app, ORDER, Call(CHANNEL, "ndc"))
        await app.database.close()

    asyncio.run(fill())
    return tmp_path


def verify(folder: Path, *flags: str) -> Result:
    store = ("--data", str(folder), "--database", f"sqlite:///{folder}/store.db")
    return CliRunner().invoke(program, ["verify", *store, *flags])


def tamper(folder: Path, sql: str) -> None:
    connection = apsw.Connection(str(folder / "store.db"))
    connection.execute(sql)
    connection.close()


def test_a_store_that_is_well_ends_with_status_0_and_says_what_was_walked(folder: Path) -> None:
    done = verify(folder)

    assert done.exit_code == 0
    assert done.stdout == "all is well: 3 chains; rows walked: 3 in payments, 3 in ledger_entries, 3 in outbox\n"


def test_without_a_terminal_progress_is_one_line_on_standard_error(folder: Path) -> None:
    assert verify(folder).stderr.split() == ["verifying"]
    assert verify(folder, "--quiet").stderr == ""


def test_findings_end_with_status_1_and_each_has_its_line(folder: Path) -> None:
    tamper(folder, "UPDATE payments SET amount = amount + 1")

    done = verify(folder, "--max", "4")

    *findings, rest, summary = done.stdout.splitlines()
    assert done.exit_code == 1
    assert len(findings) == 4
    assert f"of merchant {MERCHANT.id}: its signature is wrong" in findings[0]
    assert rest.startswith("... and ")
    assert int(rest.split()[2]) + 4 == int(summary.split()[0])


def test_a_script_reads_the_same_as_json(folder: Path) -> None:
    clean = json.loads(verify(folder, "--json").stdout)
    tamper(folder, "DELETE FROM outbox WHERE id = (SELECT min(id) FROM outbox)")
    done = verify(folder, "--json", "--quiet")
    found = json.loads(done.stdout)

    assert (clean["is_clean"], clean["findings"]) == (True, [])
    assert clean["accounts"] == [
        {
            "merchant_id": MERCHANT.id,
            "channel_id": CHANNEL.id,
            "currency": "EUR",
            "accounts": {"shopper": -27600, "held": 0, "earned": 27600, "seller": 0},
        }
    ]
    assert (done.exit_code, found["is_clean"], found["findings_count"]) == (1, False, 1)
    [finding] = found["findings"]
    assert (finding["proof"], finding["table"], finding["merchant_id"]) == ("event", "outbox", MERCHANT.id)
    assert "is missing" in finding["text"]


def test_keys_of_another_store_end_with_status_2_and_accuse_no_payment(folder: Path) -> None:
    save_keyring(make_keyring(), folder / "other.json")

    done = verify(folder, "--quiet", "--key-file", str(folder / "other.json"))

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("tollgate: the key file is not that of this store")


def test_a_missing_key_file_ends_with_status_2_and_none_is_made(folder: Path) -> None:
    (folder / "keys.json").unlink()

    done = verify(folder)

    assert done.exit_code == 2
    assert "cannot read the key file" in done.stderr
    assert not (folder / "keys.json").exists()


def test_tables_of_another_release_end_with_status_2(folder: Path) -> None:
    tamper(folder, "UPDATE alembic_version SET version_num = '9999'")
    tamper(folder, "UPDATE settings SET value = '9999' WHERE name = 'needed_revision'")

    done = verify(folder)

    assert done.exit_code == 2
    assert "use a release that knows revision 9999" in done.stderr


def test_a_missing_database_ends_with_status_2_and_none_is_made(folder: Path) -> None:
    (folder / "store.db").unlink()

    done = verify(folder)

    assert done.exit_code == 2
    assert not (folder / "store.db").exists()


def test_an_audit_changes_nothing(folder: Path) -> None:
    before = read_all(folder)

    verify(folder)

    assert len(before) == 3 * PAYMENTS
    assert read_all(folder) == before


def read_all(folder: Path) -> list[object]:
    connection = apsw.Connection(str(folder / "store.db"))
    tables = ("payments", "ledger_entries", "outbox")
    rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    connection.close()
    return rows


def test_on_a_terminal_a_bar_shows_the_table_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _Terminal()
    monkeypatch.setattr("sys.stderr", shown)

    with show_progress(10) as tell:
        tell("payments", 6)
        tell("ledger_entries", 4)

    assert "10/10" in shown.text
    assert "payments" in shown.text
    assert "ledger_entries" in shown.text


class _Terminal:
    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True
