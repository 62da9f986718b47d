"""The members of every kind of answer as rows: name, type, meaning, and whether they are always there.

Answers are rendered in `contract`; a test compares both. Groups that repeat what was sent come from the parameters.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from tollgate.catalog.card_checks import AVS_LETTERS, CVV_LETTERS
from tollgate.catalog.endpoints import Answer
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import Secrecy
from tollgate.catalog.payment_types import PAYMENT_TYPES, Reconciliation
from tollgate.catalog.wallets import Wallet


class Kind(StrEnum):
    """The types of JSON."""

    TEXT = "string"
    WHOLE = "integer"
    BOOLEAN = "boolean"
    OBJECT = "object"
    LIST = "array"


TEXT, WHOLE, BOOLEAN, OBJECT, LIST = Kind


class Member(msgspec.Struct, frozen=True):
    name: str
    kind: Kind
    note: str = ""
    is_always: bool = True
    """Every answer of the kind has it; others have it sometimes."""
    members: tuple["Member", ...] = ()
    """The members of an object, or of each object in a list. An object without any has names of its own."""
    choices: tuple[str, ...] = ()
    entries: Kind = Kind.TEXT
    """The type of the entries of a list, where they are no objects."""
    like: Answer | None = None
    """The kind of answer that has the members of each object in a list."""
    may_be_null: bool = False


_ALWAYS, _SOMETIMES = True, False

# ---- what every answer has ----

RESULT_MEMBERS = (
    Member("code", TEXT, "The result code, such as 000.100.110"),
    Member("description", TEXT, "The result in words, for people"),
)
RESULT = Member("result", OBJECT, "What came of the request", _ALWAYS, RESULT_MEMBERS)
_ENVELOPE = (
    Member("buildNumber", TEXT, "The version of the gateway"),
    Member("timestamp", TEXT, "When it happened, such as 2026-03-01 12:30:59+0000"),
    Member("ndc", TEXT, "The trace id, by which the operator of the host finds the request"),
)

PARAMETER_ERRORS = Member(
    "parameterErrors",
    LIST,
    "Every parameter that is wrong, in a stable order",
    _SOMETIMES,
    (
        Member("name", TEXT, "The parameter as it was sent"),
        Member("value", TEXT, "Its value; `***` where that is secret", may_be_null=True),
        Member("message", TEXT, "What would be accepted"),
    ),
)
ERROR = (
    Member("result", OBJECT, "Why the request was refused", _ALWAYS, (*RESULT_MEMBERS, PARAMETER_ERRORS)),
    *_ENVELOPE,
    Member("id", TEXT, "Of too many requests: the id that was asked for", _SOMETIMES),
)
"""The members of an answer that refuses a request."""

# ---- groups that repeat what was sent ----

_SHOWN = frozenset({Secrecy.OPEN, Secrecy.MASK})
_MASKED = frozenset({"bankAccount.iban", "bankAccount.number", "tokenAccount.number"})
"""Sealed parameters of which an answer shows the ends."""


def make_echo(group: str, note: str, *more: Member) -> Member:
    """Makes the object that repeats a group of parameters; more: members that are added to what was sent."""
    names = [
        name.removeprefix(f"{group}.")
        for name, row in PARAMETERS.items()
        if name.startswith(f"{group}.") and (row.secrecy in _SHOWN or name in _MASKED)
    ]
    return Member(group, OBJECT, note, _SOMETIMES, (*_nest(group, names), *more))


def _nest(prefix: str, names: Iterable[str]) -> tuple[Member, ...]:
    """Turns `items[n].name` into the list `items` of objects with a `name`, and `mandate.id` into an object."""
    by_word: dict[str, list[str]] = {}
    for name in names:
        word, _, rest = name.partition(".")
        by_word.setdefault(word, []).append(rest)
    return tuple(_make_nested(prefix, word, rests) for word, rests in by_word.items())


def _make_nested(prefix: str, word: str, rests: list[str]) -> Member:
    name, bracket, _ = word.partition("[")
    inner = _nest(f"{prefix}.{word}", [rest for rest in rests if rest])
    if bracket:
        return Member(name, LIST if inner else OBJECT, "", _SOMETIMES, inner)
    if inner:
        return Member(name, OBJECT, "", _SOMETIMES, inner)
    return Member(name, TEXT, PARAMETERS[f"{prefix}.{word}"].note, _SOMETIMES)


def _repeat(*names: str) -> tuple[Member, ...]:
    return tuple(Member(name, TEXT, PARAMETERS[name].note, _SOMETIMES) for name in names)


_FIELDS = (Member("name", TEXT, "The name of a field"), Member("value", TEXT, "Its value"))
_PARAMETERS = Member("parameters", LIST, "The fields to send along; may be empty", _ALWAYS, _FIELDS)
_REDIRECT = Member(
    "redirect",
    OBJECT,
    "Where the shopper's browser goes next",
    _SOMETIMES,
    (
        Member("url", TEXT, "The address", _SOMETIMES),
        Member("method", TEXT, "How it is requested", _SOMETIMES, choices=("GET", "POST")),
        _PARAMETERS,
        Member(
            "preconditions",
            LIST,
            "What a browser may do first, in a hidden frame",
            _SOMETIMES,
            (
                Member("origin", TEXT, "The frame"),
                Member("waitUntil", TEXT, "When the browser may go on"),
                Member("description", TEXT),
                Member("method", TEXT),
                Member("url", TEXT),
                _PARAMETERS,
            ),
        ),
    ),
)
_CARD = Member(
    "card",
    OBJECT,
    "What may be shown of the card",
    _SOMETIMES,
    (
        Member("bin", TEXT, "The first digits"),
        Member("last4Digits", TEXT, "The last four digits"),
        Member("holder", TEXT, "Name on the card", _SOMETIMES),
        Member("expiryMonth", TEXT),
        Member("expiryYear", TEXT),
    ),
)
_PROVED = (
    Member("cardHolderInfo", TEXT, "What the issuer says to the shopper", _SOMETIMES),
    Member("errorCode", TEXT, "The error of the protocol", _SOMETIMES),
    Member("errorDescription", TEXT, "The error in words", _SOMETIMES),
)
_CHECKED = (
    Member("avsResponse", TEXT, "The issuer's check of the address", _SOMETIMES, choices=tuple(AVS_LETTERS)),
    Member("cvvResponse", TEXT, "The issuer's check of the security code", _SOMETIMES, choices=tuple(CVV_LETTERS)),
)
_ENDING = (
    *_repeat("merchantTransactionId", "merchantInvoiceId", "merchantMemo"),
    Member("result", OBJECT, "What came of the request", _ALWAYS, (*RESULT_MEMBERS, *_CHECKED)),
    Member("resultDetails", OBJECT, "What the acquirer answered, by its own names", _SOMETIMES),
    _CARD,
    *_repeat("taxAmount", "transactionCategory", "recurringType", "lifecycleId", "integrationType"),
    make_echo("customer", "The shopper, as sent"),
    make_echo("billing", "The billing address, as sent"),
    make_echo("shipping", "The shipping address, as sent"),
    make_echo("cart", "What is bought, as sent"),
    make_echo("marketPlace", "The sellers and their shares, as sent or as they follow from the payment named"),
    make_echo("bankAccount", "The bank account; of its number only the ends"),
    make_echo("virtualAccount", "The account at a provider"),
    make_echo("tokenAccount", "The token; of its number only the ends"),
    *(make_echo(wallet.value, "What was sent about the wallet, without its token") for wallet in Wallet),
    make_echo("threeDSecure", "The authentication: what was sent, and what the issuer answered", *_PROVED),
    make_echo("standingInstruction", "The series that the payment belongs to"),
    Member("customParameters", OBJECT, "The merchant's own data, as sent", _SOMETIMES),
    _REDIRECT,
)
_RISK = msgspec.structs.replace(
    make_echo("risk", "What was sent for the risk check, and its outcome", Member("score", TEXT)), is_always=True
)
_MONEY = (
    Member("amount", TEXT, "The amount, such as 92.00"),
    Member("currency", TEXT, "Its currency"),
)
_BRAND = Member("paymentBrand", TEXT, "The payment method", _SOMETIMES)
_REFERENCED = Member("referencedId", TEXT, "The payment that this one follows", _SOMETIMES)
_PAYMENT_TYPE = Member("paymentType", TEXT, "What was asked for", choices=tuple(PAYMENT_TYPES))

# ---- objects ----

_PAYMENT = (
    Member("id", TEXT, "The id of the payment"),
    Member("registrationId", TEXT, "The stored account that was used or created", _SOMETIMES),
    Member("registration", OBJECT, "The same id, for older clients", _SOMETIMES, (Member("id", TEXT),)),
    _REFERENCED,
    _PAYMENT_TYPE,
    _BRAND,
    *_MONEY,
    Member("descriptor", TEXT, "The text of the shopper's statement"),
    *_ENDING,
    _RISK,
)
_CHAIN = Member("payments", LIST, "The whole chain, if it was asked for", _SOMETIMES, like=Answer.REPORTED_PAYMENT)
_REPORTED = (
    *_PAYMENT,
    Member("paymentMethod", TEXT, "The kind of method, such as CC for cards"),
    Member("shortId", TEXT, "The short id, such as 1234.5678.9012"),
    Member("timestamp", TEXT, "When the payment was made"),
    Member("ndc", TEXT, "The trace id of the payment"),
    Member(
        "linkedTransactions",
        LIST,
        "The rest of the chain, if it was asked for",
        _SOMETIMES,
        like=Answer.REPORTED_PAYMENT,
    ),
)
_REGISTRATION = (Member("id", TEXT, "The id, by which to pay"), _BRAND, *_ENDING, _RISK, *_ENVELOPE)
_JOB = Member(
    "job",
    OBJECT,
    "The plan, as sent",
    _ALWAYS,
    _nest("job", [name.removeprefix("job.") for name in PARAMETERS if name.startswith("job.")]),
)
_SCHEDULE = (
    Member("id", TEXT, "The id of the schedule"),
    Member("registrationId", TEXT, "The stored account that is charged"),
    Member("referencedId", TEXT, "The first schedule of the series", _SOMETIMES),
    _PAYMENT_TYPE,
    *_MONEY,
    Member("descriptor", TEXT, "The text of the shopper's statement", _SOMETIMES),
    *_ENDING,
    _JOB,
    Member(
        "plan",
        OBJECT,
        "How the schedule stands",
        _ALWAYS,
        (
            Member("active", BOOLEAN, "Payments will follow"),
            Member("paymentType", TEXT, "The type of its payments"),
            Member("nextRun", TEXT, "When the next payment is due", _SOMETIMES),
            Member("endedBy", OBJECT, "The result that ended it", _SOMETIMES, RESULT_MEMBERS),
        ),
    ),
)
_RUNS = (
    Member(
        "runs",
        LIST,
        "Its latest payments, if the schedule is read",
        _SOMETIMES,
        (
            Member("due", TEXT, "When the payment was due"),
            Member("state", TEXT, "How the run stands"),
            Member("tries", WHOLE, "How often it was tried"),
            Member("paymentId", TEXT, "The payment", _SOMETIMES),
            Member("result", OBJECT, "What came of it", _SOMETIMES, RESULT_MEMBERS),
        ),
    ),
    Member("runsSkipped", WHOLE, "Payments that fell due while the host was down", _SOMETIMES),
)
_WEBHOOK = (
    Member("id", TEXT, "The id of the endpoint"),
    Member("state", TEXT, "Whether it gets events", choices=("inactive", "active", "paused", "disabled")),
    Member("reason", TEXT, "Why it is not active", _SOMETIMES),
    Member("url", TEXT, "The address that events are sent to"),
    Member("entityId", TEXT, "The only channel whose events it gets", _SOMETIMES),
    Member("types", LIST, "Types or names of events; empty for all"),
    Member("paymentTypes", LIST, "Payment types whose events it gets; empty for all"),
    Member("resultGroups", LIST, "Groups of result codes whose events it gets; empty for all"),
    Member("fields", TEXT, "Whether customer data is sent", choices=("ALL", "NON_CUSTOMER_DATA")),
    Member("scheme", TEXT, "How bodies are protected", choices=("encrypted", "signed", "both")),
    Member("wrapper", TEXT, "The form of an encrypted body", choices=("raw", "json")),
    Member("ordered", BOOLEAN, "Events of one object wait for each other"),
    Member("retries", LIST, "The pauses before each retry in seconds; empty for the usual ones", entries=WHOLE),
    Member("creationDate", TEXT, "When it was added"),
    Member("pendingDeliveries", WHOLE, "Events that were not delivered yet, if it is read", _SOMETIMES),
    Member("oldestPending", TEXT, "The time of the oldest of these", _SOMETIMES, may_be_null=True),
    Member("secret", TEXT, "The key of encrypted bodies; shown once", _SOMETIMES),
    Member("signingSecret", TEXT, "The key of signatures; shown once", _SOMETIMES),
    Member(
        "test",
        OBJECT,
        "What came of the test event",
        _SOMETIMES,
        (
            Member("status", WHOLE, "The status that the receiver answered", may_be_null=True),
            Member("failure", TEXT, "Why the test failed; null if it was answered with 2xx", may_be_null=True),
            Member("latencyMs", WHOLE, "How long it took"),
        ),
    ),
)
_LINK_STATE = (
    Member("paymentLinkId", TEXT, "The id of the link"),
    Member("entityId", TEXT, "The channel"),
    Member("merchantId", TEXT, "The merchant"),
    Member("status", WHOLE, "How the link stands, as a number"),
    Member("creationDate", TEXT),
    Member("validUntil", TEXT),
    Member("checkoutId", TEXT, "The checkout of the shopper who opened it", _SOMETIMES),
    Member("checkoutCreationDate", TEXT, "When it was opened", _SOMETIMES),
    Member("transactionId", TEXT, "The payment", _SOMETIMES),
    RESULT,
)
_SUMS = (
    Member("currency", TEXT),
    Member("count", WHOLE, "The number of transactions"),
    Member("grossAmount", TEXT, "Money taken"),
    Member("refundAmount", TEXT, "Money given back"),
    Member("chargebackAmount", TEXT),
    Member("chargebackReversalAmount", TEXT),
    Member("netAmount", TEXT, "The sum of all of them"),
)
_AGGREGATION = (
    Member("id", TEXT, "The id of the sum: its day and currency, such as 20260301-EUR"),
    Member("date", TEXT, "The day, in UTC"),
    *_SUMS,
)
_SELLER = (Member("id", TEXT, "Your id of the seller"), *_SUMS)
_RECONCILIATION = (
    Member("id", TEXT, "The id of the payment"),
    _REFERENCED,
    Member("merchantTransactionId", TEXT, "Your reference", _SOMETIMES),
    _PAYMENT_TYPE,
    _BRAND,
    Member("amount", TEXT, "What was earned; negative if money was given back"),
    Member("currency", TEXT),
    Member("settlementTxDate", TEXT, "When it was settled"),
    Member("reconciliationType", TEXT, "The type of the transaction", choices=tuple(Reconciliation)),
    Member(
        "matchedTransactions",
        LIST,
        "The payment of this transaction",
        _ALWAYS,
        (Member("status", TEXT), Member("id", TEXT)),
    ),
)
_PAGING = (
    Member("pages", WHOLE, "How many pages there are", _SOMETIMES),
    Member("pageNo", WHOLE, "The page", _SOMETIMES),
    Member("cursor", TEXT, "Where the next page begins; absent on the last", _SOMETIMES),
)
_NETWORK_TOKEN = Member(
    "networkToken",
    OBJECT,
    "The token as the gateway knows it; null without one",
    _ALWAYS,
    (
        Member("state", TEXT, "How the token stands"),
        Member("resultCode", TEXT, "Why it was refused; empty otherwise"),
        Member("last4Digits", TEXT, "The last digits of the token"),
        Member("expiryMonth", TEXT),
        Member("expiryYear", TEXT),
    ),
    may_be_null=True,
)
_ID = Member("id", TEXT, "The id of what was asked for")
_ANSWERED = (RESULT, *_ENVELOPE)

ANSWERS: Mapping[Answer, tuple[Member, ...]] = MappingProxyType(
    {
        Answer.PAYMENT: (*_PAYMENT, *_ENVELOPE, _CHAIN),
        Answer.REPORTED_PAYMENT: _REPORTED,
        Answer.CHECKOUT: (
            *_ANSWERED,
            Member("id", TEXT, "The id of the checkout"),
            Member("integrity", TEXT, "The hash of the script, if it was asked for", _SOMETIMES),
        ),
        Answer.SUBMISSION: (
            *_ANSWERED,
            Member("id", TEXT, "The id of the checkout"),
            Member(
                "next",
                OBJECT,
                "Where the shopper goes next, by GET",
                _ALWAYS,
                (
                    Member("kind", TEXT, "What is there", choices=("result", "challenge", "provider")),
                    Member("url", TEXT, "The address"),
                    Member("isPaid", BOOLEAN, "The checkout is paid"),
                ),
            ),
            Member("attempt", TEXT, "The payment that waits for the shopper", _SOMETIMES),
        ),
        Answer.LINK: (
            *_ANSWERED,
            Member("id", TEXT, "The id of the link"),
            Member("link", TEXT, "The address to send to the shopper", _SOMETIMES),
            Member("qrCode", TEXT, "The address as a picture, if it was asked for", _SOMETIMES),
        ),
        Answer.LINK_STATUS: (
            *_ANSWERED,
            Member("paymentLinks", LIST, "The link, as a list of one", _ALWAYS, _LINK_STATE),
        ),
        Answer.REGISTRATION: (
            *_REGISTRATION,
            Member("keptUntil", TEXT, "The day on which it expires, if its life was extended", _SOMETIMES),
        ),
        Answer.SCHEDULE: (*_SCHEDULE, *_ENVELOPE, *_RUNS),
        Answer.SCHEDULES: (
            Member("registrationId", TEXT, "The stored account"),
            *_ANSWERED,
            Member("schedules", LIST, "Its schedules", _ALWAYS, _SCHEDULE),
        ),
        Answer.AUTHENTICATION: (*_PAYMENT, *_ENVELOPE),
        Answer.PAYMENTS: (
            *_ANSWERED,
            Member("payments", LIST, "The payments, oldest first", _ALWAYS, like=Answer.REPORTED_PAYMENT),
            Member("records", LIST, "The same list, in answers of /v3", _SOMETIMES, like=Answer.REPORTED_PAYMENT),
            *_PAGING,
        ),
        Answer.AGGREGATIONS: (
            *_ANSWERED,
            Member("aggregations", LIST, "A sum for every day and currency", _ALWAYS, _AGGREGATION),
        ),
        Answer.SELLERS: (
            *_ANSWERED,
            Member("sellers", LIST, "The sums of each seller and currency", _ALWAYS, _SELLER),
            *_PAGING,
        ),
        Answer.RECONCILIATIONS: (
            *_ANSWERED,
            Member("reconciliations", LIST, "The transactions of the sum", _ALWAYS, _RECONCILIATION),
            *_PAGING,
        ),
        Answer.WEBHOOK: (*_WEBHOOK, *_ANSWERED),
        Answer.WEBHOOKS: (Member("webhooks", LIST, "The endpoints, oldest first", _ALWAYS, _WEBHOOK), *_ANSWERED),
        Answer.RESULT: (_ID, *_ANSWERED),
        Answer.RESULT_CODES: (
            *_ANSWERED,
            Member("resultCodes", LIST, "Every result code", _ALWAYS, RESULT_MEMBERS),
        ),
        Answer.STATUS: (
            Member("status", TEXT, "How the host is", choices=("alive", "ready", "not ready")),
            Member("reason", TEXT, "Why it is not ready", _SOMETIMES),
        ),
        Answer.CLOCK: (Member("now", TEXT, "The time of the test host, in UTC"),),
        Answer.NETWORK_TOKEN: (
            *_ANSWERED,
            Member("id", TEXT, "The id of the registration"),
            _NETWORK_TOKEN,
            Member("vaultStatus", TEXT, "The status of the token at the simulated vault", may_be_null=True),
        ),
    }
)
"""The members of each kind of answer, in the order of the answer."""

DECLINABLE = frozenset({Answer.PAYMENT, Answer.AUTHENTICATION, Answer.REGISTRATION, Answer.SUBMISSION})
"""Answers that also tell of what was declined, with the status of the result."""

# ---- events ----

_CHANNEL = (
    Member("authentication", OBJECT, "The channel", _SOMETIMES, (Member("entityId", TEXT),)),
    Member("channelName", TEXT, "The name of the channel", _SOMETIMES),
)
PAYLOADS: Mapping[str, tuple[Member, ...]] = MappingProxyType(
    {
        "payment": (
            *ANSWERS[Answer.PAYMENT],
            Member("presentationAmount", TEXT, "The amount again, for older clients"),
            Member("presentationCurrency", TEXT, "The currency again, for older clients"),
            *_CHANNEL,
            Member("source", TEXT, "Where the payment began: OPPUI (the payment form), SCHEDULER or SYSTEM"),
            Member("paymentMethod", TEXT, "The kind of method, such as CC for cards"),
            Member("shortId", TEXT, "The short id, such as 1234.5678.9012"),
        ),
        "registration": (*ANSWERS[Answer.REGISTRATION], *_CHANNEL),
        "schedule": (*ANSWERS[Answer.SCHEDULE], *_CHANNEL, Member("source", TEXT, "Always SCHEDULER")),
        "result": _ANSWERED,
    }
)
"""The members of the payload of an event, by the object that it shows."""
