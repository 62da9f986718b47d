"""A writer with a bug: its callers get the error, and the next one is served."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tollgate.store.database import Batcher, Damaged

pytestmark = pytest.mark.anyio


def write(items: Sequence[int]) -> asyncio.Future[Sequence[int]]:
    future: asyncio.Future[Sequence[int]] = asyncio.get_running_loop().create_future()
    future.set_result([100 // item for item in items])
    return future


async def test_a_bug_before_anything_is_written_reaches_every_caller_and_blocks_no_later_one() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
    batcher = Batcher(write)

    answers = await asyncio.gather(batcher.submit(1), batcher.submit(0), return_exceptions=True)

    assert [type(answer) for answer in answers] == [Damaged, Damaged]
    assert [type(context["exception"]) for context in reported] == [ZeroDivisionError]
    assert await batcher.submit(4) == 25
