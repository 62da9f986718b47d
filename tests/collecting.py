"""A collector of OpenTelemetry traces: receives spans by OTLP over HTTP. It decides nothing about them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.address = ""
        self.hangs = threading.Event()
        """While it is set, a request is read and never answered."""
        self.ended = threading.Event()

    def list_exports(self) -> list[Any]:
        return [ExportTraceServiceRequest.FromString(body) for body in list(self.bodies)]

    def list_spans(self) -> list[Any]:
        return [
            span
            for export in self.list_exports()
            for resource in export.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@contextmanager
def run_collector() -> Iterator[Collector]:
    collector = Collector()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if collector.hangs.is_set():
                collector.bodies.append(b"")
                collector.ended.wait()
                return
            if self.path == "/v1/traces":
                is_packed = self.headers.get("Content-Encoding") == "gzip"
                collector.bodies.append(gzip.decompress(body) if is_packed else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.daemon_threads = True
    collector.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield collector
    finally:
        collector.ended.set()
        server.shutdown()
        server.server_close()
