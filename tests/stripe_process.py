"""localstripe in a process of its own, and a proxy before it with bad manners. Nothing of Tollgate is known here."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

from cleaning import Cleanup
from ports import find_free_port

API_KEY = "sk_test_12345"
START_S = 300.0
_STORE = Path("/tmp/localstripe.pickle")
"""localstripe writes a copy of its objects there, which nobody reads."""


class LocalStripe:
    """Starts on entering, is stopped on leaving."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._cleanup = Cleanup()

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "localstripe", "--port", str(self.port), "--from-scratch"]
        silent = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdout=silent, stderr=silent, start_new_session=True)
        self._cleanup = Cleanup(command=["kill", "-9", f"-{self._process.pid}"])
        self._cleanup.start()
        deadline = time.monotonic() + START_S
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("localstripe did not start")
            time.sleep(0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._cleanup.finish()
        _STORE.unlink(missing_ok=True)

    def pause(self) -> None:
        """Stops the process, whose connections stay open."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def get(self, path: str, **query: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_S)
        try:
            text = f"{path}?{urlencode(query)}" if query else path
            connection.request("GET", text, headers={"Authorization": f"Bearer {API_KEY}"})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def list_intents(self, payment_id: str) -> list[Any]:
        """Lists the intents that were created for a payment."""
        listed = self.get("/v1/payment_intents", limit="10000")["data"]
        return [each for each in listed if each["metadata"].get("tollgate") == payment_id]

    def get_intent(self, payment_id: str) -> Any:
        (intent,) = self.list_intents(payment_id)
        return intent

    def list_refunds(self, payment_id: str) -> list[int]:
        """Lists the amounts that were refunded of the intent of a payment."""
        intent = self.get_intent(payment_id)
        refunds = self.get("/v1/refunds", payment_intent=intent["id"], limit="100")["data"]
        return [each["amount"] for each in refunds]

    def _is_ready(self) -> bool:
        try:
            return "data" in self.get("/v1/payment_intents")
        except OSError:
            return False


class Manner(StrEnum):
    """The treatment of a request whose path ends in a certain way."""

    DROP = "drop"
    """The request is lost on its way."""
    ACT_AND_DROP = "act and drop"
    """The answer is lost on its way."""
    ACT_AND_HOLD = "act and hold"
    """The answer is held back until it is released."""
    TWICE = "twice"
    """The request arrives twice, and the second answer is delivered."""
    GARBAGE = "garbage"
    ERROR = "error"
    """The request is executed, and answered with 500."""


class Proxy:
    """Passes requests on, but for those that a test has given a manner, each once."""

    def __init__(self, target: LocalStripe) -> None:
        self._target = target
        self._manners: dict[str, Manner] = {}
        self._lock = threading.Lock()
        self.released = threading.Event()
        self.held = threading.Event()
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        """(method and path, headers, body) of every request."""

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_passage())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def treat(self, ending: str, manner: Manner) -> None:
        """Gives the next POST whose path ends so a manner."""
        with self._lock:
            self.released.clear()
            self.held.clear()
            self._manners[ending] = manner

    def choose(self, method: str, path: str) -> Manner | None:
        with self._lock:
            ending = next((each for each in self._manners if method == "POST" and path.endswith(each)), None)
            return None if ending is None else self._manners.pop(ending)

    def pass_on(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._target.port, timeout=START_S)
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def _make_passage(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Passage(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.relay("GET")

            def do_POST(self) -> None:
                self.relay("POST")

            def relay(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                proxy.seen.append((f"{method} {self.path}", headers, body))
                manner = proxy.choose(method, self.path)
                if manner is Manner.DROP:
                    self.close_connection = True
                    return
                status, answer = proxy.pass_on(method, self.path, headers, body)
                if manner is Manner.TWICE:
                    status, answer = proxy.pass_on(method, self.path, headers, body)
                if manner is Manner.ACT_AND_HOLD:
                    proxy.held.set()
                    proxy.released.wait()
                with suppress(OSError):
                    self.answer(manner, status, answer)

            def answer(self, manner: Manner | None, status: int, answer: bytes) -> None:
                if manner is Manner.ACT_AND_DROP:
                    self.close_connection = True
                    return
                if manner is Manner.GARBAGE:
                    answer = b"\x00\xff{not an answer"
                self.send_response(500 if manner is Manner.ERROR else status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        return Passage
