"""Charging, completing and following up a payment, as several flows need it.

Each flow decides itself when to do which.
"""

import time

import msgspec

from tollgate.catalog import limits, results
from tollgate.connectors.exchange import Original
from tollgate.contract import follow_ups, objections, shopper_urls
from tollgate.contract.answers import Answer, answer_payment
from tollgate.operations import idempotency, network_tokens, risk, risk_answers, signing, stages, success_rates
from tollgate.operations.app import App
from tollgate.operations.checkouts import find_prepared_money
from tollgate.operations.routes import Route
from tollgate.payments import chain, routing
from tollgate.payments import payment as moves
from tollgate.payments.checkout import Checkout, CheckoutState
from tollgate.payments.completion import get_known_verdict
from tollgate.payments.following import FOLLOWINGS
from tollgate.payments.ledger import UNTOUCHED, BalanceChange
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp, Order, Partner
from tollgate.payments.payment import IdempotencyKey, Nature, Outcome, Payment, State, Verdict
from tollgate.store import payments
from tollgate.store.checkouts import find_checkout
from tollgate.store.idempotency import IdempotencyRecord
from tollgate.store.statements import Write
from tollgate.values import SECOND, Instant, Money, PaymentId, make_id
from tollgate.vault import sealing


class FateUnknown(Exception):
    """A payment was started and its result could not be written.

    The answer must not invite a retry: the recovery worker completes the payment later.
    """

    def __init__(self, payment_id: str) -> None:
        super().__init__(
            f"the result of payment {payment_id} could not be written; the recovery worker will complete it"
        )


_CHECKS = 2
"""An approval is checked again once, where another attempt paid the same checkout in between."""


def make_shopper_url(app: App, payment: Payment, key: bytes = b"") -> str:
    """Returns the address by which a shopper comes back to a payment."""
    return f"{app.base_url}/v1/shopper/{shopper_urls.write_shopper_token(payment.merchant_id, payment.id, key)}"


async def charge(app: App, order: Order, started: Payment, route: Route) -> Verdict:
    """Charges an order, by the network token of a registered card where there is a usable one.

    Only what was certainly never sent goes to another acquirer account. What stays silent is reversed where it is.
    """
    if order.objection:
        return Verdict(outcome=Outcome.DECLINED, code=order.objection)
    began, began_at = time.monotonic(), app.clock.now()
    verdict = await _charge_by(app, order, started, route, 0.0)
    _note_end(app, order, started, verdict, began_at)
    for place, other in enumerate(route.alternatives, 1):
        # With less time the next one would hardly answer, and what it has not answered has to be reversed.
        is_late = (time.monotonic() - began) * 2 > app.acquirer_timeout_s
        if verdict.outcome is not Outcome.UNSENT or is_late:
            break
        # It is written where the payment goes before it goes there: whoever recovers it asks the right account.
        moved = moves.AccountChange(other.account_id, other.name, _note_unreached(started, route, place))
        started = msgspec.structs.replace(started, **msgspec.structs.asdict(moved))
        if not await payments.move_account(app.database, started):
            break
        began_at = app.clock.now()
        verdict = await _charge_by(app, order, started, other, time.monotonic() - began)
        verdict = msgspec.structs.replace(verdict, account=moved)
        _note_end(app, order, started, verdict, began_at)
    risk.note_result(app, started, order.account, verdict.code)
    return verdict


def _note_end(app: App, order: Order, started: Payment, verdict: Verdict, began_at: Instant) -> None:
    """Notes how a charge ended for the choice of accounts; where a channel has one only, there is no choice."""
    if not started.routing:
        return
    is_failure = verdict.outcome in (Outcome.UNSENT, Outcome.SILENT) or results.is_technical(verdict.code)
    app.circuits.note(started.account_id or started.channel_id, is_failure, app.clock.now(), began_at=began_at)
    _count_result(app, order, started, verdict)


def note_decision(app: App, waiting: Payment, verdict: Verdict) -> None:
    """Notes what an acquirer decided about a charge after it had accepted it."""
    if waiting.routing and waiting.state is State.WAITING:
        _count_result(app, waiting, waiting, verdict)


def _count_result(app: App, charged: Order | Payment, payment: Payment, verdict: Verdict) -> None:
    if verdict.outcome in (Outcome.APPROVED, Outcome.DECLINED, Outcome.SILENT):
        account_id, buckets = payment.account_id or payment.channel_id, success_rates.list_buckets(charged)
        is_approved = verdict.outcome is Outcome.APPROVED
        app.success_rates.note(payment.merchant_id, account_id, buckets, is_approved, app.clock.now())


def _note_unreached(started: Payment, route: Route, place: int) -> tuple[routing.Considered, ...]:
    """Returns the accounts that were considered, with the new one as chosen and the one before as not reached."""
    tried = (route, *route.alternatives)
    left, chosen = (each.account_id or started.channel_id for each in tried[place - 1 : place + 1])
    reasons = {left: "could not be reached", chosen: "chosen next"}
    return tuple(
        msgspec.structs.replace(each, reason=reasons.get(each.account_id, each.reason)) for each in started.routing
    )


async def _charge_by(app: App, order: Order, started: Payment, route: Route, spent_s: float) -> Verdict:
    """Charges an order by one route, in what is left of the acquirer's time."""
    overrides = await app.choose_overrides(Partner.ACQUIRER, route.wire, started, order.simulator_overrides)
    if overrides is not order.simulator_overrides:
        order = msgspec.structs.replace(order, simulator_overrides=overrides)
    means = (
        await network_tokens.use_network_token(app, order, started)
        if started.registration_id and route.takes_tokens
        else network_tokens.Means(order)
    )
    back_url = make_shopper_url(app, started) if order.return_url else ""
    exchange = route.connector.charge(means.order, started, route.approved_code, back_url=back_url)
    spent_s += means.spent_s
    verdict = await app.dispatch(exchange, route.wire, about=started, label="charge request", spent_s=spent_s)
    return msgspec.structs.replace(verdict, details={**verdict.details, **means.details}) if means.details else verdict


async def write_completion(
    app: App,
    started: Payment,
    verdict: Verdict,
    idempotency_key: IdempotencyKey | IdempotencyRecord | None,
    *,
    label: str,
    guards: tuple[Write, ...] = (),
) -> Answer | None:
    """Completes an attempt and stores its answer; None where another process has completed it, or a guard failed."""
    completion, answer = signing.complete_answered(app, started, verdict)
    await stages.begin_stage(app.activity)
    kept = idempotency.keep_answer(app, idempotency_key, started.merchant_id, started.id, answer)
    is_written = await payments.complete_payment(app.database, completion, kept, label=label, guards=guards)
    return answer if is_written else None


async def conclude(app: App, started: Payment, verdict: Verdict, idempotency_key: IdempotencyKey | None) -> Answer:
    found = started
    for _ in range(_CHECKS):
        checked = await check_lateness(app, started, verdict)
        answer = await write_completion(app, started, checked, idempotency_key, label="completion")
        if answer is not None:
            return answer
        found = await get_payment(app, started, started.id)
        if found.state is not State.STARTED:
            break
    # The recovery worker completed the payment first, because its deadline had passed; return that result.
    return answer_payment(found, app.envelope)


async def check_lateness(app: App, payment: Payment, verdict: Verdict) -> Verdict:
    """Checks an approval for a checkout before it is written.

    If another attempt completes first, the store refuses the write, and the check is repeated.
    """
    checkout_id = payment.checkout_id
    if checkout_id is None or verdict.outcome is not Outcome.APPROVED:
        return verdict
    if moves.NATURES[payment.payment_type] is not Nature.TAKES:
        return verdict
    checkout = await find_checkout(app.database, payment.merchant_id, checkout_id)
    if checkout is None:
        return verdict
    outcome = _choose_outcome(app, payment, checkout)
    if outcome is Outcome.APPROVED:
        return msgspec.structs.replace(verdict, checkout_revision=checkout.revision)
    details = {**verdict.details, moves.LATE_DETAIL: verdict.code}
    return msgspec.structs.replace(verdict, outcome=outcome, details=details)


def _choose_outcome(app: App, payment: Payment, checkout: Checkout) -> Outcome:
    if checkout.state is CheckoutState.CANCELLED:
        return Outcome.STALE
    if checkout.subject_id == payment.id and checkout.state is not CheckoutState.OPEN:
        # It has locked the checkout since it started, so nobody changed anything.
        return Outcome.APPROVED
    if checkout.state >= CheckoutState.DONE:
        return Outcome.LATE
    # Long after its end the fields are wiped, and the checkout is not answered as paid any more.
    is_known = checkout.sealed_fields is not None
    is_stale = is_known and find_prepared_money(app, checkout) != payment.money
    return Outcome.STALE if is_stale else Outcome.APPROVED


async def read_own_context(app: App, named: Payment, first: Payment | None = None) -> chain.ChainContext:
    """Reads the context of a merchant's follow-up, which always moves the money of the payment that it names.

    first: the first payment of the chain, where both were read and checked together. Then nothing is read, unless the
    one named has a split or a review.
    """
    if named.split:
        return await read_chain_context(app, named)
    if first is None:
        signing.trust(app, named)
        first = named if named.chain_id is None else await get_payment(app, named, named.chain_id)
    return chain.ChainContext(
        named=named,
        money_source=named,
        first=first,
        is_under_review=await risk_answers.is_under_review(app, named),
    )


async def read_chain_context(app: App, named: Payment) -> chain.ChainContext:
    """Reads the context of a dispute or return, which may move the money of an earlier payment of the chain."""
    rows = await payments.list_chain(app.database, named.merchant_id, named.first_id, limits.LIMITS.chain_rows_max)
    members: dict[str, Payment] = {row.id: row for row in rows}
    named, money_source, first = (
        signing.trust(app, row) for row in (members[named.id], chain.get_money_source(named, members), rows[0])
    )
    if named.split:
        # What each seller has left is counted from all of them.
        members = {row.id: signing.trust(app, row) for row in rows}
        return chain.ChainContext(
            named=named,
            money_source=money_source,
            first=first,
            is_under_review=await risk_answers.is_under_review(app, named),
            members=members,
        )
    return chain.ChainContext(named=named, money_source=money_source, first=first)


def make_follow_up_request(request: FollowUp, named: Payment) -> chain.FollowUpRequest:
    currency = request.currency or named.money.currency
    money = None if request.amount is None else Money(request.amount, currency)
    return chain.FollowUpRequest(
        payment_type=request.payment_type,
        money=money,
        currency=request.currency,
        practice=request.practice,
        is_final=request.is_final,
        test_mode=request.test_mode,
        brand=request.brand,
        split=request.split,
        # Without a currency it is that of the payment, so fractions can only be checked here.
        objection=request.objection
        or objections.find_fraction_objection([money] if money else [])
        or objections.find_detail_objection(request.echo, currency),
    )


def make_terms(app: App, channel: Channel, named: Payment) -> chain.Terms:
    return chain.Terms(
        now=app.clock.now(),
        authorization_lifetime=app.authorization_lifetime,
        captures_max=follow_ups.count_captures(named.echo) or limits.LIMITS.captures_max,
        rebills_max=channel.rebills_max,
    )


def start_after(app: App, named: Payment, payment_type: str, ndc: str) -> Payment:
    """Returns a started follow-up with everything that it inherits from the payment it names."""
    return msgspec.structs.replace(
        named,
        id=PaymentId(make_id(app.random_bytes)),
        payment_type=payment_type,
        state=State.STARTED,
        ndc=ndc,
        created_at=app.clock.now(),
        deadline_at=app.clock.wall() + int(app.patience_s * SECOND),
        merchant_transaction_id=None,
        referenced_id=named.id,
        checkout_id=None,
        registration_id=None,
        return_url=None,
        chain_id=named.first_id,
        card=None,
        echo=follow_ups.inherit_echo(named.echo),
        outcome=None,
        result_code="",
        details={},
        completed_at=None,
        action=None,
        releases=0,
        closes=0,
        split=(),
        routing=(),
        risk=None,
        mac=None,
        balance=UNTOUCHED,
        events=0,
    )


def plan_attempt(attempt: Payment, decision: chain.Plan | chain.Refused) -> Payment:
    """Adds the decision to an attempt; a refusal is a result that is known before anything is written."""
    if isinstance(decision, chain.Refused):
        return msgspec.structs.replace(attempt, result_code=decision.code)
    return msgspec.structs.replace(
        attempt,
        money=decision.money,
        action=decision.following.action,
        releases=decision.releases,
        closes=decision.closes,
        split=decision.split,
    )


def start_writes(
    attempt: Payment,
    context: chain.ChainContext,
    decision: chain.Plan | chain.Refused,
    idempotency_key: IdempotencyKey | None = None,
) -> list[Write]:
    return payments.start_follow_up_writes(attempt, list_start_changes(attempt, context, decision), idempotency_key)


def list_start_changes(
    attempt: Payment, context: chain.ChainContext, decision: chain.Plan | chain.Refused
) -> list[BalanceChange]:
    plan = decision if isinstance(decision, chain.Plan) else None
    return chain.list_start_changes(attempt, plan, context.money_source.id)


async def complete_decided(app: App, decided: Payment) -> Payment:
    """Completes a decided payment, for which nothing is sent, unless the recovery worker was faster."""
    started = await get_payment(app, decided, decided.id)
    completion = signing.complete_signed(app, started, get_known_verdict(started))
    if await payments.complete_payment(app.database, completion, label="decided completion"):
        return completion.payment
    return await get_payment(app, decided, decided.id)


def get_wire_word(attempt: Payment) -> str:
    word = FOLLOWINGS[attempt.action].wire_word if attempt.action else None
    if word is None:
        raise LookupError(f"nothing is sent for {attempt.payment_type} {attempt.id}")
    return word


async def recall_original(app: App, payment: Payment, route: Route, first: Payment | None = None) -> Original:
    """Returns a payment as later messages about it need it, with the account that its chain charged if they do."""
    if first is None:
        first = payment if payment.chain_id is None else await get_payment(app, payment, payment.chain_id)
    sealed = None
    if route.needs_account:
        sealed = await payments.find_sealed_account(app.database, first.merchant_id, first.id)
    if sealed is None:
        return Original(payment=payment, first=first)
    owner = sealing.make_owner("payment", first.merchant_id, first.id)
    account = sealing.open_account(sealed, owner=owner, keyring=app.keyring)
    return Original(payment=payment, first=first, account=account)


async def get_payment(app: App, near: Payment, payment_id: str) -> Payment:
    """Returns a payment of the same merchant that is known to exist."""
    payment = await payments.find_payment(app.database, near.merchant_id, payment_id)
    if payment is None:
        raise LookupError(f"payment {payment_id} was written and is gone")
    return signing.trust(app, payment)
