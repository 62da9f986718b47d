"""The connector of a processor with the Stripe API: which messages a payment and its follow-ups take.

A charge takes three messages: the card becomes a payment method, an intent is created with it, and the intent is
confirmed. Only the last one moves money, an intent succeeds once, and nobody confirms an intent that another charge
created. So a charge is never executed twice, whether or not the processor keeps idempotency keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from tollgate.catalog import codes, series
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.payment_types import PAYMENT_TYPES, Direction
from tollgate.connectors import forwarding
from tollgate.connectors.acquiring import NOT_EXECUTED, SILENT, to_minor_units
from tollgate.connectors.exchange import AcquirerAccount, Connector, Conversation, Exchange, Original
from tollgate.connectors.stripe import messages, verdicts
from tollgate.connectors.stripe.api import WITH_CHARGE, Api, is_fine, read_answer
from tollgate.connectors.stripe.messages import INTENTS, METHODS, REFUNDS, Intent, Refund
from tollgate.connectors.stripe.verdicts import Others
from tollgate.payments.accounts import CardAccount, Instrument
from tollgate.payments.following import Action
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict

_SENT = frozenset({"capture", "refund", "reversal", "rebill"})
_UNPAID = {"requires_payment_method": 1, "requires_confirmation": 2, "canceled": 3}
"""The states in which an intent took no money. Where a payment has several, the lowest number decides."""
_OTHER_UNITS = frozenset({"ISK", "MGA", "UGX"})
"""The currencies whose amounts this API writes with other decimals than ISO 4217."""
_CANCELLABLE = frozenset({"requires_payment_method", "requires_confirmation", "requires_action", "requires_capture"})


@dataclass(frozen=True)
class Sale:
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


def make(account: AcquirerAccount | None) -> Connector:
    if account is None:
        raise LookupError("a processor with the Stripe API is reached through an acquirer account")
    return StripeConnector(account)


def make_rebill(attempt: Payment, original: Original) -> Sale:
    terms = messages.make_repeated(original.first.details.get("CardholderInitiatedTransactionID"))
    forwarded = list_forwarded(attempt, original)
    return Sale(attempt, original.account, is_off_session=True, forwarded=forwarded, terms=terms)


def list_forwarded(attempt: Payment, original: Original) -> dict[str, str]:
    """Lists what is forwarded with a follow-up, by the names of this API."""
    return forwarding.collect(ConnectorName.STRIPE, forwarding.list_follow_up_values(attempt, original.first))


def list_terms(order: Order) -> dict[str, str]:
    """Lists the parameters by which a payment belongs to a series."""
    standing = order.details.standing_instruction
    if standing is not None and standing.is_by_merchant:
        return messages.make_repeated(standing.initial_transaction_id)
    return messages.STORES_CARD if standing is not None and standing.mode == series.FIRST else {}


def choose_decisive(intents: list[Intent]) -> Intent:
    """Chooses the intent that decides about a payment.

    There are several where a request came twice; one at most was confirmed.
    """
    return min(intents, key=lambda intent: _UNPAID.get(intent.status, 0))


@dataclass(frozen=True)
class StripeConnector:
    """Speaks for one account at the processor."""

    account: AcquirerAccount

    @property
    def api(self) -> Api:
        return Api(self.account)

    def charge(self, order: Order, attempt: Payment, approved_code: str, **_: object) -> Exchange:
        """Authorizes or debits a card. A payout without a reference is not part of this API."""
        direction = PAYMENT_TYPES[order.payment_type].direction
        if direction is Direction.GIVE:
            return verdicts.NOT_SUPPORTED
        if order.money.currency in _OTHER_UNITS:
            return verdicts.CURRENCY_NOT_SUPPORTED
        standing = order.details.standing_instruction
        sale = Sale(
            attempt,
            order.account,
            is_hold=direction is Direction.HOLD,
            is_off_session=standing is not None and standing.is_by_merchant,
            forwarded=forwarding.collect(ConnectorName.STRIPE, forwarding.list_order_values(order)),
            terms=list_terms(order),
        )
        return (yield from self._sell(sale, approved_code))

    def follow_up(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        original: Original,
        **_: object,
    ) -> Exchange:
        """Captures, refunds, reverses or rebills. Increments and renewals are not part of this connector."""
        if action not in _SENT:
            return verdicts.NOT_SUPPORTED
        if action == "rebill":
            return (yield from self._sell(make_rebill(attempt, original), approved_code))
        intent_id = yield from self._find_own(original)
        if not intent_id:
            return SILENT
        if action == "capture":
            return (yield from self._capture(attempt, intent_id, verdicts.count_others(original), approved_code))
        if attempt.action is Action.VOID:
            return (yield from self._void(attempt, intent_id, verdicts.count_others(original), approved_code))
        return (yield from self._refund(attempt, intent_id, original, approved_code))

    def repeat(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        original: Original,
        was_accepted: bool = False,
        **_: object,
    ) -> Exchange:
        """Looks for a follow-up that stayed silent, and sends it again where it was never seen."""
        if action not in _SENT:
            return verdicts.NOT_SUPPORTED
        if action == "rebill":
            return (yield from self._repeat_rebill(attempt, original, approved_code, was_accepted=was_accepted))
        intent_id = yield from self._find_own(original)
        if not intent_id:
            return SILENT
        others = verdicts.count_others(original, attempt)
        if action == "capture":
            return (yield from self._repeat_capture(attempt, intent_id, others, approved_code))
        if attempt.action is Action.VOID:
            # To cancel twice is the same as once.
            return (yield from self._void(attempt, intent_id, others, approved_code))
        seen = yield from self.api.find_refunds(attempt.id, intent_id)
        if seen:
            return verdicts.read_refund(seen[0], attempt, intent_id, approved_code)
        if seen is None or was_accepted:
            return SILENT
        return (yield from self._refund(attempt, intent_id, original, approved_code))

    def reverse(self, original: Original) -> Exchange:
        """Undoes a charge whose outcome is unknown: cancels what was not taken, and refunds what was.

        Where no intent has the key of the charge, there is nothing to undo: a confirmation names an intent, so one
        that was never created cannot be confirmed. A request to create one may still be under way; an intent that it
        makes is confirmed by nobody, and takes no money.
        """
        payment = original.payment
        intent_ids = yield from self.api.find(payment)
        if intent_ids is None:
            return SILENT
        undone = Verdict(outcome=Outcome.APPROVED, code="")
        for intent_id in intent_ids:
            verdict = yield from self._undo(payment, intent_id)
            if verdict.outcome is not Outcome.APPROVED:
                return SILENT
            undone = verdict
        return undone

    def inquire(self, original: Original, approved_code: str) -> Exchange:
        """Asks for the outcome of a charge."""
        payment = original.payment
        direction = PAYMENT_TYPES[payment.payment_type].direction
        if direction is Direction.GIVE:
            # Nothing is ever sent for it.
            return verdicts.NOT_SUPPORTED
        intents = yield from self.api.look_at_all(payment)
        if intents is None:
            return SILENT
        if not intents:
            return NOT_EXECUTED
        sale = Sale(payment, is_hold=direction is Direction.HOLD)
        return (yield from self._read_intent(choose_decisive(intents), sale, approved_code))

    def find_payment_id(self, intent_id: str) -> Conversation[str | None]:
        """Finds the payment for which an intent was created: "" where there is none, None where nobody said so."""
        reply = yield self.api.get(f"{INTENTS}/{intent_id}", (WITH_CHARGE,), intent_id)
        if reply.status == verdicts.NOT_FOUND_STATUS:
            return ""
        intent = read_answer(reply, Intent)
        return None if intent is None else messages.find_key(intent.metadata) or ""

    # ---- charges ----

    def _sell(self, sale: Sale, approved_code: str) -> Exchange:
        card, attempt = sale.account, sale.attempt
        if card is None:
            return verdicts.ACCOUNT_ERASED
        if not isinstance(card, CardAccount) or card.number_type != "PAN" or card.cryptogram is not None:
            # Numbers of wallets and network tokens take a contract of their own with such a processor.
            return verdicts.ACCOUNT_NOT_SUPPORTED
        form = messages.make_method(card, sale.forwarded)
        reply = yield self.api.post(METHODS, form, f"{attempt.id}-method")
        method = read_answer(reply, messages.Method)
        if method is None:
            return verdicts.read_refused_preparation(reply)
        terms = {**messages.make_terms(sale.forwarded), **sale.terms}
        form = messages.make_intent(attempt, method.id, is_hold=sale.is_hold, terms=terms)
        reply = yield self.api.post(INTENTS, form, f"{attempt.id}-intent")
        intent = read_answer(reply, Intent)
        if intent is None:
            return verdicts.read_refused_preparation(reply)
        if messages.find_key(intent.metadata) != attempt.id:
            # It belongs to another payment, which must not be reversed in place of this one.
            return SILENT
        if not messages.has_money(intent, attempt.money) or intent.status != "requires_confirmation":
            return verdicts.make_silent(intent)
        return (yield from self._confirm(intent, sale, approved_code))

    def _confirm(self, created: Intent, sale: Sale, approved_code: str) -> Exchange:
        form = (("off_session", "true"), WITH_CHARGE) if sale.is_off_session else (WITH_CHARGE,)
        reply = yield self.api.post(f"{INTENTS}/{created.id}/confirm", form, f"{sale.attempt.id}-confirmation")
        if is_fine(reply):
            intent = read_answer(reply, Intent)
            if intent is None or intent.id != created.id:
                return verdicts.make_silent(created)
            return (yield from self._read_intent(intent, sale, approved_code))
        verdict = verdicts.read_refusal(reply)
        known = {**verdict.details, "ConnectorTxID1": created.id}
        verdict = msgspec.structs.replace(verdict, details=known)
        if verdict.outcome is not Outcome.DECLINED or verdicts.is_sure(reply):
            return verdict
        looked = yield from self.api.look(created.id, sale.attempt.id)
        if looked is None:
            return verdicts.make_silent(created)
        return verdict if looked.status in _UNPAID else (yield from self._read_intent(looked, sale, approved_code))

    def _read_intent(self, intent: Intent, sale: Sale, approved_code: str) -> Exchange:
        """Returns the verdict of an intent that was confirmed."""
        if not messages.has_money(intent, sale.attempt.money):
            return verdicts.make_silent(intent)
        details = verdicts.describe_intent(intent)
        match intent.status:
            case "requires_capture" if sale.is_hold:
                return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
            case "succeeded" if not sale.is_hold and intent.amount_received in (None, intent.amount):
                return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
            case "processing":
                return Verdict(outcome=Outcome.WAITING, code=codes.PENDING, details=details)
            case "requires_action":
                # The processor wants an authentication on a page of its own, which nobody opens.
                if not (yield from self.api.cancel(intent, sale.attempt.id)):
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

    def _repeat_rebill(
        self, attempt: Payment, original: Original, approved_code: str, *, was_accepted: bool
    ) -> Exchange:
        intents = yield from self.api.look_at_all(attempt)
        if intents is None or (was_accepted and not intents):
            return SILENT
        sale = make_rebill(attempt, original)
        if not intents:
            # The first request may still create an intent; nobody confirms that one.
            return (yield from self._sell(sale, approved_code))
        intent = choose_decisive(intents)
        if intent.status == "requires_confirmation" and messages.has_money(intent, attempt.money):
            return (yield from self._confirm(intent, sale, approved_code))
        return (yield from self._read_intent(intent, sale, approved_code))

    # ---- follow-ups ----

    def _find_own(self, original: Original) -> Conversation[str | None]:
        """Finds the intent of an approved payment; a capture belongs to the intent of its authorization."""
        payment = original.payment
        begins = payment if payment.action is Action.REBILL else original.first
        for each in (payment, begins):
            if "ConnectorTxID1" in each.details:
                return each.details["ConnectorTxID1"]
        intents = yield from self.api.look_at_all(begins)
        return choose_decisive(intents).id if intents else None

    def _capture(self, attempt: Payment, intent_id: str, others: Others, approved_code: str) -> Exchange:
        form = (("amount_to_capture", str(to_minor_units(attempt.money))), WITH_CHARGE)
        reply = yield self.api.post(f"{INTENTS}/{intent_id}/capture", form, f"{attempt.id}-capture")
        intent = read_answer(reply, Intent)
        if intent is not None:
            is_captured = intent.id == intent_id and intent.status == "succeeded"
            if not is_captured or intent.amount_captured != to_minor_units(attempt.money):
                return SILENT
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=verdicts.describe_intent(intent))
        verdict = verdicts.read_refusal(reply)
        if verdict.outcome is not Outcome.DECLINED or verdicts.is_sure(reply):
            return verdict
        looked = yield from self.api.look(intent_id, attempt.id)
        if looked is None:
            return SILENT
        is_captured = looked.status == "succeeded"
        return verdicts.read_captured(looked, attempt, others, approved_code, verdict) if is_captured else verdict

    def _repeat_capture(self, attempt: Payment, intent_id: str, others: Others, approved_code: str) -> Exchange:
        intent = yield from self.api.look(intent_id, attempt.id)
        if intent is None:
            return SILENT
        if intent.status == "succeeded":
            return verdicts.read_captured(intent, attempt, others, approved_code, verdicts.WRONG_STATE)
        if intent.status == "requires_capture":
            return (yield from self._capture(attempt, intent_id, others, approved_code))
        return verdicts.WRONG_STATE if intent.status == "canceled" else SILENT

    def _void(self, attempt: Payment, intent_id: str, others: Others, approved_code: str) -> Exchange:
        reply = yield self.api.post(f"{INTENTS}/{intent_id}/cancel", (), f"{attempt.id}-cancellation")
        intent, verdict = read_answer(reply, Intent), SILENT
        if intent is None:
            verdict = verdicts.read_refusal(reply)
            if verdict.outcome is not Outcome.DECLINED or verdicts.is_sure(reply):
                return verdict
            intent = yield from self.api.look(intent_id, attempt.id)
        if intent is None or intent.id != intent_id:
            return SILENT
        # A capture of a part has released the rest.
        is_released = intent.status == "succeeded" and any(others)
        if intent.status == "canceled" or is_released:
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=verdicts.describe_intent(intent))
        return verdict

    def _refund(self, attempt: Payment, intent_id: str, original: Original, approved_code: str) -> Exchange:
        form = messages.make_refund(attempt, intent_id, list_forwarded(attempt, original))
        reply = yield self.api.post(REFUNDS, form, f"{attempt.id}-refund")
        refund = read_answer(reply, Refund)
        if refund is not None:
            return verdicts.read_refund(refund, attempt, intent_id, approved_code)
        verdict = verdicts.read_refusal(reply)
        if verdict.outcome is not Outcome.DECLINED or verdicts.is_sure(reply):
            return verdict
        seen = yield from self.api.find_refunds(attempt.id, intent_id)
        if seen is None:
            return SILENT
        return verdicts.read_refund(seen[0], attempt, intent_id, approved_code) if seen else verdict

    # ---- reversals ----

    def _undo(self, payment: Payment, intent_id: str) -> Exchange:
        intent = yield from self.api.look(intent_id, payment.id)
        if intent is None:
            return SILENT
        undone = Verdict(outcome=Outcome.APPROVED, code="", details=verdicts.describe_intent(intent))
        if intent.status == "canceled":
            return undone
        if intent.status in _CANCELLABLE:
            return undone if (yield from self.api.cancel(intent, payment.id)) else SILENT
        charge = intent.charge
        if intent.status != "succeeded" or charge is None:
            return SILENT
        left = charge.amount - charge.amount_refunded
        if charge.refunded or left <= 0:
            return undone
        # Without an amount it is all that is left, also where another amount was taken than was asked for.
        form = (("payment_intent", intent_id), (f"metadata[{messages.KEY}]", payment.id))
        refund = read_answer((yield self.api.post(REFUNDS, form, f"{payment.id}-reversal")), Refund)
        is_ours = refund is not None and messages.find_key(refund.metadata) == payment.id
        if refund is None or not is_ours or refund.amount != left or refund.status not in verdicts.REFUNDED:
            return SILENT
        return Verdict(outcome=Outcome.APPROVED, code="", details=verdicts.describe_refund(refund, intent_id))
