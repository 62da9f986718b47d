"""The batched reads and writes on PostgreSQL: one statement, and one commit, for all that is queued.

What a row means is decided elsewhere.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import asyncpg

from tollgate.store.database import CONFIRMATION, Batcher, Unconfirmed, WriteHealth
from tollgate.store.hot import HotWrite, Row
from tollgate.store.postgres_faults import FAULTS, Fate, get_fate, persist
from tollgate.store.postgres_months import Months, Placing
from tollgate.store.statements import HotRead, Params, Statement

# Batches find their few rows by key. On a young table, whose size the planner does not know yet, it would choose to
# scan it, keep that plan, and slow down with every payment.
BATCH_SETTINGS = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
}

Connect = Callable[[], Awaitable[asyncpg.Connection]]
Ask = Callable[[Statement, Params], Awaitable[Row | None]]
"""Runs one statement over a connection of the pool, once, and returns its first row."""


class _Line:
    """A connection that a writer keeps to itself, because borrowing one from a pool costs as much as the statement."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: asyncpg.Connection | None = None

    async def fetch(self, query: str, bindings: Sequence[Any]) -> Sequence[Sequence[Any]]:
        connection = self._connection
        if connection is None or connection.is_closed():
            connection = self._connection = await self._connect()
        try:
            rows: Sequence[Sequence[Any]] = await connection.fetch(query, *bindings)
        except FAULTS as fault:
            # After a timeout the server may still be at it: the next try starts on a connection that owes no answer.
            if get_fate(fault) in (Fate.LOST, Fate.REFUSED):
                connection.terminate()
            raise
        return rows

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class BatchReader:
    """A reader gathers the requests of one hot read into batches."""

    def __init__(self, hot: HotRead, connect: Connect, months: Months) -> None:
        self._hot = hot
        self._months = months
        self._line = _Line(connect)
        self._batcher: Batcher[Row, list[Row]] = Batcher(
            lambda keys: asyncio.ensure_future(persist(partial(self._fetch, keys), is_repeatable=True))
        )
        self.submit = self._batcher.submit

    async def close(self) -> None:
        await self._batcher.close()
        await self._line.close()

    async def _fetch(self, keys: Sequence[Row], _tries: int) -> list[list[Row]]:
        found: list[list[Row]] = [[] for _ in keys]
        for place, *row in await self._line.fetch(self._hot.many, list(zip(*keys, strict=True))):
            found[place - 1].append(tuple(row))
        if self._hot.key_at is not None:
            for rows in found:
                self._months.remember(rows, self._hot.key_at)
        return found


class BatchWriter:
    """A writer gathers the rows of one hot write into batches."""

    def __init__(self, hot: HotWrite[Any], connect: Connect, ask: Ask, health: WriteHealth, months: Months) -> None:
        self._hot = hot
        self._health = health
        self._ask = ask
        self._months = months
        self._placing = Placing(hot, months)
        self._loop = asyncio.get_running_loop()
        self._line = _Line(connect)
        names = [name for name, _ in hot.columns]
        get_key = itemgetter(*map(names.index, hot.apart)) if hot.apart else None
        self._batcher: Batcher[Row, Any] = Batcher(self._start, get_key=get_key)
        self.submit = self._batcher.submit

    async def close(self) -> None:
        await self._batcher.close()
        await self._line.close()

    def _start(self, rows: Sequence[Row]) -> asyncio.Future[Sequence[Any]]:
        return self._loop.create_task(self._health.watch(self._persist(rows)))

    async def _persist(self, rows: Sequence[Row]) -> Sequence[Any]:
        """Writes rows, and asks for those whose answer was lost even where the database takes no writes any more."""
        try:
            write = partial(self._try, rows)
            return await persist(write, is_repeatable=True, lost=Unconfirmed, repair=self._months.repair)
        except Unconfirmed as fault:
            try:
                found = [await self._get_answer(row) for row in rows]
            except FAULTS:
                raise fault from None
            if not any(found):
                # The server may still be at it, or it waits for a standby, and what it writes is not visible before.
                raise fault from None
            return found

    async def _try(self, rows: Sequence[Row], tries: int) -> Sequence[Any]:
        """Writes rows once more; one that an earlier try made durable is refused now, and then found."""
        hot = self._hot
        text = hot.texts[max(map(hot.choose_text, rows))]
        places = await self._placing.place(rows)
        try:
            if len(rows) == 1:
                one = self._placing.render(text.one, places)
                accepted = await self._line.fetch(one, rows[0][: text.width])
            else:
                many = self._placing.render(text.many, places)
                accepted = await self._line.fetch(many, list(zip(*rows, strict=True))[: text.width])
        except asyncpg.UniqueViolationError:
            if tries == 0:
                raise
            if len(rows) > 1:
                # Either all are durable, or one that another process made before stands in the way of the others.
                return [(await self._try([row], tries))[0] for row in rows]
            answers: list[Any] = [False]
        else:
            answers = [not text.is_guarded] * len(rows)
            for place, answer in accepted:
                answers[place - 1] = answer
        if tries == 0:
            return answers
        return [answer or await self._get_answer(row) for answer, row in zip(answers, rows, strict=True)]

    async def _get_answer(self, row: Row) -> Any:
        """Returns what an earlier try wrote; false if it wrote nothing.

        A server that was restarted, or an operator who ended a session, makes visible what the standby does not have
        yet. A commit that follows is acknowledged by the standby only after everything before it.
        """
        hot = self._hot
        found = await self._ask(hot.is_written, hot.make_params(row))
        if found is None or found[0] is None:
            return False
        await self._ask(CONFIRMATION, {})
        return found[0]
