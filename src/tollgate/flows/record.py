"""Records what an acquirer or a bank reports: receipts, chargebacks and their reversals, each of them once.

What a fact does to the chain is decided by the rows of `payments.following`.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import blake2b

import msgspec

from tollgate.catalog import codes, limits, results
from tollgate.contract.record_lines import LineFault, RecordLine
from tollgate.flows import evidence, follow_up
from tollgate.operations import charging, signing
from tollgate.operations.app import App, Call
from tollgate.payments import merchants, order, reporting
from tollgate.payments.chain import Refused, decide_follow_up
from tollgate.payments.payment import Payment, State
from tollgate.store import database, payments
from tollgate.store.reports import search_payments
from tollgate.values import Fault, MerchantId, Money, PaymentId, Refusal, make_id, make_short_id

_CANDIDATES_MAX = 50
_ID_BYTES = 15


def make_fact_id(merchant_id: MerchantId, payment_type: str, reference: str) -> PaymentId:
    """Returns the same id however often it is called, so that the store refuses to record a fact twice.

    No key goes into it: keys are rotated, and this must never change.
    """
    named = f"fact.{merchant_id}.{payment_type}.{reference}".encode()
    return PaymentId("8a" + blake2b(named, digest_size=_ID_BYTES).hexdigest())


class Recorded(msgspec.Struct, frozen=True):
    payment: Payment
    is_new: bool
    """It is False where the fact was recorded before."""


async def record(app: App, channel: merchants.Channel, named: Payment, line: RecordLine, ndc: str = "") -> Recorded:
    """Records one fact about a payment; a reversal that names the payment itself is for its open chargeback."""
    fact_id = make_fact_id(named.merchant_id, line.payment_type, line.reference)
    earlier = await find_earlier(app, named, line)
    if earlier is not None:
        return Recorded(earlier, False)
    target = await choose_target(app, named, line.payment_type)
    call = Call(channel, ndc or f"{channel.id}_{make_id(app.random_bytes)}")
    notice = line.result_code or codes.CHARGED_BACK if line.payment_type == "CB" else None
    try:
        fact = make_fact(app, target, line)
        return Recorded(await follow_up.record_fact(app, fact, target.id, call, notice, payment_id=fact_id), True)
    except (database.Unwritable, Refusal):
        # Another process may have recorded the same fact at this moment.
        earlier = await find_earlier(app, named, line)
        if earlier is None:
            raise
        return Recorded(earlier, False)


async def find_earlier(app: App, named: Payment, line: RecordLine) -> Payment | None:
    """Finds the fact if it was recorded before; a reference that stands for another fact is refused."""
    fact_id = make_fact_id(named.merchant_id, line.payment_type, line.reference)
    earlier = await payments.find_payment(app.database, named.merchant_id, fact_id)
    if earlier is None:
        return None
    signing.trust(app, earlier)
    if earlier.first_id != named.first_id or line.amount not in (None, earlier.money.hundredths):
        raise results.make_invalid(Fault("reference", f"stands for another {line.payment_type}, {earlier.id}"))
    return earlier


async def choose_target(app: App, named: Payment, payment_type: str) -> Payment:
    """Returns the payment that a fact follows."""
    if payment_type != "CR" or named.payment_type == "CB":
        return named
    chain = await payments.list_chain(app.database, named.merchant_id, named.first_id, limits.LIMITS.chain_rows_max)
    opened = [
        each
        for each in chain
        if each.referenced_id == named.id
        and each.action in evidence.DISPUTES
        and each.state is State.APPROVED
        and each.left
    ]
    return opened[-1] if opened else named


def make_fact(app: App, named: Payment, line: RecordLine) -> order.FollowUp:
    echo = {"customParameters[acquirerReference]": line.reference}
    if line.occurred_on:
        echo["customParameters[acquirerDate]"] = line.occurred_on
    return order.FollowUp(
        payment_type=line.payment_type,
        amount=line.amount,
        currency=line.currency,
        practice=None,
        is_final=False,
        descriptor=named.descriptor,
        short_id=make_short_id(app.random_bytes),
        echo=echo,
    )


async def find_objection(app: App, channel: merchants.Channel, named: Payment, line: RecordLine) -> str | None:
    """Finds the result code by which a fact would be refused now."""
    fact = make_fact(app, named, line)
    context = await charging.read_chain_context(app, named)
    request = charging.make_follow_up_request(fact, named)
    decision = decide_follow_up(request, context, charging.make_terms(app, channel, named))
    return decision.code if isinstance(decision, Refused) else None


# ---- files ----


class LineResult(StrEnum):
    RECORDED = "recorded"
    KNOWN = "recorded before"
    REFUSED = "refused"


class LineReport(msgspec.Struct, frozen=True):
    number: int
    result: LineResult
    text: str


class PlannedLine(msgspec.Struct, frozen=True):
    """A line with the payment that it is about."""

    line: RecordLine
    channel: merchants.Channel
    payment: Payment


async def plan_lines(
    app: App, lines: Sequence[RecordLine], channels: Sequence[merchants.Channel]
) -> tuple[list[PlannedLine], list[LineFault]]:
    """Finds the payment of each line and checks that the fact fits it; nothing is recorded yet."""
    planned: list[PlannedLine] = []
    faults: list[LineFault] = []
    charged_back: set[str] = set()
    for line in lines:
        fits = await _match(app, line, channels, charged_back)
        if isinstance(fits, str):
            faults.append(LineFault(line.number, fits))
        else:
            planned.append(fits)
            if line.payment_type == "CB":
                charged_back.add(fits.payment.id)
    return planned, faults


async def _match(
    app: App, line: RecordLine, channels: Sequence[merchants.Channel], charged_back: set[str]
) -> PlannedLine | str:
    found = [each for channel in channels for each in await _list_named(app, line, channel)]
    if not found:
        return "names no payment"
    objections: list[str] = []
    fitting: list[PlannedLine] = []
    for channel, payment in found:
        objection = await _object(app, PlannedLine(line, channel, payment), charged_back)
        if objection is None:
            fitting.append(PlannedLine(line, channel, payment))
        else:
            objections.append(objection)
    if len(fitting) > 1:
        return f"fits {len(fitting)} payments: name one by its paymentId"
    return fitting[0] if fitting else objections[0]


async def _object(app: App, planned: PlannedLine, charged_back: set[str]) -> str | None:
    line, payment = planned.line, planned.payment
    if not signing.is_trusted(app, payment):
        return f"payment {payment.id} was changed by somebody else: run `tollgate verify`"
    try:
        if await find_earlier(app, payment, line) is not None:
            return None
    except Refusal:
        return "has the reference of another fact"
    if line.payment_type == "CR" and payment.id in charged_back:
        # An earlier line of the file records its chargeback.
        return None
    target = await choose_target(app, payment, line.payment_type)
    code = await find_objection(app, planned.channel, target, line)
    return None if code is None else f"{code} {results.get_result(code).description}"


async def _list_named(
    app: App, line: RecordLine, channel: merchants.Channel
) -> list[tuple[merchants.Channel, Payment]]:
    if line.payment_id:
        payment = await payments.find_payment(app.database, channel.merchant_id, line.payment_id)
        return [(channel, payment)] if payment is not None and payment.channel_id == channel.id else []
    search = reporting.Search(reference=line.merchant_transaction_id or None, short_id=line.short_id or None)
    listed = await search_payments(app.database, channel, search, None, limit=_CANDIDATES_MAX, skipped=0)
    return [(channel, each.row) for each in listed if each.row is not None]


async def apply_lines(
    app: App, planned: Sequence[PlannedLine], report: Callable[[LineReport], None] = lambda _: None
) -> list[LineReport]:
    """Records the facts one after the other. A file that was applied in part is applied again as a whole."""
    reports = []
    for each in planned:
        reports.append(await _apply(app, each))
        report(reports[-1])
    return reports


async def _apply(app: App, planned: PlannedLine) -> LineReport:
    line = planned.line
    try:
        recorded = await record(app, planned.channel, planned.payment, line)
    except Refusal as refusal:
        text = refusal.detail or refusal.result.description
        return LineReport(line.number, LineResult.REFUSED, f"{refusal.result.code} {text}")
    money = Money(recorded.payment.money.hundredths, recorded.payment.money.currency)
    text = f"{line.payment_type} {recorded.payment.id} of {money.render()} {money.currency}"
    return LineReport(line.number, LineResult.RECORDED if recorded.is_new else LineResult.KNOWN, text)
