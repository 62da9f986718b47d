"""Trouble on request reaches any wire: messages get lost before or after they were acted upon, and codes are forced."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.sandbox.acquirer import Misbehaving
from tollgate.wire import Silent, Unsent

pytestmark = pytest.mark.anyio

PATIENCE_S = 0.1


@dataclass
class Other:
    status: str = "approved"
    heard: list[str] = field(default_factory=list)

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        self.heard.append(request.key)
        return WireReply(200, json.dumps({"status": self.status, "message": "Fine", "due_on": "2026-11-18"}).encode())


async def send(other: Other, **simulator_overrides: str) -> dict[str, str]:
    reply = await Misbehaving(other).send(
        WireRequest(path="/", body=b"{}", key="8a01", simulator_overrides=simulator_overrides), PATIENCE_S
    )
    answer: dict[str, str] = json.loads(reply.body)
    return answer


async def test_without_simulator_overrides_nothing_changes() -> None:
    assert await send(Other()) == {"status": "approved", "message": "Fine", "due_on": "2026-11-18"}


@pytest.mark.parametrize(
    ("simulator_overrides", "fault", "heard"),
    [
        ({"simulatorFault": "unsent"}, Unsent, []),
        ({"simulatorFault": "dropped"}, Silent, []),
        ({"simulatorFault": "lost"}, Silent, ["8a01"]),
        ({"simulatorFault": "garbled"}, json.JSONDecodeError, ["8a01"]),
        ({"simulatorDelay": "100"}, Silent, ["8a01"]),
    ],
)
async def test_a_fault_happens_before_or_after_the_other_side_acts(
    simulator_overrides: dict[str, str], fault: type[Exception], heard: list[str]
) -> None:
    other = Other()

    with pytest.raises(fault):
        await send(other, **simulator_overrides)

    assert other.heard == heard


async def test_a_short_delay_only_delays() -> None:
    assert (await send(Other(), simulatorDelay="1"))["status"] == "approved"


async def test_a_forced_decline_is_never_sent_to_the_other_side() -> None:
    other = Other()

    answer = await send(other, forceResultCode="800.100.151")

    assert (answer["status"], answer["result_code"]) == ("declined", "800.100.151")
    assert other.heard == []


@pytest.mark.parametrize(("code", "status"), [("000.400.000", "approved"), ("000.200.000", "pending")])
async def test_another_forced_code_is_answered_for_what_was_really_done(code: str, status: str) -> None:
    other = Other()

    answer = await send(other, forceResultCode=code)

    assert (answer["status"], answer["result_code"], answer["due_on"]) == (status, code, "2026-11-18")
    assert other.heard == ["8a01"]


async def test_no_simulator_override_makes_happen_what_the_other_side_refused() -> None:
    answer = await send(Other(status="declined"), forceResultCode="000.000.000")

    assert answer["status"] == "declined"
    assert "result_code" not in answer
