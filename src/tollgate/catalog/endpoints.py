"""The endpoints of the interface as rows: title, section, parameters and kind of answer, for whoever describes them.

Handlers are declared in `web`, and a test compares the two tables. Examples are in `examples`.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.shape import Shape, choice, number, pattern, text

ENTITY_ID = "entityId"
"""The parameter that names the channel, at every endpoint that needs or takes one."""


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
    REPORTED_PAYMENT = "ReportedPayment"
    CHECKOUT = "Checkout"
    SUBMISSION = "Submission"
    LINK = "PaymentLink"
    LINK_STATUS = "PaymentLinkStatus"
    REGISTRATION = "Registration"
    SCHEDULE = "Schedule"
    SCHEDULES = "Schedules"
    AUTHENTICATION = "Authentication"
    PAYMENTS = "Payments"
    AGGREGATIONS = "Aggregations"
    SELLERS = "Sellers"
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
    shape: Shape
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
    access: Literal["open", "token", "entity"] = "entity"
    """Whether it needs a token, and an `entityId`; beside a token alone, an `entityId` may be sent."""
    also: tuple[Answer, ...] = ()
    """Other kinds of answers."""
    takes_key: bool = False
    """It reads the header `Idempotency-Key`."""
    note: str = ""
    """Says what it does, where the documentation may not read the handler."""
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
        """Returns True if only a test host has it."""
        return self.section is Section.SANDBOX


_REFERENCES = ("merchantTransactionId", "merchantInvoiceId", "merchantMemo")
_MONEY = ("amount", "currency", "paymentType")
_ACCOUNTS = (
    *("paymentBrand", "card", "bankAccount", "virtualAccount", "tokenAccount", "walletA", "walletB", "walletC"),
)
_STORED = ("registrationId", "createRegistration", "overrideHolder")
_SHOPPER = ("customer", "billing", "shipping", "shopperResultUrl", "notificationUrl", "locale")
_SERIES = ("standingInstruction", "recurringType", "recurring", "recurringMigration")
_CHECKS = ("threeDSecure", "risk", "testMode", "customParameters")
_DETAILS = (
    *("taxAmount", "discountAmount", "forex", "descriptor", *_REFERENCES, "transactionCategory", "promotionCode"),
    *("transactionPurposeCode", "integrationType", "transactionBai", "transactionTti", "transactionProcessingCode"),
    *("lifecycleId", "transactionDueDate", "numberOfCaptures", "corporate", "sender", "recipient", "merchant"),
    *("cart", "marketPlace", "airline"),
)
_PAYMENT = (*_MONEY, *_ACCOUNTS, *_STORED, *_SHOPPER, *_SERIES, *_CHECKS, *_DETAILS)
_CHECKOUT = (*(word for word in _PAYMENT if word != "registrationId"), "registrations")
_BY_REGISTRATION = (
    *(*_MONEY, "paymentBrand", "card", "bankAccount", "overrideHolder"),
    *(*_SHOPPER, *_SERIES, *_CHECKS, *_DETAILS),
)
_SUBMISSION = (
    *("paymentBrand", "card", "bankAccount", "virtualAccount", "walletA", "walletB", "walletC", "registrationId"),
    *("createRegistration", "customer", "billing", "customParameters", "shopperResultUrl", "shopOrigin"),
)
_FOLLOW_UP = (
    *(
        *_MONEY,
        "sequence",
        "descriptor",
        *_REFERENCES,
        "lifecycleId",
        "referenceUuid",
        "paymentBrand",
        "registrationId",
    ),
    *("standingInstruction", "testMode", "customParameters", "customer", "billing", "shipping", "cart", "taxAmount"),
    *("transactionCategory", "notificationUrl", "marketPlace"),
)
_REGISTRATION = ("customer", "billing", "shipping", "notificationUrl", "testMode", "customParameters", *_REFERENCES)
_SCHEDULE = (
    *(*_MONEY, "registrationId", "job", "customer", "billing", "shipping", "notificationUrl", "locale"),
    *(*_SERIES, "risk", "testMode", "customParameters"),
    *(word for word in _DETAILS if word != "transactionDueDate"),
)
_LINK = (
    *("validUntil", "validUntilUnit", "termsAndConditionsUrl", "privacyPolicyUrl", "collectBilling"),
    *("mandatoryBilling", "createQRCode", "layout"),
)
_FILTERS = ("merchantTransactionId", "lifecycleId", "shortId", "date", "paymentTypes", "paymentMethods")
_PAGES = ("limit", "pageNo", "cursor", "includeLinkedTransactions")

_URL = OwnParameter(
    "url", "The https address that receives events; another one deactivates the endpoint", text(1, 2048)
)
_LIST = text(0, 4096)
_TERMS = (
    OwnParameter("types", "Types or names of events, separated by commas; all without it", _LIST),
    OwnParameter("paymentTypes", "Payment types whose events it gets, separated by commas", _LIST),
    OwnParameter("resultGroups", "Groups of result codes whose events it gets, separated by commas", _LIST),
    OwnParameter("fields", "Whether customer data is sent; ALL by default", choice("ALL", "NON_CUSTOMER_DATA")),
    OwnParameter("scheme", "How a body is protected; encrypted by default", choice("encrypted", "signed", "both")),
    OwnParameter("wrapper", "The form of an encrypted body; raw by default", choice("raw", "json")),
    OwnParameter("ordered", "Whether events of one object wait for each other", choice("true", "false")),
    OwnParameter(
        "retries",
        "The seconds before each retry, separated by commas; the last is repeated",
        pattern("([0-9]{1,7}(,[0-9]{1,7})*)?", 0, 512),
    ),
)
_SECRET = OwnParameter(
    "secret", "Your own secret of 64 hex digits; a random one by default", pattern("[0-9A-Fa-f]{64}", 64, 64)
)

_ROWS = (
    # ---- payments ----
    Endpoint(
        method="POST",
        path="/v1/payments",
        title="Create a payment",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
        takes=(*_PAYMENT, "referenceUuid", "sequence"),
        needs=("paymentType",),
        takes_key=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/payments/{id}",
        title="Capture, refund, reverse or rebill",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
        takes=_FOLLOW_UP,
        needs=("paymentType",),
        takes_key=True,
    ),
    Endpoint(
        method="GET",
        path="/v1/payments/{id}",
        title="Read a payment",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
        access="token",
        also=(Answer.REGISTRATION,),
    ),
    Endpoint(
        method="POST",
        path="/v1/payments/{id}/review",
        title="Decide about a payment under review",
        section=Section.PAYMENTS,
        answer=Answer.PAYMENT,
        own=(
            OwnParameter(
                "decision",
                "ACCEPT makes the payment a success; REJECT reverses it, or refunds it where that is too late",
                choice("ACCEPT", "REJECT"),
                is_required=True,
            ),
        ),
    ),
    # ---- checkouts ----
    Endpoint(
        method="POST",
        path="/v1/checkouts",
        title="Prepare a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT,
        takes=(*_CHECKOUT, "integrity", "overridePaymentType"),
        takes_key=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/checkouts/{id}",
        title="Change a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.CHECKOUT,
        takes=_CHECKOUT,
        takes_key=True,
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
        answer=Answer.PAYMENT,
        also=(Answer.CHECKOUT,),
    ),
    Endpoint(
        method="GET",
        path="/v1/checkouts/{id}/registration",
        title="Read the registration of a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.REGISTRATION,
        also=(Answer.CHECKOUT,),
    ),
    Endpoint(
        method="POST",
        path="/v1/checkouts/{id}/payment",
        title="Pay a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.SUBMISSION,
        takes=_SUBMISSION,
        is_for_shoppers=True,
        access="open",
    ),
    Endpoint(
        method="POST",
        path="/v1/checkouts/{id}/registration",
        title="Register an account by a checkout",
        section=Section.CHECKOUTS,
        answer=Answer.SUBMISSION,
        takes=_SUBMISSION,
        is_for_shoppers=True,
        access="open",
    ),
    # ---- payment links ----
    Endpoint(
        method="POST",
        path="/paybylink/v1",
        title="Create a payment link",
        section=Section.LINKS,
        answer=Answer.LINK,
        takes=(*_CHECKOUT, *_LINK, "integrity", "overridePaymentType"),
        needs=("amount", "currency", "paymentType"),
        takes_key=True,
    ),
    Endpoint(
        method="GET",
        path="/paybylink/v1/{id}",
        title="Read a payment link",
        section=Section.LINKS,
        answer=Answer.LINK_STATUS,
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
        takes=(*_ACCOUNTS, *_REGISTRATION, "recurringMigration", "currency", "paymentType"),
        takes_key=True,
    ),
    Endpoint(
        method="GET",
        path="/v1/registrations/{id}",
        title="Read a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
        access="token",
    ),
    Endpoint(
        method="GET",
        path="/v1/secureRegistrations/{id}",
        title="Read the account of a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
        access="token",
    ),
    Endpoint(
        method="POST",
        path="/v1/registrations/{id}",
        title="Change a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
        takes=("paymentType", "paymentBrand", "card", "bankAccount", "tokenAccount", *_REGISTRATION),
        takes_key=True,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/registrations/{id}",
        title="Delete a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.RESULT,
        takes=("paymentType", "testMode"),
        takes_key=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/registrations/{id}/extendlife",
        title="Extend the life of a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.REGISTRATION,
        takes=("paymentType", "testMode"),
        takes_key=True,
    ),
    Endpoint(
        method="POST",
        path="/v1/registrations/{id}/payments",
        title="Pay with a registration",
        section=Section.REGISTRATIONS,
        answer=Answer.PAYMENT,
        takes=_BY_REGISTRATION,
        needs=("amount", "currency", "paymentType"),
        takes_key=True,
    ),
    # ---- schedules ----
    Endpoint(
        method="POST",
        path="/scheduling/v1/schedules",
        title="Create a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=_SCHEDULE,
        needs=("registrationId", "amount", "currency"),
        also_at=("/v1/schedules",),
        takes_key=True,
    ),
    Endpoint(
        method="GET",
        path="/scheduling/v1/schedules/{id}",
        title="Read a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        access="token",
        also=(Answer.SCHEDULES,),
    ),
    Endpoint(
        method="POST",
        path="/scheduling/v1/schedules/{id}/reschedule",
        title="Replace a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=_SCHEDULE,
        takes_key=True,
    ),
    Endpoint(
        method="POST",
        path="/scheduling/v1/schedules/{id}/deschedule",
        title="Cancel a schedule",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=("paymentType",),
        takes_key=True,
    ),
    Endpoint(
        method="DELETE",
        path="/v1/schedules/{id}",
        title="Cancel a schedule by its id",
        section=Section.SCHEDULES,
        answer=Answer.SCHEDULE,
        takes=("paymentType",),
        takes_key=True,
    ),
    # ---- 3-D Secure ----
    Endpoint(
        method="POST",
        path="/v1/threeDSecure",
        title="Authenticate a shopper",
        section=Section.AUTHENTICATION,
        answer=Answer.AUTHENTICATION,
        takes=(*_MONEY, *_ACCOUNTS, *_STORED, *_SHOPPER, *_SERIES, *_CHECKS, *_DETAILS),
        needs=("amount", "currency"),
        takes_key=True,
    ),
    Endpoint(
        method="GET",
        path="/v1/threeDSecure/{id}",
        title="Read an authentication",
        section=Section.AUTHENTICATION,
        answer=Answer.AUTHENTICATION,
        access="token",
    ),
    # ---- reports ----
    Endpoint(
        method="GET",
        path="/v1/query/{id}",
        title="Report on one payment",
        section=Section.REPORTS,
        answer=Answer.PAYMENT,
        takes=("includeLinkedTransactions",),
    ),
    Endpoint(
        method="GET",
        path="/v3/query/{id}",
        title="Report on one payment as a list",
        section=Section.REPORTS,
        answer=Answer.PAYMENTS,
        takes=(*_FILTERS, "includeLinkedTransactions"),
    ),
    Endpoint(
        method="GET",
        path="/v1/query",
        title="Find payments by reference",
        section=Section.REPORTS,
        answer=Answer.PAYMENTS,
        takes=(*_FILTERS, *_PAGES),
    ),
    Endpoint(
        method="GET",
        path="/v3/query",
        title="Find payments by reference or date",
        section=Section.REPORTS,
        answer=Answer.PAYMENTS,
        takes=(*_FILTERS, *_PAGES),
    ),
    Endpoint(
        method="GET",
        path="/reports/v1/reconciliations/aggregations",
        title="Sum up settled payments",
        section=Section.REPORTS,
        answer=Answer.AGGREGATIONS,
        takes=("date", "currency", "testMode"),
        needs=("date.from", "date.to"),
    ),
    Endpoint(
        method="GET",
        path="/reports/v1/reconciliations/aggregations/{id}",
        title="List the payments of a sum",
        section=Section.REPORTS,
        answer=Answer.RECONCILIATIONS,
        takes=("testMode", "reconciliationType", "sortValue", "sortOrder"),
    ),
    Endpoint(
        method="GET",
        path="/reports/v2/reconciliations/aggregations/{id}",
        title="List the payments of a sum in pages",
        section=Section.REPORTS,
        answer=Answer.RECONCILIATIONS,
        takes=("testMode", "reconciliationType", "sortValue", "sortOrder", "pageNo", "cursor"),
    ),
    Endpoint(
        method="GET",
        path="/reports/v1/sellers",
        title="Sum up sellers of a marketplace",
        section=Section.REPORTS,
        answer=Answer.SELLERS,
        takes=("date", "currency", "testMode", "limit", "pageNo", "cursor"),
        needs=("date.from", "date.to"),
    ),
    # ---- webhooks ----
    Endpoint(
        method="POST",
        path="/v1/webhooks",
        title="Add a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        own=(msgspec.structs.replace(_URL, is_required=True), *_TERMS, _SECRET),
        access="token",
    ),
    Endpoint(
        method="GET",
        path="/v1/webhooks",
        title="List webhooks",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOKS,
        access="token",
    ),
    Endpoint(
        method="GET",
        path="/v1/webhooks/{id}",
        title="Read a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        access="token",
    ),
    Endpoint(
        method="POST",
        path="/v1/webhooks/{id}",
        title="Change a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        own=(_URL, *_TERMS),
        access="token",
    ),
    Endpoint(
        method="DELETE",
        path="/v1/webhooks/{id}",
        title="Remove a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.RESULT,
        access="token",
    ),
    Endpoint(
        method="POST",
        path="/v1/webhooks/{id}/test",
        title="Test a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        access="token",
    ),
    Endpoint(
        method="POST",
        path="/v1/webhooks/{id}/rotate",
        title="Rotate the secrets of a webhook",
        section=Section.WEBHOOKS,
        answer=Answer.WEBHOOK,
        own=(
            OwnParameter(
                "overlap",
                "Hours for which the present secrets stay live; 24 by default",
                number(0, LIMITS.webhook_overlap_hours_max),
            ),
            _SECRET,
        ),
        access="token",
    ),
    # ---- the host ----
    Endpoint(
        method="GET",
        path="/v1/resultcodes",
        title="List result codes",
        section=Section.HOST,
        answer=Answer.RESULT_CODES,
        access="open",
    ),
    Endpoint(
        method="GET",
        path="/healthz",
        title="Check that the process is alive",
        section=Section.HOST,
        answer=Answer.STATUS,
        access="open",
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        title="Check that the host takes payments",
        section=Section.HOST,
        answer=Answer.STATUS,
        access="open",
    ),
    # ---- test hosts only ----
    Endpoint(
        method="GET",
        path="/sandbox/clock",
        title="Read the test clock",
        section=Section.SANDBOX,
        answer=Answer.CLOCK,
        access="open",
        note="Returns the time of this test host.",
    ),
    Endpoint(
        method="POST",
        path="/sandbox/clock",
        title="Move the test clock forward",
        section=Section.SANDBOX,
        answer=Answer.CLOCK,
        own=(
            OwnParameter(
                "advance", "Seconds by which the clock is moved", number(0, 100 * 366 * 24 * 3600), is_required=True
            ),
        ),
        access="token",
        note="Moves the time of this test host forward, so that what is due later happens now.",
    ),
    Endpoint(
        method="POST",
        path="/sandbox/payments/{id}",
        title="Charge a payment back",
        section=Section.SANDBOX,
        answer=Answer.PAYMENT,
        takes=_FOLLOW_UP,
        needs=("paymentType",),
        own=(
            OwnParameter(
                "resultCode",
                "The reason of a chargeback: a code of that group",
                pattern(r"000\.100\.2[0-9]{2}", 11, 11),
            ),
        ),
        note="Records a receipt (RC), a chargeback (CB) or its reversal (CR) of a payment, as a bank would report it.",
    ),
    Endpoint(
        method="GET",
        path="/sandbox/registrations/{id}/networkToken",
        title="Read a network token",
        section=Section.SANDBOX,
        answer=Answer.NETWORK_TOKEN,
        access="token",
        note="Shows the state of a registration's network token.",
    ),
    Endpoint(
        method="POST",
        path="/sandbox/registrations/{id}/networkToken",
        title="Make an event of a network token",
        section=Section.SANDBOX,
        answer=Answer.NETWORK_TOKEN,
        own=(
            OwnParameter(
                "event",
                "What happens to the token",
                choice("SUSPENDED", "RESUMED", "DELETED", "CARD_UPDATED"),
                is_required=True,
            ),
            OwnParameter(
                "eventId", "The id of the event; a repeated one happens once", pattern("[A-Za-z0-9._-]{1,64}", 1, 64)
            ),
        ),
        access="token",
        note="Makes an event happen to the network token of a registration, as a card network would report it.",
    ),
)

ENDPOINTS: Mapping[str, Endpoint] = MappingProxyType({row.key: row for row in _ROWS})


def list_endpoints(*, is_live: bool) -> list[Endpoint]:
    """Lists the endpoints of a host; a live one has no sandbox."""
    return [row for row in _ROWS if not (is_live and row.is_for_tests)]


UNDESCRIBED = frozenset(
    {
        "GET /v1/checkouts/{id}/form",
        "POST /v1/checkouts/{id}/abandoned",
        "GET /v1/checkouts/{id}/provider",
        "POST /v1/acquirers/{id}/events",
        "POST /v1/networkTokens/events/{token}",
        "POST /v1/threeDSecure/results/{token}",
        "POST /v1/threeDSecure/method/{token}",
        "GET /v1/shopper/{token}",
        "POST /v1/shopper/{token}",
        "GET /v1/static/{hash}/{name}",
        "GET /favicon.ico",
    }
)
"""Paths that only the pages of this gateway, issuers, networks and acquirers use."""
