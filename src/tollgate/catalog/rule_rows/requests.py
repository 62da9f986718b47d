"""Rules of the request as a whole: what each operation needs and which type it may ask for.
Accounts and people have their own tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from tollgate.catalog.kinds import AUTHENTICATION_KINDS, FOLLOW_UP_KINDS, INITIAL_KINDS
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import OPERATIONS, Fields, Rule, Situation, all_or_none, fault_missing, not_after, required
from tollgate.catalog.shape import is_true
from tollgate.values import Fault

_MONEY = ("amount", "currency")
_PAYMENT = (*_MONEY, "paymentType")

_DATES = ("date.from", "date.to")
_DAY = len("yyyy-MM-dd")

_NEEDED_BY_OPERATION: Mapping[str, tuple[str, ...]] = {
    "payment": _PAYMENT,
    "registration_payment": _PAYMENT,
    "checkout": _PAYMENT,
    "three_d_secure": _MONEY,
    "follow_up": ("paymentType",),
}

_FOLLOW_UPS_WITH_AMOUNT = frozenset({"CP", "RF", "RB", "PA"})
"""A reversal undoes all that is left, so it needs none; the other types are made by the system."""

_UNNEEDED_WHEN_CHANGED = frozenset({"RS", "DS"})
"""Rescheduling and descheduling name a schedule that already has all this."""


def _check_needed(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if situation.operation == "checkout" and _only_registers(fields):
        return ()
    return fault_missing(_NEEDED_BY_OPERATION[situation.operation], fields)


def _only_registers(fields: Fields) -> bool:
    return "paymentType" not in fields and is_true(fields.get("createRegistration"))


def _check_follow_up_amount(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    # By the type that counts: one that stands beside it, empty or overruled, must not say what is needed.
    return fault_missing(_MONEY, fields) if fields.get("paymentType") in _FOLLOW_UPS_WITH_AMOUNT else ()


def _check_initial_type(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return () if "referenceUuid" in fields else _check_type(fields, INITIAL_KINDS)


def _check_follow_up_type(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if situation.operation == "payment" and "referenceUuid" not in fields:
        return ()
    return _check_type(fields, FOLLOW_UP_KINDS)


def _check_type(fields: Fields, kinds: tuple[str, ...]) -> Iterable[Fault]:
    kind = fields.get("paymentType")
    if kind is None or kind in kinds:
        return ()
    return (Fault("paymentType", f"must be one of [{', '.join(kinds)}]", kind),)


def _check_alone(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    faults = list(_check_type(fields, AUTHENTICATION_KINDS))
    if "referenceUuid" in fields:
        faults.append(Fault("referenceUuid", "an authentication by itself follows no payment", fields["referenceUuid"]))
    return faults


def _check_way_back(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return () if "threeDSecure.threeRIInd" in fields else fault_missing(("shopperResultUrl",), fields)


def _check_renewal(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if fields.get("paymentType") != "PA":
        return ()
    if situation.operation == "payment" and "referenceUuid" not in fields:
        return ()
    return fault_missing(("standingInstruction.industryPractice",), fields)


def _check_override(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [
        Fault(name, "is accepted only when a checkout is created", value)
        for name, value in fields.items()
        if name.startswith("overridePaymentType[")
    ]


def _check_schedule(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if situation.kind in _UNNEEDED_WHEN_CHANGED:
        return ()
    return fault_missing((*_MONEY, "registrationId"), fields)


def _check_search(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    if fields.keys().isdisjoint(("merchantTransactionId", "date.from", "date.to")):
        return fault_missing(("merchantTransactionId",), fields)
    return ()


def _check_days(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    sent = [(name, fields[name]) for name in _DATES if name in fields]
    faults = [Fault(name, "must be a calendar date yyyy-MM-dd", value) for name, value in sent if len(value) > _DAY]
    if faults or len(sent) < len(_DATES):
        return faults
    first, last = (date.fromisoformat(value) for _, value in sent)
    if (last - first).days < LIMITS.settlement_days_max:
        return ()
    return (Fault("date.to", f"must be within {LIMITS.settlement_days_max} days of date.from", fields["date.to"]),)


def _check_page_or_cursor(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [Fault("pageNo", "does not go together with cursor", fields["pageNo"])] if "pageNo" in fields else []


REQUEST_RULES = (
    Rule(
        "needed_fields",
        "A payment or checkout needs amount, currency and paymentType (a checkout that only registers does not), "
        "an authentication needs amount and currency, a follow-up needs paymentType.",
        _check_needed,
        operations=frozenset(_NEEDED_BY_OPERATION),
    ),
    Rule(
        "follow_up_amount",
        "A capture, refund, rebill or further authorisation needs amount and currency.",
        _check_follow_up_amount,
        operations=frozenset({"follow_up"}),
    ),
    Rule(
        "initial_type",
        f"A payment begins as one of {', '.join(INITIAL_KINDS)}.",
        _check_initial_type,
        operations=frozenset({"payment", "registration_payment", "checkout", "checkout_update"}),
    ),
    Rule(
        "follow_up_type",
        f"A payment that names an earlier one is one of {', '.join(FOLLOW_UP_KINDS)}.",
        _check_follow_up_type,
        operations=frozenset({"payment", "follow_up"}),
    ),
    # Whatever it says of itself, it must not move money: the address promises that it does not.
    Rule(
        "authentication_alone",
        f"An authentication by itself is of type {', '.join(AUTHENTICATION_KINDS)}, if it names one, and follows no "
        "payment.",
        _check_alone,
        operations=frozenset({"three_d_secure"}),
    ),
    Rule(
        "authentication_way_back",
        "An authentication by itself needs shopperResultUrl, unless nobody is asked (threeDSecure.threeRIInd).",
        _check_way_back,
        operations=frozenset({"three_d_secure"}),
    ),
    Rule(
        "renewal_practice",
        "An authorisation that names an earlier one says in standingInstruction.industryPractice why.",
        _check_renewal,
        operations=frozenset({"payment", "follow_up"}),
    ),
    Rule(
        "override_at_creation",
        "overridePaymentType[brand] is accepted only when a checkout is created.",
        _check_override,
        groups=frozenset({"overridePaymentType"}),
        operations=OPERATIONS - {"checkout"},
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
        operations=OPERATIONS - {"settlement"},
    ),
    Rule(
        "report_order",
        "A report does not end before it starts.",
        not_after(*_DATES),
        groups=frozenset({"date"}),
    ),
    Rule(
        "report_reference",
        "The older list of payments needs merchantTransactionId.",
        required("merchantTransactionId"),
        operations=frozenset({"query_list"}),
    ),
    Rule(
        "report_subject",
        "The newer list of payments needs merchantTransactionId, or date.from and date.to.",
        _check_search,
        operations=frozenset({"search"}),
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
        operations=frozenset({"settlement"}),
    ),
    Rule(
        "settlement_days",
        f"A settlement summary is of whole days, at most {LIMITS.settlement_days_max} of them.",
        _check_days,
        groups=frozenset({"date"}),
        operations=frozenset({"settlement"}),
    ),
)
