"""The acquirers of the connectors that speak JSON: the ledger of the tests for cards and sessions, and the SEPA queue.

Faults of the wire are in `driving`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from acquirer_ledger import Entry, Fate, Ledger
from acquirer_sessions import OPEN, Session, Sessions
from acquirer_sessions import PATHS as SESSION_PATHS
from connectors.cases import Position
from connectors.driving import NOW, make_payment_id
from tollgate.connectors import redirect, sepa
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.operations.sepa_queue import SepaQueue
from tollgate.payments.merchants import Channel, Creditor
from tollgate.store.database import Database
from tollgate.store.instructions import InstructionState, find_instruction
from tollgate.values import ChannelId, FixedClock, MerchantId

_HOLDS = frozenset({"authorization", "renewal"})
_HELD: Mapping[str, int] = {"authorization": 1, "renewal": 1, "increment": 1, "capture": -1}
_TAKEN: Mapping[str, int] = {"sale": 1, "capture": 1, "rebill": 1, "credit": -1, "refund": -1}
"""The direction in which each type of message moves its amount; a reversal gives back what its original moved."""


def alter_json_amount(reply: WireReply) -> WireReply | None:
    """Adds one to the amount of an answer about a payment."""
    answer = json.loads(reply.body)
    if "amount" not in answer:
        return None
    return WireReply(reply.status, json.dumps({**answer, "amount": answer["amount"] + 1}).encode())


def names_key(reply: WireReply) -> bool:
    return "key" in json.loads(reply.body)


class LedgerPeer:
    """The acquirer of the other tests, for cards and sessions. An answer repeats key and amount of its request."""

    def __init__(self) -> None:
        self.declines = False
        self._ledger = Ledger()
        self._sessions = Sessions(self._ledger.act)

    async def answer(self, request: WireRequest) -> WireReply:
        if request.path in SESSION_PATHS:
            body = self._sessions.act(request.path, request.body)
        else:
            body = self._ledger.act(request.path, request.body, is_willing=not self.declines)
        return WireReply(200, json.dumps({**json.loads(body), **self._name(json.loads(request.body))}).encode())

    def _name(self, message: Mapping[str, object]) -> dict[str, object]:
        """Returns key, amount and currency of the transaction that a message is about, as far as it is known."""
        key = str(message["key"])
        sessions = msgspec.json.decode(self._sessions.report(), type=dict[str, Session])
        found: Entry | redirect.SessionMessage | None = self._list_entries().get(key)
        if found is None and key in sessions:
            found = sessions[key].message
        return (
            {"key": key}
            if found is None or not found.currency
            else {"key": key, "amount": found.amount, "currency": found.currency}
        )

    def _list_entries(self) -> dict[str, Entry]:
        return msgspec.json.decode(self._ledger.report(), type=dict[str, Entry])

    async def read_position(self) -> Position:
        entries = self._list_entries()
        held = taken = 0
        for entry in entries.values():
            if entry.fate is not Fate.APPROVED:
                continue
            if entry.type == "reversal":
                is_hold = entries[entry.original].type in _HOLDS
                held -= entry.amount if is_hold else 0
                taken -= 0 if is_hold else entry.amount
            held += _HELD.get(entry.type, 0) * entry.amount
            taken += _TAKEN.get(entry.type, 0) * entry.amount
        return Position(held, taken)

    def decide_waiting(self) -> None:
        sessions = msgspec.json.decode(self._sessions.report(), type=dict[str, Session])
        for key, session in sessions.items():
            if session.status == OPEN:
                self._sessions.decide(key, "declined" if self.declines else "approved")

    alter_amount = staticmethod(alter_json_amount)
    names_payment = staticmethod(names_key)


_CREDITOR = Creditor(name="Jones", iban="DE89370400440532013000", bic="COBADEFFXXX", identifier="DE98ZZZ09999999999")
_DECLINED = sepa.QueueReply(status="declined", response_code=sepa.Response.CREDITOR, message="no creditor")


class QueuePeer:
    """The queue of SEPA instructions itself, for a merchant of its own."""

    def __init__(self, database: Database) -> None:
        self.declines = False
        self._database = database
        self._merchant_id = MerchantId(make_payment_id())
        channel = Channel(
            id=ChannelId("8a" + "2" * 30),
            merchant_id=self._merchant_id,
            name="Shop",
            created_at=NOW,
            creditor=_CREDITOR,
        )
        self._queue = SepaQueue(database, self._merchant_id, channel, FixedClock(NOW))
        self._keys: dict[str, None] = {}

    async def answer(self, request: WireRequest) -> WireReply:
        message = json.loads(request.body)
        if self.declines and request.path in (sepa.INSTRUCTIONS, sepa.CANCELLATIONS):
            return WireReply(200, msgspec.json.encode(_DECLINED))
        reply = await self._queue.send(request, 60.0)
        self._keys[message["key"]] = None
        noted = await find_instruction(self._database, self._merchant_id, message["key"])
        named = {"key": message["key"]}
        if noted is not None and noted.state is not InstructionState.BLOCKED:
            named |= {"amount": noted.amount, "currency": noted.currency}
        return WireReply(reply.status, json.dumps({**json.loads(reply.body), **named}).encode())

    async def read_position(self) -> Position:
        taken = 0
        for key in self._keys:
            noted = await find_instruction(self._database, self._merchant_id, key)
            if noted is not None and noted.state is InstructionState.OPEN:
                taken += noted.amount if noted.direction == sepa.Direction.DEBIT else -noted.amount
        return Position(taken=taken)

    def decide_waiting(self) -> None:
        """The queue decides at once."""

    alter_amount = staticmethod(alter_json_amount)
    names_payment = staticmethod(names_key)
