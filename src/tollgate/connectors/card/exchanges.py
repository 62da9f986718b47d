"""The card connector: what to say to an acquirer and what its answers mean.

Every answer, however odd, ends in one verdict.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.catalog import is_pending, is_review, is_success
from tollgate.connectors.card.messages import (
    CHARGES,
    FOLLOW_UPS,
    INQUIRIES,
    REVERSALS,
    AcquirerReply,
    KeyMessage,
    decode_reply,
    encode_message,
    make_charge,
    make_follow_up,
)
from tollgate.connectors.card.responses import RESPONSES, UNLISTED
from tollgate.connectors.exchange import Exchange, WireReply, WireRequest
from tollgate.payments import Order, Outcome, Payment, Verdict

FORCED_CODE = "forceResultCode"
"""The lever by which a test asks the simulator for a result."""

_SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")
_NOT_FOUND = Verdict(outcome=Outcome.DECLINED, code="900.100.310")


def charge(order: Order, key: str, approved_code: str, *, back_url: str = "") -> Exchange:  # noqa: ARG001, no page
    """Authorise, debit or credit a card."""
    request = WireRequest(path=CHARGES, body=encode_message(make_charge(order, key)), key=key, levers=order.levers)
    return perform(request, approved_code)


def follow_up(
    attempt: Payment, action: str, approved_code: str, *, is_final: bool = False, levers: Mapping[str, str] = {}
) -> Exchange:
    """Do something with an earlier transaction, such as capturing or refunding it."""
    return perform(compose_follow_up(attempt, action, is_final, levers), approved_code)


def repeat(
    attempt: Payment, action: str, approved_code: str, *, is_final: bool = False, was_accepted: bool = False
) -> Exchange:
    """Finish a follow-up that stayed silent: ask for it, and send it again where the acquirer never saw it.

    The key stays the same, so that nothing is done twice: should the first message still be under way somewhere,
    whichever of the two comes second is only told what the other did. One that was accepted is only asked for: an
    acquirer that no longer knows it has lost its memory, and might do it twice.
    """
    key = attempt.id
    question = KeyMessage(key, blocks=False)
    reply = read_reply((yield WireRequest(path=INQUIRIES, body=encode_message(question), key=f"{key}-inquiry")))
    if reply is None or (was_accepted and reply.status == "unknown"):
        return _SILENT
    if reply.status == "unknown":
        return (yield from perform(compose_follow_up(attempt, action, is_final, {}), approved_code))
    return judge(reply, approved_code)


def reverse(key: str) -> Exchange:
    """Undo a charge whose fate is unknown.

    A charge the acquirer never saw counts as undone: it blocks the key from then on.
    """
    request = WireRequest(path=REVERSALS, body=encode_message(KeyMessage(key)), key=f"{key}-reversal")
    reply = read_reply((yield request))
    if reply is None or reply.status not in ("reversed", "unknown"):
        return _SILENT
    return Verdict(outcome=Outcome.APPROVED, code="", details=describe(reply))


def inquire(key: str, approved_code: str) -> Exchange:
    """Ask what became of a charge. One the acquirer never saw is blocked by the question, so it never happens later."""
    request = WireRequest(path=INQUIRIES, body=encode_message(KeyMessage(key)), key=f"{key}-inquiry")
    reply = read_reply((yield request))
    if reply is None:
        return _SILENT
    return _NOT_FOUND if reply.status == "unknown" else judge(reply, approved_code)


def perform(request: WireRequest, approved_code: str) -> Exchange:
    """One message that moves money, and the judgement of what it was answered."""
    reply = read_reply((yield request))
    if reply is None:
        return _SILENT
    verdict = judge(reply, approved_code)
    forced_code = request.levers.get(FORCED_CODE)
    # A code of our own catalogue counts only where a test asked for it; no acquirer may choose one by itself.
    if forced_code is None or reply.result_code != forced_code:
        return verdict
    return Verdict(outcome=classify(forced_code), code=forced_code, details=verdict.details)


def compose_follow_up(attempt: Payment, action: str, is_final: bool, levers: Mapping[str, str]) -> WireRequest:
    message = make_follow_up(attempt, action, is_final=is_final)
    return WireRequest(path=FOLLOW_UPS, body=encode_message(message), key=message.key, levers=levers)


def read_reply(reply: WireReply) -> AcquirerReply | None:
    """None for what is not an answer of this protocol: the acquirer may have acted and broken down while telling."""
    if reply.status >= 500:
        return None
    try:
        return decode_reply(reply.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def judge(reply: AcquirerReply, approved_code: str) -> Verdict:
    details = describe(reply)
    match reply.status:
        case "approved":
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
        case "declined":
            return Verdict(outcome=Outcome.DECLINED, code=RESPONSES.get(reply.response_code, UNLISTED), details=details)
        case "pending":
            return Verdict(outcome=Outcome.WAITING, code="000.200.000", details=details)
        case _:
            return _SILENT


def classify(code: str) -> Outcome:
    if is_success(code) or is_review(code):
        return Outcome.APPROVED
    return Outcome.WAITING if is_pending(code) else Outcome.DECLINED


def describe(reply: AcquirerReply) -> dict[str, str]:
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
