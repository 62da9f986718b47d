"""The right to change archived months: one process at a time has it, and loses it if it is killed.

What is changed is decided in `archive` and `erase_archived`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from tollgate.operations.app import App
from tollgate.payments.archiving import ArchivedMonth
from tollgate.store import archive_lease
from tollgate.store.database import StoreFault
from tollgate.store.statements import Write
from tollgate.values import SECOND, make_id
from tollgate.vault.archive_files import ArchiveError

Tell = Callable[[str], None]
LEASE = 30 * SECOND
_EXTEND_S = 5.0


class Run(msgspec.Struct, frozen=True, kw_only=True):
    app: App
    root: Path
    owner: str
    tell: Tell

    async def write(self, writes: Sequence[Write], label: str) -> None:
        """Commits a unit while this run is the one that may; what another run changed is left to it."""
        unit = [*archive_lease.keep_lease_writes(self.owner), *writes]
        if not await self.app.database.write(unit, label=label):
            raise ArchiveError("another run took over; nothing was lost, and it goes on")

    def get_folder(self, archived: ArchivedMonth) -> Path:
        return self.root / archived.name


@asynccontextmanager
async def hold_archive(app: App, root: Path, tell: Tell) -> AsyncIterator[Run]:
    """Holds the lease, and extends it while others work."""
    run = Run(app=app, root=root, owner=make_id(app.random_bytes), tell=tell)
    now = app.clock.wall()
    if not await archive_lease.take_lease(app.database, run.owner, now, now + LEASE):
        raise ArchiveError(
            "another run or erasure is changing archived months now, "
            f"or was killed within the last {LEASE // SECOND} seconds"
        )

    async def extend() -> None:
        while True:
            await asyncio.sleep(_EXTEND_S)
            # A fault of the store ends the next write too, and that is where it is reported.
            with suppress(StoreFault):
                await archive_lease.extend_lease(app.database, run.owner, app.clock.wall() + LEASE)

    extending = asyncio.create_task(extend())
    try:
        yield run
    finally:
        extending.cancel()
        with suppress(asyncio.CancelledError):
            await extending
        await archive_lease.drop_lease(app.database, run.owner)
