"""SQL statements, compiled once for each dialect, and the writes of an atomic unit.

Running them is the drivers' work.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import Dialect as Compiler
from sqlalchemy.sql.dml import UpdateBase

Params = Mapping[str, Any] | tuple[Any, ...]
"""Values by the names of their parameters, or in the order in which the text has them."""


class Dialect(StrEnum):
    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"


COMPILERS: dict[Dialect, Compiler] = {
    Dialect.POSTGRESQL: postgresql.dialect(paramstyle="numeric_dollar"),  # type: ignore[no-untyped-call]
    Dialect.SQLITE: sqlite.dialect(paramstyle="qmark"),
}


@dataclass(frozen=True, slots=True)
class CompiledText:
    """A text for a driver, with the name of the parameter at each place."""

    text: str
    names: tuple[str, ...]
    constants: Mapping[str, Any]

    def bind(self, params: Params) -> tuple[Any, ...]:
        if isinstance(params, tuple):
            return params
        if self.constants:
            params = {**self.constants, **params}
        return tuple([params[name] for name in self.names])


Expression = sa.sql.expression.Executable


class Statement:
    """A statement is made at import and compiled when it first runs.

    Its expression may be given as a function, which is called then; whether it writes must then be said.
    `is_quick` promises a read by key that may run on the event loop. PostgreSQL may have an expression of its own.
    """

    __slots__ = ("_compiled", "_expression", "_on_postgres", "is_quick", "is_write")

    def __init__(
        self,
        expression: Expression | Callable[[], Expression],
        *,
        on_postgres: Expression | None = None,
        is_quick: bool = False,
        is_write: bool = False,
    ) -> None:
        self._expression = expression
        self._on_postgres = on_postgres
        self._compiled: dict[Dialect, CompiledText] = {}
        self.is_quick = is_quick
        self.is_write = is_write or isinstance(expression, UpdateBase)

    def compiled_for(self, dialect: Dialect) -> CompiledText:
        found = self._compiled.get(dialect)
        if found is None:
            expression = self._expression() if callable(self._expression) else self._expression
            if self._on_postgres is not None and dialect is Dialect.POSTGRESQL:
                expression = self._on_postgres
            compiled = expression.compile(dialect=COMPILERS[dialect])  # type: ignore[attr-defined]
            # The compiler may add constants of its own, as SQLite's LIMIT wants an OFFSET beside it.
            constants = {name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required}
            found = CompiledText(str(compiled), tuple(compiled.positiontup or ()), constants)
            self._compiled[dialect] = found
        return found


@dataclass(frozen=True, slots=True)
class HotRead:
    """A frequent read, of which PostgreSQL answers all that wait with one statement."""

    name: str
    one: Statement
    many: str
    """It takes an array for each parameter, and returns the place (from 1) of its request before each row."""
    key_at: tuple[int, int, int] | None = None
    """The places of merchant, id and time in a row of payments; the months of what was read are remembered."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write is one statement of an atomic unit; any other number of affected rows than `rows` undoes the unit."""

    statement: Statement
    params: Params
    rows: int | None = None
