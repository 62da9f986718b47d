"""Answers that may arrive on a wire: correct ones, damaged ones, JSON that means nothing, bytes, silence.

The connectors that read them are tested elsewhere.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.wire import Silent, Unsent

Answer = WireReply | type[Silent] | type[Unsent]

STATUSES = ("approved", "declined", "pending", "reversed", "unknown", "redirect", "account", "cancelled", "expired")

COMPLETE: dict[str, Any] = {
    "status": "approved",
    "response_code": "00",
    "message": "Fine",
    "authorization_code": "A1B2C3",
    "reference": "R-1",
    "scheme_transaction_id": "S-1",
    "institute": "Bank",
    "result_code": "000.000.000",
    "redirect": {"url": "https://bank.example/pay", "method": "POST", "parameters": [{"name": "a", "value": "b"}]},
    "account": {"holder": "Jane", "iban": "DE75512108001245126199", "bic": "SOGEDEFF", "account_id": ""},
    "product": "transfer",
    "due_on": "2026-12-01",
    "mandate_id": "M-1",
}
"""Has every member that some protocol reads; what a protocol does not know it must ignore."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(STATUSES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def draw_complete(draw: st.DrawFn) -> dict[str, Any]:
    return {**COMPLETE, "status": draw(st.sampled_from(STATUSES))}


@st.composite
def draw_incomplete(draw: st.DrawFn) -> dict[str, Any]:
    kept = draw(st.sets(st.sampled_from(sorted(COMPLETE))))
    return {name: value for name, value in draw(draw_complete()).items() if name in kept or name == "status"}


@st.composite
def draw_mistyped(draw: st.DrawFn) -> dict[str, Any]:
    """Some members are something else than they should be."""
    wrong = draw(st.dictionaries(st.sampled_from(sorted(COMPLETE)), json_values, min_size=1))
    return draw(draw_complete()) | wrong


@st.composite
def draw_swapped(draw: st.DrawFn) -> dict[str, Any]:
    """Two members have each other's value."""
    answer = draw(draw_complete())
    first, second = draw(st.lists(st.sampled_from(sorted(COMPLETE)), min_size=2, max_size=2, unique=True))
    answer[first], answer[second] = answer[second], answer[first]
    return answer


@st.composite
def draw_cut(draw: st.DrawFn) -> bytes:
    whole = json.dumps(draw(draw_complete())).encode()
    return whole[: draw(st.integers(0, len(whole)))]


@st.composite
def draw_flipped(draw: st.DrawFn) -> bytes:
    body = bytearray(json.dumps(draw(draw_complete())).encode())
    for place in draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=3)):
        body[place] ^= draw(st.integers(1, 255))
    return bytes(body)


@st.composite
def draw_deep(draw: st.DrawFn) -> bytes:
    opening, closing = draw(st.sampled_from([(b"[", b"]"), (b'{"status":', b"}"), (b'{"x":', b"}")]))
    depth = draw(st.sampled_from([1, 100, 1_000, 100_000]))
    return opening * depth + b'"approved"' + closing * draw(st.sampled_from([0, depth]))


good_bodies = (draw_complete() | draw_incomplete()).map(json.dumps).map(str.encode)
odd_bodies = st.one_of(
    st.binary(max_size=200),
    json_values.map(json.dumps).map(str.encode),
    (draw_mistyped() | draw_swapped()).map(json.dumps).map(str.encode),
    draw_cut(),
    draw_flipped(),
    draw_deep(),
)
http_statuses = st.sampled_from([200, 200, 200, 201, 204, 301, 400, 404, 409, 429, 500, 502, 503]) | st.integers(0, 999)

answers: st.SearchStrategy[Answer] = st.one_of(
    st.builds(WireReply, st.just(200), good_bodies),
    st.builds(WireReply, http_statuses, good_bodies),
    st.builds(WireReply, http_statuses, odd_bodies),
    st.sampled_from([Silent, Unsent]),
)


class DrawnWire:
    """Gives the drawn answers in their order; when there are none left, it is silent."""

    def __init__(self, script: Iterable[Answer]) -> None:
        self._script = deque(script)
        self.sent: list[WireRequest] = []
        self.last: Answer = Silent

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        self.sent.append(request)
        self.last = self._script.popleft() if self._script else Silent
        if isinstance(self.last, WireReply):
            return self.last
        raise self.last
