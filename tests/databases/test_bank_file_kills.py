"""A collector killed before, amid or after its write: every debit ends in exactly one file all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from databases.banking import MERCHANT, Bank, open_bank
from tollgate.flows.sepa_files import collect, export_file
from tollgate.store.bank_files import list_bank_files
from tollgate.store.database import Database
from tollgate.store.instructions import InstructionState, list_instructions
from tollgate.vault.keyring import save_keyring

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parents[1]
MOMENTS = ["before", "amid 3", "after"]


def run_killed(url: str, keys: Path, moment: str) -> None:
    command = [sys.executable, "-m", "databases.collector", url, str(keys), moment, "1"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(TESTS)}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


async def count_entries(bank: Bank) -> Counter[str]:
    counted: Counter[str] = Counter()
    for file in await list_bank_files(bank.app.database):
        body = await export_file(bank.app.database, bank.app.keyring, file, 1)
        counted.update(element.text or "" for element in Tree.fromstring(body).iterfind(".//{*}EndToEndId"))
    return counted


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_killed_collector_loses_nothing_and_does_nothing_twice(
    db: Database, url: str, tmp_path: Path, moment: str
) -> None:
    bank = await open_bank(db)
    paid = [await bank.pay() for _ in range(30)]
    keys = tmp_path / "keys.json"
    save_keyring(bank.app.keyring, keys)

    run_killed(url, keys, moment)

    left = await count_entries(bank)
    assert left in (Counter(), Counter(paid)), "a file is written whole or not at all"
    states = {each.state for each in await list_instructions(db, MERCHANT.id, paid)}
    assert states == {InstructionState.FILED if left else InstructionState.OPEN}
    bank.wait()
    await collect(bank.app)
    assert await count_entries(bank) == Counter(paid)
    assert len(await list_bank_files(db)) == 1
