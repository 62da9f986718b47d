"""Rows of the payment itself: amount, type, references, modes, and where the shopper goes next.
Accounts and people have their own files.
"""

from __future__ import annotations

from tollgate.catalog.kinds import KINDS
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
    several,
)
from tollgate.catalog.shape import choice, currency, date, number, pattern, return_url, text, url

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
        Parameter("paymentType", choice(*KINDS), REQUIRED, OPEN, note="What is asked for"),
        Parameter("integrity", BOOLEAN, secrecy=OPEN, note="Ask for the integrity hash of the payment script"),
        Parameter(
            "overridePaymentType[brand]",
            choice("PA", "DB", "CD"),
            secrecy=OPEN,
            note="Type for one brand, at the creation of a checkout only",
        ),
        Parameter("descriptor", text(1, 127), secrecy=OPEN, note="Text for the shopper's statement"),
        Parameter("merchantTransactionId", MERCHANT_REFERENCE, CONDITIONAL, OPEN, note="The merchant's own reference"),
        Parameter("merchantInvoiceId", MERCHANT_REFERENCE, secrecy=OPEN, note="Invoice number, not sent onward"),
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
        Parameter("lifecycleId", text(1, 35), secrecy=OPEN, note="Ties an authorisation to what follows it"),
        Parameter("referenceUuid", text(1, 32), secrecy=OPEN, note="Names an earlier payment instead of the path"),
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
        Parameter("registrationId", _REGISTRATION_ID, CONDITIONAL, OPEN, note="Pay with this stored account"),
        Parameter("registrations[n].id", _REGISTRATION_ID, secrecy=OPEN, note="Stored accounts a checkout offers"),
    ),
)

REPORTING = mount(
    "",
    (
        *several("shortId", pattern(r"[0-9]{4}\.[0-9]{4}\.[0-9]{4}", 14, 14), secrecy=OPEN),
        *several("limit", number(1, LIMITS.query_page_max), secrecy=OPEN),
        *several("pageNo", number(1, 999999), secrecy=OPEN),
        *several("sortValue", pattern("[a-zA-Z0-9_.]{1,64}", 1, 64), secrecy=OPEN),
        *several("sortOrder", choice("ASC", "DESC", "asc", "desc"), secrecy=OPEN),
        *several("includeLinkedTransactions", BOOLEAN, secrecy=OPEN),
        *several("paymentTypes", pattern("[A-Z0-9.]{2,5}(,[A-Z0-9.]{2,5}){0,31}", 2, 191), secrecy=OPEN),
        *several("paymentMethods", pattern("[A-Z]{2}(,[A-Z]{2}){0,15}", 2, 47), secrecy=OPEN),
        *several("reconciliationType", choice("SETTLED", "FEE", "CHARGEBACK", "CHARGEBACK REVERSAL"), secrecy=OPEN),
    ),
)
