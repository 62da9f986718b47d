"""Small web servers on ports of their own, as merchants and issuers have them; each remembers its visitors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

from tollgate.web import Reply
from tollgate.web.pages.assets import ASSETS

HTML = b"text/html;charset=UTF-8"
BACK = "/back"
WELCOME = Reply(200, b"<!doctype html><title>Shop</title><h1>Welcome back</h1>", HTML)


@dataclass(frozen=True)
class Visit:
    method: str
    path: str
    fields: dict[str, str]
    """Query and form together."""


@dataclass
class Site:
    """Answers by path; what no page was put up for is not found."""

    pages: dict[str, Reply | Callable[[Visit], Reply]] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)

    def __enter__(self) -> Site:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_door(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
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

    def visits_to(self, path: str) -> list[Visit]:
        return [visit for visit in self.visits if visit.path == path]

    def answer(self, visit: Visit) -> Reply:
        asset = {asset.path: asset for asset in ASSETS.values()}.get(visit.path)
        if asset is not None:
            return Reply(200, asset.body, asset.content_type)
        if visit.path == "/favicon.ico":
            # Browsers ask for it unasked.
            return Reply(204, b"", HTML)
        self.visits.append(visit)
        page = self.pages.get(visit.path, Reply(404, b"", HTML))
        return page if isinstance(page, Reply) else page(visit)


@contextmanager
def open_shop() -> Iterator[Site]:
    """A merchant's site with the page to which shoppers return."""
    with Site({BACK: WELCOME}) as site:
        yield site


def redirect(url: str) -> Reply:
    return Reply(303, b"", HTML, ((b"location", url.encode()),))


def _make_door(site: Site) -> type[BaseHTTPRequestHandler]:
    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            parts = urlsplit(self.path)
            sent = [*parse_qsl(parts.query, keep_blank_values=True), *parse_qsl(body, keep_blank_values=True)]
            reply = site.answer(Visit(self.command, parts.path, dict(sent)))
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type.decode())
            self.send_header("content-length", str(len(reply.body)))
            self.send_header("cache-control", "no-store")
            for name, value in reply.headers:
                self.send_header(name.decode(), value.decode())
            self.end_headers()
            self.wfile.write(reply.body)

        do_POST = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            """Tests read the visits, not a log."""

    return Door
