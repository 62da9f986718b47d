"""Rows of the payment itself: amount, type, references, modes, and where the shopper goes next.
Accounts and people have their own files.
"""

from __future__ import annotations

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters import row
from tollgate.catalog.payment_types import ANNOUNCED_PAYMENT_TYPES, PAYMENT_TYPES, Reconciliation
from tollgate.catalog.shape import Between, choice, currency, date, number, pattern, return_url, text, url

_REGISTRATION_ID = pattern("[a-zA-Z0-9-]{1,48}", 1, 48)

BASIC = row.mount(
    "",
    (
        row.Parameter(
            "amount",
            row.AMOUNT,
            row.REQUIRED,
            row.OPEN,
            note="What is processed; taxes and shipping are already in it",
            use=row.Use.ONE_PAYMENT,
        ),
        row.Parameter("taxAmount", row.AMOUNT, row.CONDITIONAL, row.OPEN, note="Tax contained in the amount"),
        row.Parameter("discountAmount", row.AMOUNT, secrecy=row.OPEN, note="Discount on the whole invoice"),
        row.Parameter(
            "currency", currency(), row.REQUIRED, row.OPEN, note="Currency of the amount", use=row.Use.ONE_PAYMENT
        ),
        row.Parameter(
            "paymentBrand",
            pattern("[a-zA-Z0-9_]{1,32}", 1, 32),
            row.CONDITIONAL,
            row.OPEN,
            note="Payment method; may be left out when a card number tells it",
            use=row.Use.FORM,
        ),
        row.Parameter(
            "paymentType",
            choice(*PAYMENT_TYPES),
            row.REQUIRED,
            row.OPEN,
            note="What is asked for",
            use=row.Use.ONE_PAYMENT,
        ),
        row.Parameter(
            "integrity",
            row.BOOLEAN,
            secrecy=row.OPEN,
            note="Ask for the integrity hash of the payment script",
            use=row.Use.CHECKOUT | row.Use.LINK,
        ),
        row.Parameter(
            "overridePaymentType[brand]",
            choice(*ANNOUNCED_PAYMENT_TYPES),
            secrecy=row.OPEN,
            note="Type for one brand, at the creation of a checkout only",
            use=row.Use.CHECKOUT,
        ),
        row.Parameter("descriptor", text(1, 127), secrecy=row.OPEN, note="Text for the shopper's statement"),
        row.Parameter(
            "merchantTransactionId",
            row.MERCHANT_REFERENCE,
            row.CONDITIONAL,
            row.OPEN,
            note="The merchant's own reference",
            holds_code=True,
            use=row.Use.REGISTRATION,
        ),
        row.Parameter(
            "merchantInvoiceId",
            row.MERCHANT_REFERENCE,
            secrecy=row.OPEN,
            note="Invoice number, not sent onward",
            holds_code=True,
            use=row.Use.REGISTRATION,
        ),
        row.Parameter(
            "merchantMemo", row.MERCHANT_REFERENCE, secrecy=row.OPEN, note="For reports only", use=row.Use.REGISTRATION
        ),
        row.Parameter(
            "transactionCategory",
            pattern("[a-zA-Z0-9]{0,32}", 0, 32),
            secrecy=row.OPEN,
            note="EC, MO, TO, PO, PM or MOTO: how the order was placed",
        ),
        row.Parameter(
            "sequence",
            choice("FINAL"),
            secrecy=row.OPEN,
            note="Marks the last capture, reversal or refund",
            use=row.Use.ONE_PAYMENT,
        ),
        row.Parameter("numberOfCaptures", number(1, 98), secrecy=row.OPEN, note="How many partial captures may come"),
        row.Parameter(
            "promotionCode", pattern("[A-Za-z0-9]{0,15}", 0, 15), secrecy=row.OPEN, note="One code per order"
        ),
        row.Parameter("locale", text(1, 10), secrecy=row.OPEN, note="Language and region"),
        row.Parameter("transactionPurposeCode", text(1, 12), secrecy=row.OPEN, note="Purpose of a money transfer"),
        row.Parameter("integrationType", text(1, 10), secrecy=row.OPEN),
        row.Parameter(
            "transactionBai", text(1, 2), secrecy=row.OPEN, note="Business application id of a direct transfer"
        ),
        row.Parameter(
            "transactionTti", text(1, 3), secrecy=row.OPEN, note="Transaction type identifier of a send service"
        ),
        row.Parameter(
            "transactionProcessingCode",
            choice("PURCHASE", "FUNDING", "PAYMENT"),
            secrecy=row.OPEN,
            note="PURCHASE unless it is said otherwise",
        ),
        row.Parameter(
            "lifecycleId",
            text(1, 35),
            secrecy=row.OPEN,
            note="Ties an authorisation to what follows it",
            holds_code=True,
        ),
        row.Parameter(
            "referenceUuid",
            text(1, 32),
            secrecy=row.OPEN,
            note="Names an earlier payment instead of the path",
            holds_code=True,
            use=row.Use.ONE_PAYMENT,
        ),
        row.Parameter(
            "testMode", choice("EXTERNAL", "INTERNAL"), secrecy=row.OPEN, note="INTERNAL unless it is said otherwise"
        ),
        row.Parameter(
            "transactionDueDate",
            date(),
            row.CONDITIONAL,
            row.OPEN,
            note="When a direct debit falls due",
            use=row.Use.ONE_PAYMENT,
        ),
    ),
)

ACCESS = row.mount(
    "",
    (
        row.Parameter(
            "entityId",
            pattern("[a-f0-9]{32}", 32, 32),
            row.CONDITIONAL,
            row.OPEN,
            note="The channel; also taken as authentication.entityId",
            holds_code=True,
        ),
        row.Parameter(
            "authentication.userId", text(1, 255), secrecy=row.NEVER, note="Lenient channels only, instead of a token"
        ),
        row.Parameter("authentication.password", text(1, 255), secrecy=row.NEVER, note="Lenient channels only"),
    ),
)

ASYNC = row.mount(
    "",
    (
        row.Parameter(
            "shopOrigin",
            pattern(r"https?://[a-zA-Z0-9.\-\[\]:]{1,255}", 8, 263),
            secrecy=row.OPEN,
            note="Origin of the page that shows the payment form; sent by the form itself",
            use=row.Use.FORM_ADDITION,
        ),
        row.Parameter(
            "shopperResultUrl",
            return_url(),
            row.CONDITIONAL,
            note="Where the shopper's browser comes back to",
            use=row.Use.FORM_ADDITION | row.Use.ONE_PAYMENT | row.Use.AUTHENTICATION,
        ),
        row.Parameter(
            "notificationUrl", url(), note="Called with id and resourcePath when a result is known (deprecated)"
        ),
    ),
)

FOREX = row.mount(
    "forex",
    (
        row.Parameter("amount", row.AMOUNT, row.CONDITIONAL, row.OPEN, note="Amount the shopper was shown"),
        row.Parameter("currency", currency(), row.CONDITIONAL, row.OPEN, note="Currency the shopper was shown"),
    ),
)

REGISTRATION = row.mount(
    "",
    (
        row.Parameter(
            "createRegistration",
            row.BOOLEAN,
            secrecy=row.OPEN,
            note="Store the account; the answer names the registration",
            use=row.Use.FORM_ADDITION | row.Use.FORM_QUESTION | row.Use.ONE_PAYMENT,
        ),
        row.Parameter(
            "overrideHolder",
            row.BOOLEAN,
            secrecy=row.OPEN,
            note="Let a sent holder fill an empty stored one, once",
            use=row.Use.ONE_PAYMENT,
        ),
        row.Parameter(
            "registrationId",
            _REGISTRATION_ID,
            row.CONDITIONAL,
            row.OPEN,
            note="Pay with this stored account",
            holds_code=True,
            use=row.Use.FORM | row.Use.ONE_PAYMENT,
        ),
        row.Parameter(
            "registrations[n].id",
            _REGISTRATION_ID,
            secrecy=row.OPEN,
            note="Stored accounts a checkout offers",
            holds_code=True,
            use=row.Use.CHECKOUT,
        ),
    ),
)


def _are_kinds(text: str) -> bool:
    return PAYMENT_TYPES.keys() >= set(text.split(","))


_PAGE_NUMBER = pattern(
    "[0-9]+",
    1,
    len(str(LIMITS.query_pages_max)),
    Between(1, LIMITS.query_pages_max),
    message=f"must be a number from 1 to {LIMITS.query_pages_max}; use cursor to go further",
    notation=f"N{len(str(LIMITS.query_pages_max))}, 1-{LIMITS.query_pages_max}",
)
_KIND_LIST = pattern(
    "[A-Z0-9.]{2,5}(,[A-Z0-9.]{2,5}){0,31}",
    2,
    191,
    _are_kinds,
    message=f"must be a list, joined by commas, of [{', '.join(PAYMENT_TYPES)}]",
)
_METHOD_LIST = pattern("[A-Z]{2}(,[A-Z]{2}){0,15}", 2, 47)
_ORDER = pattern("(?i:asc|desc)", 3, 4, message="must be ASC or DESC", notation="AN4, ASC or DESC in any case")

REPORTING = row.mount(
    "",
    (
        row.Parameter(
            "shortId",
            pattern(r"[0-9]{4}\.[0-9]{4}\.[0-9]{4}", 14, 14),
            secrecy=row.OPEN,
            note="Narrows a list of payments",
            holds_code=True,
        ),
        row.Parameter("limit", number(1, LIMITS.query_page_max), secrecy=row.OPEN, note="How many payments a page has"),
        row.Parameter(
            "pageNo", _PAGE_NUMBER, secrecy=row.OPEN, note="Which page of a list; 1 unless it is said otherwise"
        ),
        row.Parameter(
            "cursor",
            pattern("[A-Za-z0-9_-]{1,255}", 1, 255, message="must be the cursor of an earlier page"),
            secrecy=row.OPEN,
            note="Where an earlier page ended; its filters are sent again, unchanged",
            holds_code=True,
        ),
        row.Parameter(
            "sortValue", choice("SettlementTxDate"), secrecy=row.OPEN, note="What settled transactions are sorted by"
        ),
        row.Parameter("sortOrder", _ORDER, secrecy=row.OPEN, note="ASC, the oldest first, unless it is said otherwise"),
        row.Parameter(
            "includeLinkedTransactions", row.BOOLEAN, secrecy=row.OPEN, note="Show the rest of the chain as well"
        ),
        row.Parameter("paymentTypes", _KIND_LIST, secrecy=row.OPEN, note="Only payments of these types"),
        row.Parameter("paymentMethods", _METHOD_LIST, secrecy=row.OPEN, note="Only payments by these methods"),
        row.Parameter(
            "reconciliationType",
            choice(*Reconciliation),
            secrecy=row.OPEN,
            note="Only settled transactions of this type",
        ),
    ),
)
