"""Rows of payments that repeat: standing instructions, schedules, migrated series.
When a schedule is due is not computed here.
"""

from __future__ import annotations

from tollgate.catalog import shape
from tollgate.catalog.parameters.row import BOOLEAN, CONDITIONAL, OPEN, REQUIRED, Parameter, Use, mount, several

STANDING_INSTRUCTION = mount(
    "standingInstruction",
    (
        Parameter("mode", shape.choice("INITIAL", "REPEATED"), secrecy=OPEN, note="First of a series, or a later one"),
        Parameter("source", shape.choice("CIT", "MIT"), secrecy=OPEN, note="Who started it: customer or merchant"),
        Parameter("type", shape.choice("RECURRING", "INSTALLMENT", "UNSCHEDULED"), secrecy=OPEN),
        Parameter("recurringType", shape.choice("SUBSCRIPTION", "STANDING_ORDER"), secrecy=OPEN),
        Parameter(
            "initialTransactionId",
            shape.text(1, 255),
            CONDITIONAL,
            OPEN,
            note="Scheme reference of the first payment",
            holds_code=True,
        ),
        Parameter("frequency", shape.digits(1, 4), CONDITIONAL, OPEN, note="Days between payments"),
        Parameter("expiry", shape.date(), CONDITIONAL, OPEN, note="Last day of the series"),
        Parameter("numberOfInstallments", shape.number(1, 999), CONDITIONAL, OPEN),
        Parameter(
            "industryPractice",
            shape.choice("INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"),
            CONDITIONAL,
            OPEN,
            note="Needed when an authorisation names an earlier one",
        ),
    ),
    use=Use.AUTHENTICATION,
)

OLDER_RECURRING = mount(
    "",
    (
        Parameter(
            "recurringType",
            shape.choice("INITIAL", "REPEATED", "REGISTRATION_BASED"),
            secrecy=OPEN,
            note="Older spelling of standingInstruction.mode",
            use=Use.AUTHENTICATION,
        ),
        Parameter("recurring.numberOfInstallments", shape.number(1, 999), secrecy=OPEN),
    ),
)

RECURRING_MIGRATION = mount(
    "recurringMigration",
    (
        Parameter(
            "paymentType", shape.choice("DB", "CD", "PA"), REQUIRED, OPEN, note="Type of the first payment (deprecated)"
        ),
        Parameter("amount", shape.amount(8), secrecy=OPEN),
        Parameter("requestTimestamp", shape.timestamp(), CONDITIONAL, OPEN),
        *several("connectorTxId1 connectorTxId2 connectorTxId3", shape.text(1, 128), CONDITIONAL, holds_code=True),
    ),
)


def _loose(length_max: int, notation: str) -> shape.Shape:
    """Wider than the notation: what is wrong inside of it has result codes of its own, told by whoever reads it."""
    return shape.pattern(
        f"[ -~]{{1,{length_max}}}",
        1,
        length_max,
        message=f"must have 1 to {length_max} characters of ASCII",
        notation=f"AN{length_max}, {notation}",
    )


_UNIT = _loose(64, "DAY, WEEK, MONTH, YEAR")

JOB = mount(
    "job",
    (
        Parameter("name", shape.text(1, 255), secrecy=OPEN),
        Parameter("action", _loose(64, "DB, PA, CD"), secrecy=OPEN, note="The type of the payments that are made"),
        *several("second minute", _loose(64, "cron, 0-59"), secrecy=OPEN, holds_code=True),
        Parameter("hour", _loose(64, "cron, 0-23"), secrecy=OPEN, holds_code=True),
        Parameter("dayOfMonth", _loose(64, "cron, 1-31, L, W, ?"), secrecy=OPEN, holds_code=True),
        Parameter("month", _loose(64, "cron, 1-12 or JAN-DEC"), secrecy=OPEN, holds_code=True),
        Parameter(
            "dayOfWeek", _loose(64, "cron, 1-7 or SUN-SAT, L, #, ?"), secrecy=OPEN, holds_code=True, note="Sunday is 1"
        ),
        Parameter("year", _loose(64, "cron, 1970-2099"), secrecy=OPEN, holds_code=True),
        *several("startDate endDate", shape.date_or_timestamp(), secrecy=OPEN),
        Parameter(
            "expression",
            _loose(256, "cron, 6 or 7 parts from second to year"),
            secrecy=OPEN,
            holds_code=True,
            note="All parts in one",
        ),
        *several("durationUnit noticeUnit", _UNIT, secrecy=OPEN),
        *several("durationNumber noticeNumber", shape.number(1, 9999), secrecy=OPEN),
        *several("noticeCallable", BOOLEAN, secrecy=OPEN),
    ),
    use=Use.ONE_PAYMENT,
)

DATES = mount(
    "date",
    several("from to", shape.date_or_timestamp(), secrecy=OPEN),
)
