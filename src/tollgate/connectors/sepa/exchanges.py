"""The connector for bank accounts: what to tell the bank desk, and what its answers mean.

Every answer, however odd, ends in one verdict.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.connectors import acquiring
from tollgate.connectors.acquiring import Dialect, encode_message, perform, send_again
from tollgate.connectors.exchange import Exchange, WireRequest
from tollgate.connectors.sepa import messages
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict

RESPONSES: dict[str, str] = {
    messages.Response.LATE: "700.300.700",
    messages.Response.CREDITOR: "600.200.201",
    messages.Response.CURRENCY: "600.200.500",
    messages.Response.AMOUNT: "100.550.301",
    messages.Response.MANDATE: "100.500.303",
    messages.Response.SIGNATURE: "100.500.302",
    messages.Response.ERASED: "700.500.004",
}
"""How the desk's refusals read in the gateway's catalogue."""


def judge(reply: messages.QueueReply, approved_code: str) -> Verdict:
    verdict = acquiring.judge(reply, approved_code)
    if verdict.outcome is Outcome.DECLINED:
        return msgspec.structs.replace(verdict, code=RESPONSES.get(reply.response_code, verdict.code))
    told = {"DueDate": reply.due_on, "MandateId": reply.mandate_id}
    return msgspec.structs.replace(
        verdict, details={**verdict.details, **{name: value for name, value in told.items() if value}}
    )


DESK = Dialect(reversals=messages.REVERSALS, inquiries=messages.INQUIRIES, decode=messages.decode_reply, judge=judge)


def charge(order: Order, key: str, approved_code: str, *, back_url: str = "") -> Exchange:  # noqa: ARG001, no page
    """Debit or credit an account, or note its mandate."""
    return perform(DESK, compose(messages.make_charge(order, key), order.simulator_overrides), approved_code)


def follow_up(
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    is_final: bool = False,  # noqa: ARG001, the desk counts nothing
    simulator_overrides: Mapping[str, str] = {},
) -> Exchange:
    """Debit or credit the account of the first payment again, or cancel what no file has taken yet."""
    return perform(DESK, compose(messages.make_follow_up(attempt, action), simulator_overrides), approved_code)


def repeat(
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    is_final: bool = False,  # noqa: ARG001, the desk counts nothing
    was_accepted: bool = False,
) -> Exchange:
    """Finish a follow-up that stayed silent."""
    return send_again(
        DESK, compose(messages.make_follow_up(attempt, action), {}), approved_code, was_accepted=was_accepted
    )


def reverse(key: str) -> Exchange:
    return acquiring.reverse(DESK, key)


def inquire(key: str, approved_code: str) -> Exchange:
    return acquiring.inquire(DESK, key, approved_code)


def compose(
    message: messages.InstructionMessage | messages.CancellationMessage, simulator_overrides: Mapping[str, str]
) -> WireRequest:
    path = messages.CANCELLATIONS if isinstance(message, messages.CancellationMessage) else messages.INSTRUCTIONS
    return WireRequest(
        path=path, body=encode_message(message), key=message.key, simulator_overrides=simulator_overrides
    )
