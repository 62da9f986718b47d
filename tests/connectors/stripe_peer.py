"""A processor with the part of the Stripe API that the connector uses, with idempotency keys and a ledger.

A server that others wrote, localstripe, is asked in the tests of the API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from connectors.cases import Position
from connectors.driving import NOW
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.values import SECOND

Object = dict[str, Any]
Form = Mapping[str, str]

_numbers = count(1)
"""The ids of all processors are different, as those of one are."""


class Refused(Exception):
    def __init__(self, status: int, code: str, kind: str = "invalid_request_error") -> None:
        super().__init__(code)
        self.reply = WireReply(
            status, json.dumps({"error": {"type": kind, "code": code, "message": f"It is {code}."}}).encode()
        )


class StripePeer:
    def __init__(self) -> None:
        self.declines = False
        self._methods: set[str] = set()
        self._intents: dict[str, Object] = {}
        self._refunds: dict[str, Object] = {}
        self._answered: dict[str, tuple[bytes, WireReply]] = {}
        """The requests and answers by their idempotency keys."""

    async def answer(self, request: WireRequest) -> WireReply:
        address = urlsplit(request.path)
        words = address.path.removeprefix("/v1/").split("/")
        assert request.headers["Authorization"].startswith("Bearer ")
        if request.method == "GET":
            return self._reply(self._show(words, dict(parse_qsl(address.query))))
        sent = request.path.encode() + request.body
        before, reply = self._answered.get(request.key, (sent, None))
        if before != sent:
            return Refused(400, "idempotency_key_in_use", "idempotency_error").reply
        if reply is None:
            try:
                reply = self._reply(self._act(words, dict(parse_qsl(request.body.decode()))))
            except Refused as refused:
                reply = refused.reply
            self._answered[request.key] = sent, reply
        return reply

    @staticmethod
    def _reply(found: Object | None) -> WireReply:
        if found is None:
            return Refused(404, "resource_missing").reply
        return WireReply(200, json.dumps(found).encode())

    def _show(self, words: list[str], query: Form) -> Object | None:
        match words:
            case ["payment_intents"]:
                return {"object": "list", "data": [*self._intents.values()], "has_more": False}
            case ["refunds"]:
                of = [each for each in self._refunds.values() if each["payment_intent"] == query["payment_intent"]]
                return {"object": "list", "data": of, "has_more": False}
            case ["payment_intents", intent_id]:
                return self._intents.get(intent_id)
            case _:
                return None

    def _act(self, words: list[str], form: Form) -> Object | None:
        match words:
            case ["payment_methods"]:
                self._methods.add(method_id := f"pm_{next(_numbers)}")
                return {"id": method_id, "object": "payment_method"}
            case ["payment_intents"]:
                return self._create(form)
            case ["payment_intents", intent_id, action] if intent_id in self._intents:
                return self._change(self._intents[intent_id], action, form)
            case ["refunds"] if form["payment_intent"] in self._intents:
                return self._refund(self._intents[form["payment_intent"]], form)
            case _:
                return None

    def _create(self, form: Form) -> Object:
        if form["payment_method"] not in self._methods:
            raise Refused(400, "resource_missing")
        intent_id = f"pi_{next(_numbers)}"
        intent = self._intents[intent_id] = {
            "id": intent_id,
            "object": "payment_intent",
            "status": "requires_confirmation",
            "amount": int(form["amount"]),
            "currency": form["currency"],
            "capture_method": form["capture_method"],
            "amount_received": 0,
            "created": NOW // SECOND,
            "metadata": {"tollgate": form["metadata[tollgate]"]},
            "latest_charge": None,
        }
        return intent

    def _change(self, intent: Object, action: str, form: Form) -> Object:
        self._check_willing()
        status = intent["status"]
        match action:
            case "confirm" if status in ("requires_confirmation", "requires_payment_method"):
                intent["latest_charge"] = {"id": f"ch_{next(_numbers)}", "amount": intent["amount"]}
                is_hold = intent["capture_method"] == "manual"
                intent["status"] = "requires_capture" if is_hold else "succeeded"
                intent["amount_received"] = 0 if is_hold else intent["amount"]
            case "capture" if status == "requires_capture":
                intent["status"] = "succeeded"
                intent["amount_received"] = int(form["amount_to_capture"])
            case "cancel" if status not in ("succeeded", "canceled"):
                intent["status"] = "canceled"
            case _:
                raise Refused(400, "payment_intent_unexpected_state")
        return intent

    def _refund(self, intent: Object, form: Form) -> Object:
        self._check_willing()
        charge = intent["latest_charge"]
        left = intent["amount_received"] - charge.get("amount_refunded", 0)
        amount = int(form.get("amount", left))
        if amount > left:
            raise Refused(400, "charge_already_refunded")
        charge["amount_refunded"] = charge.get("amount_refunded", 0) + amount
        refund_id = f"re_{next(_numbers)}"
        refund = self._refunds[refund_id] = {
            "id": refund_id,
            "object": "refund",
            "status": "succeeded",
            "amount": amount,
            "currency": intent["currency"],
            "payment_intent": intent["id"],
            "metadata": {"tollgate": form["metadata[tollgate]"]},
        }
        return refund

    def _check_willing(self) -> None:
        if self.declines:
            raise Refused(402, "card_declined", "card_error")

    async def read_position(self) -> Position:
        intents = self._intents.values()
        held = sum(intent["amount"] for intent in intents if intent["status"] == "requires_capture")
        taken = sum(intent["amount_received"] for intent in intents)
        return Position(held, taken - sum(refund["amount"] for refund in self._refunds.values()))

    def decide_waiting(self) -> None:
        """It decides at once."""

    def alter_amount(self, reply: WireReply) -> WireReply | None:
        answer = json.loads(reply.body)
        # A cancellation has no amount; the answer repeats that of the intent.
        if "amount" not in answer or answer["status"] == "canceled":
            return None
        altered = {name: answer[name] + 1 for name in ("amount", "amount_received") if answer.get(name)}
        return WireReply(reply.status, json.dumps({**answer, **altered}).encode())

    def names_payment(self, reply: WireReply) -> bool:
        return "metadata" in json.loads(reply.body)
