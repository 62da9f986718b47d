"""The folder of revisions: its newest is the one the code names, and nothing is done when nothing is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from alembic.script import ScriptDirectory

from tollgate.store.database import WrongSchema
from tollgate.store.migrating import FIRST, HEAD, VERSIONS, make_missing_statements, refuse_old_schema
from tollgate.store.schema import METADATA
from tollgate.store.statements import Dialect


def test_the_newest_revision_is_the_one_the_code_names() -> None:
    assert ScriptDirectory(str(VERSIONS)).get_heads() == [HEAD]


@pytest.mark.parametrize("dialect", Dialect)
def test_an_up_to_date_database_needs_nothing(dialect: Dialect) -> None:
    assert make_missing_statements(dialect, HEAD) == []


@pytest.mark.parametrize("dialect", Dialect)
def test_an_empty_database_gets_every_table_and_ends_at_the_newest_revision(dialect: Dialect) -> None:
    texts = make_missing_statements(dialect, None)

    # Alembic's own table of versions besides ours.
    assert sum(text.startswith("CREATE TABLE") for text in texts) == 1 + len(METADATA.tables)
    assert HEAD in texts[-1]


@pytest.mark.parametrize("dialect", Dialect)
def test_the_driver_and_not_the_migration_owns_the_transaction(dialect: Dialect) -> None:
    assert not {"BEGIN", "COMMIT"} & set(make_missing_statements(dialect, None))


def test_a_revision_of_a_later_release_is_refused() -> None:
    with pytest.raises(WrongSchema, match="9999"):
        make_missing_statements(Dialect.SQLITE, "9999")


def test_a_reader_refuses_every_revision_but_the_newest() -> None:
    refuse_old_schema(HEAD, "x.db")
    for revision in (None, "0010x"):
        with pytest.raises(WrongSchema, match="tollgate migrate"):
            refuse_old_schema(revision, "x.db")


def test_a_revision_from_before_the_first_release_is_refused_with_what_to_do() -> None:
    for revision in ("0001", "0009"):
        with pytest.raises(WrongSchema, match=r"before the first release.*name an empty folder"):
            refuse_old_schema(revision, "x.db")
        with pytest.raises(WrongSchema, match=r"before the first release.*name an empty folder"):
            make_missing_statements(Dialect.SQLITE, revision)


def test_the_oldest_revision_is_the_one_the_code_names() -> None:
    assert ScriptDirectory(str(VERSIONS)).get_bases() == [FIRST]


def test_alembic_is_not_imported_until_something_is_missing() -> None:
    text = (
        "import sys; import tollgate.store.sqlite, tollgate.store.postgres; from tollgate.store.migrating import *;"
        "make_missing_statements(Dialect.SQLITE, HEAD); sys.exit('alembic' in sys.modules)"
    )

    assert (
        subprocess.run([sys.executable, "-c", text], env={"PYTHONPATH": ":".join(sys.path)}, check=False).returncode
        == 0
    )
