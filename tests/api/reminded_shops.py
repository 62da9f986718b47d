"""A shop that writes down who calls its result page, and lets callers hang on request."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from listening import Listener, Responder

HANGING = "/hanging"


@dataclass(frozen=True)
class Call:
    path: str
    query: dict[str, list[str]]
    agent: str
    at: float
    """The time by the monotonic clock."""


@dataclass
class RemindedShop(Listener):
    calls: list[Call] = field(default_factory=list)
    _may_answer: threading.Event = field(default_factory=threading.Event)

    def list_ids(self) -> list[str]:
        """Lists the ids of the checkouts that the shop was called for, oldest call first."""
        return [each for call in list(self.calls) for each in call.query["id"]]

    def find(self, checkout_id: str) -> Call:
        [found] = [call for call in list(self.calls) if call.query["id"] == [checkout_id]]
        return found

    def let_go(self) -> None:
        """Answers the requests that hang."""
        self._may_answer.set()

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go()
        super().__exit__(kind, fault, trace)

    def make_responder(self) -> type[Responder]:
        shop = self

        class ResultPage(Responder):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                shop.calls.append(Call(parts.path, parse_qs(parts.query), self.headers["user-agent"], time.monotonic()))
                if parts.path == HANGING:
                    shop._may_answer.wait(60)
                self.give(b"thank you")

        return ResultPage
