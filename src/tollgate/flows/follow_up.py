"""Captures, refunds, reversals and other follow-ups, and disputes that are recorded without asking an acquirer.

What may follow what is decided by the rows of `payments.following`.
"""

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.results import get_result
from tollgate.contract.answers import Answer, answer_payment
from tollgate.contract.follow_ups import check_lifecycle
from tollgate.contract.sellers import check_sellers
from tollgate.flows.pay import look_up_registration
from tollgate.operations import accounts, charging, idempotency, routes, signing
from tollgate.operations.app import SUCCESS_CODES, App, Call
from tollgate.payments.archiving import is_being_archived
from tollgate.payments.chain import ChainContext, Plan, Refused, decide_follow_up
from tollgate.payments.completion import get_known_verdict
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.payments.ledger import BalanceChange, join_balance_changes
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp, Partner
from tollgate.payments.payment import IdempotencyKey, Payment, Verdict
from tollgate.store import payments
from tollgate.store.archives import find_archived
from tollgate.store.database import Damaged, Unavailable
from tollgate.store.named_payments import find_with_first
from tollgate.values import Conflict, Money, PaymentId, Refusal, is_id

ARCHIVED = "the payment was moved to the archive, and nothing follows it any more"


async def follow_up(app: App, request: FollowUp, named_id: str, call: Call, judged: Payment | None = None) -> Answer:
    """Carries a follow-up out, once for its Idempotency-Key.

    judged: the first payment of the chain that the caller has judged; if the chain has grown since, nothing is done.
    """
    channel, idempotency_key = call.channel, call.idempotency_key

    async def attempt() -> Answer | None:
        named, first = await get_named_payment(app, request.payment_type, named_id, channel)
        route = routes.get_route(app, channel, named)
        context = await charging.read_own_context(app, named, first)
        check_lifecycle(request.lifecycle_id, named.lifecycle_id or context.first.lifecycle_id)
        check_sellers(request.echo, request.split, named)
        await accounts.refuse_exposed_payment(app, context.first, request.echo, idempotency_key)
        if judged is not None and judged.balance.chain_length != context.first.balance.chain_length:
            raise Conflict(
                get_result(codes.REQUEST_IN_PROGRESS), "something else was done with the payment at the same time"
            )
        decision = decide(app, request, context, channel)
        refuse_full_chain(context, decision)
        planned = charging.plan_attempt(start_follow_up(app, request, named, call.ndc), decision)
        changes = charging.list_start_changes(planned, context, decision)
        if judged is not None:
            held = BalanceChange(payment_id=judged.id, length_max=judged.balance.chain_length + 1)
            changes = join_balance_changes([*changes, held])
        position = await payments.start_follow_up(app.database, planned, changes, idempotency_key)
        if not position:
            # Another follow-up changed the balance between reading and writing, so it is decided again.
            return None
        started = msgspec.structs.replace(planned, position=position)
        try:
            return await carry_out(app, request, started, route, context, idempotency_key)
        except (Unavailable, Damaged) as fault:
            raise charging.FateUnknown(started.id) from fault

    return await idempotency.retry(app, call, "payment", attempt)


async def get_named_payment(app: App, payment_type: str, named_id: str, channel: Channel) -> tuple[Payment, Payment]:
    """Returns the payment that a follow-up names, and the first one of its chain. Another merchant's is unknown."""
    merchant_id = channel.merchant_id
    found = await find_with_first(app.database, merchant_id, named_id) if is_id(named_id) else None
    if found is None and await look_up_registration(app, merchant_id, named_id) is not None:
        raise Refusal(get_result(codes.REFERENCE_IS_REGISTRATION))
    if found is None and is_id(named_id) and await find_archived(app.database, merchant_id, named_id) is not None:
        raise Refusal(get_result(codes.ACCOUNT_ERASED), ARCHIVED)
    if found is None:
        lenient_code = PAYMENT_TYPES[payment_type].unknown_when_lenient or codes.PAYMENT_UNKNOWN
        raise Refusal(get_result(lenient_code if channel.is_lenient else codes.PAYMENT_UNKNOWN))
    named, first = found
    if is_being_archived(first):
        raise Refusal(get_result(codes.ACCOUNT_ERASED), ARCHIVED)
    signing.trust(app, named)
    if first is not named:
        signing.trust(app, first)
    if named.channel_id != channel.id:
        raise Refusal(get_result(codes.OTHER_CHANNEL))
    return named, first


def decide(app: App, request: FollowUp, context: ChainContext, channel: Channel) -> Plan | Refused:
    if request.payment_type in SYSTEM_ONLY:
        return Refused(SYSTEM_ONLY[request.payment_type])
    if request.payment_type not in BRANDS[context.named.brand].list_payment_types(lenient=channel.is_lenient):
        return Refused(codes.TYPE_NOT_SUPPORTED)
    return decide_follow_up(
        charging.make_follow_up_request(request, context.named),
        context,
        charging.make_terms(app, channel, context.named),
    )


def refuse_full_chain(context: ChainContext, decision: Plan | Refused) -> None:
    """Refuses to lengthen a full chain; refused follow-ups may fill half of it at most."""
    length = context.first.balance.chain_length
    if isinstance(decision, Refused) and length >= LIMITS.chain_max // 2:
        raise Refusal(get_result(decision.code))
    if length >= LIMITS.chain_max:
        raise Refusal(get_result(codes.TOO_MANY_FOLLOW_UPS))


def start_follow_up(app: App, request: FollowUp, named: Payment, ndc: str) -> Payment:
    bare = charging.start_after(app, named, request.payment_type, ndc)
    # The amount that a refused follow-up shows; an accepted one has the amount of its plan.
    hundredths, currency = named.left or named.money.hundredths, named.money.currency
    if request.amount is not None:
        hundredths, currency = request.amount, request.currency or currency
    return msgspec.structs.replace(
        bare,
        money=Money(hundredths, currency),
        descriptor=request.descriptor,
        short_id=request.short_id,
        merchant_transaction_id=request.merchant_transaction_id,
        lifecycle_id=request.lifecycle_id or bare.lifecycle_id,
        registration_id=request.registration_id,
        echo={**bare.echo, **request.echo},
    )


async def carry_out(
    app: App,
    request: FollowUp,
    started: Payment,
    route: routes.Route,
    context: ChainContext,
    idempotency_key: IdempotencyKey | None,
) -> Answer:
    verdict = (
        get_known_verdict(started)
        if started.is_decided
        else await send_follow_up(app, request, started, route, context)
    )
    answer = await charging.write_completion(app, started, verdict, idempotency_key, label="follow-up completion")
    if answer is not None:
        return answer
    # The recovery worker completed the payment first, because its deadline had passed; return that result.
    return answer_payment(await charging.get_payment(app, started, started.id), app.envelope)


async def send_follow_up(
    app: App, request: FollowUp, started: Payment, route: routes.Route, context: ChainContext
) -> Verdict:
    exchange = route.connector.follow_up(
        started,
        charging.get_wire_word(started),
        route.approved_code,
        original=await charging.recall_original(app, context.named, route, context.first),
        is_final=request.is_final,
        simulator_overrides=await app.choose_overrides(
            Partner.ACQUIRER, route.wire, started, request.simulator_overrides
        ),
    )
    return await app.dispatch(exchange, route.wire, about=started, label="follow-up request")


async def record_fact(
    app: App,
    fact: FollowUp,
    named_id: str,
    call: Call,
    notice: str | None = None,
    *,
    payment_id: PaymentId | None = None,
) -> Payment:
    """Records a dispute or another fact that no acquirer is asked about.

    `notice` is the result code that came with it; without one the result is a success.
    payment_id: chosen by the caller when a repeat must not record the fact twice; the store refuses a duplicate.
    """
    for _ in range(LIMITS.reservation_tries_max):
        named, _ = await get_named_payment(app, fact.payment_type, named_id, call.channel)
        context = await charging.read_chain_context(app, named)
        await accounts.refuse_exposed_payment(app, context.first, fact.echo, None)
        decision = decide_follow_up(
            charging.make_follow_up_request(fact, named), context, charging.make_terms(app, call.channel, named)
        )
        if isinstance(decision, Refused):
            raise Refusal(get_result(decision.code))
        result_code = notice or SUCCESS_CODES[named.test_mode]
        bare = msgspec.structs.replace(start_follow_up(app, fact, named, call.ndc), result_code=result_code)
        if payment_id is not None:
            bare = msgspec.structs.replace(bare, id=payment_id)
        attempt = charging.plan_attempt(bare, decision)
        if await app.database.write(charging.start_writes(attempt, context, decision), label="fact recorded"):
            return await charging.complete_decided(app, attempt)
    raise Conflict(get_result(codes.REQUEST_IN_PROGRESS), "too many requests about this payment at once")
