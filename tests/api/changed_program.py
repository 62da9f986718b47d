"""A copy of the program with changes in it, such as the next release, and a server that runs it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from gateway import COLD, COMMAND_S, GatewayProcess
from tollgate.store.migrating import HEAD, REVISIONS, Kind

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tollgate"


@dataclass(frozen=True)
class Edit:
    """A text that is put before the first occurrence of another."""

    path: str
    before: str
    text: str


@dataclass(frozen=True)
class Revision:
    kind: Kind
    statements: Sequence[str]


def change_program(folder: Path, edits: Iterable[Edit], revisions: Sequence[Revision]) -> dict[str, str]:
    """Copies the program to a folder and changes it; returns the variables that a process of it is started with."""
    program = folder / "src" / "tollgate"
    shutil.copytree(SOURCE, program, ignore=shutil.ignore_patterns("__pycache__"))
    head, rows = HEAD, f'    "{HEAD}": Kind.{REVISIONS[HEAD].name},\n'
    added = ""
    for place, revision in enumerate(revisions, int(HEAD) + 1):
        down, head = head, f"{place:04}"
        lines = "".join(f"    op.execute({statement!r})\n" for statement in revision.statements)
        text = f'from alembic import op\n\nrevision, down_revision = "{head}", "{down}"\n\n\ndef upgrade():\n{lines}'
        (program / "store" / "migrations" / "versions" / f"{head}_next.py").write_text(text, "utf-8")
        added += f'    "{head}": Kind.{revision.kind.name},\n'
    migrating = program / "store" / "migrating.py"
    text = migrating.read_text("utf-8")
    assert rows in text
    migrating.write_text(text.replace(rows, rows + added), "utf-8")
    for edit in edits:
        path = program / edit.path
        text = path.read_text("utf-8")
        assert edit.before in text, edit.path
        path.write_text(text.replace(edit.before, edit.text + edit.before, 1), "utf-8")
    return {"PYTHONPATH": str(folder / "src")}


COLUMN_OF_PAYMENTS = (
    Edit("payments/payment.py", "    card: CardSummary | None", '    holiday: str = "Easter"\n'),
    Edit("store/schema.py", '    sa.Column("card", TEXT)', '    sa.Column("holiday", TEXT, nullable=False),\n'),
)


@dataclass
class ChangedGateway(GatewayProcess):
    """A server of the changed program; the warm process of other tests has read the program as it is."""

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        whole = [*COLD, *self._command(*command)]
        return subprocess.run(whole, capture_output=True, text=True, env=self._variables(), timeout=COMMAND_S)

    def query(self, statement: str, row_id: str) -> object:
        with closing(apsw.Connection(str(self.data / "tollgate.db"))) as store:
            store.set_busy_timeout(60_000)
            return store.execute(statement, (row_id,)).get
