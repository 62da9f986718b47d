"""The connector for bank accounts: what to tell the bank desk, and what its answers mean.

Every answer, however odd, ends in one verdict.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.connectors import acquiring
from tollgate.connectors.acquiring import Dialect, encode_message, perform, send_again
from tollgate.connectors.exchange import Exchange, WireRequest
from tollgate.connectors.sepa import messages
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict

RESPONSES: dict[str, str] = {
    messages.Response.LATE: codes.REVERSAL_TOO_LATE,
    messages.Response.CREDITOR: codes.NO_CONTRACT,
    messages.Response.CURRENCY: codes.CURRENCY_NOT_CONFIGURED,
    messages.Response.AMOUNT: codes.AMOUNT_TOO_LARGE,
    messages.Response.MANDATE: codes.INVALID_MANDATE_ID,
    messages.Response.SIGNATURE: codes.INVALID_MANDATE_DATE,
    messages.Response.ERASED: codes.ACCOUNT_ERASED,
}
"""How the desk's refusals read in the gateway's catalogue."""


def read_verdict(reply: messages.QueueReply, approved_code: str) -> Verdict:
    verdict = acquiring.read_verdict(reply, approved_code)
    if verdict.outcome is Outcome.DECLINED:
        return msgspec.structs.replace(verdict, code=RESPONSES.get(reply.response_code, verdict.code))
    told = {"DueDate": reply.due_on, "MandateId": reply.mandate_id}
    return msgspec.structs.replace(
        verdict, details={**verdict.details, **{name: value for name, value in told.items() if value}}
    )


DESK = Dialect(
    reversals=messages.REVERSALS, inquiries=messages.INQUIRIES, decode=messages.decode_reply, read_verdict=read_verdict
)


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
