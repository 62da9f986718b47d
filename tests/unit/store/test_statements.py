"""Compiled statements: the same expression in two dialects, constants filled in, absent parameters noticed."""

from __future__ import annotations

import gc
import pkgutil
from importlib import import_module

import pytest
import sqlalchemy as sa

import tollgate.store
from tollgate.store.schema import jobs
from tollgate.store.statements import Dialect, Statement

LIST = Statement(
    sa.select(jobs.c.id)
    .where(jobs.c.due_at <= sa.bindparam("now"), jobs.c.leased_until <= sa.bindparam("now"))
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)


def test_postgresql_numbers_its_parameters_and_repeats_a_number() -> None:
    compiled = LIST.compiled_for(Dialect.POSTGRESQL)

    assert compiled.names == ("now", "limit")
    assert compiled.text.count("$1") == 2
    assert compiled.text.endswith("FOR UPDATE SKIP LOCKED")


def test_sqlite_repeats_the_value_adds_its_own_constant_and_locks_nothing() -> None:
    compiled = LIST.compiled_for(Dialect.SQLITE)

    assert compiled.bind({"now": 5, "limit": 9}) == (5, 5, 9, 0)
    assert "LOCKED" not in compiled.text


def test_a_statement_is_compiled_once_per_dialect() -> None:
    assert LIST.compiled_for(Dialect.SQLITE) is LIST.compiled_for(Dialect.SQLITE)


def test_a_forgotten_parameter_is_noticed() -> None:
    with pytest.raises(KeyError, match="limit"):
        LIST.compiled_for(Dialect.POSTGRESQL).bind({"now": 1})


def test_a_statement_knows_whether_it_writes() -> None:
    assert Statement(sa.delete(jobs)).is_write
    assert Statement(sa.text("VACUUM"), is_write=True).is_write
    assert not LIST.is_write


def test_an_expression_that_is_given_as_a_function_is_made_when_it_is_needed() -> None:
    made: list[str] = []

    def build() -> sa.Delete:
        made.append("once")
        return sa.delete(jobs)

    statement = Statement(build, is_write=True)
    assert made == []

    assert statement.compiled_for(Dialect.SQLITE).text == statement.compiled_for(Dialect.SQLITE).text
    assert made == ["once"]


@pytest.mark.parametrize("dialect", Dialect)
def test_every_statement_of_the_store_compiles(dialect: Dialect) -> None:
    for module in pkgutil.iter_modules(tollgate.store.__path__):
        import_module(f"tollgate.store.{module.name}")
    statements = [each for each in gc.get_objects() if isinstance(each, Statement)]

    assert len(statements) > 300
    assert all(each.compiled_for(dialect).text for each in statements)
