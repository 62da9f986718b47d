"""Reads reports and pages from the replica, or from the primary where the replica is gone or too far behind.

What is read is the caller's business; it must change nothing that it cannot do twice.
"""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from prometheus_client import Counter

from tollgate.operations.app import App
from tollgate.store.database import Damaged, Unavailable, Unconfirmed
from tollgate.store.replicas import Source

_READS = Counter("tollgate_replica_reads", "Reports and pages, by what they were read from.", ("source",))

_Found = TypeVar("_Found")


async def read(app: App, run: Callable[[App, Source | None], Coroutine[Any, Any, _Found]]) -> _Found:
    """Runs a read with an app whose database is the replica's, and again with the primary's if the replica fails."""
    replica = app.replica
    if replica is None:
        return await run(app, None)
    if not replica.trouble:
        reader = msgspec.structs.replace(app, database=replica.get_database())
        try:
            found = await replica.run(run(reader, replica.make_source()))
        except (Unavailable, Unconfirmed, Damaged) as fault:
            replica.note_fault(fault)
        else:
            _READS.labels("replica").inc()
            return found
    _READS.labels("primary").inc()
    return await run(app, replica.make_source())
