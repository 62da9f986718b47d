"""Faults of PostgreSQL: which mean that a write may be repeated, and which mean that its fate is unknown.

Faults of SQLite are in its driver.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import TypeVar

import asyncpg

from tollgate.store import database

TRIES_MAX = 6
FIRST_PAUSE_S = 0.05
GIVE_UP_AFTER_S = 15.0
"""No further try begins after this time: a server that answers nothing would use up the time limit of every try."""


Answer = TypeVar("Answer")


class Fate(Enum):
    UNWRITABLE = auto()
    """The row is to blame."""
    AGAIN = auto()
    """The server undid it and asks to try again."""
    LOST = auto()
    """The connection broke: whether the server finished is not known."""
    REFUSED = auto()
    """The server could not be reached, or takes no writes now: nothing was done, and the next connection may find
    another one."""
    CLOSED = auto()
    """The server does not let us in, or not do that: asking again changes nothing."""
    DAMAGED = auto()
    """The server's disk or memory is to blame."""


class Unreached(ConnectionError):
    """No connection could be made, so nothing was sent over one. Its text names the kind of fault."""


FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError, TypeError)


# The first row that fits counts: some exceptions of the driver belong to several families.
_FATES: tuple[tuple[tuple[type[Exception], ...], Fate], ...] = (
    ((ValueError, TypeError), Fate.UNWRITABLE),
    ((asyncpg.SerializationError, asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError), Fate.AGAIN),
    ((asyncpg.OutdatedSchemaCacheError, asyncpg.InvalidCachedStatementError), Fate.AGAIN),
    ((Unreached, asyncpg.TooManyConnectionsError, asyncpg.CannotConnectNowError), Fate.REFUSED),
    # A primary that became a standby: the next connection finds its successor.
    ((asyncpg.ReadOnlySQLTransactionError,), Fate.REFUSED),
    ((OSError, asyncpg.InterfaceError, asyncpg.InternalClientError), Fate.LOST),
    ((asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError), Fate.LOST),
    ((asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError), Fate.CLOSED),
    ((asyncpg.InsufficientPrivilegeError, asyncpg.UndefinedTableError), Fate.CLOSED),
    ((asyncpg.InsufficientResourcesError,), Fate.DAMAGED),
    ((asyncpg.PostgresSystemError, asyncpg.InternalServerError), Fate.DAMAGED),
    ((asyncpg.PostgresError,), Fate.UNWRITABLE),
)


_FINAL: dict[Fate, type[database.StoreFault]] = {
    Fate.UNWRITABLE: database.Unwritable,
    Fate.CLOSED: database.Unavailable,
    Fate.DAMAGED: database.Damaged,
}


_REPAIRABLE = (Fate.UNWRITABLE, Fate.CLOSED)


def get_fate(fault: Exception) -> Fate:
    return next(fate for families, fate in _FATES if isinstance(fault, families))


def get_fault_name(fault: Exception) -> str:
    """Returns the kind alone, because the driver's text may repeat what was stored."""
    return str(fault) if isinstance(fault, Unreached) else type(fault).__name__


async def persist(
    run: Callable[[int], Awaitable[Answer]],
    *,
    is_repeatable: bool,
    lost: type[database.StoreFault] = database.Unavailable,
    repair: Callable[[Exception], Awaitable[bool]] | None = None,
) -> Answer:
    """Tries a bounded number of times what the server undid, and, where repeating is safe, what was lost on the way.

    repair: removes what stood in the way, if it can; nothing was done then.

    Ends with `lost` where some try may have been done, and with `Unavailable` where certainly none was.
    """
    pause_s, kind, is_certain = FIRST_PAUSE_S, "", True
    tries, began_at = 0, time.monotonic()
    while tries < TRIES_MAX and time.monotonic() - began_at < GIVE_UP_AFTER_S:
        try:
            return await run(tries)
        except FAULTS as fault:
            fate = get_fate(fault)
            kind, failed = get_fault_name(fault), fault
        if repair is not None and fate in _REPAIRABLE:
            try:
                if await repair(failed):
                    continue
            except FAULTS as fault:
                fate, kind = get_fate(fault), get_fault_name(fault)
        if fate in _FINAL:
            raise _FINAL[fate](kind)
        if fate is Fate.LOST and not is_repeatable:
            raise database.Unconfirmed(kind)
        is_certain &= fate is not Fate.LOST
        await asyncio.sleep(pause_s)
        pause_s *= 2
        tries += 1
    raise (database.Unavailable if is_certain else lost)(f"gave up after {tries} tries ({kind})")
