"""A small acquirer in a thread: speaks the card protocol over HTTP and remembers every word it was told."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

ACQUIRER_TIMEOUT_S = 20
"""What the shared server waits for an acquirer: longer than for a request, so that the two limits can be told apart."""

APPROVED = {
    "status": "approved",
    "response_code": "00",
    "message": "Approved",
    "authorization_code": "A1B2C3",
    "reference": "R-1",
    "institute": "Recording Bank",
}


class RecordingAcquirer:
    """Answers what `reply` says, approval unless a test puts something else there."""

    def __init__(self) -> None:
        self.reply: Mapping[str, str] = APPROVED
        self.received: list[tuple[str, Mapping[str, str], Any]] = []
        """(path, headers, message), oldest first."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_door())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> RecordingAcquirer:
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

    @property
    def last_charge(self) -> Any:
        return next(message for path, _, message in reversed(self.received) if path == "/v1/charges")

    def _make_door(self) -> type[BaseHTTPRequestHandler]:
        acquirer = self

        class Door(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                acquirer.received.append((self.path, headers, json.loads(body)))
                answer = json.dumps(acquirer.reply).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: object) -> None:
                """Tests read what was received, not a log."""

        return Door
