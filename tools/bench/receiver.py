"""A receiver of webhooks in a process of its own, which notes when each event arrived. It checks no signature.

The path of a request chooses how it is answered: `/healthy`, `/hanging`, `/failing` or `/resetting`, and anything
after it is the name under which the arrival is noted.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")
_EVENT = re.compile(rb"(?i)\r\nwebhook-id: *([^\r]+)")
_PATH = re.compile(rb"POST /([a-z]+)([^ ]*) ")
_TEST = b'"type":"test"'
_DONE = b"HTTP/1.1 204 No Content\r\n\r\n"
_FAILED = b"HTTP/1.1 500 Failed\r\ncontent-length: 0\r\n\r\n"


class Receiver(asyncio.Protocol):
    arrivals: ClassVar[dict[str, dict[str, float]]] = {}
    """The time of each event's first arrival, by path."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        self.read += data
        head, end, rest = self.read.partition(_HEAD_END)
        length = _LENGTH.search(head)
        if not end or len(rest) < (int(length[1]) if length else 0):
            return
        self.read = b""
        if head.startswith(b"GET"):
            body = json.dumps(self.arrivals).encode()
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            return
        path, event = _PATH.match(head), _EVENT.search(head)
        assert path is not None, head
        assert event is not None, head
        self.arrivals.setdefault((path[1] + path[2]).decode(), {}).setdefault(event[1].decode(), time.time())
        match b"healthy" if _TEST in rest else path[1]:
            case b"healthy":
                self.transport.write(_DONE)
            case b"failing":
                self.transport.write(_FAILED)
            case b"resetting":
                self.transport.abort()
            case _:
                pass


@dataclass(frozen=True)
class ReceiverProcess:
    port: int

    def make_url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def read_arrivals(self, path: str) -> dict[str, float]:
        with urllib.request.urlopen(self.make_url(""), timeout=60) as answer:
            found: dict[str, float] = json.load(answer).get(path, {})
        return found


@contextmanager
def run_receiver() -> Iterator[ReceiverProcess]:
    process = subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield ReceiverProcess(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
