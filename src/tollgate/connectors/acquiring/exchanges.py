"""What to say about a transaction that has a key, and what the answers mean, in any dialect of the protocols.

Every answer, however odd, ends in one verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.results import is_pending, is_review, is_success
from tollgate.connectors.acquiring import messages
from tollgate.connectors.acquiring.responses import ADVICES, RESPONSES, UNLISTED
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest
from tollgate.payments.payment import Outcome, Payment, Verdict

FORCED_CODE = "forceResultCode"
"""The override by which a test asks the simulator for a result."""

SILENT = Verdict(outcome=Outcome.SILENT, code=codes.ACQUIRER_SILENT)
_NOT_FOUND = Verdict(outcome=Outcome.DECLINED, code=codes.TIMED_OUT_BEFORE_SENDING)

_Reply = TypeVar("_Reply", bound=messages.AcquirerReply)


@dataclass(frozen=True)
class Dialect(Generic[_Reply]):
    """In what one protocol differs from another."""

    reversals: str
    inquiries: str
    decode: Callable[[bytes], _Reply]
    read_verdict: Callable[[_Reply, str], Verdict]
    """From a reply and the code of a success to what it comes to."""
    undone: frozenset[str] = frozenset({"reversed", "unknown"})
    """The statuses that confirm a reversal; what was never seen counts as undone."""


def read_verdict(reply: messages.AcquirerReply, approved_code: str) -> Verdict:
    details = describe(reply)
    match reply.status:
        case "approved":
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
        case "declined":
            code = ADVICES.get(reply.advice) or RESPONSES.get(reply.response_code, UNLISTED)
            return Verdict(outcome=Outcome.DECLINED, code=code, details=details)
        case "pending":
            return Verdict(outcome=Outcome.WAITING, code=codes.PENDING, details=details)
        case _:
            return SILENT


ACQUIRER = Dialect(
    reversals=messages.REVERSALS, inquiries=messages.INQUIRIES, decode=messages.decode_reply, read_verdict=read_verdict
)


def perform(dialect: Dialect[_Reply], request: WireRequest, approved_code: str) -> Exchange:
    """One message that moves money, and the judgement of what it was answered."""
    reply = read_reply(dialect, (yield request))
    if reply is None:
        return SILENT
    verdict = dialect.read_verdict(reply, approved_code)
    forced_code = request.simulator_overrides.get(FORCED_CODE)
    # A code of our own catalogue counts only where a test asked for it; no acquirer may choose one by itself.
    if forced_code is None or reply.result_code != forced_code:
        return verdict
    return Verdict(outcome=classify(forced_code), code=forced_code, details=verdict.details)


def reverse(dialect: Dialect[_Reply], key: str) -> Exchange:
    """Undo what has an unknown fate.

    What the other side never saw counts as undone: it blocks the key from then on.
    """
    request = WireRequest(
        path=dialect.reversals, body=messages.encode_message(messages.KeyMessage(key)), key=f"{key}-reversal"
    )
    reply = read_reply(dialect, (yield request))
    if reply is None or reply.status not in dialect.undone:
        return SILENT
    return Verdict(outcome=Outcome.APPROVED, code="", details=describe(reply))


def inquire(dialect: Dialect[_Reply], key: str, approved_code: str) -> Exchange:
    """Ask what became of something. What was never seen is blocked by the question, so it never happens later."""
    request = WireRequest(
        path=dialect.inquiries, body=messages.encode_message(messages.KeyMessage(key)), key=f"{key}-inquiry"
    )
    reply = read_reply(dialect, (yield request))
    if reply is None:
        return SILENT
    return _NOT_FOUND if reply.status == "unknown" else dialect.read_verdict(reply, approved_code)


def follow_up(
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    is_final: bool = False,
    simulator_overrides: Mapping[str, str] = {},
) -> Exchange:
    """Do something with an earlier transaction, such as capturing or refunding it."""
    return perform(ACQUIRER, compose_follow_up(attempt, action, is_final, simulator_overrides), approved_code)


def repeat(
    attempt: Payment, action: str, approved_code: str, *, is_final: bool = False, was_accepted: bool = False
) -> Exchange:
    """Finish a follow-up that stayed silent."""
    request = compose_follow_up(attempt, action, is_final, {})
    return send_again(ACQUIRER, request, approved_code, was_accepted=was_accepted)


def send_again(dialect: Dialect[_Reply], request: WireRequest, approved_code: str, *, was_accepted: bool) -> Exchange:
    """Ask for what stayed silent, and send it again where the other side never saw it.

    The key stays the same, so that nothing is done twice: should the first message still be under way somewhere,
    whichever of the two comes second is only told what the other did. One that was accepted is only asked for: an
    acquirer that no longer knows it has lost its memory, and might do it twice.
    """
    question = messages.encode_message(messages.KeyMessage(request.key, blocks=False))
    asked = WireRequest(path=dialect.inquiries, body=question, key=f"{request.key}-inquiry")
    reply = read_reply(dialect, (yield asked))
    if reply is None or (was_accepted and reply.status == "unknown"):
        return SILENT
    if reply.status == "unknown":
        return (yield from perform(dialect, request, approved_code))
    return dialect.read_verdict(reply, approved_code)


def compose_follow_up(
    attempt: Payment, action: str, is_final: bool, simulator_overrides: Mapping[str, str]
) -> WireRequest:
    message = messages.make_follow_up(attempt, action, is_final=is_final)
    return WireRequest(
        path=messages.FOLLOW_UPS,
        body=messages.encode_message(message),
        key=message.key,
        simulator_overrides=simulator_overrides,
    )


def read_reply(dialect: Dialect[_Reply], reply: WireReply) -> _Reply | None:
    """None for what is not an answer of this protocol: the acquirer may have acted and broken down while telling."""
    if reply.status >= 500:
        return None
    try:
        return dialect.decode(reply.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def classify(code: str) -> Outcome:
    if is_success(code) or is_review(code):
        return Outcome.APPROVED
    return Outcome.WAITING if is_pending(code) else Outcome.DECLINED


def describe(reply: messages.AcquirerReply) -> dict[str, str]:
    """Clients that read result details at all insist on the extended description, so it is always among them."""
    details = {"ExtendedDescription": reply.message}
    for name, value in (
        ("clearingInstituteName", reply.institute),
        ("ConnectorTxID1", reply.reference),
        ("ConnectorTxID2", reply.authorization_code),
        ("ConnectorTxID3", reply.scheme_transaction_id),
        ("AcquirerResponse", reply.response_code),
        ("CardholderInitiatedTransactionID", reply.scheme_transaction_id),
    ):
        if value:
            details[name] = value
    return details
