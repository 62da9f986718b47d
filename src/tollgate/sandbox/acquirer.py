"""The simulated acquirer, and simulated partners that answer late, wrongly or not at all.

Which partner a request is for is decided in `simulator`.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from tollgate.catalog.test_cards import TEST_CARDS
from tollgate.connectors import acquiring, card
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.payments.payment import Outcome
from tollgate.values import RandomBytes, pooled_random_bytes
from tollgate.wire import Silent, Unsent, Wire

_write = msgspec.json.Encoder().encode

Act = Callable[[WireRequest], Awaitable[WireReply]]

WORDS = {
    Outcome.APPROVED: ("approved", "00", "Approved by the simulator"),
    Outcome.DECLINED: ("declined", "05", "Declined by the simulator, as asked for"),
    Outcome.WAITING: ("pending", "09", "Left open by the simulator, as asked for"),
}
"""Status, response code and message by outcome."""


async def misbehave(request: WireRequest, timeout_s: float, act: Act, who: str = "simulator") -> WireReply:
    """Sends a request with the delays and faults that its simulator overrides ask for.

    who: the beginning of the names of the overrides.
    """
    fault = request.simulator_overrides.get(f"{who}Fault")
    if fault == "unsent":
        raise Unsent
    delay_s = int(request.simulator_overrides.get(f"{who}Delay", "0")) / 1000
    if delay_s >= timeout_s:
        # The other side acts, but later than anybody waits.
        await act(request)
        await asyncio.sleep(timeout_s)
        raise Silent
    await asyncio.sleep(delay_s)
    if fault == "dropped":
        raise Silent
    reply = await act(request)
    if fault == "lost":
        raise Silent
    return WireReply(reply.status, reply.body[: len(reply.body) // 2]) if fault == "garbled" else reply


class Misbehaving:
    """A wire in front of another one that itself knows no simulator overrides."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if not request.simulator_overrides:
            return await self._wire.send(request, timeout_s)

        async def act(asked: WireRequest) -> WireReply:
            return await self._force(asked, timeout_s)

        return await misbehave(request, timeout_s, act)

    async def _force(self, request: WireRequest, timeout_s: float) -> WireReply:
        forced_code = request.simulator_overrides.get(acquiring.FORCED_CODE)
        if not forced_code:
            return await self._wire.send(request, timeout_s)
        outcome = acquiring.classify(forced_code)
        status, response_code, message = WORDS[outcome]
        forced = {
            "status": status,
            "response_code": response_code,
            "message": message,
            "result_code": forced_code,
        }
        if outcome is Outcome.DECLINED:
            # The other side is not asked, so nothing is done.
            return WireReply(200, _write(forced))
        reply = await self._wire.send(request, timeout_s)
        answered = msgspec.json.decode(reply.body, type=dict[str, str])
        # Where the other side objects, that is the truth: no override makes something happen that did not.
        return reply if answered["status"] != "approved" else WireReply(200, _write({**answered, **forced}))


_LEDGER_MAX = 100_000
"""Old transactions are forgotten: a simulator on a laptop must not grow for ever."""

_read_charge = msgspec.json.Decoder(card.ChargeMessage).decode
_read_follow_up = msgspec.json.Decoder(acquiring.FollowUpMessage).decode
_read_key = msgspec.json.Decoder(acquiring.KeyMessage).decode

_RESPONSES = {result_code: response for response, result_code in acquiring.RESPONSES.items()}

_BLOCKED = acquiring.AcquirerReply(status="unknown", message="no such transaction; its key is blocked")
_UNKNOWN = acquiring.AcquirerReply(status="unknown", message="no such transaction")


class SimulatedAcquirer:
    """A wire with an acquirer at the other end."""

    def __init__(self, random_bytes: RandomBytes = pooled_random_bytes) -> None:
        self._random_bytes = random_bytes
        self._ledger: OrderedDict[str, acquiring.AcquirerReply] = OrderedDict()

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if not request.simulator_overrides:
            return WireReply(200, self.answer(request.path, request.body))
        return await misbehave(request, timeout_s, self._act)

    def answer(self, path: str, body: bytes, simulator_overrides: Mapping[str, str] | None = None) -> bytes:
        """Returns the acquirer's answer; faults on the way are simulated by the wire."""
        match path:
            case card.CHARGES:
                charge = _read_charge(body)
                known = TEST_CARDS.get(charge.card.number) if charge.card else None
                # A code of the protocol, because the gateway takes no result of its own catalogue from an acquirer.
                response = _RESPONSES[known.result_code] if known and known.result_code else ""
                reply = self._perform(charge.key, simulator_overrides or {}, response)
            case acquiring.FOLLOW_UPS:
                reply = self._perform(_read_follow_up(body).key, simulator_overrides or {})
            case acquiring.REVERSALS:
                reply = self._reverse(_read_key(body).key)
            case acquiring.INQUIRIES:
                reply = self._inquire(_read_key(body))
            case _:
                reply = acquiring.AcquirerReply(status="declined", response_code="12", message="no such operation")
        return _write(reply)

    async def _act(self, request: WireRequest) -> WireReply:
        return WireReply(200, self.answer(request.path, request.body, request.simulator_overrides))

    def _perform(
        self, key: str, simulator_overrides: Mapping[str, str], own_response: str = ""
    ) -> acquiring.AcquirerReply:
        known = self._ledger.get(key)
        if known is not None:
            # The same key is the same transaction: a repeat gets the first answer.
            return known
        reply = msgspec.structs.replace(
            self._decide(simulator_overrides.get(acquiring.FORCED_CODE, ""), own_response),
            avs_response=simulator_overrides.get("simulatorAvs", ""),
            cvv_response=simulator_overrides.get("simulatorCvv", ""),
        )
        self._remember(key, reply)
        return reply

    def _decide(self, forced_code: str, own_response: str) -> acquiring.AcquirerReply:
        dice = self._random_bytes(9).hex()
        outcome = (
            acquiring.classify(forced_code) if forced_code else Outcome.DECLINED if own_response else Outcome.APPROVED
        )
        # In the words of the protocol, so that a later inquiry tells the same as the first answer.
        status, response_code, message = WORDS[outcome]
        return acquiring.AcquirerReply(
            status=status,
            response_code=response_code if forced_code else own_response or response_code,
            message=message,
            authorization_code=dice[:6].upper(),
            reference=dice[6:18],
            scheme_transaction_id=dice[3:18],
            institute="Tollgate Simulator",
            result_code=forced_code,
        )

    def _reverse(self, key: str) -> acquiring.AcquirerReply:
        if key not in self._ledger or self._ledger[key] is _BLOCKED:
            self._remember(key, _BLOCKED)
            return _BLOCKED
        undone = acquiring.AcquirerReply(status="reversed", response_code="00", message="Reversed by the simulator")
        self._remember(key, undone)
        return undone

    def _inquire(self, question: acquiring.KeyMessage) -> acquiring.AcquirerReply:
        known = self._ledger.get(question.key)
        if known is not None:
            return known
        if not question.blocks:
            return _UNKNOWN
        self._remember(question.key, _BLOCKED)
        return _BLOCKED

    def _remember(self, key: str, reply: acquiring.AcquirerReply) -> None:
        self._ledger[key] = reply
        if len(self._ledger) > _LEDGER_MAX:
            self._ledger.popitem(last=False)
