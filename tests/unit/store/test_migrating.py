"""The folder of revisions: its newest is the one the code names, and nothing is done when nothing is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from alembic.script import ScriptDirectory

from tollgate.store import migrating
from tollgate.store.database import WrongSchema
from tollgate.store.migrating import (
    FIRST,
    HEAD,
    REVISIONS,
    VERSIONS,
    Kind,
    choose_target,
    list_waiting,
    make_missing_statements,
    refuse_unfit,
)
from tollgate.store.schema import METADATA, POSTGRESQL_METADATA
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
    expected = {"alembic_version", *METADATA.tables}
    if dialect is Dialect.POSTGRESQL:
        expected |= {*POSTGRESQL_METADATA.tables}
    assert {text.split()[2] for text in texts if text.startswith("CREATE TABLE")} == expected
    assert HEAD in texts[-2]


@pytest.mark.parametrize("dialect", Dialect)
def test_the_driver_and_not_the_migration_owns_the_transaction(dialect: Dialect) -> None:
    assert not {"BEGIN", "COMMIT"} & set(make_missing_statements(dialect, None))


def test_a_revision_that_no_release_had_is_refused() -> None:
    with pytest.raises(WrongSchema, match="0010x"):
        make_missing_statements(Dialect.SQLITE, "0010x")


def test_every_revision_says_which_processes_may_run_beside_it() -> None:
    scripts = ScriptDirectory(str(VERSIONS)).walk_revisions()

    assert [*REVISIONS] == sorted(script.revision for script in scripts)


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Replaces the revisions by some of each kind."""
    kinds = [Kind.WHOLE, Kind.EXPAND, Kind.CONTRACT, Kind.EXPAND, Kind.EXPAND, Kind.CONTRACT]
    monkeypatch.setattr(migrating, "REVISIONS", {f"{10 + place:04}": kind for place, kind in enumerate(kinds)})
    return monkeypatch


@pytest.mark.parametrize(
    ("head", "revision", "needed", "refused"),
    [
        ("0010", "0010", "0010", ""),
        ("0010", "0011", "0010", ""),
        ("0010", "0012", "0012", "at revision 0012.*use a release that knows revision 0012"),
        ("0010", "0012", None, "at revision 0012.*use a release that knows revision 0012"),
        ("0012", "0010", "0010", "needs 0011: run `tollgate migrate`$"),
        ("0012", "0011", "0010", ""),
        ("0012", "0014", "0012", ""),
        ("0012", "0099", "0012", ""),
        ("0012", "0099", "0098", "at revision 0099.*use a release that knows revision 0098"),
        ("0015", "0011", "0010", "needs 0014.*do not tolerate 0012: stop them, and run `tollgate migrate --contract`"),
        ("0015", "0012", "0012", "needs 0014: run `tollgate migrate`$"),
        ("0015", "0014", "0012", ""),
        ("0012", None, None, "x.db has no tables of Tollgate"),
    ],
)
def test_a_release_uses_tables_of_another_one_only_where_the_difference_does_not_matter_to_it(
    four: pytest.MonkeyPatch, head: str, revision: str | None, needed: str | None, refused: str
) -> None:
    four.setattr(migrating, "HEAD", head)

    if refused:
        with pytest.raises(WrongSchema, match=refused):
            refuse_unfit(revision, needed, "x.db")
    else:
        refuse_unfit(revision, needed, "x.db")


@pytest.mark.parametrize(
    ("revision", "contracts", "target"),
    [
        (None, False, "0015"),
        ("0010", False, "0011"),
        ("0011", False, "0011"),
        ("0012", False, "0014"),
        ("0014", False, "0014"),
        ("0010", True, "0015"),
        ("0099", True, "0015"),
    ],
)
def test_a_migration_stops_before_what_older_releases_do_not_tolerate(
    four: pytest.MonkeyPatch, revision: str | None, contracts: bool, target: str
) -> None:
    four.setattr(migrating, "HEAD", "0015")

    assert choose_target(revision, contracts=contracts) == target


def test_revisions_that_a_release_does_without_wait(four: pytest.MonkeyPatch) -> None:
    four.setattr(migrating, "HEAD", "0015")

    assert [list_waiting(revision) for revision in ("0014", "0015", "0012", None)] == [["0015"], [], [], []]


def test_a_revision_from_before_the_first_release_is_refused_with_what_to_do() -> None:
    for revision in ("0001", "0009"):
        with pytest.raises(WrongSchema, match=r"before the first release.*name an empty folder"):
            refuse_unfit(revision, revision, "x.db")
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
