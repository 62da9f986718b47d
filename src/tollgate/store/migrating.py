"""Statements that bring a database to the newest revision, and the refusal of one that is too old or too new.

They are run by the driver of the database.
"""

from pathlib import Path
from threading import Lock

from tollgate.store.database import WrongSchema
from tollgate.store.statements import COMPILERS, Dialect

FIRST, HEAD = "0010", "0015"
"""The oldest revision that can be upgraded, and the newest; tests keep both in step with the folder."""

VERSIONS = Path(__file__).parent / "migrations"
READ_REVISION = "SELECT version_num FROM alembic_version"


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


def make_missing_statements(dialect: Dialect, revision: str | None) -> list[str]:
    """Returns the statements that bring a revision (None: an empty database) to HEAD, to be run in one transaction."""
    if revision == HEAD:
        return []
    refuse_unreleased(revision)
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
            "fn": lambda current, _: scripts._upgrade_revs(HEAD, current),
        },
    )
    with _one_at_a_time, Operations.context(context):
        context.run_migrations()
    return output.texts


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


def refuse_old_schema(revision: str | None, place: str) -> None:
    """Raises for those who may look but not change; `place` names the database without its password."""
    if revision is None:
        raise WrongSchema(f"{place} has no tables of Tollgate: `tollgate migrate` makes them, if this is the right one")
    refuse_unreleased(revision)
    if revision != HEAD:
        raise WrongSchema(f"the database is at revision {revision}, this release needs {HEAD}: run `tollgate migrate`")
