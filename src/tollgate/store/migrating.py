"""Statements that bring a database to the newest revision, and the refusal of one that is too old or too new.

They are run by the driver of the database.
"""

from enum import Enum, auto
from pathlib import Path
from threading import Lock

from tollgate.store.database import NoTables, WrongSchema
from tollgate.store.statements import COMPILERS, Dialect


class Kind(Enum):
    """Says which processes may run beside a revision of the tables."""

    EXPAND = auto()
    """It only adds: processes of older releases run on its tables, those of its own release need it."""
    CONTRACT = auto()
    """It only removes what its own release does without: older releases do not run on its tables."""
    WHOLE = auto()
    """It does both: no process runs on the tables from before and on those from after."""


REVISIONS = {
    "0010": Kind.WHOLE,
    "0011": Kind.WHOLE,
    "0012": Kind.WHOLE,
    "0013": Kind.WHOLE,
    "0014": Kind.WHOLE,
    "0015": Kind.WHOLE,
    "0016": Kind.WHOLE,
    "0017": Kind.EXPAND,
}
"""Every revision, the oldest first; tests keep the rows in step with the folder."""

FIRST, HEAD = min(REVISIONS), max(REVISIONS)
"""The oldest revision that can be upgraded, and the newest."""

VERSIONS = Path(__file__).parent / "migrations"
READ_REVISION = "SELECT version_num FROM alembic_version"

NEEDED_REVISION = "needed_revision"
"""The setting by which an older release learns whether it can use tables that it does not know."""
READ_NEEDED = f"SELECT value FROM settings WHERE name = '{NEEDED_REVISION}'"


# Alembic keeps the migration it is in as a global.
_one_at_a_time = Lock()


class _Statements:
    """Takes the place of Alembic's output file: it is written to once per statement."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        stripped = text.strip().removesuffix(";")
        if stripped and not stripped.startswith("--"):
            self.texts.append(stripped)

    def flush(self) -> None:
        pass


def make_missing_statements(dialect: Dialect, revision: str | None, *, contracts: bool = True) -> list[str]:
    """Returns the statements that bring a revision (None: an empty database) up to date, for one transaction.

    contracts: no process of an older release runs, so that revisions which it would not tolerate are made too.
    """
    refuse_unreleased(revision)
    target = choose_target(revision, contracts=contracts)
    if revision is not None and target <= revision:
        return []
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(VERSIONS))
    if revision is not None and revision not in {script.revision for script in scripts.walk_revisions()}:
        raise WrongSchema(f"the database is at revision {revision}, which this release does not know; it is newer")
    output = _Statements()
    context = MigrationContext.configure(
        dialect=COMPILERS[dialect],
        opts={
            "as_sql": True,
            "output_buffer": output,
            "starting_rev": revision,
            # The driver owns the transaction.
            "transactional_ddl": False,
            "fn": lambda current, _: scripts._upgrade_revs(target, current),
        },
    )
    with _one_at_a_time, Operations.context(context):
        context.run_migrations()
    return [*output.texts, _render_needed(target)]


def _render_needed(target: str) -> str:
    needed = max(each for each, kind in REVISIONS.items() if each <= target and kind is not Kind.EXPAND)
    return (
        f"INSERT INTO settings (name, value) VALUES ('{NEEDED_REVISION}', '{needed}')"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )


def execute_beside(revision_path: str) -> None:
    """Executes the statements that stand beside a revision, in the file of the database that is migrated."""
    from alembic import op

    statements = Path(revision_path).with_suffix(f".{op.get_context().dialect.name}.sql").read_text("utf-8")
    for statement in statements.split(";"):
        if statement.strip():
            op.execute(statement.strip())


def refuse_unreleased(revision: str | None) -> None:
    """Raises for a database that was made before the first release, whose tables nothing upgrades."""
    if revision is not None and revision < FIRST:
        raise WrongSchema(
            f"the database is at revision {revision}, from before the first release, and cannot be upgraded: "
            "name an empty folder with --data, or an empty database with --database, and set up its merchants again"
        )


def choose_target(revision: str | None, *, contracts: bool) -> str:
    """Returns the revision to migrate to: the newest one, or the last that processes of older releases tolerate.

    contracts: no such process runs.
    """
    if revision is None or contracts:
        return HEAD
    target = revision
    for missing in _list_missing(revision):
        if REVISIONS[missing] is not Kind.EXPAND:
            break
        target = missing
    return target


def _list_missing(revision: str) -> list[str]:
    return [each for each in REVISIONS if revision < each <= HEAD]


def list_waiting(revision: str | None) -> list[str]:
    """Lists the contracting revisions that this release can do without and that have not been made yet."""
    missing = [] if revision is None else _list_missing(revision)
    return missing if all(REVISIONS[each] is Kind.CONTRACT for each in missing) else []


def refuse_unfit(revision: str | None, needed: str | None, place: str) -> None:
    """Raises unless this release can use tables of a revision.

    needed: the revision that a release must know; None where the tables do not say.
    place: names the database without its password.
    """
    if revision is None:
        raise NoTables(f"{place} has no tables of Tollgate: `tollgate migrate` makes them, if this is the right one")
    refuse_unreleased(revision)
    if revision > HEAD:
        if needed is None or needed > HEAD:
            raise WrongSchema(
                f"the database is at revision {revision}, which this release does not know; it is newer: "
                f"use a release that knows revision {needed or revision}"
            )
        return
    missing = [each for each in _list_missing(revision) if REVISIONS[each] is not Kind.CONTRACT]
    if not missing:
        return
    stops = [each for each in _list_missing(revision) if REVISIONS[each] is not Kind.EXPAND]
    if stops and stops[0] <= missing[0]:
        raise WrongSchema(
            f"the database is at revision {revision}, this release needs {missing[-1]}, and processes of older "
            f"releases do not tolerate {stops[0]}: stop them, and run `tollgate migrate --contract`"
        )
    raise WrongSchema(
        f"the database is at revision {revision}, this release needs {missing[-1]}: run `tollgate migrate`"
    )
