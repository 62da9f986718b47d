"""A host of ISO 8583 in the process of the tests, with the ledger of the simulated host. Sockets are elsewhere."""

from __future__ import annotations

from connectors.cases import Position
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.iso8583 import codec
from tollgate.connectors.iso8583.codec import Message
from tollgate.sandbox.iso8583_host.ledger import APPROVED, HostLedger, make_references

_ECHOED = (3, 4, 7, 11, 12, 13, 32, 37, 41, 42, 49)
_DECLINED = "51"


class HostPeer:
    def __init__(self) -> None:
        self.declines = False
        self._ledger = HostLedger()

    async def answer(self, request: WireRequest) -> WireReply:
        return WireReply(200, self.answer_message(request.body))

    def answer_message(self, body: bytes) -> bytes:
        message = codec.decode(body)
        entry = self._ledger.act(message, _DECLINED if self.declines else "")
        fields = {number: text for number, text in message.fields.items() if number in _ECHOED}
        references = make_references(entry.key) if entry.response == APPROVED else {}
        answer = Message(codec.get_response_type(message.mti), {**fields, **references, 39: entry.response})
        return codec.encode(answer)

    async def read_position(self) -> Position:
        sums = self._ledger.sum_totals().values()
        return Position(sum(each.held for each in sums), sum(each.earned for each in sums))

    def decide_waiting(self) -> None:
        """A host decides at once."""

    def alter_amount(self, reply: WireReply) -> WireReply | None:
        answer = codec.decode(reply.body)
        other = f"{int(answer.fields[4]) + 1:012d}"
        return WireReply(reply.status, codec.encode(Message(answer.mti, {**answer.fields, 4: other})))

    def names_payment(self, reply: WireReply) -> bool:
        return 37 in codec.decode(reply.body).fields
