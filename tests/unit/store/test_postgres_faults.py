"""Faults of the driver have a meaning, and some are worth another try."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from tollgate.store import postgres_faults
from tollgate.store.database import Damaged, StoreFault, Unavailable, Unconfirmed, Unwritable

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_faults, "FIRST_PAUSE_S", 0.0)


@pytest.mark.parametrize(
    ("fault", "fate"),
    [
        (asyncpg.exceptions._base.DataError("argument"), postgres_faults.Fate.UNWRITABLE),
        (asyncpg.CharacterNotInRepertoireError("NUL"), postgres_faults.Fate.UNWRITABLE),
        (asyncpg.UniqueViolationError("key"), postgres_faults.Fate.UNWRITABLE),
        (asyncpg.SerializationError("again"), postgres_faults.Fate.AGAIN),
        (asyncpg.DeadlockDetectedError("again"), postgres_faults.Fate.AGAIN),
        (asyncpg.ConnectionDoesNotExistError("gone"), postgres_faults.Fate.LOST),
        (asyncpg.InterfaceError("closed"), postgres_faults.Fate.LOST),
        (asyncpg.AdminShutdownError("restart"), postgres_faults.Fate.LOST),
        (asyncpg.CannotConnectNowError("starting"), postgres_faults.Fate.REFUSED),
        (asyncpg.TooManyConnectionsError("full"), postgres_faults.Fate.REFUSED),
        (asyncpg.ReadOnlySQLTransactionError("standby"), postgres_faults.Fate.REFUSED),
        (postgres_faults.Unreached("ConnectionRefusedError"), postgres_faults.Fate.REFUSED),
        (TimeoutError(), postgres_faults.Fate.LOST),
        (ConnectionResetError(), postgres_faults.Fate.LOST),
        (asyncpg.InvalidPasswordError("no"), postgres_faults.Fate.CLOSED),
        (asyncpg.InvalidCatalogNameError("no"), postgres_faults.Fate.CLOSED),
        (asyncpg.DiskFullError("full"), postgres_faults.Fate.DAMAGED),
        (asyncpg.PostgresIOError("disk"), postgres_faults.Fate.DAMAGED),
    ],
)
def test_each_fault_has_its_fate(fault: Exception, fate: postgres_faults.Fate) -> None:
    assert postgres_faults.get_fate(fault) is fate


def failing(fault: Exception, times: int) -> tuple[Callable[[int], Awaitable[str]], list[int]]:
    calls: list[int] = []

    async def run(tries: int) -> str:
        calls.append(tries)
        if len(calls) <= times:
            raise fault
        return "done"

    return run, calls


async def test_what_the_server_undid_is_tried_again() -> None:
    run, calls = failing(asyncpg.SerializationError("again"), 2)

    assert await postgres_faults.persist(run, is_repeatable=False) == "done"
    assert calls == [0, 1, 2]


async def test_what_was_lost_is_tried_again_only_where_repeating_is_safe() -> None:
    run, calls = failing(ConnectionResetError(), 1)
    assert await postgres_faults.persist(run, is_repeatable=True) == "done"
    assert calls == [0, 1]

    run, calls = failing(ConnectionResetError(), 1)
    with pytest.raises(Unconfirmed):
        await postgres_faults.persist(run, is_repeatable=False)
    assert calls == [0]


async def test_trying_has_an_end() -> None:
    run, calls = failing(ConnectionResetError(), 99)

    with pytest.raises(Unavailable, match="ConnectionResetError"):
        await postgres_faults.persist(run, is_repeatable=True)
    assert len(calls) == postgres_faults.TRIES_MAX


async def test_giving_up_says_whether_it_may_have_been_done() -> None:
    refused, _ = failing(asyncpg.ReadOnlySQLTransactionError("standby"), 99)
    with pytest.raises(Unavailable):
        await postgres_faults.persist(refused, is_repeatable=True, lost=Unconfirmed)

    lost, _ = failing(ConnectionResetError(), 99)
    with pytest.raises(Unconfirmed):
        await postgres_faults.persist(lost, is_repeatable=True, lost=Unconfirmed)


async def test_what_was_refused_is_tried_again_although_repeating_is_not_safe() -> None:
    run, calls = failing(postgres_faults.Unreached("ConnectionRefusedError"), 1)

    assert await postgres_faults.persist(run, is_repeatable=False) == "done"
    assert calls == [0, 1]


@pytest.mark.parametrize(
    ("fault", "received"),
    [
        (asyncpg.UniqueViolationError("key"), Unwritable),
        (asyncpg.DiskFullError("full"), Damaged),
        (asyncpg.InvalidPasswordError("no"), Unavailable),
    ],
)
async def test_a_fault_that_repeating_cannot_mend_is_raised_at_once(
    fault: Exception, received: type[StoreFault]
) -> None:
    run, calls = failing(fault, 99)

    with pytest.raises(received):
        await postgres_faults.persist(run, is_repeatable=True)
    assert calls == [0]


async def test_what_was_stored_is_not_repeated_in_a_fault() -> None:
    run, _ = failing(asyncpg.exceptions._base.DataError("invalid input: 'Jane Jones'"), 1)

    with pytest.raises(Unwritable) as caught:
        await postgres_faults.persist(run, is_repeatable=True)
    assert "Jane" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
