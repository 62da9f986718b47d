"""The JSON messages that card acquirers and providers share, and what their answers mean.

Each connector defines the message that begins a payment itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from tollgate.catalog import card_checks, codes
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.parameters.nesting import nest_fields
from tollgate.catalog.payment_types import INITIAL_PAYMENT_TYPES, PAYMENT_TYPES, Direction
from tollgate.catalog.results import is_pending, is_review, is_success
from tollgate.connectors import forwarding
from tollgate.connectors.exchange import Exchange, Original, WireReply, WireRequest, make_request, read_reply
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict
from tollgate.values import Money, Secret, read_hundredths

FOLLOW_UPS = "/v1/follow-ups"
REVERSALS = "/v1/reversals"
INQUIRIES = "/v1/inquiries"

_MESSAGE_TYPES = {Direction.HOLD: "authorization", Direction.TAKE: "sale", Direction.GIVE: "credit"}
CHARGE_TYPES = {code: _MESSAGE_TYPES[PAYMENT_TYPES[code].direction] for code in INITIAL_PAYMENT_TYPES}
FOLLOW_UP_TYPES = frozenset({"capture", "reversal", "refund", "rebill", "increment", "renewal"})

ShortText = Annotated[str, msgspec.Meta(max_length=128)]
LongText = Annotated[str, msgspec.Meta(max_length=512)]


class FollowUpMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message about a transaction that the acquirer has, which therefore needs no account."""

    key: str
    type: str
    original: str
    """The key of the transaction that it follows; a refund of a capture names the capture."""
    amount: int
    currency: str
    is_final: bool = False
    """Nothing of its type follows that transaction any more."""
    details: dict[str, Any] | None = None
    """The same as in a charge: what was sent with it, and what acquirers need of the first payment."""


class KeyMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The key of an earlier transaction, to reverse it or to ask for its outcome."""

    key: str
    blocks: bool = True
    """A key that was never seen is refused from now on. A question before a repeat must not block."""


class AcquirerReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    status: str
    """approved, declined, pending, reversed or unknown"""
    response_code: ShortText = ""
    advice: ShortText = ""
    """The issuer may add its merchant advice code to a declined charge."""
    message: LongText = ""
    authorization_code: ShortText = ""
    reference: ShortText = ""
    scheme_transaction_id: ShortText = ""
    cvv_response: ShortText = ""
    """The issuer's letter for the CVV: M matches, N does not, P not checked, S not sent, U unknown."""
    avs_response: ShortText = ""
    """The issuer's letter for the address: F matches, A only the street, Z only the postcode, N neither, U unknown."""
    institute: ShortText = ""
    result_code: ShortText = ""
    """A simulator sets it, if a test asked for a particular result code."""
    key: ShortText = ""
    """An acquirer may repeat key, amount and currency of the transaction; an answer that names others is none."""
    amount: int | None = None
    currency: ShortText = ""


def to_minor_units(money: Money) -> int:
    """Converts hundredths to yen, cents or fils, exactly or not at all."""
    exponent = CURRENCIES[money.currency].exponent
    if exponent >= 2:
        return money.hundredths * int(10 ** (exponent - 2))
    units, rest = divmod(money.hundredths, int(10 ** (2 - exponent)))
    if rest:
        raise ValueError(f"{money.currency} has no such fraction")
    return units


def read_minor_units(units: int, currency: str) -> Money | None:
    """Reads a positive amount; None where it cannot be written in hundredths, or the currency is unknown."""
    row = CURRENCIES.get(currency)
    if row is None or units <= 0:
        return None
    if row.exponent <= 2:
        return Money(units * int(10 ** (2 - row.exponent)), currency)
    hundredths, rest = divmod(units, int(10 ** (row.exponent - 2)))
    return None if rest else Money(hundredths, currency)


def reveal(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def make_follow_up(
    attempt: Payment, action: str, *, is_final: bool, details: dict[str, Any] | None = None
) -> FollowUpMessage:
    if action not in FOLLOW_UP_TYPES:
        raise ValueError(f"the protocol has no action {action}")
    if attempt.referenced_id is None:
        raise ValueError(f"payment {attempt.id} follows nothing")
    return FollowUpMessage(
        key=attempt.id,
        type=action,
        original=attempt.referenced_id,
        amount=to_minor_units(attempt.money),
        currency=attempt.money.currency,
        is_final=is_final,
        details=details,
    )


def describe_order(connector: ConnectorName, order: Order) -> dict[str, Any] | None:
    return _describe(connector, forwarding.list_order_values(order), order.money.currency)


def describe_follow_up(connector: ConnectorName, attempt: Payment, first: Payment) -> dict[str, Any] | None:
    return _describe(connector, forwarding.list_follow_up_values(attempt, first), attempt.money.currency)


def _describe(connector: ConnectorName, values: Mapping[str, str], currency: str) -> dict[str, Any] | None:
    """Makes the details of a message, or None if there are none: an acquirer reads only what the merchant sent.

    currency: that of the payment, for amounts that have none of their own.
    """
    found = forwarding.list_places(connector, values)
    if not found:
        return None
    return nest_fields(
        [
            (
                place.text,
                text if (name := place.currency_name) is None else _describe_amount(name, text, values, currency),
            )
            for place, text in found
        ]
    )


def _describe_amount(currency_name: str, text: str, values: Mapping[str, str], currency: str) -> dict[str, Any]:
    money = Money(read_hundredths(text), values.get(currency_name, currency))
    return {"amount": to_minor_units(money), "currency": money.currency}


UNLISTED = "800.100.100"

RESPONSES: dict[str, str] = {
    "01": "800.100.200",
    "02": "800.100.200",
    "03": "800.100.190",
    "04": "800.100.171",
    "05": "800.100.152",
    "06": "900.100.200",
    "07": "800.100.171",
    "12": "800.100.170",
    "13": "800.100.174",
    "14": "800.100.151",
    "15": "800.100.151",
    "19": "800.100.176",
    "25": "800.100.167",
    "30": "800.100.156",
    "31": "800.100.169",
    "33": "800.100.157",
    "34": "800.100.158",
    "36": "800.100.168",
    "38": "800.100.178",
    "39": "800.100.201",
    "40": "800.100.170",
    "41": "800.100.165",
    "43": "800.100.159",
    "46": "800.100.202",
    "51": "800.100.203",
    "52": "800.100.201",
    "53": "800.100.201",
    "54": "800.100.157",
    "55": "800.100.166",
    "57": "800.100.170",
    "58": "800.100.170",
    "59": "800.100.158",
    "61": "800.100.162",
    "62": "800.100.168",
    "63": "800.100.170",
    "65": "800.100.163",
    "68": "900.100.400",
    "75": "800.100.178",
    "76": "800.100.167",
    "77": "800.100.154",
    "78": "800.100.172",
    "82": "800.100.153",
    "90": "800.800.400",
    "91": "900.100.600",
    "92": "900.100.600",
    "93": "800.100.170",
    "94": "800.100.191",
    "96": "900.100.200",
    "1A": "300.100.100",
    "5C": "800.100.170",
    "6P": "800.100.402",
    "9G": "800.100.160",
    "N4": "800.100.155",
    "N7": "800.100.153",
    "R0": "800.100.500",
    "R1": "800.100.501",
    "R3": "800.100.501",
}

ADVICES: dict[str, str] = {
    "01": "700.601.001",
    "02": "700.600.002",
    "03": "700.601.003",
    "25": "700.600.025",
}
"""The merchant advice code says whether to try again, and counts more than the response code beside it."""


FORCED_CODE = "forceResultCode"
"""The override by which a test asks the simulator for a result."""

SILENT = Verdict(outcome=Outcome.SILENT, code=codes.ACQUIRER_SILENT)
NOT_EXECUTED = Verdict(outcome=Outcome.DECLINED, code=codes.TIMED_OUT_BEFORE_SENDING)
"""The acquirer never saw the request, or has undone it, and does not execute it later."""

_Reply = TypeVar("_Reply", bound=AcquirerReply)


@dataclass(frozen=True)
class Dialect(Generic[_Reply]):
    """The differences between protocols."""

    reversals: str
    inquiries: str
    reply: type[_Reply]
    read_verdict: Callable[[_Reply, str], Verdict]
    """The arguments are a reply and the code of a success."""
    undone: frozenset[str] = frozenset({"reversed", "unknown"})
    """The statuses that confirm a reversal; what was never seen counts as undone."""


def read_verdict(reply: AcquirerReply, approved_code: str) -> Verdict:
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


ACQUIRER = Dialect(REVERSALS, INQUIRIES, AcquirerReply, read_verdict)


def _read(dialect: Dialect[_Reply], answer: WireReply, key: str, money: Money) -> _Reply | None:
    """Returns None for what is no answer, and for an answer about another transaction or amount."""
    reply = read_reply(answer, dialect.reply)
    if reply is None or reply.key not in ("", key) or reply.currency not in ("", money.currency):
        return None
    return reply if reply.amount is None or reply.amount == to_minor_units(money) else None


def perform(dialect: Dialect[_Reply], request: WireRequest, approved_code: str, money: Money) -> Exchange:
    """Sends one message that moves money, and returns the verdict of its answer."""
    reply = _read(dialect, (yield request), request.key, money)
    if reply is None:
        return SILENT
    verdict = dialect.read_verdict(reply, approved_code)
    forced_code = request.simulator_overrides.get(FORCED_CODE)
    # A code of our own catalogue counts only where a test asked for it; no acquirer may choose one by itself.
    if forced_code is None or reply.result_code != forced_code:
        return verdict
    return Verdict(outcome=classify(forced_code), code=forced_code, details=verdict.details)


def reverse(dialect: Dialect[_Reply], original: Original) -> Exchange:
    """Undoes a charge whose outcome is unknown.

    A charge that the other side never saw counts as undone: it blocks the key from then on.
    """
    key = original.payment.id
    answer = yield make_request(dialect.reversals, KeyMessage(key), f"{key}-reversal")
    reply = _read(dialect, answer, key, original.payment.money)
    if reply is None or reply.status not in dialect.undone:
        return SILENT
    return Verdict(outcome=Outcome.APPROVED, code="", details=describe(reply))


def inquire(dialect: Dialect[_Reply], original: Original, approved_code: str) -> Exchange:
    """Asks for the outcome of a charge. One that was never seen is blocked by the question, so it cannot happen."""
    key = original.payment.id
    answer = yield make_request(dialect.inquiries, KeyMessage(key), f"{key}-inquiry")
    reply = _read(dialect, answer, key, original.payment.money)
    if reply is None:
        return SILENT
    return NOT_EXECUTED if reply.status == "unknown" else dialect.read_verdict(reply, approved_code)


def follow_up(
    connector: ConnectorName,
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    original: Original,
    is_final: bool = False,
    simulator_overrides: Mapping[str, str] = {},
) -> Exchange:
    """Captures, refunds, reverses or rebills an earlier transaction."""
    details = describe_follow_up(connector, attempt, original.first)
    message = make_follow_up(attempt, action, is_final=is_final, details=details)
    request = make_request(FOLLOW_UPS, message, message.key, simulator_overrides)
    return perform(ACQUIRER, request, approved_code, attempt.money)


def repeat(
    connector: ConnectorName,
    attempt: Payment,
    action: str,
    approved_code: str,
    *,
    original: Original,
    is_final: bool = False,
    was_accepted: bool = False,
) -> Exchange:
    """Finishes a follow-up that stayed silent."""
    details = describe_follow_up(connector, attempt, original.first)
    message = make_follow_up(attempt, action, is_final=is_final, details=details)
    request = make_request(FOLLOW_UPS, message, message.key)
    return send_again(ACQUIRER, request, approved_code, attempt.money, was_accepted=was_accepted)


def send_again(
    dialect: Dialect[_Reply], request: WireRequest, approved_code: str, money: Money, *, was_accepted: bool
) -> Exchange:
    """Asks for a request that stayed silent, and sends it again where the other side never saw it.

    The key stays the same, so that nothing is done twice: if the first message is still under way, the one that
    arrives second is only answered with the result of the other. A request that was accepted is only asked for,
    because an acquirer that no longer knows it has lost its data, and might do it twice.
    """
    question = make_request(dialect.inquiries, KeyMessage(request.key, blocks=False), f"{request.key}-inquiry")
    reply = _read(dialect, (yield question), request.key, money)
    if reply is None or (was_accepted and reply.status == "unknown"):
        return SILENT
    if reply.status == "unknown":
        return (yield from perform(dialect, request, approved_code, money))
    return dialect.read_verdict(reply, approved_code)


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
        (card_checks.AVS_MEMBER, card_checks.read_letter(reply.avs_response, card_checks.AVS_LETTERS)),
        (card_checks.CVV_MEMBER, card_checks.read_letter(reply.cvv_response, card_checks.CVV_LETTERS)),
    ):
        if value:
            details[name] = value
    return details
