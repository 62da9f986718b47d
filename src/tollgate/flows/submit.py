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
    override_kind,
    read_fields,
    read_order,
    read_registration_order,
)
from tollgate.flows.check_out import BUSY
from tollgate.flows.idempotency import NotStarted
from tollgate.flows.pay import pay
from tollgate.flows.register import register
from tollgate.flows.resume import Forward, Lost
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
from tollgate.steps import (
    House,
    find_any_checkout,
    get_open_checkout,
    has_acquirer,
    open_prepared,
    open_stored,
    open_wallet,
    refuse_exposed,
    trust,
)
from tollgate.store import Step, find_kept_registrations, find_payment, steps_end_attempt, steps_submit_checkout
from tollgate.values import SECOND, PaymentId, Refusal, TooMany, is_id, make_id, make_short_id, to_datetime

_OPERATIONS = {CheckoutKind.PAYMENT: "checkout_payment", CheckoutKind.REGISTRATION: "registration"}


class Submitted(msgspec.Struct, frozen=True):
    answer: Answer
    going_on: Next
    kind: str
    """The payment type that was asked for; empty where nothing was paid."""


class _Desk(msgspec.Struct, frozen=True, kw_only=True):
    """One submission with all that belongs to it."""

    checkout: Checkout
    channel: Channel
    prepared: Mapping[str, str]
    fields: Fields
    return_url: str


# ---- what there is to pay ----


async def show_form(house: House, checkout_id: str, codes: str, languages: str = "") -> Answer:
    """Of one that was paid it is told however old it is: who believed it unpaid would order and pay again."""
    checkout = await find_any_checkout(house, checkout_id)
    if checkout is None or (checkout.is_over(house.clock.now()) and not checkout.is_paid):
        raise make_session_refusal()
    if checkout.is_paid:
        channel = house.directory.get_channel(checkout.channel_id)
        home = checkout.return_url
        if home and not may_return_to(home, channel.return_schemes, is_lenient=channel.is_lenient):
            checkout = msgspec.structs.replace(checkout, return_url=None)
        terms = FormTerms(is_test=not house.is_live)
        return answer_form(checkout, {}, terms, house.envelope, house.clock.now())
    prepared = open_prepared(house, checkout)
    channel = _get_channel(house, checkout)
    terms = FormTerms(
        is_test=not house.is_live,
        requires_cvv=channel.requires_cvv,
        takes_debits=channel.creditor is not None,
        creditor_id=channel.creditor.identifier if channel.creditor else "",
        languages=languages,
        is_lenient=channel.is_lenient,
        has_acquirer=has_acquirer(house, channel),
        merchant_name=name_merchant(prepared, channel),
        wallets=_list_wallets(house, channel),
        registrations=await _list_usable(house, checkout, prepared),
        codes=codes,
    )
    return answer_form(checkout, prepared, terms, house.envelope, house.clock.now())


async def _list_usable(house: House, checkout: Checkout, prepared: Mapping[str, str]) -> list[Registration]:
    """Those of the merchant's offer that can be paid with."""
    offered = [name for name in list_offered(prepared) if is_id(name)]
    rows = await find_kept_registrations(house.database, checkout.merchant_id, offered)
    kept = {row.id: row.registration for row in rows}
    found = [kept.get(name) for name in offered]
    return [one for one in found if one is not None and one.state is RegistrationState.ACTIVE]


def _list_wallets(house: House, channel: Channel) -> dict[str, WalletPublic]:
    keys = {wallet: house.directory.find_wallet_keys(channel.id, wallet) for wallet in Wallet}
    return {wallet.value: found[-1].public for wallet, found in keys.items() if found}


def _get_channel(house: House, checkout: Checkout) -> Channel:
    channel = house.directory.find_channel(checkout.channel_id)
    if channel is None or channel.is_closed:
        raise Refusal(get_result("500.100.203"))
    return channel


# ---- paying ----


async def submit_checkout(house: House, checkout_id: str, kind: CheckoutKind, sent: Submission) -> Submitted:
    checkout = await get_open_checkout(house, checkout_id)
    if checkout.kind is not kind:
        raise make_session_refusal(f" (it is one of kind {checkout.kind})")
    _check_free(house, checkout)
    channel, prepared = _get_channel(house, checkout), open_prepared(house, checkout)
    situation = house.make_situation(_OPERATIONS[kind], channel)
    fields = read_fields(join_form(prepared, sent, is_lenient=channel.is_lenient), situation)
    desk = _Desk(
        checkout=checkout,
        channel=channel,
        prepared=prepared,
        fields=fields,
        return_url=get_return_url(fields),
    )
    try:
        answer, paid_kind = await (_pay(house, desk) if kind is CheckoutKind.PAYMENT else _register(house, desk))
    except NotStarted:
        # Somebody else was faster, or the merchant changed what is to be paid: nothing was begun here.
        _check_free(house, await get_open_checkout(house, checkout_id))
        raise Refusal(get_result(BUSY)) from None
    shown, going_on = answer_submission(answer, checkout, find_ways(checkout, desk.return_url, house.base_url))
    return Submitted(shown, going_on, paid_kind)


def _check_free(house: House, checkout: Checkout) -> None:
    if checkout.state is CheckoutState.CLAIMED:
        raise Refusal(get_result(BUSY))
    if checkout.state is not CheckoutState.OPEN:
        raise make_session_refusal(" (this one is paid)")
    if checkout.attempts >= LIMITS.checkout_attempts_max:
        wait_s = (checkout.expires_at - house.clock.now()) // SECOND
        raise TooMany(get_result("800.120.100"), retry_after_s=max(1, wait_s), subject_id=checkout.id)


async def _pay(house: House, desk: _Desk) -> tuple[Answer, str]:
    fields, channel = desk.fields, desk.channel
    registration_id = check_offer(fields, desk.prepared)
    stored = await open_stored(house, channel.merchant_id, registration_id) if registration_id else None
    if stored is not None:
        refuse_exposed(stored.account, fields.echo, None)
    call = None if registration_id else find_wallet_call(fields)
    opened = await open_wallet(house, channel, call.wallet, call.token, echo=fields.echo) if call else None
    brand = stored.registration.brand if stored else choose_brand(fields.values, channel.is_lenient, opened).code
    order = read_order(
        override_kind(fields, desk.prepared, brand),
        channel,
        today=to_datetime(house.clock.now()).date(),
        short_id=make_short_id(house.chance),
        is_live=house.is_live,
        opened=opened,
        stored=stored,
    )
    payment_id = PaymentId(make_id(house.chance))
    guards = _take(house, desk, payment_id)
    answer = await pay(house, order, channel, desk.checkout.id, None, payment_id=payment_id, guards=guards)
    return answer, order.kind


async def _register(house: House, desk: _Desk) -> tuple[Answer, str]:
    fields, channel, checkout = desk.fields, desk.channel, desk.checkout
    check_alone(fields)
    order = read_registration_order(fields, channel, today=to_datetime(house.clock.now()).date(), is_live=house.is_live)

    def take(registration: Registration) -> list[Step]:
        end = CheckoutEnd(
            id=checkout.id,
            merchant_id=checkout.merchant_id,
            subject_id=registration.id,
            is_done=registration.state is RegistrationState.ACTIVE,
            is_sole=True,
        )
        return [*_take(house, desk, registration.id), *steps_end_attempt(end)]

    return await register(house, order, channel, checkout.id, None, guard=take), ""


def _take(house: House, desk: _Desk, subject_id: str) -> list[Step]:
    return steps_submit_checkout(desk.checkout, subject_id, desk.return_url, house.clock.now())


# ---- going on ----


async def go_to_provider(house: House, checkout_id: str) -> Forward | Lost:
    """The form that a provider wants posted, for the attempt that waits at it; a shopper who comes back has none."""
    checkout = await find_any_checkout(house, checkout_id)
    if checkout is None or checkout.is_over(house.clock.now()):
        return Lost()
    payment = await find_payment(house.database, checkout.merchant_id, checkout.subject_id or "")
    found = (
        None if payment is None or payment.state is not State.WAITING else find_handover(trust(house, payment).details)
    )
    return Lost() if found is None else Forward(*found)
