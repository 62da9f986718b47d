"""Advice on results: what the merchant does, whether to try again, and what to tell the shopper.

Rows exist for every group of results; single codes that need another advice have rows of their own.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from tollgate.catalog.results import get_result


class Retry(StrEnum):
    DONE = "Not needed: it went through."
    WAIT = "No: the outcome is still open. A second try could charge the shopper twice."
    LATER = "Yes, after a while: the same request may go through."
    CHANGED = "Only after something was changed: the same request fails again."
    NEVER = "No: the same card or account will not help."


class Advice(msgspec.Struct, frozen=True):
    action: str
    """The next step of the merchant."""
    retry: Retry
    shopper: str
    """The text for the shopper, without the bank's reason, which a thief could use."""


_OTHER_MEANS = "The payment was declined. Please use another card or another way to pay, or ask your bank."
_CHECK_ENTRY = "Please check what you entered and try again."
_OUR_FAULT = "The payment could not be made. It is not your fault, and you were not charged."
_NOTHING = "Nothing."

GROUP_ADVICE: Mapping[str, Advice] = MappingProxyType(
    {
        "success": Advice("Nothing: deliver the order.", Retry.DONE, "Thank you, your payment was received."),
        "success_review": Advice(
            "Review the order before you ship it, and reverse or refund it if you doubt it.",
            Retry.DONE,
            "Thank you, your payment was received.",
        ),
        "pending": Advice(
            "Wait for the webhook, or read the payment again. Do not deliver yet.",
            Retry.WAIT,
            "Your payment is being processed. We will tell you when it is complete.",
        ),
        "pending_long": Advice(
            "Wait: it may take days. Do not deliver before the payment is complete.",
            Retry.WAIT,
            "We are waiting for your payment. We will tell you when it arrives.",
        ),
        "soft_decline_sca": Advice(
            "Send the payment again with 3-D Secure, so that the shopper is authenticated.",
            Retry.CHANGED,
            "Your bank wants to make sure that it is you. Please try again and confirm the payment.",
        ),
        "rejected_3ds_intercard_risk": Advice(
            "Have the shopper use another card, or look at the 3-D Secure settings of the channel.",
            Retry.CHANGED,
            _OTHER_MEANS,
        ),
        "rejected_by_bank": Advice(
            "Have the shopper use another card, or ask the bank that issued it.", Retry.CHANGED, _OTHER_MEANS
        ),
        "comm_error": Advice(
            "Try again in a few minutes. If it stays so, look at the messages of the payment and ask the acquirer.",
            Retry.LATER,
            _OUR_FAULT + " Please try again in a few minutes.",
        ),
        "system_error": Advice(
            "Try again in a few minutes. If it stays so, find the log lines by the ndc of this payment.",
            Retry.LATER,
            _OUR_FAULT + " Please try again in a few minutes.",
        ),
        "async_error": Advice(
            "Nothing: the shopper gave up or took too long. Offer to pay again.",
            Retry.LATER,
            "The payment was not completed, and you were not charged. You can try again.",
        ),
        "risk_external": Advice(
            "Do not deliver. Look at the order: the risk check found it doubtful.", Retry.NEVER, _OTHER_MEANS
        ),
        "address_avs": Advice(
            "Have the shopper correct the billing address.",
            Retry.CHANGED,
            "The billing address is not the one that your bank knows. Please check it and try again.",
        ),
        "rejected_3ds": Advice(
            "Have the shopper try again, or use another card.",
            Retry.CHANGED,
            "Your bank could not confirm the payment. Please try again or use another card.",
        ),
        "blacklist": Advice("Do not try again: it is on a block list.", Retry.NEVER, _OTHER_MEANS),
        "risk_validation": Advice(
            "Look at the order: it came too often, or was too large. Raise the limit only if you know the shopper.",
            Retry.LATER,
            _OTHER_MEANS,
        ),
        "config_validation": Advice(
            "Look at the settings of the channel, or ask the operator of this host to change them.",
            Retry.CHANGED,
            _OUR_FAULT,
        ),
        "registration_validation": Advice(
            "Use another registration, or have the shopper enter the card again.",
            Retry.CHANGED,
            "Please enter your card again.",
        ),
        "job_validation": Advice("Correct the schedule in the request.", Retry.CHANGED, _NOTHING),
        "reference_validation": Advice(
            "Look at the chain of the payment: it shows what is left, and what may still follow.",
            Retry.CHANGED,
            _NOTHING,
        ),
        "mac_control": Advice(
            "Do not try this card again before the time that the bank asked for.", Retry.LATER, _OTHER_MEANS
        ),
        "format_validation": Advice(
            "Correct the request: the parameter is named in the answer.", Retry.CHANGED, _OUR_FAULT
        ),
        "address_validation": Advice("Correct the address.", Retry.CHANGED, _CHECK_ENTRY),
        "contact_validation": Advice("Correct the data of the customer.", Retry.CHANGED, _CHECK_ENTRY),
        "account_validation": Advice("Have the shopper correct the card or account.", Retry.CHANGED, _CHECK_ENTRY),
        "amount_validation": Advice("Correct the amount or the currency of the request.", Retry.CHANGED, _OUR_FAULT),
        "risk_mgmt_validation": Advice("Send the data that the risk check needs.", Retry.CHANGED, _OUR_FAULT),
        "chargeback": Advice(
            "Collect evidence and contest it before the deadline, or accept it. Do not refund it as well.",
            Retry.NEVER,
            _NOTHING,
        ),
    }
)

_STOLEN = Advice("Do not deliver, and do not try the card again.", Retry.NEVER, _OTHER_MEANS)
_NO_MONEY = Advice(
    "Try again on another day, a smaller amount, or have the shopper use another card.", Retry.LATER, _OTHER_MEANS
)
_SERIES_ENDED = Advice(
    "End the series: the shopper had it stopped, and must not be charged again.", Retry.NEVER, _NOTHING
)
_CARD_ENTRY = Advice(
    "Have the shopper check the card data.", Retry.CHANGED, "Please check your card data and try again."
)
_SETTINGS = Advice("Ask the acquirer: it has the merchant set up wrongly.", Retry.CHANGED, _OUR_FAULT)
_NO_REASON = Advice(
    "Have the shopper use another card. Without the shopper, try again on another day.", Retry.LATER, _OTHER_MEANS
)
_NEW_ACCOUNT = Advice("Have the shopper use another account.", Retry.NEVER, _OTHER_MEANS)
_NEW_MANDATE = Advice(
    "End the series: the account may be debited under a new mandate only.",
    Retry.NEVER,
    "Your direct debit mandate has ended. Please give a new one, or use another way to pay.",
)
_TOKEN_SERVICE = Advice(
    "Try again in a few minutes: the token service of the card network failed.",
    Retry.LATER,
    _OUR_FAULT + " Please try again in a few minutes.",
)
_MESSAGE = Advice("Ask the acquirer: it cannot process this message.", Retry.CHANGED, _OUR_FAULT)

CODE_ADVICE: Mapping[str, Advice] = MappingProxyType(
    {
        "100.380.401": GROUP_ADVICE["rejected_3ds"],
        "700.601.001": Advice(
            "Have the shopper enter the card again, and send the payment with 3-D Secure.",
            Retry.CHANGED,
            "Please enter your card again and confirm the payment.",
        ),
        "700.601.003": _NEW_ACCOUNT,
        "800.100.100": _NO_REASON,
        "800.100.152": _NO_REASON,
        "800.100.156": _NO_REASON,
        "800.100.161": _NO_REASON,
        "800.100.151": _CARD_ENTRY,
        "800.100.153": _CARD_ENTRY,
        "800.100.157": _CARD_ENTRY,
        "800.100.155": _NO_MONEY,
        "800.100.162": _NO_MONEY,
        "800.100.163": _NO_MONEY,
        "800.100.164": _NO_MONEY,
        "800.100.179": _NO_MONEY,
        "800.100.203": _NO_MONEY,
        "800.100.158": _STOLEN,
        "800.100.159": _STOLEN,
        "800.100.165": _STOLEN,
        "800.100.171": _STOLEN,
        "800.100.197": _NEW_ACCOUNT,
        "800.100.202": _NEW_ACCOUNT,
        "800.100.204": _NEW_MANDATE,
        "800.100.205": _NEW_MANDATE,
        "800.100.176": Advice("Try again later: the bank cannot see the account now.", Retry.LATER, _OTHER_MEANS),
        "800.100.190": _SETTINGS,
        "800.100.321": _TOKEN_SERVICE,
        "800.100.322": _TOKEN_SERVICE,
        "800.100.327": _TOKEN_SERVICE,
        "800.100.403": _SERIES_ENDED,
        "800.100.500": _SERIES_ENDED,
        "800.100.501": _SERIES_ENDED,
        "100.396.101": Advice(
            "Nothing: the shopper cancelled. Offer to pay again.",
            Retry.LATER,
            "You cancelled the payment, and were not charged.",
        ),
        "800.110.100": Advice(
            "Read the first payment: this one repeats it, or came after the checkout was paid.",
            Retry.CHANGED,
            "This order was paid already.",
        ),
        "800.120.100": Advice(
            "Wait as long as the header Retry-After says.",
            Retry.LATER,
            "Please wait a minute and try again. You were not charged.",
        ),
        "800.700.100": Advice(
            "Read the checkout again in a moment: it is being paid.",
            Retry.LATER,
            "Your payment is being processed. Please do not pay again.",
        ),
        "900.100.202": _MESSAGE,
        "900.100.204": _MESSAGE,
        "900.100.300": Advice(
            "Try again: if the acquirer has taken the money after all, it is given back.",
            Retry.LATER,
            "The payment could not be made. It is not your fault. An amount that your bank reserved is released again.",
        ),
        "999.999.999": Advice(
            "Repeat the request with the same Idempotency-Key, or read the payment: its outcome may not be known yet.",
            Retry.LATER,
            "We do not know yet whether the payment was made. Please wait for our message before you pay again.",
        ),
    }
)


def get_advice(code: str) -> Advice:
    """Returns the advice on a result code."""
    return CODE_ADVICE.get(code) or GROUP_ADVICE[get_result(code).group]
