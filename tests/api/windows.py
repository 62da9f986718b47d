"""A browser's window without a browser: follows pages as one would, scripts and hidden frames included. No test here.

What it cannot see, such as policies that forbid a step, is seen by the tests with Chromium.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from time import sleep
from urllib.parse import urlencode, urljoin, urlsplit

from gateway import Answer, Client

STEPS_MAX = 20
WAIT_S = 0.25
HEADERS = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Accept": "text/html,application/xhtml+xml",
    "User-Agent": "Mozilla/5.0 (test)",
}
KNOWN = {
    "language": "de-AT",
    "screen_height": "1080",
    "screen_width": "1920",
    "color_depth": "24",
    "timezone": "-60",
    "java_enabled": "false",
    "javascript_enabled": "true",
}
"""The scripts of our page find these out."""


@dataclass
class Form:
    attributes: dict[str, str]
    fields: dict[str, str] = field(default_factory=dict)
    asks: dict[str, str] = field(default_factory=dict)
    """Field to what a script puts into it."""

    def has(self, mark: str) -> bool:
        return mark in self.attributes


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.options: list[str] = []
        self.refresh: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(found))
        elif tag == "input" and "name" in found:
            self.forms[-1].fields[found["name"]] = found.get("value", "")
            if "data-ask" in found:
                self.forms[-1].asks[found["name"]] = found["data-ask"]
        elif tag == "option":
            self.options.append(found["value"])
        elif tag == "meta" and found.get("http-equiv") == "refresh":
            self.refresh = found["content"].partition("url=")[2]


@dataclass(frozen=True)
class Page:
    url: str
    answer: Answer | None
    """The answer is None at an address that is not the gateway's: the shopper has left."""

    @property
    def text(self) -> str:
        return "" if self.answer is None else self.answer.body.decode()

    def read(self) -> _Reader:
        reader = _Reader()
        reader.feed(self.text)
        return reader

    def find_form(self, mark: str) -> Form | None:
        return next((form for form in self.read().forms if form.has(mark)), None)


@dataclass(frozen=True)
class Window:
    client: Client

    def visit(self, url: str, fields: dict[str, str] | None = None) -> Page:
        """Sends one request and follows its redirects."""
        for _ in range(STEPS_MAX):
            if urlsplit(url).netloc != urlsplit(self.client.base_url).netloc:
                return Page(url, None)
            path = url.removeprefix(self.client.base_url)
            body = None if fields is None else urlencode(fields)
            answer = self.client.send("GET" if body is None else "POST", path, body, HEADERS)
            if answer.status != 303:
                return Page(url, answer)
            url, fields = urljoin(url, answer.headers["location"]), None
        raise AssertionError("the redirects never end")

    def submit(self, page: Page, form: Form, **changes: str) -> Page:
        return self.visit(urljoin(page.url, form.attributes.get("action", "")), form.fields | changes)

    def walk(self, url: str, fields: dict[str, str] | None = None) -> Page:
        """Follows pages until one wants a decision, shows a result, or is not the gateway's."""
        return self.go_on(self.visit(url, fields))

    def go_on(self, page: Page) -> Page:
        for _ in range(STEPS_MAX):
            following = self._step(page)
            if following is None:
                return page
            page = following
        raise AssertionError("the pages never end")

    def _step(self, page: Page) -> Page | None:
        frame, collect, forward = (page.find_form(mark) for mark in ("data-frame", "data-collect", "data-forward"))
        if collect is not None:
            if frame is not None:
                self.go_on(self.submit(page, frame))
            found = {name: KNOWN[question] for name, question in collect.asks.items()}
            return self.submit(page, collect, **found, **({"done": "Y"} if frame else {}))
        if forward is not None:
            return self.submit(page, forward)
        refresh = page.read().refresh
        if refresh is None:
            return None
        if "/v1/shopper/" in refresh:
            # The page that waits for another tab to end what it began.
            sleep(WAIT_S)
        return self.visit(urljoin(page.url, refresh))
