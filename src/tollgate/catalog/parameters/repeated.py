"""Rows of payments that repeat: standing instructions, schedules, migrated series.
When a schedule is due is not computed here.
"""

from __future__ import annotations

from tollgate.catalog.parameters.row import BOOLEAN, CONDITIONAL, OPEN, REQUIRED, Parameter, mount, several
from tollgate.catalog.shape import amount, choice, date, date_or_timestamp, digits, number, pattern, text, timestamp

STANDING_INSTRUCTION = mount(
    "standingInstruction",
    (
        Parameter("mode", choice("INITIAL", "REPEATED"), secrecy=OPEN, note="First of a series, or a later one"),
        Parameter("source", choice("CIT", "MIT"), secrecy=OPEN, note="Who started it: customer or merchant"),
        Parameter("type", choice("RECURRING", "INSTALLMENT", "UNSCHEDULED"), secrecy=OPEN),
        Parameter("recurringType", choice("SUBSCRIPTION", "STANDING_ORDER"), secrecy=OPEN),
        Parameter(
            "initialTransactionId", text(1, 255), CONDITIONAL, OPEN, note="Scheme reference of the first payment"
        ),
        Parameter("frequency", digits(1, 4), CONDITIONAL, OPEN, note="Days between payments"),
        Parameter("expiry", date(), CONDITIONAL, OPEN, note="Last day of the series"),
        Parameter("numberOfInstallments", number(1, 999), CONDITIONAL, OPEN),
        Parameter(
            "industryPractice",
            choice("INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"),
            CONDITIONAL,
            OPEN,
            note="Needed when an authorisation names an earlier one",
        ),
    ),
)

OLDER_RECURRING = mount(
    "",
    (
        Parameter(
            "recurringType",
            choice("INITIAL", "REPEATED", "REGISTRATION_BASED"),
            secrecy=OPEN,
            note="Older spelling of standingInstruction.mode",
        ),
        Parameter("recurring.numberOfInstallments", number(1, 999), secrecy=OPEN),
    ),
)

RECURRING_MIGRATION = mount(
    "recurringMigration",
    (
        Parameter(
            "paymentType", choice("DB", "CD", "PA"), REQUIRED, OPEN, note="Type of the first payment (deprecated)"
        ),
        Parameter("amount", amount(8), secrecy=OPEN),
        Parameter("requestTimestamp", timestamp(), CONDITIONAL, OPEN),
        *several("connectorTxId1 connectorTxId2 connectorTxId3", text(1, 128), CONDITIONAL),
    ),
)

_CRON = r"[0-9A-Z,*?/#-]{1,64}"
_UNITS = choice("DAY", "WEEK", "MONTH", "YEAR")

JOB = mount(
    "job",
    (
        *several("name", text(1, 255), secrecy=OPEN),
        *several("action", text(1, 255), secrecy=OPEN),
        *several("second minute", pattern("[0-9,*/-]{1,64}", 1, 64), secrecy=OPEN),
        *several("hour", pattern("[0-9,*/-]{1,64}", 1, 64), secrecy=OPEN),
        *several("dayOfMonth month dayOfWeek year", pattern(_CRON, 1, 64), secrecy=OPEN),
        *several("startDate endDate", date_or_timestamp(), secrecy=OPEN),
        Parameter(
            "expression", pattern("[0-9A-Z,*?/# -]{1,256}", 1, 256), secrecy=OPEN, note="All parts as one cron line"
        ),
        *several("durationUnit noticeUnit", _UNITS, secrecy=OPEN),
        *several("durationNumber noticeNumber", number(1, 9999), secrecy=OPEN),
        *several("noticeCallable", BOOLEAN, secrecy=OPEN),
    ),
)

DATES = mount(
    "date",
    several("from to", date_or_timestamp(), secrecy=OPEN),
)
