"""A charge or a rebill at a processor with the Stripe API, and what its intent means. Follow-ups are in `exchanges`.

It takes three messages: the card becomes a payment method, an intent is created with it, and the intent is confirmed.
Only the last one moves money, an intent succeeds once, and nobody confirms an intent that another charge created. So a
charge is never executed twice, whether or not the processor keeps idempotency keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from tollgate.catalog import codes, series
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.payment_types import PAYMENT_TYPES, Direction
from tollgate.connectors import forwarding
from tollgate.connectors.acquiring import SILENT
from tollgate.connectors.exchange import Exchange, Original
from tollgate.connectors.stripe import messages, verdicts
from tollgate.connectors.stripe.api import WITH_CHARGE, Api, is_fine, read_answer
from tollgate.connectors.stripe.messages import INTENTS, METHODS, Intent
from tollgate.payments.accounts import CardAccount, Instrument
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict

_UNPAID = {"requires_payment_method": 1, "requires_confirmation": 2, "canceled": 3}
"""The states in which an intent took no money. Where a payment has several, the lowest number decides."""


@dataclass(frozen=True)
class ChargeRequest:
    """The contents of a charge or a rebill."""

    attempt: Payment
    account: Instrument | None = None
    is_hold: bool = False
    is_off_session: bool = False
    """The shopper is not there, and agreed earlier."""
    forwarded: Mapping[str, str] = field(default_factory=dict)
    """The forwarded values, by the names of this API."""
    terms: Mapping[str, str] = field(default_factory=dict)
    """Further parameters of the intent."""


def make_request(order: Order, attempt: Payment) -> ChargeRequest:
    standing = order.details.standing_instruction
    is_by_merchant = standing is not None and standing.is_by_merchant
    terms: Mapping[str, str] = {}
    if standing is not None and is_by_merchant:
        terms = messages.make_repeated(standing.initial_transaction_id)
    elif standing is not None and standing.mode == series.FIRST:
        terms = messages.STORES_CARD
    return ChargeRequest(
        attempt,
        order.account,
        is_hold=PAYMENT_TYPES[order.payment_type].direction is Direction.HOLD,
        is_off_session=is_by_merchant,
        forwarded=forwarding.collect(ConnectorName.STRIPE, forwarding.list_order_values(order)),
        terms=terms,
    )


def make_rebill(attempt: Payment, original: Original) -> ChargeRequest:
    terms = messages.make_repeated(original.first.details.get("CardholderInitiatedTransactionID"))
    forwarded = list_forwarded(attempt, original)
    return ChargeRequest(attempt, original.account, is_off_session=True, forwarded=forwarded, terms=terms)


def list_forwarded(attempt: Payment, original: Original) -> dict[str, str]:
    """Lists what is forwarded with a follow-up, by the names of this API."""
    return forwarding.collect(ConnectorName.STRIPE, forwarding.list_follow_up_values(attempt, original.first))


def choose_decisive(intents: list[Intent]) -> Intent:
    """Chooses the intent that decides about a payment.

    There are several where a request came twice; one at most was confirmed.
    """
    return min(intents, key=lambda intent: _UNPAID.get(intent.status, 0))


def send_charge(api: Api, asked: ChargeRequest, approved_code: str) -> Exchange:
    """Sends the three messages of a charge."""
    card, attempt = asked.account, asked.attempt
    if card is None:
        return verdicts.ACCOUNT_ERASED
    if not isinstance(card, CardAccount) or card.number_type != "PAN" or card.cryptogram is not None:
        # Numbers of wallets and network tokens take a contract of their own with such a processor.
        return verdicts.ACCOUNT_NOT_SUPPORTED
    form = messages.make_method(card, asked.forwarded)
    reply = yield api.post(METHODS, form, f"{attempt.id}-method")
    method = read_answer(reply, messages.Method)
    if method is None:
        return verdicts.read_refused_preparation(reply)
    terms = {**messages.make_terms(asked.forwarded), **asked.terms}
    form = messages.make_intent(attempt, method.id, is_hold=asked.is_hold, terms=terms)
    reply = yield api.post(INTENTS, form, f"{attempt.id}-intent")
    intent = read_answer(reply, Intent)
    if intent is None:
        return verdicts.read_refused_preparation(reply)
    if messages.find_key(intent.metadata) != attempt.id:
        # It belongs to another payment, which must not be reversed in place of this one.
        return SILENT
    if not messages.has_money(intent, attempt.money) or intent.status != "requires_confirmation":
        return verdicts.make_silent(intent)
    return (yield from _confirm(api, intent, asked, approved_code))


def _confirm(api: Api, created: Intent, asked: ChargeRequest, approved_code: str) -> Exchange:
    form = (("off_session", "true"), WITH_CHARGE) if asked.is_off_session else (WITH_CHARGE,)
    reply = yield api.post(f"{INTENTS}/{created.id}/confirm", form, f"{asked.attempt.id}-confirmation")
    if is_fine(reply):
        intent = read_answer(reply, Intent)
        if intent is None or intent.id != created.id:
            return verdicts.make_silent(created)
        return (yield from read_intent(api, intent, asked, approved_code))
    verdict = verdicts.read_refusal(reply)
    known = {**verdict.details, "ConnectorTxID1": created.id}
    verdict = msgspec.structs.replace(verdict, details=known)
    if verdict.outcome is not Outcome.DECLINED or verdicts.is_sure(reply):
        return verdict
    found = yield from api.find_intent(created.id, asked.attempt.id)
    if found is None:
        return verdicts.make_silent(created)
    return verdict if found.status in _UNPAID else (yield from read_intent(api, found, asked, approved_code))


def read_intent(api: Api, intent: Intent, asked: ChargeRequest, approved_code: str) -> Exchange:
    """Returns the verdict of an intent that was confirmed."""
    if not messages.has_money(intent, asked.attempt.money):
        return verdicts.make_silent(intent)
    details = verdicts.describe_intent(intent)
    match intent.status:
        case "requires_capture" if asked.is_hold:
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
        case "succeeded" if not asked.is_hold and intent.amount_received in (None, intent.amount):
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
        case "processing":
            return Verdict(outcome=Outcome.WAITING, code=codes.PENDING, details=details)
        case "requires_action":
            # The processor wants an authentication on a page of its own, which nobody opens.
            if not (yield from api.cancel(intent, asked.attempt.id)):
                return verdicts.make_silent(intent)
            return Verdict(outcome=Outcome.DECLINED, code=codes.AUTHENTICATION_REQUIRED, details=details)
        case "requires_payment_method":
            failure = intent.last_payment_error or messages.Failure()
            details |= verdicts.describe_failure(failure)
            return Verdict(outcome=Outcome.DECLINED, code=verdicts.choose_decline(failure), details=details)
        case "canceled":
            return msgspec.structs.replace(verdicts.WRONG_STATE, details=details)
        case _:
            return verdicts.make_silent(intent)


def repeat_rebill(
    api: Api, attempt: Payment, original: Original, approved_code: str, *, was_accepted: bool
) -> Exchange:
    intents = yield from api.find_intents(attempt)
    if intents is None or (was_accepted and not intents):
        return SILENT
    asked = make_rebill(attempt, original)
    if not intents:
        # The first request may still create an intent; nobody confirms that one.
        return (yield from send_charge(api, asked, approved_code))
    intent = choose_decisive(intents)
    if intent.status == "requires_confirmation" and messages.has_money(intent, attempt.money):
        return (yield from _confirm(api, intent, asked, approved_code))
    return (yield from read_intent(api, intent, asked, approved_code))
