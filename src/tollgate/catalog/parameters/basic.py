"""Rows of the payment itself: amount, type, references, modes, and where the shopper goes next.
Accounts and people have their own files.
"""

from __future__ import annotations

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.row import (
    AMOUNT,
    BOOLEAN,
    CONDITIONAL,
    MERCHANT_REFERENCE,
    NEVER,
    OPEN,
    REQUIRED,
    Parameter,
    mount,
)
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.shape import Between, choice, currency, date, number, pattern, return_url, text, url

_REGISTRATION_ID = pattern("[a-zA-Z0-9-]{1,48}", 1, 48)

BASIC = mount(
    "",
    (
        Parameter("amount", AMOUNT, REQUIRED, OPEN, note="What is processed; taxes and shipping are already in it"),
        Parameter("taxAmount", AMOUNT, CONDITIONAL, OPEN, note="Tax contained in the amount"),
        Parameter("discountAmount", AMOUNT, secrecy=OPEN, note="Discount on the whole invoice"),
        Parameter("currency", currency(), REQUIRED, OPEN, note="Currency of the amount"),
        Parameter(
            "paymentBrand",
            pattern("[a-zA-Z0-9_]{1,32}", 1, 32),
            CONDITIONAL,
            OPEN,
            note="Payment method; may be left out when a card number tells it",
        ),
        Parameter("paymentType", choice(*PAYMENT_TYPES), REQUIRED, OPEN, note="What is asked for"),
        Parameter("integrity", BOOLEAN, secrecy=OPEN, note="Ask for the integrity hash of the payment script"),
        Parameter(
            "overridePaymentType[brand]",
            choice("PA", "DB", "CD"),
            secrecy=OPEN,
            note="Type for one brand, at the creation of a checkout only",
        ),
        Parameter("descriptor", text(1, 127), secrecy=OPEN, note="Text for the shopper's statement"),
        Parameter(
            "merchantTransactionId",
            MERCHANT_REFERENCE,
            CONDITIONAL,
            OPEN,
            note="The merchant's own reference",
            holds_code=True,
        ),
        Parameter(
            "merchantInvoiceId",
            MERCHANT_REFERENCE,
            secrecy=OPEN,
            note="Invoice number, not sent onward",
            holds_code=True,
        ),
        Parameter("merchantMemo", MERCHANT_REFERENCE, secrecy=OPEN, note="For reports only"),
        Parameter(
            "transactionCategory",
            pattern("[a-zA-Z0-9]{0,32}", 0, 32),
            secrecy=OPEN,
            note="EC, MO, TO, PO, PM or MOTO: how the order was placed",
        ),
        Parameter("sequence", choice("FINAL"), secrecy=OPEN, note="Marks the last capture, reversal or refund"),
        Parameter("numberOfCaptures", number(1, 98), secrecy=OPEN, note="How many partial captures may come"),
        Parameter("promotionCode", pattern("[A-Za-z0-9]{0,15}", 0, 15), secrecy=OPEN, note="One code per order"),
        Parameter("locale", text(1, 10), secrecy=OPEN, note="Language and region"),
        Parameter("transactionPurposeCode", text(1, 12), secrecy=OPEN, note="Purpose of a money transfer"),
        Parameter("integrationType", text(1, 10), secrecy=OPEN),
        Parameter("transactionBai", text(1, 2), secrecy=OPEN, note="Business application id of a direct transfer"),
        Parameter("transactionTti", text(1, 3), secrecy=OPEN, note="Transaction type identifier of a send service"),
        Parameter(
            "transactionProcessingCode",
            choice("PURCHASE", "FUNDING", "PAYMENT"),
            secrecy=OPEN,
            note="PURCHASE unless it is said otherwise",
        ),
        Parameter(
            "lifecycleId", text(1, 35), secrecy=OPEN, note="Ties an authorisation to what follows it", holds_code=True
        ),
        Parameter(
            "referenceUuid",
            text(1, 32),
            secrecy=OPEN,
            note="Names an earlier payment instead of the path",
            holds_code=True,
        ),
        Parameter(
            "testMode", choice("EXTERNAL", "INTERNAL"), secrecy=OPEN, note="INTERNAL unless it is said otherwise"
        ),
        Parameter("transactionDueDate", date(), CONDITIONAL, OPEN, note="When a direct debit falls due"),
    ),
)

ACCESS = mount(
    "",
    (
        Parameter(
            "entityId",
            pattern("[a-f0-9]{32}", 32, 32),
            CONDITIONAL,
            OPEN,
            note="The channel; also taken as authentication.entityId",
            holds_code=True,
        ),
        Parameter(
            "authentication.userId", text(1, 255), secrecy=NEVER, note="Lenient channels only, instead of a token"
        ),
        Parameter("authentication.password", text(1, 255), secrecy=NEVER, note="Lenient channels only"),
    ),
)

ASYNC = mount(
    "",
    (
        Parameter(
            "shopOrigin",
            pattern(r"https?://[a-zA-Z0-9.\-\[\]:]{1,255}", 8, 263),
            secrecy=OPEN,
            note="Origin of the page that shows the payment form; sent by the form itself",
        ),
        Parameter("shopperResultUrl", return_url(), CONDITIONAL, note="Where the shopper's browser comes back to"),
        Parameter("notificationUrl", url(), note="Called with id and resourcePath when a result is known (deprecated)"),
    ),
)

FOREX = mount(
    "forex",
    (
        Parameter("amount", AMOUNT, CONDITIONAL, OPEN, note="Amount the shopper was shown"),
        Parameter("currency", currency(), CONDITIONAL, OPEN, note="Currency the shopper was shown"),
    ),
)

REGISTRATION = mount(
    "",
    (
        Parameter(
            "createRegistration", BOOLEAN, secrecy=OPEN, note="Store the account; the answer names the registration"
        ),
        Parameter("overrideHolder", BOOLEAN, secrecy=OPEN, note="Let a sent holder fill an empty stored one, once"),
        Parameter(
            "registrationId", _REGISTRATION_ID, CONDITIONAL, OPEN, note="Pay with this stored account", holds_code=True
        ),
        Parameter(
            "registrations[n].id",
            _REGISTRATION_ID,
            secrecy=OPEN,
            note="Stored accounts a checkout offers",
            holds_code=True,
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

REPORTING = mount(
    "",
    (
        Parameter(
            "shortId",
            pattern(r"[0-9]{4}\.[0-9]{4}\.[0-9]{4}", 14, 14),
            secrecy=OPEN,
            note="Narrows a list of payments",
            holds_code=True,
        ),
        Parameter("limit", number(1, LIMITS.query_page_max), secrecy=OPEN, note="How many payments a page has"),
        Parameter("pageNo", _PAGE_NUMBER, secrecy=OPEN, note="Which page of a list; 1 unless it is said otherwise"),
        Parameter(
            "cursor",
            pattern("[A-Za-z0-9_-]{1,255}", 1, 255, message="must be the cursor of an earlier page"),
            secrecy=OPEN,
            note="Where an earlier page ended; its filters are sent again, unchanged",
            holds_code=True,
        ),
        Parameter(
            "sortValue", choice("SettlementTxDate"), secrecy=OPEN, note="What settled transactions are sorted by"
        ),
        Parameter("sortOrder", _ORDER, secrecy=OPEN, note="ASC, the oldest first, unless it is said otherwise"),
        Parameter("includeLinkedTransactions", BOOLEAN, secrecy=OPEN, note="Show the rest of the chain as well"),
        Parameter("paymentTypes", _KIND_LIST, secrecy=OPEN, note="Only payments of these types"),
        Parameter("paymentMethods", _METHOD_LIST, secrecy=OPEN, note="Only payments by these methods"),
        Parameter(
            "reconciliationType",
            choice("SETTLED", "FEE", "CHARGEBACK", "CHARGEBACK REVERSAL"),
            secrecy=OPEN,
            note="Only settled transactions of this type",
        ),
    ),
)
