"""Rows of the payment itself: amount, type, references, modes, and where the shopper goes next.
Accounts and people have their own files.
"""

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.row import (
    AMOUNT,
    CONDITIONAL,
    MERCHANT_REFERENCE,
    NEVER,
    REQUIRED,
    Parameter,
    Use,
    mount,
    plain,
    sent,
)
from tollgate.catalog.payment_types import ANNOUNCED_PAYMENT_TYPES, PAYMENT_TYPES, Reconciliation
from tollgate.catalog.shape import BOOLEAN, CURRENCY, DATE, RETURN_URL, URL, Between, choice, number, pattern, text

_REGISTRATION_ID = pattern("[a-zA-Z0-9-]{1,48}", 1, 48)

BASIC = mount(
    "",
    (
        plain(
            "amount",
            AMOUNT,
            REQUIRED,
            note="What is processed; taxes and shipping are already in it",
            use=Use.ONE_PAYMENT,
        ),
        plain("taxAmount", AMOUNT, CONDITIONAL, note="Tax contained in the amount", to=sent(iso8583="48.05")),
        plain("discountAmount", AMOUNT, note="Discount on the whole invoice", to=sent()),
        plain("currency", CURRENCY, REQUIRED, note="Currency of the amount", use=Use.ONE_PAYMENT),
        plain(
            "paymentBrand",
            pattern("[a-zA-Z0-9_]{1,32}", 1, 32),
            CONDITIONAL,
            note="Payment method; may be left out when a card number shows it",
            use=Use.FORM,
        ),
        plain("paymentType", choice(*PAYMENT_TYPES), REQUIRED, note="What is asked for", use=Use.ONE_PAYMENT),
        plain(
            "integrity", BOOLEAN, note="Ask for the integrity hash of the payment script", use=Use.CHECKOUT | Use.LINK
        ),
        plain(
            "overridePaymentType[brand]",
            choice(*ANNOUNCED_PAYMENT_TYPES),
            note="Type for one brand, at the creation of a checkout only",
            use=Use.CHECKOUT,
        ),
        plain("descriptor", text(1, 127), note="Text for the shopper's statement", to=sent("", stripe="description")),
        plain(
            "merchantTransactionId",
            MERCHANT_REFERENCE,
            CONDITIONAL,
            note="The merchant's own reference",
            holds_code=True,
            use=Use.REGISTRATION,
            to=sent(iso8583="48.01", stripe="metadata[merchantTransactionId]"),
        ),
        plain(
            "merchantInvoiceId",
            MERCHANT_REFERENCE,
            note="Invoice number, for reports only",
            holds_code=True,
            use=Use.REGISTRATION,
        ),
        plain("merchantMemo", MERCHANT_REFERENCE, note="For reports only", use=Use.REGISTRATION),
        plain(
            "transactionCategory",
            pattern("[a-zA-Z0-9]{0,32}", 0, 32),
            note="EC, MO, TO, PO, PM or MOTO: how the order was placed",
            use=Use.CHAIN,
            to=sent(iso8583="48.04", stripe="payment_method_options[card][moto]"),
        ),
        plain("sequence", choice("FINAL"), note="Marks the last capture, reversal or refund", use=Use.ONE_PAYMENT),
        plain("numberOfCaptures", number(1, 98), note="How many partial captures may come", to=sent()),
        plain("promotionCode", pattern("[A-Za-z0-9]{0,15}", 0, 15), note="One code per order", to=sent()),
        plain("locale", text(1, 10), note="Language and region", to=sent()),
        plain("transactionPurposeCode", text(1, 12), note="Purpose of a money transfer", to=sent("purpose_code")),
        plain("integrationType", text(1, 10), note="How the shop is connected; answered and reported"),
        plain(
            "transactionBai",
            text(1, 2),
            note="Business application id of a direct transfer",
            to=sent("business_application_id"),
        ),
        plain(
            "transactionTti",
            text(1, 3),
            note="Transaction type identifier of a send service",
            to=sent("transaction_type_id"),
        ),
        plain(
            "transactionProcessingCode",
            choice("PURCHASE", "FUNDING", "PAYMENT"),
            note="PURCHASE by default",
        ),
        plain(
            "lifecycleId",
            text(1, 35),
            note="Ties an authorisation to what follows it",
            holds_code=True,
            use=Use.CHAIN,
            to=sent(iso8583="48.02", stripe="metadata[lifecycleId]"),
        ),
        plain(
            "referenceUuid",
            text(1, 32),
            note="Names an earlier payment instead of the path",
            holds_code=True,
            use=Use.ONE_PAYMENT,
        ),
        plain("testMode", choice("EXTERNAL", "INTERNAL"), note="INTERNAL by default"),
        plain("transactionDueDate", DATE, CONDITIONAL, note="When a direct debit falls due", use=Use.ONE_PAYMENT),
    ),
)

ACCESS = mount(
    "",
    (
        plain(
            "entityId",
            pattern("[a-f0-9]{32}", 32, 32),
            CONDITIONAL,
            note="The channel, or a merchant with dispatch rows; also taken as authentication.entityId",
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
        plain(
            "shopOrigin",
            pattern(r"https?://[a-zA-Z0-9.\-\[\]:]{1,255}", 8, 263),
            note="Origin of the page that shows the payment form; sent by the form itself",
            use=Use.FORM_ADDITION,
        ),
        Parameter(
            "shopperResultUrl",
            RETURN_URL,
            CONDITIONAL,
            note="Where the shopper's browser comes back to",
            use=Use.FORM_ADDITION | Use.ONE_PAYMENT | Use.AUTHENTICATION,
        ),
        Parameter(
            "notificationUrl",
            URL,
            note="Called with id and resourcePath when a result is known (deprecated)",
            use=Use.REGISTRATION,
        ),
    ),
)

FOREX = mount(
    "forex",
    (
        plain("amount", AMOUNT, CONDITIONAL, note="Amount the shopper was shown", to=sent("forex")),
        plain("currency", CURRENCY, CONDITIONAL, note="Currency the shopper was shown"),
    ),
)

REGISTRATION = mount(
    "",
    (
        plain(
            "createRegistration",
            BOOLEAN,
            note="Store the account; the answer names the registration",
            use=Use.FORM_ADDITION | Use.FORM_QUESTION | Use.ONE_PAYMENT,
        ),
        plain("overrideHolder", BOOLEAN, note="Let a sent holder fill an empty stored one, once", use=Use.ONE_PAYMENT),
        plain(
            "registrationId",
            _REGISTRATION_ID,
            CONDITIONAL,
            note="Pay with this stored account",
            holds_code=True,
            use=Use.FORM | Use.ONE_PAYMENT,
        ),
        plain(
            "registrations[n].id",
            _REGISTRATION_ID,
            note="Stored accounts a checkout offers",
            holds_code=True,
            use=Use.CHECKOUT,
        ),
    ),
)


_PAGE_NUMBER = pattern(
    "[0-9]+",
    1,
    len(str(LIMITS.query_pages_max)),
    Between(1, LIMITS.query_pages_max),
    message=f"must be a number from 1 to {LIMITS.query_pages_max}; use cursor to go further",
    notation=f"N{len(str(LIMITS.query_pages_max))}, 1-{LIMITS.query_pages_max}",
)
_TYPE_LIST = pattern(
    "[A-Z0-9.]{2,5}(,[A-Z0-9.]{2,5}){0,31}",
    2,
    191,
    lambda text: PAYMENT_TYPES.keys() >= set(text.split(",")),
    message=f"must be a list, joined by commas, of [{', '.join(PAYMENT_TYPES)}]",
)
_METHOD_LIST = pattern("[A-Z]{2}(,[A-Z]{2}){0,15}", 2, 47)
_ORDER = pattern("(?i:asc|desc)", 3, 4, message="must be ASC or DESC", notation="AN4, ASC or DESC in any case")

REPORTING = mount(
    "",
    (
        plain(
            "shortId",
            pattern(r"[0-9]{4}\.[0-9]{4}\.[0-9]{4}", 14, 14),
            note="Narrows a list of payments",
            holds_code=True,
        ),
        plain("limit", number(1, LIMITS.query_page_max), note="How many payments a page has"),
        plain("pageNo", _PAGE_NUMBER, note="Which page of a list; 1 by default"),
        plain(
            "cursor",
            pattern("[A-Za-z0-9_-]{1,255}", 1, 255, message="must be the cursor of an earlier page"),
            note="Where an earlier page ended; its filters are sent again, unchanged",
            holds_code=True,
        ),
        plain("sortValue", choice("SettlementTxDate"), note="What settled transactions are sorted by, always"),
        plain("sortOrder", _ORDER, note="ASC, the oldest first, by default"),
        plain("includeLinkedTransactions", BOOLEAN, note="Show the rest of the chain as well"),
        plain("paymentTypes", _TYPE_LIST, note="Only payments of these types"),
        plain("paymentMethods", _METHOD_LIST, note="Only payments by these methods"),
        plain("reconciliationType", choice(*Reconciliation), note="Only settled transactions of this type"),
    ),
)
