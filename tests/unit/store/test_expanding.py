"""An expanding revision has only statements that processes of older releases tolerate, while they write."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tollgate.store import migrating
from tollgate.store.statements import Dialect

_NEW_TABLE = re.compile(r"CREATE TABLE (\w+) .*", re.DOTALL)
_NEW_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) .*", re.DOTALL)
_NEW_COLUMN = re.compile(r"ALTER TABLE \w+ ADD COLUMN (.*)", re.DOTALL)
_ROW = re.compile(r"INSERT INTO (\w+) .*", re.DOTALL)
_OWN = re.compile(r"UPDATE alembic_version SET version_num='\w+' WHERE .*", re.DOTALL)


def list_intolerable(texts: Iterable[str]) -> list[str]:
    """Lists the statements that an older release might not survive, or that keep its writes waiting for long.

    An index of a table that has rows keeps writers waiting while it is made, and a column that must have a value breaks
    every statement that does not know it.
    """
    made = {"settings"}
    found = []
    for text in texts:
        if table := _NEW_TABLE.fullmatch(text):
            made.add(table[1])
        elif column := _NEW_COLUMN.fullmatch(text):
            if "NOT NULL" in column[1].upper() and "DEFAULT" not in column[1].upper():
                found.append(text)
        elif not (
            any((match := pattern.fullmatch(text)) and match[1] in made for pattern in (_NEW_INDEX, _ROW))
            or _OWN.fullmatch(text)
        ):
            found.append(text)
    return found


@pytest.mark.parametrize("dialect", Dialect)
def test_older_releases_tolerate_every_expanding_revision(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for before, revision in zip([*migrating.REVISIONS], [*migrating.REVISIONS][1:], strict=False):
        if migrating.REVISIONS[revision] is migrating.Kind.EXPAND:
            monkeypatch.setattr(migrating, "HEAD", revision)
            found += [(revision, each) for each in list_intolerable(migrating.make_missing_statements(dialect, before))]

    assert found == []


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (["ALTER TABLE payments ADD COLUMN note TEXT", "ALTER TABLE x ADD COLUMN n BIGINT NOT NULL DEFAULT 0"], 0),
        (["ALTER TABLE payments ADD COLUMN note TEXT NOT NULL"], 1),
        (["CREATE TABLE notes (id TEXT)", "CREATE INDEX by_id ON notes (id)", "INSERT INTO notes VALUES ('a')"], 0),
        (["CREATE UNIQUE INDEX by_note ON payments (note)", "INSERT INTO payments (id) VALUES ('a')"], 2),
        (["DROP TABLE notes", "ALTER TABLE notes RENAME TO texts", "UPDATE payments SET note = ''"], 3),
        (["ALTER TABLE payments DROP COLUMN note", "ALTER TABLE payments ALTER COLUMN note SET NOT NULL"], 2),
    ],
)
def test_what_an_older_release_does_not_tolerate_is_noticed(texts: list[str], count: int) -> None:
    assert len(list_intolerable(texts)) == count
