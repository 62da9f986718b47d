"""What each fault of the PostgreSQL driver means for the one who was writing. A table; nothing is retried here."""

from __future__ import annotations

from enum import Enum, auto

import asyncpg  # type: ignore[import-untyped]


class Fate(Enum):
    UNWRITABLE = auto()
    """The row is to blame."""
    AGAIN = auto()
    """The server undid it and asks to try again."""
    LOST = auto()
    """The connection broke: whether the server finished is not known."""
    DAMAGED = auto()
    """The server's disk or memory is to blame."""


FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError, TypeError)

# The first row that fits counts: some exceptions of the driver belong to several families.
_FATES: tuple[tuple[tuple[type[Exception], ...], Fate], ...] = (
    ((ValueError, TypeError), Fate.UNWRITABLE),
    ((asyncpg.SerializationError, asyncpg.DeadlockDetectedError), Fate.AGAIN),
    ((asyncpg.OutdatedSchemaCacheError, asyncpg.InvalidCachedStatementError), Fate.AGAIN),
    ((OSError, asyncpg.InterfaceError, asyncpg.InternalClientError), Fate.LOST),
    ((asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError), Fate.LOST),
    ((asyncpg.TooManyConnectionsError,), Fate.LOST),
    # A primary that became a standby: the next connection finds its successor.
    ((asyncpg.ReadOnlySQLTransactionError,), Fate.LOST),
    ((asyncpg.InsufficientResourcesError,), Fate.DAMAGED),
    ((asyncpg.PostgresSystemError, asyncpg.InternalServerError), Fate.DAMAGED),
    ((asyncpg.PostgresError,), Fate.UNWRITABLE),
)


def judge(fault: Exception) -> Fate:
    return next(fate for families, fate in _FATES if isinstance(fault, families))
