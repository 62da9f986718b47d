"""Small web servers on ports of their own, as merchants and issuers have them; each remembers its visitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from listening import Listener, Responder
from tollgate.web.pages.rendering import STATIC_FILES
from tollgate.web.request import Reply

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
class Site(Listener):
    """Answers by path; what no page was put up for is not found."""

    pages: dict[str, Reply | Callable[[Visit], Reply]] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)

    def visits_to(self, path: str) -> list[Visit]:
        return [visit for visit in self.visits if visit.path == path]

    def answer(self, visit: Visit) -> Reply:
        asset = {asset.path: asset for asset in STATIC_FILES.assets.values()}.get(visit.path)
        if asset is not None:
            return Reply(200, asset.body, asset.content_type)
        if visit.path == "/favicon.ico":
            # Browsers ask for it unasked.
            return Reply(204, b"", HTML)
        self.visits.append(visit)
        page = self.pages.get(visit.path, Reply(404, b"", HTML))
        return page if isinstance(page, Reply) else page(visit)

    def make_responder(self) -> type[Responder]:
        site = self

        class SiteResponder(Responder):
            def do_GET(self) -> None:
                body, parts = self.read_body().decode(), urlsplit(self.path)
                sent = [*parse_qsl(parts.query, keep_blank_values=True), *parse_qsl(body, keep_blank_values=True)]
                reply = site.answer(Visit(self.command, parts.path, dict(sent)))
                headers = {name.decode(): value.decode() for name, value in reply.headers}
                kind = reply.content_type.decode()
                self.give(reply.body, reply.status, content_type=kind, cache_control="no-store", **headers)

            do_POST = do_GET

        return SiteResponder


@contextmanager
def open_shop() -> Iterator[Site]:
    """A merchant's site with the page to which shoppers return."""
    with Site({BACK: WELCOME}) as site:
        yield site


def redirect(url: str) -> Reply:
    return Reply(303, b"", HTML, ((b"location", url.encode()),))
