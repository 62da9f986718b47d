"""Rules of the request as a whole: its required fields and types. Accounts and people have their own tables."""

from collections.abc import Iterable, Mapping
from datetime import date

from tollgate.catalog.brands import find_brand
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import (
    AUTHENTICATION_PAYMENT_TYPES,
    FOLLOW_UP_PAYMENT_TYPES,
    INITIAL_PAYMENT_TYPES,
    PAYMENT_TYPES,
)
from tollgate.catalog.purpose_codes import PURPOSE_CODE_COUNTRIES
from tollgate.catalog.rule import Fields, Rule, Situation, all_or_none, fault_missing, not_after, required
from tollgate.catalog.shape import is_true, may_return_to
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.values import Fault

_MONEY = ("amount", "currency")
_PAYMENT = (*_MONEY, "paymentType")

_PREPARING = frozenset({"create_checkout", "create_payment_link"})
"""A merchant prepares these before a shopper pays."""

_SUMMARIES = frozenset({"reconciliations", "sellers"})
_DATES = ("date.from", "date.to")
_SUBJECTS = ("merchantTransactionId", "lifecycleId")
_DAY = len("yyyy-MM-dd")

_NEEDED_BY_OPERATION: Mapping[str, tuple[str, ...]] = {
    "create_payment": _PAYMENT,
    "pay_registration": _PAYMENT,
    "create_checkout": _PAYMENT,
    "create_payment_link": _PAYMENT,
    "authenticate": _MONEY,
    "follow_up": ("paymentType",),
}

_OVERRIDE = "overridePaymentType["
_NOT_IN_A_CHECKOUT: Mapping[str, str] = {
    "referenceUuid": "a checkout begins a payment and follows none: send it to POST /v1/payments",
    "registrationId": "a checkout offers stored accounts as registrations[n].id",
}

_CHANGING = frozenset(code for code, row in PAYMENT_TYPES.items() if "SD" in row.follows)
"""These types refer to a schedule that has all fields already."""

_LEADING_AWAY = ("shopperResultUrl", "merchant.app.schemeUrl")
"""The shopper is sent to these addresses from the pages of this host."""


def _check_needed(fields: Fields, situation: Situation) -> Iterable[Fault]:
    operation = situation.operation
    only_registers = "paymentType" not in fields and is_true(fields.get("createRegistration"))
    if operation == "create_checkout" and only_registers:
        return ()
    return fault_missing(_NEEDED_BY_OPERATION["follow_up" if _follows(fields, operation) else operation], fields)


def _follows(fields: Fields, operation: str) -> bool:
    """A follow-up names its payment in the path, or in a parameter of an ordinary payment request."""
    return operation == "follow_up" or (operation == "create_payment" and "referenceUuid" in fields)


def _check_follow_up_amount(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if not _follows(fields, situation.operation):
        return ()
    # The type that counts decides, and not one that was sent beside it and is ignored.
    row = PAYMENT_TYPES.get(fields.get("paymentType", ""))
    return fault_missing(_MONEY, fields) if row and row.needs_amount_as_follow_up else ()


def _check_initial_type(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if situation.operation == "create_payment" and "referenceUuid" in fields:
        return ()
    return _check_type(fields, INITIAL_PAYMENT_TYPES)


def _check_follow_up_type(fields: Fields, situation: Situation) -> Iterable[Fault]:
    return _check_type(fields, FOLLOW_UP_PAYMENT_TYPES) if _follows(fields, situation.operation) else ()


def _check_type(fields: Fields, payment_types: tuple[str, ...]) -> Iterable[Fault]:
    payment_type = fields.get("paymentType")
    if payment_type is None or payment_type in payment_types:
        return ()
    return (Fault("paymentType", f"must be one of [{', '.join(payment_types)}]", payment_type),)


def _check_alone(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    faults = list(_check_type(fields, AUTHENTICATION_PAYMENT_TYPES))
    named_id = fields.get("referenceUuid")
    if named_id is not None:
        faults.append(Fault("referenceUuid", "an authentication by itself follows no payment", named_id))
    return faults


def _check_way_back(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return () if "threeDSecure.threeRIInd" in fields else fault_missing(("shopperResultUrl",), fields)


def _check_return_scheme(fields: Fields, situation: Situation) -> Iterable[Fault]:
    """The web is always allowed, and an app only by a scheme that somebody listed: no list of bad ones is complete."""
    for name in _LEADING_AWAY:
        address = fields.get(name)
        if address is None:
            continue
        scheme = address.partition(":")[0]
        if not may_return_to(f"{scheme}://", situation.return_schemes, is_lenient=situation.is_lenient):
            yield Fault(name, "must be an http or https URL, or have a scheme that the channel lists")


def _check_renewal(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if fields.get("paymentType") != "PA" or not _follows(fields, situation.operation):
        return ()
    return fault_missing(("standingInstruction.industryPractice",), fields)


def _check_override(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [
        Fault(name, "is accepted only when a checkout is created", value)
        for name, value in fields.items()
        if name.startswith(_OVERRIDE)
    ]


def _check_checkout_reference(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [Fault(name, message, fields.get(name)) for name, message in _NOT_IN_A_CHECKOUT.items() if name in fields]


def _check_overridden_brand(fields: Fields, situation: Situation) -> Iterable[Fault]:
    faults = []
    for name, payment_type in fields.items():
        if not name.startswith(_OVERRIDE):
            continue
        code = name.removeprefix(_OVERRIDE).removesuffix("]")
        brand = find_brand(code, lenient=situation.is_lenient)
        if brand is None:
            faults.append(Fault(name, "must name a brand of this gateway", payment_type))
        elif payment_type not in brand.list_payment_types(lenient=situation.is_lenient):
            faults.append(Fault(name, f"{code} does not take this type", payment_type))
    return faults


def _check_purpose(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    if fields.get("recipient.country") not in PURPOSE_CODE_COUNTRIES:
        return ()
    return fault_missing(("transactionPurposeCode",), fields)


def _check_schedule(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if situation.payment_type in _CHANGING:
        return ()
    return fault_missing((*_MONEY, "registrationId"), fields)


def _check_search(fields: Fields, situation: Situation) -> Iterable[Fault]:
    subjects = _SUBJECTS if situation.operation == "query_list" else (*_SUBJECTS, *_DATES)
    return fault_missing(("merchantTransactionId",), fields) if fields.keys().isdisjoint(subjects) else ()


def _check_days(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    sent = [(name, value) for name in _DATES if (value := fields.get(name)) is not None]
    faults = [Fault(name, "must be a calendar date yyyy-MM-dd", value) for name, value in sent if len(value) > _DAY]
    if faults or len(sent) < len(_DATES):
        return faults
    first, last = (date.fromisoformat(value) for _, value in sent)
    if (last - first).days < LIMITS.settlement_days_max:
        return ()
    return (Fault("date.to", f"must be within {LIMITS.settlement_days_max} days of date.from", fields.get("date.to")),)


def _check_page_or_cursor(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    page = fields.get("pageNo")
    return () if page is None else (Fault("pageNo", "does not go together with cursor", page),)


REQUEST_RULES = (
    Rule(
        "needed_fields",
        "A payment, checkout or payment link needs amount, currency and paymentType (a checkout that only registers "
        "does not), an authentication needs amount and currency, a follow-up (by path or by referenceUuid) needs "
        "paymentType.",
        _check_needed,
        operations=frozenset(_NEEDED_BY_OPERATION),
    ),
    Rule(
        "follow_up_amount",
        "A capture, refund, rebill or further authorisation needs amount and currency.",
        _check_follow_up_amount,
        operations=frozenset({"follow_up", "create_payment"}),
    ),
    Rule(
        "initial_type",
        f"A payment begins as one of {', '.join(INITIAL_PAYMENT_TYPES)}.",
        _check_initial_type,
        operations=frozenset({"create_payment", "pay_registration", "submit_checkout", "update_checkout", *_PREPARING}),
    ),
    Rule(
        "checkout_reference",
        "A checkout names no earlier payment and no single registration: it begins a payment, and offers stored "
        "accounts as registrations[n].id.",
        _check_checkout_reference,
        operations=frozenset({"update_checkout", *_PREPARING}),
    ),
    Rule(
        "follow_up_type",
        f"A payment that names an earlier one is one of {', '.join(FOLLOW_UP_PAYMENT_TYPES)}.",
        _check_follow_up_type,
        operations=frozenset({"create_payment", "follow_up"}),
    ),
    # An authentication must not move money, whatever type it names.
    Rule(
        "authentication_alone",
        f"An authentication by itself is of type {', '.join(AUTHENTICATION_PAYMENT_TYPES)}, if it names one, "
        "and follows no payment.",
        _check_alone,
        operations=frozenset({"authenticate"}),
    ),
    Rule(
        "authentication_way_back",
        "An authentication by itself needs shopperResultUrl, unless nobody is asked (threeDSecure.threeRIInd).",
        _check_way_back,
        operations=frozenset({"authenticate"}),
    ),
    Rule(
        "return_scheme",
        "A shopper returns by http, https or a scheme the channel lists; on lenient channels also by any with a dot.",
        _check_return_scheme,
        groups=frozenset(name.partition(".")[0] for name in _LEADING_AWAY),
    ),
    Rule(
        "renewal_practice",
        "An authorisation that names an earlier one says in standingInstruction.industryPractice why.",
        _check_renewal,
        operations=frozenset({"create_payment", "follow_up"}),
    ),
    Rule(
        "override_at_creation",
        "overridePaymentType[brand] is accepted only when a checkout is created.",
        _check_override,
        groups=frozenset({"overridePaymentType"}),
        operations=OPERATIONS_WITH_RULES - _PREPARING,
    ),
    Rule(
        "override_brand",
        "overridePaymentType[brand] names a brand of the brand list (a lenient channel also takes its older spellings) "
        "and a type that the brand takes.",
        _check_overridden_brand,
        groups=frozenset({"overridePaymentType"}),
        operations=_PREPARING,
    ),
    Rule(
        "purpose_code",
        "A money transfer to a recipient in one of the countries that ask for it needs transactionPurposeCode "
        f"({', '.join(sorted(PURPOSE_CODE_COUNTRIES)) or 'none is listed'}).",
        _check_purpose,
        groups=frozenset({"recipient"}),
        operations=frozenset({"create_payment", "pay_registration", *_PREPARING}),
    ),
    Rule(
        "forex_pair",
        "forex.amount and forex.currency are sent together or not at all.",
        all_or_none("forex.amount", "forex.currency"),
        groups=frozenset({"forex"}),
    ),
    Rule(
        "migration_type",
        "Any recurringMigration field calls for recurringMigration.paymentType.",
        required("recurringMigration.paymentType"),
        groups=frozenset({"recurringMigration"}),
    ),
    Rule(
        "schedule_fields",
        "A new schedule needs amount, currency and registrationId.",
        _check_schedule,
        operations=frozenset({"schedule"}),
    ),
    Rule(
        "report_dates",
        "date.from and date.to are sent together or not at all.",
        all_or_none(*_DATES),
        groups=frozenset({"date"}),
        operations=OPERATIONS_WITH_RULES - _SUMMARIES,
    ),
    Rule("report_order", "A report does not end before it starts.", not_after(*_DATES), groups=frozenset({"date"})),
    Rule(
        "report_subject",
        "A list of payments needs merchantTransactionId or lifecycleId; the newer one is content with date.from and "
        "date.to.",
        _check_search,
        operations=frozenset({"query_list", "search"}),
    ),
    Rule(
        "report_cursor",
        "A page is named by pageNo or by cursor, not by both.",
        _check_page_or_cursor,
        groups=frozenset({"cursor"}),
    ),
    Rule(
        "settlement_dates",
        "A settlement summary needs date.from and date.to.",
        required(*_DATES),
        operations=_SUMMARIES,
    ),
    Rule(
        "settlement_days",
        f"A settlement summary is of whole days, at most {LIMITS.settlement_days_max} of them.",
        _check_days,
        groups=frozenset({"date"}),
        operations=_SUMMARIES,
    ),
)
