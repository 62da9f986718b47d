"""Lines of the double-entry book, appended in the commit that made them true. What is posted is decided before."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from tollgate.payments import Line
from tollgate.store.schema import book
from tollgate.store.statements import Statement, Step

LINE = Line.__struct_fields__
_post = Statement(sa.insert(book).values({name: sa.bindparam(name) for name in LINE}))


def steps_post_line(line: Line) -> list[Step]:
    return [Step(_post, msgspec.structs.asdict(line), rows=1)]
