"""The sessions of the tests' acquirer, in which shoppers decide when a test says so.

Money moves in its ledger only, so that follow-ups of a session are checked like those of a charge.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from tollgate.connectors import acquiring, card, redirect

OPEN, BLOCKED = "open", "unknown"
PATHS = frozenset({redirect.SESSIONS, redirect.SESSION_INQUIRIES, redirect.SESSION_CANCELLATIONS})

_read_opening = msgspec.json.Decoder(redirect.SessionMessage).decode
_read_key = msgspec.json.Decoder(acquiring.KeyMessage).decode


class Session(msgspec.Struct):
    status: str
    message: redirect.SessionMessage | None = None
    """The message is None where the session was asked for, or cancelled, before it arrived."""


class Sessions:
    def __init__(self, act_in_ledger: Callable[[str, bytes], bytes]) -> None:
        self._act_in_ledger = act_in_ledger
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}

    def report(self) -> bytes:
        with self._lock:
            return msgspec.json.encode(self._sessions)

    def decide(self, key: str, status: str) -> None:
        """The shopper does; only an approval moves money."""
        with self._lock:
            session = self._sessions[key]
            session.status = status
            if status == "approved" and session.message is not None:
                self._act_in_ledger(card.CHARGES, _make_charge(session.message))

    def act(self, path: str, body: bytes) -> bytes:
        with self._lock:
            match path:
                case redirect.SESSIONS:
                    message = _read_opening(body)
                    session = self._sessions.setdefault(message.key, Session(OPEN, message))
                    reply = _tell(session, is_opening=True)
                case redirect.SESSION_INQUIRIES:
                    reply = _tell(self._find(_read_key(body)))
                case _:
                    reply = self._cancel(_read_key(body))
            return msgspec.json.encode(reply)

    def _find(self, question: acquiring.KeyMessage) -> Session:
        blocked = Session(BLOCKED)
        if question.blocks:
            return self._sessions.setdefault(question.key, blocked)
        return self._sessions.get(question.key, blocked)

    def _cancel(self, question: acquiring.KeyMessage) -> redirect.SessionReply:
        session = self._find(question)
        if session.status == "approved":
            self._act_in_ledger(acquiring.REVERSALS, msgspec.json.encode(acquiring.KeyMessage(question.key)))
            session.status = "reversed"
        elif session.status not in (BLOCKED, "reversed"):
            session.status = "cancelled"
        return _tell(session)


def _tell(session: Session, *, is_opening: bool = False) -> redirect.SessionReply:
    if session.status != OPEN:
        return redirect.SessionReply(status=session.status, response_code="51" if session.status == "declined" else "")
    if not is_opening or session.message is None:
        return redirect.SessionReply(status="pending")
    fields = (redirect.FieldReply("session", session.message.key),)
    forward = redirect.ForwardReply(url="https://provider.example/pay?lang=en", method="POST", parameters=fields)
    return redirect.SessionReply(status="redirect", redirect=forward, reference="P-1")


def _make_charge(message: redirect.SessionMessage) -> bytes:
    charge = card.ChargeMessage(
        key=message.key,
        type=message.type,
        amount=message.amount,
        currency=message.currency,
        brand=message.brand,
        statement=message.statement,
    )
    return msgspec.json.encode(charge)
