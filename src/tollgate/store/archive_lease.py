"""The lease of the process that changes archived months, kept in the settings. What it changes is decided elsewhere."""

from tollgate.store import opening
from tollgate.store.database import Database
from tollgate.store.statements import Write
from tollgate.values import Instant

_OWNER, _UNTIL = "archive_lease.owner", "archive_lease.until"


async def take_lease(db: Database, owner: str, now: Instant, until: Instant) -> bool:
    """Takes the lease for a process unless another one has it."""
    await opening.add_setting(db, _OWNER, "")
    await opening.add_setting(db, _UNTIL, "0")
    held, lasts = await opening.get_setting(db, _OWNER), await opening.get_setting(db, _UNTIL)
    if held and held != owner and int(lasts) > now:
        return False
    taken = opening.replace_setting_writes(_OWNER, held, owner)
    return await db.write([*taken, *opening.replace_setting_writes(_UNTIL, lasts, str(until))], label="archive lease")


def keep_lease_writes(owner: str) -> list[Write]:
    """Changes nothing; the unit is undone where another process has taken the lease."""
    return opening.replace_setting_writes(_OWNER, owner, owner)


async def extend_lease(db: Database, owner: str, until: Instant) -> bool:
    writes = [*keep_lease_writes(owner), *opening.put_setting_writes(_UNTIL, str(until))]
    return await db.write(writes, label="archive lease")


async def drop_lease(db: Database, owner: str) -> None:
    await opening.replace_setting(db, _OWNER, owner, "")
