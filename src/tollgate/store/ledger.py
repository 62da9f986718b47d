"""Lines of the double-entry book, appended in the commit that made them true. What is posted is decided before."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from tollgate.payments import Entry
from tollgate.store.schema import ledger
from tollgate.store.statements import Statement, Write

ENTRY = Entry.__struct_fields__
_post = Statement(sa.insert(ledger).values({name: sa.bindparam(name) for name in ENTRY}))


def post_entry_writes(entry: Entry) -> list[Write]:
    return [Write(_post, msgspec.structs.asdict(entry), rows=1)]
