"""The one driver of connectors: requests go over a wire, and what breaks on the way becomes a verdict or a silence."""

from __future__ import annotations

import anyio
import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import Conversation, Exchange, WireReply, WireRequest
from tollgate.operations.dispatch import converse, dispatch
from tollgate.payments.payment import Outcome, Verdict
from tollgate.wire import Silent, Unsent
from unit.app_fixture import ScriptedWire

pytestmark = pytest.mark.anyio

FINE = Verdict(outcome=Outcome.APPROVED, code="000.100.110")


class Talk:
    """A connector of two requests that notes whether it was left in order."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.is_closed = False

    def exchange(self) -> Exchange:
        try:
            for path in ("/first", "/second"):
                reply = yield WireRequest(path=path, body=b"", key=path)
                self.heard.append(reply.body)
            return FINE
        finally:
            self.is_closed = True


def say_at_once(verdict: Verdict) -> Exchange:
    yield from ()
    return verdict


async def test_every_request_is_carried_and_every_answer_brought_back() -> None:
    wire, talk = ScriptedWire([b"one", b"two"]), Talk()

    assert await dispatch(talk.exchange(), wire, timeout_s=1, label="test") is FINE

    assert [request.path for request in wire.sent] == ["/first", "/second"]
    assert talk.heard == [b"one", b"two"]


async def test_a_verdict_that_needs_no_request_sends_none() -> None:
    wire = ScriptedWire()

    assert await dispatch(say_at_once(FINE), wire, timeout_s=1, label="test") is FINE

    assert wire.sent == []


@pytest.mark.parametrize(
    ("script", "outcome", "code", "sends"),
    [
        ([Unsent()] * LIMITS.acquirer_sends_max, Outcome.UNSENT, "900.100.600", LIMITS.acquirer_sends_max),
        ([Silent()], Outcome.SILENT, "900.100.300", 1),
        ([b"one", Silent()], Outcome.SILENT, "900.100.300", 2),
        ([Unsent(), Silent()], Outcome.SILENT, "900.100.300", 2),
        (
            [b"one", *[Unsent()] * LIMITS.acquirer_sends_max],
            Outcome.SILENT,
            "900.100.300",
            1 + LIMITS.acquirer_sends_max,
        ),
    ],
    ids=["unsent", "silent", "silent later", "unsent, then silent", "unsent later"],
)
async def test_what_breaks_on_the_line_is_a_verdict_for_what_moves_money(
    script: list[bytes | Exception], outcome: Outcome, code: str, sends: int
) -> None:
    wire, talk = ScriptedWire(list(script)), Talk()

    verdict = await dispatch(talk.exchange(), wire, timeout_s=1, label="test")

    assert (verdict.outcome, verdict.code) == (outcome, code)
    assert len(wire.sent) == sends
    assert talk.is_closed


async def test_all_messages_of_an_exchange_together_have_the_time_of_one() -> None:
    wire, talk = ScriptedWire([b"one", b"two"], meanwhile=lambda: anyio.sleep(0.02)), Talk()

    verdict = await dispatch(talk.exchange(), wire, timeout_s=0.01, label="test")

    assert verdict.outcome is Outcome.SILENT
    assert [request.path for request in wire.sent] == ["/first"]


@pytest.mark.parametrize("fault", [Unsent(), Silent()])
async def test_what_breaks_on_the_line_is_nothing_for_what_moves_nothing(fault: Exception) -> None:
    wire = ScriptedWire([fault] * LIMITS.acquirer_sends_max)

    assert await converse(Talk().exchange(), wire, timeout_s=1, label="test") is None


async def test_a_conversation_may_end_with_anything() -> None:
    def count() -> Conversation[int]:
        reply = yield WireRequest(path="/count", body=b"", key="count")
        return len(reply.body)

    assert await converse(count(), ScriptedWire([b"12345"]), timeout_s=1, label="test") == 5


async def test_what_is_no_fault_of_the_line_is_not_hidden_and_the_connector_is_left_in_order() -> None:
    talk = Talk()

    with pytest.raises(ZeroDivisionError):
        await dispatch(talk.exchange(), ScriptedWire([ZeroDivisionError()]), timeout_s=1, label="test")

    assert talk.is_closed


class FailingWire:
    """A wire that reaches nobody, which takes it half of the time it is given."""

    def __init__(self) -> None:
        self.given_s: list[float] = []

    async def send(self, _request: WireRequest, timeout_s: float) -> WireReply:
        self.given_s.append(timeout_s)
        await anyio.sleep(timeout_s / 2)
        raise Unsent


async def test_a_request_that_never_left_is_repeated_within_the_same_time() -> None:
    """After that time another process may reverse the payment, and a request that leaves later is undone by nobody."""
    wire = FailingWire()

    await dispatch(Talk().exchange(), wire, timeout_s=0.2, label="test")

    first_s, second_s = wire.given_s
    assert first_s == 0.2
    assert second_s < 0.75 * first_s
