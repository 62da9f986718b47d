"""An acquirer in a process of its own: the card protocol over HTTP, a ledger that outlives the gateway, bad manners.

The tests' half (`AcquirerProcess`) steers the other half through a control port; no test of ours lives here.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import msgspec

from acquirer_ledger import DECLINED_CENTS, Account, Entry, Fate, Ledger, Operation
from acquirer_sessions import PATHS as SESSION_PATHS
from acquirer_sessions import Session, Sessions
from ports import find_free_port
from tollgate.connectors.acquiring import AcquirerReply

__all__ = ["DECLINED_CENTS", "Account", "AcquirerProcess", "Entry", "Fate", "Manner", "Operation", "Session"]

START_S = 300.0
WAIT_S = 300.0
SLOW_S = 0.3


class Manner(StrEnum):
    """A manner decides how the next requests on a path are treated."""

    ANSWER = "answer"
    HOLD = "hold"
    """The acquirer does not act before it is released."""
    ACT_AND_HOLD = "act-and-hold"
    DROP = "drop"
    """The acquirer hangs up without having acted."""
    ACT_AND_DROP = "act-and-drop"
    GARBAGE = "garbage"
    """Acts and answers what is no message; so do the next two."""
    HALF = "half"
    ERROR = "error"
    PENDING = "pending"
    """Knows nothing yet and does not act."""
    ACT_AND_PEND = "act and pend"
    """Acts, but says that it is not decided yet."""
    DECLINE = "decline"
    """Declines what it has not seen before, and remembers that it did."""
    SLOW = "slow"
    """The acquirer acts and answers late, but before any time-out."""


_ACTS_LATE_OR_NEVER = {Manner.HOLD, Manner.DROP, Manner.PENDING}
_HOLDS = {Manner.HOLD, Manner.ACT_AND_HOLD}
_HANGS_UP = {Manner.DROP, Manner.ACT_AND_DROP}


class Instruction(msgspec.Struct, frozen=True):
    path: str
    manner: Manner
    times: int


class Manners:
    """The tests ask for manners by path, so a capture may fall silent while every charge passes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[str, int] = {}
        self._instructions: dict[str, Instruction] = {}
        self.released = threading.Event()

    def instruct(self, instruction: Instruction) -> None:
        with self._lock:
            self._instructions[instruction.path] = instruction
            self.released.clear()

    def receive(self, path: str) -> Manner:
        with self._lock:
            self._requests[path] = self._requests.get(path, 0) + 1
            received = self._instructions.get(path)
            if received is None or received.times == 0:
                return Manner.ANSWER
            self._instructions[path] = Instruction(path, received.manner, received.times - 1)
            return received.manner

    def report(self) -> bytes:
        """Counts the requests that have arrived, by path; those that are held count too."""
        with self._lock:
            return msgspec.json.encode(self._requests)


class _Endpoint(BaseHTTPRequestHandler):
    """Both ports keep connections open, send bodies with a length and print nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    ledger: Ledger
    sessions: Sessions
    manners: Manners

    def read_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def reply(self, status: int, body: bytes, promised: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class Counter(_Endpoint):
    """The gateway's requests arrive here."""

    def do_POST(self) -> None:
        body = self.read_body()
        manner = self.manners.receive(self.path)
        is_willing = manner is not Manner.DECLINE
        answer = b"" if manner in _ACTS_LATE_OR_NEVER else self.act(body, is_willing=is_willing)
        if manner is Manner.SLOW:
            time.sleep(SLOW_S)
        if manner in _HOLDS:
            self.manners.released.wait()
        if manner is Manner.HOLD:
            answer = self.act(body)
        # The process that asked may be dead by now.
        with suppress(OSError):
            self.tell(manner, answer)

    def act(self, body: bytes, *, is_willing: bool = True) -> bytes:
        if self.path in SESSION_PATHS:
            return self.sessions.act(self.path, body)
        return self.ledger.act(self.path, body, is_willing=is_willing)

    def tell(self, manner: Manner, answer: bytes) -> None:
        if manner in _HANGS_UP:
            self.close_connection = True
        elif manner is Manner.GARBAGE:
            self.reply(200, b"\x00\xffthis is not a message" + answer)
        elif manner is Manner.HALF:
            self.reply(200, answer[: len(answer) // 2], promised=len(answer))
            self.close_connection = True
        elif manner is Manner.ERROR:
            self.reply(500, b"{}")
        elif manner in (Manner.PENDING, Manner.ACT_AND_PEND):
            self.reply(200, msgspec.json.encode(AcquirerReply(status="pending")))
        else:
            self.reply(200, answer)


class Control(_Endpoint):
    """The tests' instructions arrive here."""

    switch: Switch

    def do_GET(self) -> None:
        what, _, key = self.path.removeprefix("/").partition("/")
        match what:
            case "requests":
                self.reply(200, self.manners.report())
            case "sessions":
                self.reply(200, self.sessions.report())
            case "accounts":
                self.reply(200, self.ledger.report_account(key))
            case _:
                self.reply(200, self.ledger.report())

    def do_POST(self) -> None:
        body = self.read_body()
        if self.path == "/instruct":
            self.manners.instruct(msgspec.json.decode(body, type=Instruction))
        elif self.path == "/release":
            self.manners.released.set()
        elif self.path == "/shut":
            self.switch.shut()
        elif self.path == "/open":
            self.switch.open()
        elif self.path.startswith("/sessions/"):
            self.sessions.decide(*self.path.removeprefix("/sessions/").split("/"))
        self.reply(200, b"{}")


class _Server(ThreadingHTTPServer):
    """Remembers its visitors, so that it can show them out when it closes."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, port: int, endpoint: type[_Endpoint]) -> None:
        super().__init__(("127.0.0.1", port), endpoint)
        self._visitors: set[socket.socket] = set()

    def process_request(self, request: socket.socket, client_address: Any) -> None:  # type: ignore[override]
        self._visitors.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._visitors.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        self.shutdown()
        self.server_close()
        for visitor in tuple(self._visitors):
            with suppress(OSError):
                visitor.shutdown(socket.SHUT_RDWR)


class Switch:
    """Opens and shuts the counter; shut, the gateway's connections are refused as by a machine that is off."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: _Server | None = None

    def open(self) -> None:
        self._server = _Server(self._port, Counter)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def shut(self) -> None:
        if self._server is not None:
            self._server.close_all()
            self._server = None


def serve(port: int, control_port: int) -> None:
    _Endpoint.ledger, _Endpoint.manners = Ledger(), Manners()
    _Endpoint.sessions = Sessions(_Endpoint.ledger.act)
    Control.switch = Switch(port)
    Control.switch.open()
    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    _Server(control_port, Control).serve_forever()


def _end_with_the_tests() -> None:
    """Standard input closes when they end, however they end."""
    sys.stdin.read()
    os._exit(0)


# ---- the tests' half ----


class AcquirerProcess:
    """Starts on entering, is gone after leaving."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self._control_port = find_free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> AcquirerProcess:
        command = [sys.executable, __file__, str(self.port), str(self._control_port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
        deadline = time.monotonic() + START_S
        while not self._is_up():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                self._process.communicate()
                raise RuntimeError("the acquirer did not start")
            time.sleep(0.02)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def behave(self, path: str, manner: Manner, times: int = 1_000_000) -> None:
        """The next so many requests on the path meet this manner; requests that are held from now on stay held."""
        self._control("POST", "/instruct", msgspec.json.encode(Instruction(path, manner, times)))

    def release(self) -> None:
        """Lets held requests go on; later ones are held only after the next `behave`."""
        self._control("POST", "/release")

    def shut(self) -> None:
        """Connections are cut and new ones refused, until it opens again; the ledger stays."""
        self._control("POST", "/shut")

    def open(self) -> None:
        self._control("POST", "/open")

    def read_ledger(self) -> dict[str, Entry]:
        return msgspec.json.decode(self._control("GET", "/ledger"), type=dict[str, Entry])

    def read_account(self, key: str) -> Account:
        """Returns the sums of one transaction and what was done with it; all empty where there is none."""
        return msgspec.json.decode(self._control("GET", f"/accounts/{key}"), type=Account)

    def decide(self, key: str, status: str) -> None:
        """Ends a session as a shopper would: approved, declined, cancelled or expired."""
        self._control("POST", f"/sessions/{key}/{status}")

    def read_sessions(self) -> dict[str, Session]:
        return msgspec.json.decode(self._control("GET", "/sessions"), type=dict[str, Session])

    def count_requests(self, path: str) -> int:
        return self._count_all_requests().get(path, 0)

    def wait_for_requests(self, path: str, count: int) -> None:
        _wait_until(lambda: self.count_requests(path) >= count, f"{count} requests on {path}")

    def wait_for_charge(self, key: str) -> Entry:
        """Waits until the charge was acted upon; being asked about or reversed does not count."""

        def is_charged() -> bool:
            entry = self.read_ledger().get(key)
            return entry is not None and entry.charges_seen > 0

        _wait_until(is_charged, f"a charge with key {key}")
        return self.read_ledger()[key]

    def wait_for_follow_up(self, key: str) -> Entry:
        """Waits until the follow-up was acted upon, whether or not its answer arrived; questions do not count."""

        def is_followed_up() -> bool:
            entry = self.read_ledger().get(key)
            return entry is not None and entry.follow_ups_seen > 0

        _wait_until(is_followed_up, f"a follow-up with key {key}")
        return self.read_ledger()[key]

    def _count_all_requests(self) -> dict[str, int]:
        return msgspec.json.decode(self._control("GET", "/requests"), type=dict[str, int])

    def _is_up(self) -> bool:
        try:
            self._count_all_requests()
        except OSError:
            return False
        return True

    def _control(self, method: str, path: str, body: bytes = b"") -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._control_port, timeout=120)
        try:
            connection.request(method, path, body)
            return connection.getresponse().read()
        finally:
            connection.close()


def _wait_until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: expected within {WAIT_S} s"
        time.sleep(0.01)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
