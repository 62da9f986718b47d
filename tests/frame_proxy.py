"""A proxy between a gateway and an ISO 8583 host that loses, repeats, delays, reorders and breaks frames at random.

It knows frames and nothing within them. No test lives here.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from types import TracebackType
from typing import Self

_BROKEN = (asyncio.IncompleteReadError, OSError)


class Accident(StrEnum):
    NONE = "none"
    DROP = "drop"
    DUPLICATE = "duplicate"
    DELAY = "delay"
    HOLD = "hold"
    """The frame goes after the next one."""
    SPLIT = "split"
    """The frame goes byte by byte."""
    HALF_CLOSE = "half-close"
    CUT = "cut"


_WEIGHTS = {
    Accident.NONE: 60,
    Accident.DROP: 8,
    Accident.DUPLICATE: 8,
    Accident.DELAY: 8,
    Accident.HOLD: 5,
    Accident.SPLIT: 8,
    Accident.HALF_CLOSE: 2,
    Accident.CUT: 1,
}
DELAY_S = 1.5
"""The longest delay of a frame."""


class FrameProxy:
    """Runs in a thread of its own; what happens to each frame is drawn from the seed until it is healed."""

    def __init__(self, target_port: int, seed: int) -> None:
        self._target_port = target_port
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._cuts: list[Callable[[], None]] = []
        self.is_healthy = False
        self.accidents: Counter[Accident] = Counter()
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def heal(self) -> None:
        self.is_healthy = True

    async def _open(self) -> int:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for cut in self._cuts:
            cut()
        # A transport closes its socket in the next round of the loop.
        await asyncio.sleep(0)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return

        def cut() -> None:
            writer.transport.abort()
            far_writer.transport.abort()

        self._cuts.append(cut)
        there, back = _Direction(self, reader, far_writer, cut), _Direction(self, far_reader, writer, cut)
        for each in (there.read(), there.write(), back.read(), back.write()):
            task = self._loop.create_task(each)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def draw(self) -> Accident:
        if self.is_healthy:
            return Accident.NONE
        (accident,) = self._random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        self.accidents[accident] += 1
        return accident

    def draw_delay_s(self) -> float:
        return self._random.uniform(0, DELAY_S)


class _Direction:
    """One half of a connection: frames are read, meet their accidents, and are written one after the other."""

    def __init__(
        self, proxy: FrameProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: Callable[[], None]
    ) -> None:
        self._proxy, self._reader, self._writer, self._cut = proxy, reader, writer, cut
        self._queue: asyncio.Queue[tuple[bytes, bool] | None] = asyncio.Queue()
        """Frames, each with whether it goes byte by byte; None closes this half."""
        self._held: list[bytes] = []

    async def read(self) -> None:
        try:
            while True:
                header = await self._reader.readexactly(2)
                self._put(header + await self._reader.readexactly(int.from_bytes(header, "big")))
        except _BROKEN:
            self._queue.put_nowait(None)

    def _put(self, frame: bytes) -> None:
        match self._proxy.draw():
            case Accident.DROP:
                return
            case Accident.DUPLICATE:
                self._queue.put_nowait((frame, False))
                self._queue.put_nowait((frame, False))
            case Accident.DELAY:
                delay_s = self._proxy.draw_delay_s()
                asyncio.get_running_loop().call_later(delay_s, self._queue.put_nowait, (frame, False))
            case Accident.HOLD:
                self._held.append(frame)
                return
            case Accident.SPLIT:
                self._queue.put_nowait((frame, True))
            case Accident.HALF_CLOSE:
                self._queue.put_nowait(None)
            case Accident.CUT:
                self._cut()
            case _:
                self._queue.put_nowait((frame, False))
        for held in self._held:
            self._queue.put_nowait((held, False))
        self._held.clear()

    async def write(self) -> None:
        with suppress(*_BROKEN):
            while (item := await self._queue.get()) is not None:
                frame, is_split = item
                for piece in [frame[place : place + 1] for place in range(len(frame))] if is_split else [frame]:
                    self._writer.write(piece)
                    await self._writer.drain()
                    await asyncio.sleep(0)
            self._writer.write_eof()
            return
        self._cut()
