"""The connector of a processor with the Stripe API: its follow-ups, reversals and inquiries.

How a charge runs is in `charges`.
"""

from dataclasses import dataclass

from tollgate.catalog.payment_types import PAYMENT_TYPES, Direction
from tollgate.connectors.acquiring import NOT_EXECUTED, SILENT, to_minor_units
from tollgate.connectors.exchange import AcquirerAccount, Connector, Conversation, Exchange, Original
from tollgate.connectors.stripe import charges, messages, verdicts
from tollgate.connectors.stripe.api import WITH_CHARGE, Api, read_answer
from tollgate.connectors.stripe.messages import INTENTS, REFUNDS, Intent, Refund
from tollgate.connectors.stripe.verdicts import Others
from tollgate.payments.following import Action
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict

_SENT = frozenset({"capture", "refund", "reversal", "rebill"})
_OTHER_UNITS = frozenset({"ISK", "MGA", "UGX"})
"""The currencies whose amounts this API writes with other decimals than ISO 4217."""
_CANCELLABLE = frozenset({"requires_payment_method", "requires_confirmation", "requires_action", "requires_capture"})


def make(account: AcquirerAccount | None) -> Connector:
    if account is None:
        raise LookupError("a processor with the Stripe API is reached through an acquirer account")
    return StripeConnector(account)


@dataclass(frozen=True)
class StripeConnector:
    """Speaks for one account at the processor."""

    account: AcquirerAccount

    @property
    def api(self) -> Api:
        return Api(self.account)

    def charge(self, order: Order, attempt: Payment, approved_code: str, **_: object) -> Exchange:
        """Authorizes or debits a card. A payout without a reference is not part of this API."""
        if PAYMENT_TYPES[order.payment_type].direction is Direction.GIVE:
            return verdicts.NOT_SUPPORTED
        if order.money.currency in _OTHER_UNITS:
            return verdicts.CURRENCY_NOT_SUPPORTED
        return (yield from charges.send_charge(self.api, charges.make_request(order, attempt), approved_code))

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
            return (yield from charges.send_charge(self.api, charges.make_rebill(attempt, original), approved_code))
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
            return (
                yield from charges.repeat_rebill(self.api, attempt, original, approved_code, was_accepted=was_accepted)
            )
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
        intent_ids = yield from self.api.find_intent_ids(payment)
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
        intents = yield from self.api.find_intents(payment)
        if intents is None:
            return SILENT
        if not intents:
            return NOT_EXECUTED
        asked = charges.ChargeRequest(payment, is_hold=direction is Direction.HOLD)
        return (yield from charges.read_intent(self.api, charges.choose_decisive(intents), asked, approved_code))

    def find_payment_id(self, intent_id: str) -> Conversation[str | None]:
        """Finds the payment for which an intent was created: "" where there is none, None where nobody said so."""
        reply = yield self.api.get(f"{INTENTS}/{intent_id}", (WITH_CHARGE,), intent_id)
        if reply.status == verdicts.NOT_FOUND_STATUS:
            return ""
        intent = read_answer(reply, Intent)
        return None if intent is None else messages.find_key(intent.metadata) or ""

    # ---- follow-ups ----

    def _find_own(self, original: Original) -> Conversation[str | None]:
        """Finds the intent of an approved payment; a capture belongs to the intent of its authorization."""
        payment = original.payment
        begins = payment if payment.action is Action.REBILL else original.first
        for each in (payment, begins):
            if "ConnectorTxID1" in each.details:
                return each.details["ConnectorTxID1"]
        intents = yield from self.api.find_intents(begins)
        return charges.choose_decisive(intents).id if intents else None

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
        found = yield from self.api.find_intent(intent_id, attempt.id)
        if found is None:
            return SILENT
        is_captured = found.status == "succeeded"
        return verdicts.read_captured(found, attempt, others, approved_code, verdict) if is_captured else verdict

    def _repeat_capture(self, attempt: Payment, intent_id: str, others: Others, approved_code: str) -> Exchange:
        intent = yield from self.api.find_intent(intent_id, attempt.id)
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
            intent = yield from self.api.find_intent(intent_id, attempt.id)
        if intent is None or intent.id != intent_id:
            return SILENT
        # A capture of a part has released the rest.
        is_released = intent.status == "succeeded" and any(others)
        if intent.status == "canceled" or is_released:
            return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=verdicts.describe_intent(intent))
        return verdict

    def _refund(self, attempt: Payment, intent_id: str, original: Original, approved_code: str) -> Exchange:
        form = messages.make_refund(attempt, intent_id, charges.list_forwarded(attempt, original))
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
        intent = yield from self.api.find_intent(intent_id, payment.id)
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
