"""The endpoints of the interface as rows: title, section, parameters and kind of answer, for whoever describes them.

Handlers are declared in `web`, and a test compares the two tables. Examples are in `examples`.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec


class Section(StrEnum):
    """The sections of the reference, in their order."""

    PAYMENTS = "Payments"
    CHECKOUTS = "Checkouts"
    LINKS = "Payment links"
    REGISTRATIONS = "Registrations"
    SCHEDULES = "Schedules"
    AUTHENTICATION = "3-D Secure"
    REPORTS = "Reports"
    WEBHOOKS = "Webhooks"
    HOST = "Host"
    SANDBOX = "Sandbox"


class Answer(StrEnum):
    """The kinds of answers; `answers` describes the members of each."""

    PAYMENT = "Payment"
    CHECKOUT = "Checkout"
    CHECKOUT_RESULT = "CheckoutResult"
    FORM = "Form"
    LINK = "PaymentLink"
    REGISTRATION = "Registration"
    SCHEDULE = "Schedule"
    AUTHENTICATION = "Authentication"
    PAYMENTS = "Payments"
    RECONCILIATIONS = "Reconciliations"
    WEBHOOK = "Webhook"
    WEBHOOKS = "Webhooks"
    RESULT = "Result"
    RESULT_CODES = "ResultCodes"
    STATUS = "Status"
    CLOCK = "Clock"
    NETWORK_TOKEN = "NetworkToken"


class OwnParameter(msgspec.Struct, frozen=True):
    """A parameter of one endpoint, which has no row in the table of parameters."""

    name: str
    note: str
    is_required: bool = False


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    path: str
    title: str
    section: Section
    answer: Answer
    takes: tuple[str, ...] = ()
    """The first words of its parameters: `card` stands for `card.number` and all others of the group."""
    needs: tuple[str, ...] = ()
    """The parameters without which every request is refused, besides `entityId`."""
    own: tuple[OwnParameter, ...] = ()
    also_at: tuple[str, ...] = ()
    """Other paths of the same endpoint, which older clients use."""
    is_for_shoppers: bool = False
    """The payment form calls it, without a token."""

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def slug(self) -> str:
        """Returns the last word of the address of its page: `post-v1-payments-id`."""
        words = self.path.translate(str.maketrans("", "", "{}")).strip("/").split("/")
        return "-".join((self.method.lower(), *words))

    @property
    def is_for_tests(self) -> bool:
        """Tells whether only a test host has it."""
        return self.section is Section.SANDBOX


_REFERENCES = ("merchantTransactionId", "merchantInvoiceId", "merchantMemo")
_MONEY = ("amount", "currency", "paymentType")
_ACCOUNTS = (
    *("paymentBrand", "card", "bankAccount", "virtualAccount", "tokenAccount", "walletA", "walletB", "walletC"),
    *("registrationId", "createRegistration", "overrideHolder"),
)
_SHOPPER = ("customer", "billing", "shipping", "shopperResultUrl", "notificationUrl", "locale")
_SERIES = ("standingInstruction", "recurringType", "recurring", "recurringMigration")
_CHECKS = ("threeDSecure", "risk", "testMode", "customParameters")
_DETAILS = (
    *("taxAmount", "discountAmount", "forex", "descriptor", *_REFERENCES, "transactionCategory", "promotionCode"),
    *("transactionPurposeCode", "integrationType", "transactionBai", "transactionTti", "transactionProcessingCode"),
    *("lifecycleId", "transactionDueDate", "numberOfCaptures", "corporate", "sender", "recipient", "merchant"),
    *("cart", "marketPlace", "airline"),
)
_PAYMENT = (*_MONEY, *_ACCOUNTS, *_SHOPPER, *_SERIES, *_CHECKS, *_DETAILS)
_FORM = ("paymentBrand", "card", "bankAccount", "virtualAccount", "walletA", "walletB", "walletC", "registrationId")
_LINK = (
    *("validUntil", "validUntilUnit", "termsAndConditionsUrl", "privacyPolicyUrl", "collectBilling"),
    *("mandatoryBilling", "createQRCode", "layout"),
)
_WEBHOOK = (
    OwnParameter("url", "The https address that receives events; changing it deactivates the endpoint"),
    OwnParameter("events", "Types or names of events, separated by commas; all without it"),
)

_ROWS = (
    # ---- payments ----
    Endpoint(
        method="POST",
        path="/v1/payments",
        title="Create a payment",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
        takes=(*_PAYMENT, "referenceUuid"),
        needs=("amount", "currency", "paymentType"),
    ),
    Endpoint(
        method="POST",
        path="/v1/payments/{id}",
        title="Capture, refund, reverse or rebill",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
        takes=(*_MONEY, "sequence", *_SHOPPER, "standingInstruction", *_CHECKS, *_DETAILS),
        needs=("paymentType",),
    ),
    Endpoint(
        method="GET",
        path="/v1/payments/{id}",
        title="Read a payment",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
    ),
    # ---- checkouts ----
    Endpoint(
        method="POST",
        path="/v1/checkouts",
        title="Prepare a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT,
        takes=(*_PAYMENT, "integrity", "overridePaymentType", "registrations"),
    ),
    Endpoint(
        method="POST",
        path="/v1/checkouts/{id}",
        title="Change a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT,
        takes=_PAYMENT,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/checkouts/{id}",
        title="End a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT,
    ),
    Endpoint(
        method="GET",
        path="/v1/checkouts/{id}/payment",
        title="Read the payment of a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT_RESULT,
    ),
    Endpoint(
        method="GET",
        path="/v1/checkouts/{id}/registration",
        title="Read the registration of a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT_RESULT,
    ),
    Endpoint(
        method="POST",
        path="/v1/checkouts/{id}/payment",
        title="Pay a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.PAYMENT,
        takes=(*_FORM, "customer", "billing", "shopperResultUrl", "shopOrigin", "threeDSecure"),
        is_for_shoppers=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/checkouts/{id}/registration",
        title="Register an account by a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.REGISTRATION,
        takes=(*_FORM, "customer", "billing", "shopperResultUrl", "shopOrigin", "threeDSecure"),
        is_for_shoppers=True,
    ),
    # ---- payment links ----
    Endpoint(
        method="POST",
        path="/paybylink/v1",
        title="Create a payment link",
        section=Section.LINKS,
        answer=Answer.LINK,
        takes=(*_PAYMENT, *_LINK, "integrity"),
        needs=("amount", "currency", "paymentType"),
    ),
    Endpoint(
        method="GET",
        path="/paybylink/v1/{id}",
        title="Read a payment link",
        section=Section.LINKS,
        answer=Answer.LINK,
    ),
    Endpoint(
        method="DELETE",
        path="/paybylink/v1/{id}",
        title="End a payment link",
        section=Section.LINKS,
        answer=Answer.LINK,
    ),
    Endpoint(
        method="GET",
        path="/paybylink/v1/{id}/checkouts/{checkout}/payment",
        title="Read the payment of a payment link",
        section=Section.LINKS,
        answer=Answer.PAYMENT,
    ),
    # ---- registrations ----
    Endpoint(
        method="POST",
        path="/v1/registrations",
        title="Register an account",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
        takes=(*_ACCOUNTS, *_SHOPPER, *_SERIES, *_CHECKS, *_REFERENCES, "amount", "currency", "paymentType"),
    ),
    Endpoint(
        method="GET",
        path="/v1/registrations/{id}",
        title="Read a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
    ),
    Endpoint(
        method="GET",
        path="/v1/secureRegistrations/{id}",
        title="Read the account of a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
    ),
    Endpoint(
        method="POST",
        path="/v1/registrations/{id}",
        title="Change a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
        takes=("card", "bankAccount", "customer", "billing", *_REFERENCES),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/registrations/{id}",
        title="Delete a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
    ),
    Endpoint(
        method="POST",
        path="/v1/registrations/{id}/extendlife",
        title="Extend the life of a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
    ),
    Endpoint(
        method="POST",
        path="/v1/registrations/{id}/payments",
        title="Pay with a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.PAYMENT,
        takes=_PAYMENT,
        needs=("amount", "currency", "paymentType"),
    ),
    # ---- schedules ----
    Endpoint(
        method="POST",
        path="/scheduling/v1/schedules",
        title="Create a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=(*_PAYMENT, "job"),
        needs=("registrationId", "amount", "currency"),
        also_at=("/v1/schedules",),
    ),
    Endpoint(
        method="GET",
        path="/scheduling/v1/schedules/{id}",
        title="Read a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
    ),
    Endpoint(
        method="POST",
        path="/scheduling/v1/schedules/{id}/reschedule",
        title="Replace a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=(*_PAYMENT, "job"),
    ),
    Endpoint(
        method="POST",
        path="/scheduling/v1/schedules/{id}/deschedule",
        title="Cancel a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=(*_PAYMENT, "job"),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/schedules/{id}",
        title="Cancel a schedule by its id",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
    ),
    # ---- 3-D Secure ----
    Endpoint(
        method="POST",
        path="/v1/threeDSecure",
        title="Authenticate a shopper",
        section=Section.AUTHENTICATION,
        answer=Answer.AUTHENTICATION,
        takes=(*_MONEY, *_ACCOUNTS, *_SHOPPER, *_CHECKS, *_REFERENCES, "merchant"),
        needs=("amount", "currency"),
    ),
    Endpoint(
        method="GET",
        path="/v1/threeDSecure/{id}",
        title="Read an authentication",
        section=Section.AUTHENTICATION,
        answer=Answer.AUTHENTICATION,
    ),
    # ---- reports ----
    Endpoint(
        method="GET",
        path="/v1/query/{id}",
        title="Report on one payment",
        section=Section.REPORTS,
        answer=Answer.PAYMENT,
        takes=("includeLinkedTransactions", "paymentTypes", "paymentMethods"),
    ),
    Endpoint(
        method="GET",
        path="/v3/query/{id}",
        title="Report on one payment as a list",
        section=Section.REPORTS,
        answer=Answer.PAYMENTS,
        takes=("includeLinkedTransactions", "paymentTypes", "paymentMethods"),
    ),
    Endpoint(
        method="GET",
        path="/v1/query",
        title="Find payments by reference",
        section=Section.REPORTS,
        answer=Answer.PAYMENTS,
        takes=("merchantTransactionId", "paymentTypes", "paymentMethods", "limit"),
        needs=("merchantTransactionId",),
    ),
    Endpoint(
        method="GET",
        path="/v3/query",
        title="Find payments by reference or date",
        section=Section.REPORTS,
        answer=Answer.PAYMENTS,
        takes=(
            *("merchantTransactionId", "shortId", "date", "limit", "pageNo", "cursor", "sortValue", "sortOrder"),
            *("paymentTypes", "paymentMethods"),
        ),
    ),
    Endpoint(
        method="GET",
        path="/reports/v1/reconciliations/aggregations",
        title="Sum up settled payments",
        section=Section.REPORTS,
        answer=Answer.RECONCILIATIONS,
        takes=("date", "currency", "testMode", "reconciliationType"),
        needs=("date.from", "date.to"),
    ),
    Endpoint(
        method="GET",
        path="/reports/v1/reconciliations/aggregations/{id}",
        title="List the payments of a sum",
        section=Section.REPORTS,
        answer=Answer.RECONCILIATIONS,
        takes=("testMode",),
    ),
    Endpoint(
        method="GET",
        path="/reports/v2/reconciliations/aggregations/{id}",
        title="List the payments of a sum in pages",
        section=Section.REPORTS,
        answer=Answer.RECONCILIATIONS,
        takes=("testMode", "limit", "pageNo", "sortValue", "sortOrder"),
    ),
    # ---- webhooks ----
    Endpoint(
        method="POST",
        path="/v1/webhooks",
        title="Add a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        own=_WEBHOOK,
    ),
    Endpoint(
        method="GET",
        path="/v1/webhooks",
        title="List webhooks",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOKS,
    ),
    Endpoint(
        method="GET",
        path="/v1/webhooks/{id}",
        title="Read a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
    ),
    Endpoint(
        method="POST",
        path="/v1/webhooks/{id}",
        title="Change a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        own=_WEBHOOK,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/webhooks/{id}",
        title="Remove a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
    ),
    Endpoint(
        method="POST",
        path="/v1/webhooks/{id}/test",
        title="Test a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
    ),
    Endpoint(
        method="POST",
        path="/v1/webhooks/{id}/rotate",
        title="Rotate the secrets of a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        own=(OwnParameter("overlap", "Hours for which the present secrets stay live; 24 by default"),),
    ),
    # ---- the host ----
    Endpoint(
        method="GET",
        path="/v1/resultcodes",
        title="List result codes",
        section=Section.HOST,
        answer=Answer.RESULT_CODES,
    ),
    Endpoint(
        method="GET",
        path="/healthz",
        title="Check that the process is alive",
        section=Section.HOST,
        answer=Answer.STATUS,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        title="Check that the host takes payments",
        section=Section.HOST,
        answer=Answer.STATUS,
    ),
    # ---- test hosts only ----
    Endpoint(
        method="GET",
        path="/sandbox/clock",
        title="Read the test clock",
        section=Section.SANDBOX,
        answer=Answer.CLOCK,
    ),
    Endpoint(
        method="POST",
        path="/sandbox/clock",
        title="Move the test clock forward",
        section=Section.SANDBOX,
        answer=Answer.CLOCK,
        own=(OwnParameter("advance", "Seconds by which the clock is moved", is_required=True),),
    ),
    Endpoint(
        method="POST",
        path="/sandbox/payments/{id}",
        title="Charge a payment back",
        section=Section.SANDBOX,
        answer=Answer.PAYMENT,
        takes=_MONEY,
        needs=("paymentType",),
        own=(OwnParameter("resultCode", "The reason of a chargeback, such as 000.100.203"),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/registrations/{id}/networkToken",
        title="Read a network token",
        section=Section.SANDBOX,
        answer=Answer.NETWORK_TOKEN,
    ),
    Endpoint(
        method="POST",
        path="/sandbox/registrations/{id}/networkToken",
        title="Make an event of a network token",
        section=Section.SANDBOX,
        answer=Answer.NETWORK_TOKEN,
        own=(
            OwnParameter("event", "What happens to the token", is_required=True),
            OwnParameter("eventId", "The id of the event; a repeated one happens once"),
        ),
    ),
)

ENDPOINTS: Mapping[str, Endpoint] = MappingProxyType({row.key: row for row in _ROWS})

UNDESCRIBED = frozenset(
    {
        "GET /v1/checkouts/{id}/form",
        "POST /v1/checkouts/{id}/abandoned",
        "GET /v1/checkouts/{id}/provider",
        "POST /v1/networkTokens/events/{token}",
        "POST /v1/threeDSecure/results/{token}",
        "POST /v1/threeDSecure/method/{token}",
        "GET /v1/shopper/{token}",
        "POST /v1/shopper/{token}",
        "GET /v1/static/{hash}/{name}",
        "GET /favicon.ico",
    }
)
"""Paths that only the pages of this gateway, issuers and networks use."""
