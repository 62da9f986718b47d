"""The shopper's side of a checkout: see what there is to pay, pay it with what the form collected, and go on.

The id of the checkout is all that the shopper's browser has to show, so it decides nothing but what and by whom.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.catalog import LIMITS, Wallet, get_result, may_return_to
from tollgate.contract import (
    Answer,
    Fields,
    FormTerms,
    Next,
    Submission,
    answer_form,
    answer_submission,
    check_alone,
    check_offer,
    choose_brand,
    find_handover,
    find_wallet_call,
    find_ways,
    get_return_url,
    join_form,
    list_offered,
    make_session_refusal,
    name_merchant,
    override_payment_type,
    read_fields,
    read_order,
    read_registration_order,
)
from tollgate.flows.check_out import BUSY
from tollgate.flows.idempotency import NotStarted
from tollgate.flows.pay import pay
from tollgate.flows.register import register
from tollgate.flows.resume import Forward, Lost
from tollgate.operations import (
    App,
    find_any_checkout,
    get_open_checkout,
    has_acquirer,
    open_prepared,
    open_registration,
    open_wallet,
    refuse_exposed,
    trust,
)
from tollgate.payments import (
    Channel,
    Checkout,
    CheckoutEnd,
    CheckoutKind,
    CheckoutState,
    Registration,
    RegistrationState,
    State,
    WalletPublic,
)
from tollgate.store import Write, end_attempt_writes, find_audited_registrations, find_payment, submit_checkout_writes
from tollgate.values import SECOND, PaymentId, Refusal, TooMany, is_id, make_id, make_short_id, to_datetime

_OPERATIONS = {CheckoutKind.PAYMENT: "checkout_payment", CheckoutKind.REGISTRATION: "registration"}


class Submitted(msgspec.Struct, frozen=True):
    answer: Answer
    going_on: Next
    kind: str
    """The payment type that was asked for; empty where nothing was paid."""


class _FormCall(msgspec.Struct, frozen=True, kw_only=True):
    """One submission with all that belongs to it."""

    checkout: Checkout
    channel: Channel
    prepared: Mapping[str, str]
    fields: Fields
    return_url: str


# ---- what there is to pay ----


async def show_form(app: App, checkout_id: str, codes: str, languages: str = "") -> Answer:
    """Of one that was paid it is told however old it is: who believed it unpaid would order and pay again."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or (checkout.is_over(app.clock.now()) and not checkout.is_paid):
        raise make_session_refusal()
    if checkout.is_paid:
        channel = app.merchants.get_channel(checkout.channel_id)
        home = checkout.return_url
        if home and not may_return_to(home, channel.return_schemes, is_lenient=channel.is_lenient):
            checkout = msgspec.structs.replace(checkout, return_url=None)
        terms = FormTerms(is_test=not app.is_live)
        return answer_form(checkout, {}, terms, app.envelope, app.clock.now())
    prepared = open_prepared(app, checkout)
    channel = _get_channel(app, checkout)
    terms = FormTerms(
        is_test=not app.is_live,
        requires_cvv=channel.requires_cvv,
        takes_debits=channel.creditor is not None,
        creditor_id=channel.creditor.identifier if channel.creditor else "",
        languages=languages,
        is_lenient=channel.is_lenient,
        has_acquirer=has_acquirer(app, channel),
        merchant_name=name_merchant(prepared, channel),
        wallets=_list_wallets(app, channel),
        registrations=await _list_usable(app, checkout, prepared),
        codes=codes,
    )
    return answer_form(checkout, prepared, terms, app.envelope, app.clock.now())


async def _list_usable(app: App, checkout: Checkout, prepared: Mapping[str, str]) -> list[Registration]:
    """Those of the merchant's offer that can be paid with."""
    offered = [name for name in list_offered(prepared) if is_id(name)]
    rows = await find_audited_registrations(app.database, checkout.merchant_id, offered)
    kept = {row.id: row.registration for row in rows}
    found = [kept.get(name) for name in offered]
    return [one for one in found if one is not None and one.state is RegistrationState.ACTIVE]


def _list_wallets(app: App, channel: Channel) -> dict[str, WalletPublic]:
    keys = {wallet: app.merchants.find_wallet_keys(channel.id, wallet) for wallet in Wallet}
    return {wallet.value: found[-1].public for wallet, found in keys.items() if found}


def _get_channel(app: App, checkout: Checkout) -> Channel:
    channel = app.merchants.find_channel(checkout.channel_id)
    if channel is None or channel.is_closed:
        raise Refusal(get_result("500.100.203"))
    return channel


# ---- paying ----


async def submit_checkout(app: App, checkout_id: str, kind: CheckoutKind, sent: Submission) -> Submitted:
    checkout = await get_open_checkout(app, checkout_id)
    if checkout.kind is not kind:
        raise make_session_refusal(f" (it is one of kind {checkout.kind})")
    _check_free(app, checkout)
    channel, prepared = _get_channel(app, checkout), open_prepared(app, checkout)
    situation = app.make_situation(_OPERATIONS[kind], channel)
    fields = read_fields(join_form(prepared, sent, is_lenient=channel.is_lenient), situation)
    form_call = _FormCall(
        checkout=checkout,
        channel=channel,
        prepared=prepared,
        fields=fields,
        return_url=get_return_url(fields),
    )
    try:
        answer, payment_type = await (
            _pay(app, form_call) if kind is CheckoutKind.PAYMENT else _register(app, form_call)
        )
    except NotStarted:
        # Somebody else was faster, or the merchant changed what is to be paid: nothing was begun here.
        _check_free(app, await get_open_checkout(app, checkout_id))
        raise Refusal(get_result(BUSY)) from None
    shown, going_on = answer_submission(answer, checkout, find_ways(checkout, form_call.return_url, app.base_url))
    return Submitted(shown, going_on, payment_type)


def _check_free(app: App, checkout: Checkout) -> None:
    if checkout.state is CheckoutState.LOCKED:
        raise Refusal(get_result(BUSY))
    if checkout.state is not CheckoutState.OPEN:
        raise make_session_refusal(" (this one is paid)")
    if checkout.attempts >= LIMITS.checkout_attempts_max:
        wait_s = (checkout.expires_at - app.clock.now()) // SECOND
        raise TooMany(get_result("800.120.100"), retry_after_s=max(1, wait_s), subject_id=checkout.id)


async def _pay(app: App, form_call: _FormCall) -> tuple[Answer, str]:
    fields, channel = form_call.fields, form_call.channel
    registration_id = check_offer(fields, form_call.prepared)
    stored = await open_registration(app, channel.merchant_id, registration_id) if registration_id else None
    if stored is not None:
        refuse_exposed(stored.account, fields.echo, None)
    call = None if registration_id else find_wallet_call(fields)
    opened = await open_wallet(app, channel, call.wallet, call.token, echo=fields.echo) if call else None
    brand = stored.registration.brand if stored else choose_brand(fields.values, channel.is_lenient, opened).code
    order = read_order(
        override_payment_type(fields, form_call.prepared, brand),
        channel,
        today=to_datetime(app.clock.now()).date(),
        short_id=make_short_id(app.random_bytes),
        is_live=app.is_live,
        opened=opened,
        stored=stored,
    )
    payment_id = PaymentId(make_id(app.random_bytes))
    guards = _take(app, form_call, payment_id)
    answer = await pay(app, order, channel, form_call.checkout.id, None, payment_id=payment_id, guards=guards)
    return answer, order.payment_type


async def _register(app: App, form_call: _FormCall) -> tuple[Answer, str]:
    fields, channel, checkout = form_call.fields, form_call.channel, form_call.checkout
    check_alone(fields)
    order = read_registration_order(fields, channel, today=to_datetime(app.clock.now()).date(), is_live=app.is_live)

    def take(registration: Registration) -> list[Write]:
        end = CheckoutEnd(
            id=checkout.id,
            merchant_id=checkout.merchant_id,
            subject_id=registration.id,
            is_done=registration.state is RegistrationState.ACTIVE,
            is_sole=True,
        )
        return [*_take(app, form_call, registration.id), *end_attempt_writes(end)]

    return await register(app, order, channel, checkout.id, None, guard=take), ""


def _take(app: App, form_call: _FormCall, subject_id: str) -> list[Write]:
    return submit_checkout_writes(form_call.checkout, subject_id, form_call.return_url, app.clock.now())


# ---- going on ----


async def go_to_provider(app: App, checkout_id: str) -> Forward | Lost:
    """The form that a provider wants posted, for the attempt that waits at it; a shopper who comes back has none."""
    checkout = await find_any_checkout(app, checkout_id)
    if checkout is None or checkout.is_over(app.clock.now()):
        return Lost()
    payment = await find_payment(app.database, checkout.merchant_id, checkout.subject_id or "")
    found = (
        None if payment is None or payment.state is not State.WAITING else find_handover(trust(app, payment).details)
    )
    return Lost() if found is None else Forward(*found)
