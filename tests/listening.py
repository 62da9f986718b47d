"""Web servers of tests: in a thread of their own, on a port of their own, and silent but for their answers."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

_STOP_WITHIN_S = 0.05


class Responder(BaseHTTPRequestHandler):
    """Servers of the tests share this handler; each adds its own answers."""

    protocol_version = "HTTP/1.1"

    def read_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def give(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Tests read what was received, not a log."""


class Listener:
    """The listener can be reached from entering to leaving."""

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self.make_responder())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_STOP_WITHIN_S,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def make_responder(self) -> type[Responder]:
        raise NotImplementedError
