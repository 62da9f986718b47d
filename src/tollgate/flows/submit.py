"""The shopper's side of a checkout: the form is shown, submitted and continued.

The browser shows nothing but the checkout's id, so everything that costs money comes from what the merchant prepared.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.contract import checkout_forms, checkouts, orders, shopper_urls
from tollgate.contract.accounts import find_wallet_call
from tollgate.contract.answers import Answer
from tollgate.contract.domains import check_page
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.registrations import check_alone, read_registration_order
from tollgate.flows import registrations, resume
from tollgate.flows.pay import pay
from tollgate.operations import accounts, charging, idempotency, signing
from tollgate.operations import checkouts as operations_checkouts
from tollgate.operations.app import App, Call
from tollgate.payments.checkout import Checkout, CheckoutEnd, CheckoutKind, CheckoutState
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import ABANDONED_DETAIL, NATURES, OPEN_STATES, Nature, Outcome, Payment, State, Verdict
from tollgate.payments.registration import Registration, RegistrationState
from tollgate.store import audit, authentications, payments
from tollgate.store.checkouts import end_attempt_writes, submit_checkout_writes
from tollgate.store.statements import Write
from tollgate.values import SECOND, PaymentId, Refusal, TooMany, is_id, make_id

_OPERATIONS = {CheckoutKind.PAYMENT: "submit_checkout", CheckoutKind.REGISTRATION: "create_registration"}


class Submitted(msgspec.Struct, frozen=True):
    answer: Answer
    going_on: checkouts.Next
    kind: str
    """The payment type of the order; empty where an account was registered."""


class _FormCall(msgspec.Struct, frozen=True, kw_only=True):
    """One submission of the payment form."""

    checkout: Checkout
    channel: Channel
    prepared: Mapping[str, str]
    fields: Fields
    return_url: str
    address: str
    """The address of the shopper's browser."""


async def show_form(
    app: App, checkout_id: str, codes: str, languages: str = "", *, origin: str | None = None
) -> Answer:
    """Answers what the form shows on a page of this origin.

    A paid checkout is answered however old it is, so that nobody pays again.
    """
    checkout = await operations_checkouts.find_any_checkout(app, checkout_id)
    if checkout is None or (checkout.is_over(app.clock.now()) and not checkout.is_paid):
        raise checkouts.make_session_refusal()
    channel = app.merchants.get_channel(checkout.channel_id) if checkout.is_paid else _get_channel(app, checkout)
    check_page(origin, app.list_domains(channel))
    if checkout.is_paid:
        if checkout.return_url and not app.may_lead_to(channel, checkout.return_url):
            checkout = msgspec.structs.replace(checkout, return_url=None)
        terms = checkout_forms.FormTerms(is_test=not app.is_live)
        return checkout_forms.answer_form(checkout, {}, terms, app.envelope, app.clock.now())
    prepared = operations_checkouts.open_prepared(app, checkout)
    terms = checkout_forms.FormTerms(
        is_test=not app.is_live,
        requires_cvv=channel.requires_cvv,
        takes_debits=channel.creditor is not None,
        creditor_id=channel.creditor.identifier if channel.creditor else "",
        languages=languages,
        is_lenient=channel.is_lenient,
        has_acquirer=app.simulator is not None or any(each.live_url for each in app.merchants.list_accounts(channel)),
        merchant_name=orders.choose_merchant_name(prepared, channel),
        wallets=app.merchants.list_wallets(channel.id),
        registrations=await _list_usable(app, checkout, prepared),
        codes=codes,
    )
    return checkout_forms.answer_form(checkout, prepared, terms, app.envelope, app.clock.now())


async def _list_usable(app: App, checkout: Checkout, prepared: Mapping[str, str]) -> list[Registration]:
    """Lists the registrations that the merchant offers and that can be paid with."""
    offered = [name for name in checkouts.list_offered(prepared) if is_id(name)]
    rows = await audit.REGISTRATIONS.list_by_ids(app.database, checkout.merchant_id, offered)
    kept = {row.id: row.value for row in rows}
    found = [kept.get(name) for name in offered]
    return [one for one in found if one is not None and one.state is RegistrationState.ACTIVE]


def _get_channel(app: App, checkout: Checkout) -> Channel:
    channel = app.merchants.find_channel(checkout.channel_id)
    if channel is None or channel.is_closed:
        raise Refusal(get_result(codes.CHANNEL_CLOSED))
    return channel


async def submit_checkout(app: App, checkout_id: str, kind: CheckoutKind, sent: checkouts.Submission) -> Submitted:
    checkout = await operations_checkouts.get_open_checkout(app, checkout_id)
    if checkout.kind is not kind:
        raise checkouts.make_session_refusal(f" (it is one of kind {checkout.kind})")
    _check_free(app, checkout)
    channel, prepared = _get_channel(app, checkout), operations_checkouts.open_prepared(app, checkout)
    check_page(sent.origin, app.list_domains(channel))
    situation = app.make_situation(_OPERATIONS[kind], channel)
    fields = read_fields(checkouts.join_form(prepared, sent, is_lenient=channel.is_lenient), situation)
    form_call = _FormCall(
        checkout=checkout,
        channel=channel,
        prepared=prepared,
        fields=fields,
        return_url=checkouts.get_return_url(fields),
        address=sent.address,
    )
    try:
        answer, payment_type = await (
            _pay(app, form_call) if kind is CheckoutKind.PAYMENT else _register(app, form_call)
        )
    except idempotency.NotStarted:
        # Another attempt was faster, or the merchant changed the checkout: nothing was started here.
        _check_free(app, await operations_checkouts.get_open_checkout(app, checkout_id))
        raise Refusal(get_result(codes.CHECKOUT_IN_PROGRESS)) from None
    shown, going_on = checkouts.answer_submission(
        answer, checkout, checkouts.make_shopper_paths(checkout, form_call.return_url, app.base_url)
    )
    return Submitted(shown, going_on, payment_type)


def _check_free(app: App, checkout: Checkout) -> None:
    if checkout.state is CheckoutState.LOCKED:
        raise Refusal(get_result(codes.CHECKOUT_IN_PROGRESS))
    if checkout.state is not CheckoutState.OPEN:
        raise checkouts.make_session_refusal(" (this one is paid)")
    if checkout.attempts >= LIMITS.checkout_attempts_max:
        wait_s = (checkout.expires_at - app.clock.now()) // SECOND
        raise TooMany(get_result(codes.TOO_MANY_REQUESTS), retry_after_s=max(1, wait_s), subject_id=checkout.id)


async def _pay(app: App, form_call: _FormCall) -> tuple[Answer, str]:
    fields, channel = form_call.fields, form_call.channel
    registration_id = checkouts.check_offer(fields, form_call.prepared)
    on_file = await accounts.open_registration(app, channel.merchant_id, registration_id) if registration_id else None
    if on_file is not None:
        accounts.refuse_exposed(on_file.account, fields.echo, None)
    call = Call(channel, form_call.checkout.id, form_address=form_call.address)
    wallet = None if registration_id else find_wallet_call(fields)
    opened = await accounts.open_wallet(app, call, wallet.wallet, wallet.token, echo=fields.echo) if wallet else None
    brand = (
        on_file.registration.brand if on_file else orders.choose_brand(fields.values, channel.is_lenient, opened).code
    )
    typed = checkouts.override_payment_type(fields, form_call.prepared, brand)
    order = accounts.read_order(app, typed, channel, opened=opened, on_file=on_file)
    order = msgspec.structs.replace(order, checkout_id=form_call.checkout.id)
    payment_id = PaymentId(make_id(app.random_bytes))
    guards = _take(app, form_call, payment_id)
    answer = await pay(app, order, call, payment_id=payment_id, guards=guards)
    return answer, order.payment_type


async def _register(app: App, form_call: _FormCall) -> tuple[Answer, str]:
    fields, channel, checkout = form_call.fields, form_call.channel, form_call.checkout
    check_alone(fields)
    order = read_registration_order(fields, channel, today=app.today, is_live=app.is_live)

    def take(registration: Registration) -> list[Write]:
        end = CheckoutEnd(
            id=checkout.id,
            merchant_id=checkout.merchant_id,
            subject_id=registration.id,
            is_done=registration.state is RegistrationState.ACTIVE,
            is_sole=True,
        )
        return [*_take(app, form_call, registration.id), *end_attempt_writes(end)]

    return await registrations.register(app, order, Call(channel, checkout.id), guard=take), ""


def _take(app: App, form_call: _FormCall, subject_id: str) -> list[Write]:
    return submit_checkout_writes(form_call.checkout, subject_id, form_call.return_url, app.clock.now())


async def go_to_provider(app: App, checkout_id: str) -> resume.Forward | resume.Lost:
    """Returns the form that a provider wants posted for a waiting attempt; a shopper who comes back has none."""
    checkout = await operations_checkouts.find_any_checkout(app, checkout_id)
    if checkout is None or checkout.is_over(app.clock.now()):
        return resume.Lost()
    payment = await payments.find_payment(app.database, checkout.merchant_id, checkout.subject_id or "")
    found = (
        None
        if payment is None or payment.state is not State.WAITING
        else shopper_urls.find_handover(signing.trust(app, payment).details)
    )
    return resume.Lost() if found is None else resume.Forward(*found)


_UNPROVEN = Verdict(outcome=Outcome.DECLINED, code=codes.SHOPPER_CANCELLED)


_UNDECIDED = Verdict(outcome=Outcome.ABANDONED, code=codes.SHOPPER_CANCELLED, details={ABANDONED_DETAIL: "shopper"})


async def abandon_attempt(app: App, checkout_id: str, attempt_id: str, *, origin: str | None = None) -> Answer:
    """Gives up an attempt and answers the checkout's state: open, or paid where the attempt had succeeded.

    An attempt that may still take money is refused as busy.
    """
    checkout = await operations_checkouts.find_any_checkout(app, checkout_id)
    if checkout is None:
        raise checkouts.make_session_refusal()
    check_page(origin, app.list_domains(app.merchants.get_channel(checkout.channel_id)))
    payment = await payments.find_payment(app.database, checkout.merchant_id, attempt_id) if is_id(attempt_id) else None
    if payment is not None and signing.trust(app, payment).checkout_id == checkout.id:
        await _give_up(app, payment)
        payment = await charging.get_payment(app, payment, payment.id)
        if payment.state is State.STARTED or payment.state in OPEN_STATES:
            raise Refusal(get_result(codes.CHECKOUT_IN_PROGRESS), "the attempt is being completed")
    return await show_form(app, checkout_id, "", origin=origin)


async def _give_up(app: App, payment: Payment) -> None:
    """Completes an attempt that waits for its shopper. Every write expects that it is still waiting."""
    if payment.state is not State.WAITING or NATURES[payment.payment_type] is not Nature.TAKES:
        return
    row = await authentications.find_authentication(app.database, payment.merchant_id, payment.id)
    if row is not None:
        if not row.is_closed:
            await resume.close(app, payment, _UNPROVEN)
        return
    if shopper_urls.find_handover(payment.details) is None:
        return
    # A shopper who approved and closed the window before coming back has paid, and wants what was ordered. Where the
    # provider does not answer, nobody knows that nothing was charged, and the attempt is left to the recovery worker.
    answered = await resume.ask_provider(app, payment)
    if answered is not None and answered.outcome is Outcome.WAITING:
        unit = payments.completion_writes(signing.complete_signed(app, payment, _UNDECIDED), expected=State.WAITING)
        await app.database.write(unit, label="attempt abandoned")
