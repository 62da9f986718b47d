"""The simulated acquirer keeps a ledger, so that repeats, reversals and inquiries find what really happened."""

from __future__ import annotations

import json

import msgspec
import pytest

from tollgate.connectors.acquiring import FOLLOW_UP_TYPES, FOLLOW_UPS, INQUIRIES, REVERSALS, FollowUpMessage
from tollgate.connectors.card import CHARGES, make_charge
from tollgate.connectors.exchange import WireRequest, encode_message
from tollgate.sandbox.acquirer import SimulatedAcquirer
from tollgate.values import Secret
from tollgate.wire import Silent, Unsent
from unit.app_fixture import CARD, ORDER

pytestmark = pytest.mark.anyio

PATIENCE_S = 0.2


@pytest.fixture
def acquirer() -> SimulatedAcquirer:
    return SimulatedAcquirer()


async def charge(acquirer: SimulatedAcquirer, key: str = "8a01", **simulator_overrides: str) -> dict[str, str]:
    body = encode_message(make_charge(ORDER, key))
    reply = await acquirer.send(
        WireRequest(path=CHARGES, body=body, key=key, simulator_overrides=simulator_overrides), PATIENCE_S
    )
    answer: dict[str, str] = json.loads(reply.body)
    return answer


async def follow_up(
    acquirer: SimulatedAcquirer, key: str = "8a02", action: str = "capture", **simulator_overrides: str
) -> dict[str, str]:
    message = FollowUpMessage(key=key, type=action, original="8a01", amount=9200, currency="EUR")
    request = WireRequest(
        path=FOLLOW_UPS, body=encode_message(message), key=key, simulator_overrides=simulator_overrides
    )
    answer: dict[str, str] = json.loads((await acquirer.send(request, PATIENCE_S)).body)
    return answer


async def ask(acquirer: SimulatedAcquirer, path: str, key: str = "8a01", **more: bool) -> str:
    body = json.dumps({"key": key, **more}).encode()
    reply = await acquirer.send(WireRequest(path=path, body=body, key=key), PATIENCE_S)
    status: str = json.loads(reply.body)["status"]
    return status


async def test_a_charge_is_approved_with_references(acquirer: SimulatedAcquirer) -> None:
    answer = await charge(acquirer)

    assert answer["status"] == "approved"
    assert answer["reference"]
    assert answer["authorization_code"]


@pytest.mark.parametrize(("number", "response"), [("4000000000000002", "05"), ("4000000000009995", "N4")])
async def test_some_cards_are_declined_by_their_number(acquirer: SimulatedAcquirer, number: str, response: str) -> None:
    card = msgspec.structs.replace(CARD, number=Secret(number))
    message = make_charge(msgspec.structs.replace(ORDER, account=card), "8a01")
    request = WireRequest(path=CHARGES, body=encode_message(message), key="8a01")

    answer = json.loads((await acquirer.send(request, PATIENCE_S)).body)

    assert (answer["status"], answer["response_code"]) == ("declined", response)
    assert "result_code" not in answer


async def test_a_repeat_gets_the_answer_of_the_first(acquirer: SimulatedAcquirer) -> None:
    assert await charge(acquirer) == await charge(acquirer)
    assert await charge(acquirer) != await charge(acquirer, "8a02")


async def test_a_reversal_undoes_and_an_inquiry_answers(acquirer: SimulatedAcquirer) -> None:
    await charge(acquirer)

    assert await ask(acquirer, INQUIRIES) == "approved"
    assert await ask(acquirer, REVERSALS) == "reversed"
    assert await ask(acquirer, INQUIRIES) == "reversed"


@pytest.mark.parametrize("path", [REVERSALS, INQUIRIES])
async def test_a_charge_asked_for_before_it_came_is_blocked(acquirer: SimulatedAcquirer, path: str) -> None:
    assert await ask(acquirer, path) == "unknown"

    assert (await charge(acquirer))["status"] == "unknown"
    assert await ask(acquirer, REVERSALS) == "unknown"


@pytest.mark.parametrize(
    ("fault", "error", "becomes"),
    [("unsent", Unsent, "unknown"), ("dropped", Silent, "unknown"), ("lost", Silent, "approved")],
)
async def test_the_wire_breaks_where_an_override_says(
    acquirer: SimulatedAcquirer, fault: str, error: type[Exception], becomes: str
) -> None:
    with pytest.raises(error):
        await charge(acquirer, simulatorFault=fault)

    assert await ask(acquirer, INQUIRIES) == becomes


async def test_a_garbled_answer_is_none(acquirer: SimulatedAcquirer) -> None:
    with pytest.raises(json.JSONDecodeError):
        await charge(acquirer, simulatorFault="garbled")

    assert await ask(acquirer, INQUIRIES) == "approved"


async def test_an_answer_later_than_anybody_waits_is_silence_although_it_happened(
    acquirer: SimulatedAcquirer,
) -> None:
    with pytest.raises(Silent):
        await charge(acquirer, simulatorDelay=str(int(PATIENCE_S * 1000)))

    assert await ask(acquirer, INQUIRIES) == "approved"


async def test_a_forced_code_travels_in_the_answer(acquirer: SimulatedAcquirer) -> None:
    assert (await charge(acquirer, forceResultCode="800.100.151"))["result_code"] == "800.100.151"


async def test_an_unknown_operation_is_declined(acquirer: SimulatedAcquirer) -> None:
    assert await ask(acquirer, "/v1/miracles") == "declined"


@pytest.mark.parametrize("action", sorted(FOLLOW_UP_TYPES))
async def test_whatever_follows_is_approved_although_its_original_is_forgotten(
    acquirer: SimulatedAcquirer, action: str
) -> None:
    answer = await follow_up(acquirer, action=action)

    assert answer["status"] == "approved"
    assert answer["reference"]


async def test_a_repeated_follow_up_gets_the_answer_of_the_first(acquirer: SimulatedAcquirer) -> None:
    first = await follow_up(acquirer)

    assert await follow_up(acquirer, forceResultCode="800.100.151") == first
    assert await follow_up(acquirer, "8a03") != first


@pytest.mark.parametrize(
    ("fault", "error", "becomes"),
    [("unsent", Unsent, "unknown"), ("dropped", Silent, "unknown"), ("lost", Silent, "approved")],
)
async def test_the_line_breaks_for_a_follow_up_too(
    acquirer: SimulatedAcquirer, fault: str, error: type[Exception], becomes: str
) -> None:
    await charge(acquirer)

    with pytest.raises(error):
        await follow_up(acquirer, simulatorFault=fault)

    assert await ask(acquirer, INQUIRIES, "8a02", blocks=False) == becomes
    assert await ask(acquirer, INQUIRIES) == "approved"


async def test_a_follow_up_is_late_or_garbled_when_overridden(acquirer: SimulatedAcquirer) -> None:
    with pytest.raises(Silent):
        await follow_up(acquirer, simulatorDelay=str(int(PATIENCE_S * 1000)))
    with pytest.raises(json.JSONDecodeError):
        await follow_up(acquirer, "8a03", simulatorFault="garbled")

    assert await ask(acquirer, INQUIRIES, "8a02", blocks=False) == "approved"
    assert await ask(acquirer, INQUIRIES, "8a03", blocks=False) == "approved"


async def test_a_forced_follow_up_says_the_same_when_asked(acquirer: SimulatedAcquirer) -> None:
    answer = await follow_up(acquirer, forceResultCode="800.100.151")

    assert (answer["status"], answer["result_code"]) == ("declined", "800.100.151")
    assert await ask(acquirer, INQUIRIES, "8a02", blocks=False) == "declined"


async def test_a_question_that_blocks_nothing_leaves_the_key_free(acquirer: SimulatedAcquirer) -> None:
    assert await ask(acquirer, INQUIRIES, "8a02", blocks=False) == "unknown"

    assert (await follow_up(acquirer))["status"] == "approved"


@pytest.mark.parametrize("action", ["increment", "renewal"])
async def test_an_authorization_that_follows_another_is_undone_by_its_own_key(
    acquirer: SimulatedAcquirer, action: str
) -> None:
    await charge(acquirer)
    await follow_up(acquirer, action=action)

    assert await ask(acquirer, REVERSALS, "8a02") == "reversed"
    assert await ask(acquirer, INQUIRIES) == "approved"


async def test_a_follow_up_reversed_before_it_came_never_happens(acquirer: SimulatedAcquirer) -> None:
    assert await ask(acquirer, REVERSALS, "8a02") == "unknown"

    assert (await follow_up(acquirer))["status"] == "unknown"
