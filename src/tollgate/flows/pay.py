"""A payment from an order to its answer, and the answer about one that was made before.

Follow-ups and recovery have flows of their own.
"""

from collections.abc import Awaitable, Sequence
from functools import partial

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.payment_types import AUTHENTICATION
from tollgate.catalog.results import get_result
from tollgate.contract.answers import Answer
from tollgate.contract.authentications import check_authentication_fields
from tollgate.flows.authenticate import authenticate_first, find_enrolment
from tollgate.operations import accounts, archives, card_testing, charging, idempotency, risk, routes, signing
from tollgate.operations.app import App, Call
from tollgate.operations.stages import begin_stage
from tollgate.payments.accounts import CardAccount
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.payment import NATURES, IdempotencyKey, Nature, Outcome, Payment, State, Verdict
from tollgate.payments.registration import UNUSABLE, WIPED, NewRegistration, Registration
from tollgate.store import payments
from tollgate.store.database import Damaged, Unavailable
from tollgate.store.idempotency import pin_writes
from tollgate.store.registrations import find_registration, insert_registration_writes
from tollgate.store.statements import Write
from tollgate.values import SECOND, MerchantId, NotFound, PaymentId, Refusal, is_id, make_id
from tollgate.vault.sealing import make_owner, seal_account

_NOT_ENROLLED = Verdict(outcome=Outcome.DECLINED, code=codes.CARD_NOT_ENROLLED)
_NO_DIRECTORY_SERVER = Verdict(outcome=Outcome.DECLINED, code=codes.THREEDS_NOT_CONFIGURED)
_MUST_AUTHENTICATE = Verdict(outcome=Outcome.DECLINED, code=codes.AUTHENTICATION_REQUIRED)


def pay(
    app: App,
    order: Order,
    call: Call,
    *,
    payment_id: PaymentId | None = None,
    guards: Sequence[Write] = (),
) -> Awaitable[Answer]:
    """Runs a payment, or an authentication without a charge.

    payment_id: chosen by the caller when a retry must not create a second payment; the store rejects a duplicate.
    guards: writes that must succeed in the commit that starts the payment.
    """
    run = partial(_pay, app, call=call, payment_id=payment_id, guards=guards)
    if app.card_testing is None:
        return run(order)
    payer = card_testing.make_payer(order, call.channel.merchant_id, call.ndc, call.form_address)
    return run(order) if payer is None else app.card_testing.guard(order, payer, run)


async def _pay(app: App, order: Order, *, call: Call, payment_id: PaymentId | None, guards: Sequence[Write]) -> Answer:
    channel, idempotency_key = call.channel, call.idempotency_key
    payment_id = payment_id or PaymentId(make_id(app.random_bytes))
    route = routes.route_payment(app, channel, order, payment_id)
    # The directory server is told the merchant's number at the acquirer that gets the proof.
    view = routes.find_view(app, channel, route.account_id) or channel
    judgement = await risk.evaluate_order(app, order, channel, payment_id, route.account_id)
    if judgement.refusal and not order.objection:
        order = msgspec.structs.replace(order, objection=judgement.refusal)
    is_stepped_up = judgement.demands_step_up and not is_proven(order)
    was_unwanted = order.authentication is not None and order.authentication.is_unwanted
    if is_stepped_up:
        order = demand_authentication(order)
    is_written, new, sealed = False, None, None
    try:
        enrolment = await find_enrolment(app, order, view)
        if enrolment is None and is_stepped_up and not order.objection:
            order = msgspec.structs.replace(order, objection=codes.SAFER_METHOD_NEEDED)
        if enrolment is not None:
            # A merchant who did not want it has no reason to send the billing address.
            is_lenient = channel.is_lenient or (is_stepped_up and was_unwanted)
            check_authentication_fields(order.echo, is_lenient=is_lenient)
        patience_s = app.patience_s + (app.acquirer_timeout_s if enrolment else 0)
        if order.registers:
            order, new = await accounts.prepare_registration(app, order, call, payment_id)
        started = start_attempt(app, order, call, payment_id, patience_s, route, judgement)
        if order.account is not None:
            owner = make_owner("payment", started.merchant_id, started.id)
            sealed = seal_account(order.account, order.hidden, owner=owner, keyring=app.keyring)
        guards = [*guards, *pin_writes(idempotency_key, started.merchant_id)]
        is_written = await write_start(app, started, sealed, idempotency_key, new, guards)
    finally:
        app.sightings.settle(judgement.sightings, is_written=is_written)
    if not is_written:
        return await idempotency.answer_taken_key(app, idempotency_key)
    try:
        if enrolment is not None:
            return await authenticate_first(app, order, started, enrolment, route, idempotency_key)
        verdict = find_refusal(app, order, view) or await charging.charge(app, order, started, route)
        await begin_stage(app.activity)
        return await charging.conclude(app, started, verdict, idempotency_key)
    except (Unavailable, Damaged) as fault:
        raise charging.FateUnknown(started.id) from fault


def write_start(
    app: App,
    started: Payment,
    sealed: bytes | None,
    idempotency_key: IdempotencyKey | None,
    new: NewRegistration | None,
    guards: Sequence[Write],
) -> Awaitable[bool]:
    """Writes a new registration together with the payment that makes it, so that an answered id always exists."""
    if new is None and not guards:
        return payments.start_payment(app.database, started, sealed, idempotency_key)
    registered = [] if new is None else insert_registration_writes(new)
    return app.database.write(
        [*guards, *payments.start_payment_writes(started, sealed, idempotency_key), *registered],
        label="payment started",
    )


def find_refusal(app: App, order: Order, channel: Channel) -> Verdict | None:
    """Finds the verdict on an order whose shopper was not authenticated; None where it may be sent."""
    if order.objection:
        return Verdict(outcome=Outcome.DECLINED, code=order.objection)
    if order.payment_type == AUTHENTICATION:
        return _NOT_ENROLLED if routes.choose_directory_server(app, channel, order.test_mode) else _NO_DIRECTORY_SERVER
    is_required = channel.three_ds is not None and channel.three_ds.is_required
    return _MUST_AUTHENTICATE if is_required and not is_excused(order) else None


def is_excused(order: Order) -> bool:
    """Tells whether an order needs no authentication: it has a proof, takes no card or has no shopper present."""
    account, standing = order.account, order.details.standing_instruction
    if not isinstance(account, CardAccount) or NATURES[order.payment_type] is not Nature.TAKES:
        return True
    if order.authentication is not None:
        return False
    return is_proven(order) or (standing is not None and standing.is_by_merchant)


def is_proven(order: Order) -> bool:
    """Tells whether the shopper was authenticated elsewhere: by a wallet, or by the merchant's own 3-D Secure."""
    account, proof = order.account, order.details.authentication
    has_cryptogram = isinstance(account, CardAccount) and account.cryptogram is not None
    return has_cryptogram or (proof is not None and proof.verification_id is not None)


def demand_authentication(order: Order) -> Order:
    """Returns an order that is authenticated although its merchant switched that off for it."""
    if order.authentication is None:
        return order
    request = msgspec.structs.replace(order.authentication, is_unwanted=False)
    return msgspec.structs.replace(order, authentication=request)


def start_attempt(
    app: App,
    order: Order,
    call: Call,
    payment_id: PaymentId,
    patience_s: float,
    route: routes.Route,
    judgement: risk.Judgement,
) -> Payment:
    return Payment(
        id=payment_id,
        merchant_id=call.channel.merchant_id,
        channel_id=call.channel.id,
        payment_type=order.payment_type,
        state=State.STARTED,
        money=order.money,
        brand=order.brand,
        method=order.method,
        descriptor=order.descriptor,
        short_id=order.short_id,
        ndc=call.ndc,
        created_at=judgement.at,
        deadline_at=app.clock.wall() + int(patience_s * SECOND),
        test_mode=order.test_mode,
        merchant_transaction_id=order.merchant_transaction_id,
        lifecycle_id=order.lifecycle_id,
        checkout_id=order.checkout_id,
        registration_id=order.registration_id,
        return_url=order.return_url,
        card=order.card_summary,
        split=order.split,
        echo=order.echo,
        connector=route.name,
        account_id=route.account_id,
        routing=route.considered,
        risk=judgement.finding,
    )


async def look_up(app: App, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    """Finds a payment, in the database or in the archive; a tampered row raises, and nothing of it is answered."""
    if not is_id(payment_id):
        return None
    payment = await payments.find_payment(app.database, merchant_id, PaymentId(payment_id))
    if payment is None:
        payment = await archives.find_payment(app, merchant_id, payment_id)
    return None if payment is None else signing.trust(app, payment)


async def look_up_registration(app: App, merchant_id: MerchantId, registration_id: str) -> Registration | None:
    return await find_registration(app.database, merchant_id, registration_id) if is_id(registration_id) else None


async def show_registration(app: App, merchant_id: MerchantId, registration_id: str) -> Registration:
    """Returns a registration as its merchant may read it, or refuses with the reason."""
    registration = await accounts.get_registration(app, merchant_id, registration_id, unknown=NotFound)
    if registration.state in WIPED:
        raise Refusal(get_result(UNUSABLE[registration.state]))
    return registration
