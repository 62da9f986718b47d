"""Writes of one turn leave as one packet; closing sends what is left, aborting does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tollgate.web.outgoing import JoinedWrites

pytestmark = pytest.mark.anyio


class Line(asyncio.Transport):
    """Remembers every packet and how it ended."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.packets: list[bytes] = []
        self.end = ""

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        assert not self.end, "nothing may be written after the end"
        self.packets.append(bytes(data))

    def close(self) -> None:
        self.end = "closed"

    def abort(self) -> None:
        self.end = "aborted"

    def is_closing(self) -> bool:
        return bool(self.end)


async def test_what_is_written_in_one_turn_is_one_packet_and_the_next_turn_another() -> None:
    line = Line()
    joined = JoinedWrites(line, asyncio.get_running_loop())

    joined.write(b"head ")
    joined.write(b"body")
    assert line.packets == []
    await asyncio.sleep(0)
    joined.write(b"next")
    await asyncio.sleep(0)

    assert line.packets == [b"head body", b"next"]


async def test_closing_sends_what_was_written_first() -> None:
    line = Line()
    joined = JoinedWrites(line, asyncio.get_running_loop())

    joined.write(b"last words")
    joined.close()
    await asyncio.sleep(0)

    assert line.packets == [b"last words"]
    assert line.end == "closed"
    assert joined.is_closing()


async def test_aborting_sends_nothing_more() -> None:
    line = Line()
    joined = JoinedWrites(line, asyncio.get_running_loop())

    joined.write(b"never sent")
    joined.abort()
    await asyncio.sleep(0)

    assert line.packets == []
    assert line.end == "aborted"


async def test_questions_are_answered_by_the_line_itself() -> None:
    joined = JoinedWrites(Line(), asyncio.get_running_loop())

    assert joined.get_extra_info("peername") == ("127.0.0.1", 1)
    assert joined.get_extra_info("sslcontext", "none") == "none"
