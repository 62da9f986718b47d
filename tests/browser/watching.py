"""Looks over the browser's shoulder: what it complains of, and whom it asks. Judged when a test has ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, WebError

OWN_HOSTS = ("127.0.0.1", "localhost")


@dataclass
class Watch:
    complaints: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> None:
        context.on("console", self._hear)
        context.on("weberror", self._note_error)
        context.on("request", self._follow)

    def take(self) -> list[str]:
        """Returns the complaints so far and forgets them; the caller must check them."""
        taken, self.complaints = self.complaints, []
        return taken

    def _hear(self, message: ConsoleMessage) -> None:
        # Violations of a page's policy are reported here too.
        if message.type == "error":
            self.complaints.append(message.text)

    def _note_error(self, fault: WebError) -> None:
        self.complaints.append(str(fault.error))

    def _follow(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https") and address.hostname not in OWN_HOSTS:
            self.complaints.append(f"asked {address.hostname}")
