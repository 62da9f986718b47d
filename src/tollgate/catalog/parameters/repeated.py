"""Rows of payments that repeat: standing instructions, schedules, migrated series.
When a schedule is due is not computed here.
"""

from tollgate.catalog import shape
from tollgate.catalog.parameters.row import CONDITIONAL, NOT_SENT, OPEN, REQUIRED, Use, mount, plain, sent, several

STANDING_INSTRUCTION = mount(
    "standingInstruction",
    (
        plain("mode", shape.choice("INITIAL", "REPEATED"), note="First of a series, or a later one"),
        plain("source", shape.choice("CIT", "MIT"), note="Who started it: customer or merchant"),
        plain("type", shape.choice("RECURRING", "INSTALLMENT", "UNSCHEDULED")),
        plain("recurringType", shape.choice("SUBSCRIPTION", "STANDING_ORDER")),
        plain(
            "initialTransactionId",
            shape.text(1, 255),
            CONDITIONAL,
            note="Scheme reference of the first payment",
            holds_code=True,
        ),
        plain("frequency", shape.digits(1, 4), CONDITIONAL, note="Days between payments"),
        plain("expiry", shape.DATE, CONDITIONAL, note="Last day of the series"),
        plain("numberOfInstallments", shape.number(1, 999), CONDITIONAL),
        plain(
            "industryPractice",
            shape.choice("INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"),
            CONDITIONAL,
            note="Needed when an authorisation names an earlier one",
        ),
    ),
    use=Use.AUTHENTICATION | Use.CHAIN,
    details="standing_instruction",
    to={
        "mode": sent(iso8583="48.10"),
        "source": sent(iso8583="48.11"),
        "type": sent(iso8583="48.12"),
        "recurringType": sent(iso8583="48.13"),
        "initialTransactionId": sent(iso8583="48.14"),
        "frequency": sent(iso8583="48.15"),
        "expiry": sent(iso8583="48.16"),
        "numberOfInstallments": sent(iso8583="48.17"),
        "industryPractice": sent(iso8583="48.18"),
    },
)

OLDER_RECURRING = mount(
    "",
    (
        plain(
            "recurringType",
            shape.choice("INITIAL", "REPEATED", "REGISTRATION_BASED"),
            note="Older spelling of standingInstruction.mode",
            use=Use.AUTHENTICATION,
        ),
        plain("recurring.numberOfInstallments", shape.number(1, 999)),
    ),
)

RECURRING_MIGRATION = mount(
    "recurringMigration",
    (
        plain(
            "paymentType",
            shape.choice("DB", "CD", "PA"),
            REQUIRED,
            note="Type of the first payment (deprecated)",
            to=NOT_SENT,
        ),
        plain("amount", shape.amount(8)),
        plain("requestTimestamp", shape.TIMESTAMP, CONDITIONAL),
        *several("connectorTxId1 connectorTxId2 connectorTxId3", shape.text(1, 128), CONDITIONAL, holds_code=True),
    ),
    details="initial_payment",
)


def _loose(length_max: int, notation: str) -> shape.Shape:
    """Takes more than the notation, because faults inside have result codes of their own."""
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
        plain("name", shape.text(1, 255)),
        plain("action", _loose(64, "DB, PA, CD"), note="The type of the payments that are made"),
        *several("second minute", _loose(64, "cron, 0-59"), secrecy=OPEN, holds_code=True),
        plain("hour", _loose(64, "cron, 0-23"), holds_code=True),
        plain("dayOfMonth", _loose(64, "cron, 1-31, L, W, ?"), holds_code=True),
        plain("month", _loose(64, "cron, 1-12 or JAN-DEC"), holds_code=True),
        plain("dayOfWeek", _loose(64, "cron, 1-7 or SUN-SAT, L, #, ?"), holds_code=True, note="Sunday is 1"),
        plain("year", _loose(64, "cron, 1970-2099"), holds_code=True),
        *several("startDate endDate", shape.DATE_OR_TIMESTAMP, secrecy=OPEN),
        plain(
            "expression",
            _loose(256, "cron, 6 or 7 parts from second to year"),
            holds_code=True,
            note="All parts in one",
        ),
        *several("durationUnit noticeUnit", _UNIT, secrecy=OPEN),
        *several("durationNumber noticeNumber", shape.number(1, 9999), secrecy=OPEN),
        *several("noticeCallable", shape.BOOLEAN, secrecy=OPEN),
    ),
    use=Use.ONE_PAYMENT,
)

DATES = mount("date", several("from to", shape.DATE_OR_TIMESTAMP, secrecy=OPEN))
