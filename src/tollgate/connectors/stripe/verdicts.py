"""Tables of decline and error codes of the Stripe API, the verdicts of its answers, and the details that are kept.

Which message follows an answer is decided in `charges` and `exchanges`.
"""

from typing import NamedTuple

from tollgate.catalog import card_checks, codes
from tollgate.connectors.acquiring import ADVICES as NETWORK_ADVICES
from tollgate.connectors.acquiring import SILENT, UNLISTED, to_minor_units
from tollgate.connectors.exchange import Original, WireReply
from tollgate.connectors.stripe.messages import Checks, Failure, Intent, Refund, find_key, has_money, read_failure
from tollgate.payments.payment import Outcome, Payment, Verdict

DECLINES: dict[str, str] = {
    "approve_with_id": "800.100.154",
    "authentication_required": codes.AUTHENTICATION_REQUIRED,
    "authentication_not_handled": codes.AUTHENTICATION_REQUIRED,
    "call_issuer": "800.100.200",
    "card_declined": UNLISTED,
    "card_decline_rate_limit_exceeded": "800.100.161",
    "card_not_supported": "800.100.168",
    "card_velocity_exceeded": "800.100.163",
    "currency_not_supported": "800.100.173",
    "do_not_honor": "800.100.152",
    "do_not_try_again": "800.100.152",
    "duplicate_transaction": codes.DUPLICATE_REQUEST,
    "expired_card": "800.100.157",
    "fraudulent": "800.100.158",
    "generic_decline": UNLISTED,
    "incorrect_address": "800.400.100",
    "incorrect_cvc": "800.100.153",
    "incorrect_number": "800.100.151",
    "incorrect_pin": "800.100.166",
    "incorrect_zip": "800.400.104",
    "insufficient_funds": "800.100.203",
    "invalid_account": "800.100.201",
    "invalid_amount": "800.100.174",
    "invalid_cvc": "800.100.153",
    "invalid_expiry_month": "800.100.157",
    "invalid_expiry_year": "800.100.157",
    "invalid_number": "800.100.151",
    "invalid_pin": "800.100.166",
    "issuer_not_available": "900.100.500",
    "lost_card": "800.100.165",
    "merchant_blacklist": "800.100.158",
    "new_account_information_available": "700.601.001",
    "no_action_taken": "800.100.152",
    "not_permitted": "800.100.170",
    "offline_pin_required": "800.100.166",
    "online_or_offline_pin_required": "800.100.166",
    "payment_intent_authentication_failure": codes.AUTHENTICATION_REQUIRED,
    "pickup_card": "800.100.171",
    "pin_try_exceeded": "800.100.178",
    "processing_error": "900.100.201",
    "reenter_transaction": "900.100.201",
    "restricted_card": "800.100.168",
    "revocation_of_all_authorizations": "800.100.501",
    "revocation_of_authorization": "800.100.500",
    "security_violation": "800.100.158",
    "service_not_allowed": "800.100.170",
    "stolen_card": "800.100.159",
    "stop_payment_order": "800.100.500",
    "transaction_not_allowed": "800.100.170",
    "try_again_later": "800.100.176",
    "withdrawal_count_limit_exceeded": "800.100.162",
}
"""The reasons of declines, by `decline_code` or, where a decline has none, by `code`."""

ADVICES: dict[str, str] = {
    "confirm_card_data": "700.601.001",
    "do_not_try_again": "700.601.003",
    "try_again_later": "700.600.002",
}
"""The processor's own advice counts where a decline has no reason; that of the network counts more than any reason."""

REFUSALS: dict[str, str] = {
    "amount_too_large": "800.100.174",
    "amount_too_small": "800.100.174",
    "charge_already_captured": "800.100.191",
    "charge_already_refunded": "800.100.191",
    "charge_disputed": "800.100.191",
    "charge_exceeds_source_limit": "800.100.162",
    "charge_expired_for_capture": "800.100.191",
    "country_unsupported": "800.100.190",
    "invalid_charge_amount": "800.100.174",
    "invalid_expiry_month": "800.100.157",
    "invalid_expiry_year": "800.100.157",
    "payment_intent_unexpected_state": "800.100.191",
    "payouts_not_allowed": "800.100.190",
    "refund_disputed_payment": "800.100.191",
    "resource_missing": "800.100.167",
}
"""Errors of requests, by `code`."""
_MISUNDERSTOOD = "900.100.204"
"""The code of an error that has no row: a parameter that this processor does not know."""

_NOT_AUTHORIZED = "800.100.190"
_AUTHORIZATION_STATUSES = frozenset({401, 403})
_DECLINED_STATUS = 402
NOT_FOUND_STATUS = 404
_LOCKED_STATUS = 409
_TOO_MANY_STATUS = 429

UNSENT = Verdict(outcome=Outcome.UNSENT, code=codes.ACQUIRER_UNREACHABLE)
MISUNDERSTOOD = Verdict(outcome=Outcome.UNSENT, code=_MISUNDERSTOOD)
NOT_SUPPORTED = Verdict(outcome=Outcome.DECLINED, code=codes.TYPE_NOT_SUPPORTED)
CURRENCY_NOT_SUPPORTED = Verdict(outcome=Outcome.DECLINED, code=codes.CURRENCY_NOT_CONFIGURED)
ACCOUNT_NOT_SUPPORTED = Verdict(outcome=Outcome.DECLINED, code=codes.METHOD_UNAVAILABLE)
ACCOUNT_ERASED = Verdict(outcome=Outcome.DECLINED, code=codes.ACCOUNT_ERASED)
WRONG_STATE = Verdict(outcome=Outcome.DECLINED, code="800.100.191")


def read_refusal(reply: WireReply) -> Verdict:
    """Returns the verdict of an answer that is no success: silent where the processor may have acted all the same."""
    if reply.status == _TOO_MANY_STATUS:
        # It was turned away before anything was done with it.
        return UNSENT
    failure = read_failure(reply)
    if failure is None or not 400 <= reply.status < 500 or reply.status == _LOCKED_STATUS:
        return SILENT
    if failure.type == "idempotency_error":
        # The key was used for another message, about whose result this says nothing.
        return SILENT
    return Verdict(outcome=Outcome.DECLINED, code=_choose_code(reply, failure), details=describe_failure(failure))


def read_refused_preparation(reply: WireReply) -> Verdict:
    """Returns the verdict of a message before the one that moves money: whatever was answered, nothing was taken."""
    verdict = read_refusal(reply)
    return MISUNDERSTOOD if verdict.outcome is Outcome.SILENT else verdict


def is_sure(reply: WireReply) -> bool:
    """Tells whether a refusal proves that nothing was done.

    A request that came twice is refused because the first one was executed, so other refusals prove nothing.
    """
    failure = read_failure(reply)
    is_decline = failure is not None and _is_decline(reply, failure)
    return is_decline or reply.status in _AUTHORIZATION_STATUSES or reply.status == _TOO_MANY_STATUS


def _is_decline(reply: WireReply, failure: Failure) -> bool:
    return reply.status == _DECLINED_STATUS or failure.type == "card_error"


def _choose_code(reply: WireReply, failure: Failure) -> str:
    if reply.status in _AUTHORIZATION_STATUSES:
        return _NOT_AUTHORIZED
    if _is_decline(reply, failure):
        return choose_decline(failure)
    by_status = REFUSALS["resource_missing"] if reply.status == NOT_FOUND_STATUS else _MISUNDERSTOOD
    return REFUSALS.get(failure.code or "", by_status)


def choose_decline(failure: Failure) -> str:
    advice = NETWORK_ADVICES.get(failure.network_advice_code or "")
    if advice is not None:
        return advice
    code = DECLINES.get(failure.decline_code or "") or DECLINES.get(failure.code or "", UNLISTED)
    return ADVICES.get(failure.advice_code or "", UNLISTED) if code == UNLISTED else code


# ---- details ----


def describe_failure(failure: Failure) -> dict[str, str]:
    named = {
        "ConnectorTxID2": failure.charge,
        "AcquirerResponse": failure.decline_code or failure.code,
    }
    return {"ExtendedDescription": failure.message or "", **{name: value for name, value in named.items() if value}}


_CVV_RESPONSES = {"pass": "M", "fail": "N", "unavailable": "U", "unchecked": "P"}
"""The letters of a check of the CVV, as other acquirers answer them, by the words of this API."""
_AVS_RESPONSES = {(True, True): "F", (True, False): "A", (False, True): "Z"}
"""The letters of a check of the address: whether the street and the postcode match."""


def _choose_avs_response(checks: Checks) -> str | None:
    words = checks.address_line1_check, checks.address_postal_code_check
    if not any(words):
        return None
    street, postcode = words
    return _AVS_RESPONSES.get((street == "pass", postcode == "pass"), "N" if "fail" in words else "U")


def describe_intent(intent: Intent) -> dict[str, str]:
    charge = intent.charge
    card = charge.payment_method_details.card if charge and charge.payment_method_details else None
    checks = card.checks if card else None
    named = {
        "ConnectorTxID1": intent.id,
        "ConnectorTxID2": charge.id if charge else None,
        "ConnectorTxID3": card.network_transaction_id if card else None,
        "CardholderInitiatedTransactionID": card.network_transaction_id if card else None,
        "AcquirerResponse": intent.status,
        card_checks.AVS_MEMBER: _choose_avs_response(checks) if checks else None,
        card_checks.CVV_MEMBER: _CVV_RESPONSES.get(checks.cvc_check or "") if checks else None,
    }
    return {"ExtendedDescription": "", **{name: value for name, value in named.items() if value}}


def describe_refund(refund: Refund, intent_id: str) -> dict[str, str]:
    return {
        "ExtendedDescription": "",
        "ConnectorTxID1": intent_id,
        "ConnectorTxID2": refund.id,
        "AcquirerResponse": refund.status or "",
    }


def make_silent(intent: Intent) -> Verdict:
    """Returns the verdict of an answer that does not fit its request; the intent is known, so it is reversed."""
    return Verdict(outcome=Outcome.SILENT, code=codes.ACQUIRER_SILENT, details=describe_intent(intent))


REFUNDED = frozenset({"succeeded", "pending"})
"""The states of a refund that was accepted; if a pending one fails later, an event reports it."""


def read_refund(refund: Refund, attempt: Payment, intent_id: str, approved_code: str) -> Verdict:
    if not has_money(refund, attempt.money) or find_key(refund.metadata) != attempt.id:
        return SILENT
    details = describe_refund(refund, intent_id)
    if refund.status in REFUNDED:
        return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=details)
    if refund.status in ("failed", "canceled"):
        return Verdict(outcome=Outcome.DECLINED, code=WRONG_STATE.code, details=details)
    return SILENT


class Others(NamedTuple):
    """The amounts that other follow-ups have taken of an authorization, or may have."""

    drawn: int
    reserved: int


def count_others(original: Original, attempt: Payment | None = None) -> Others:
    """attempt: a follow-up whose own reservation is part of the balance."""
    balance = original.payment.balance
    own = 0 if attempt is None else attempt.money.hundredths + attempt.releases
    return Others(balance.drawn, max(balance.reserved - own, 0))


def read_captured(intent: Intent, attempt: Payment, others: Others, approved_code: str, otherwise: Verdict) -> Verdict:
    """Returns the verdict of a capture whose intent is captured.

    A processor captures once and does not say for which request, so the balance tells whether it was another one.
    otherwise: the verdict where another capture took the money.
    """
    if others.drawn:
        return otherwise
    if intent.amount_captured != to_minor_units(attempt.money):
        # If no other capture is open, an amount was taken that nobody asked for, and a person has to decide.
        return otherwise if others.reserved else SILENT
    if others.reserved >= attempt.money.hundredths:
        # The open capture may have the same amount, and the processor does not say which of them it executed.
        return SILENT
    return Verdict(outcome=Outcome.APPROVED, code=approved_code, details=describe_intent(intent))
