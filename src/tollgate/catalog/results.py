"""The result catalogue: every code of the gateway with its group and its HTTP status. The rows are in `result_rows`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tollgate.catalog import codes
from tollgate.catalog.declines import DECLINES
from tollgate.catalog.result_rows import ROWS_BY_GROUP
from tollgate.catalog.result_rows.row import Cause, Origin
from tollgate.values import Fault, InvalidParameters, Result


class Group(NamedTuple):
    """A family of codes that a client handles alike."""

    id: str
    regex: str
    """Clients match a code against it. It is not compiled, because that would slow every start."""
    meaning: str
    http_status: int = 400


# Order matters: a code belongs to the first group whose pattern matches it. 100.900.500 needs that: it is a fault of
# format, although the pattern of contact_validation covers it too, so format_validation stands first.
GROUPS: tuple[Group, ...] = (
    Group("success", r"^(000\.000\.|000\.100\.1|000\.[36]|000\.400\.[1][12]0)", "Done: it went through.", 200),
    Group("success_review", r"^(000\.400\.0[^3]|000\.400\.100)", "Done, but have it reviewed before shipping.", 200),
    Group("pending", r"^(000\.200)", "Open: the outcome follows within about half an hour.", 200),
    Group("pending_long", r"^(800\.400\.5|100\.400\.500)", "Open: the outcome may take days.", 200),
    Group("soft_decline_sca", r"^(300\.100\.100)", "Refused until the shopper authenticates: repeat with a challenge."),
    Group(
        "rejected_3ds_intercard_risk",
        r"^(000\.400\.[1][0-9][1-9]|000\.400\.2)",
        "Not paid: 3-D Secure was impossible for this card, or the risk check could not be asked.",
    ),
    Group("rejected_by_bank", r"^(800\.[17]00|800\.800\.[123])", "The acquirer or the issuer said no."),
    Group("comm_error", r"^(900\.[1234]00|000\.400\.030)", "The line to the acquirer or another outside party failed."),
    Group("system_error", r"^(800\.[56]|999\.|600\.1|800\.800\.[84])", "A system, ours or another, is in trouble."),
    Group("async_error", r"^(100\.39[765])", "The shopper gave up or ran out of time at a bank or wallet."),
    Group(
        "risk_external",
        r"^(100\.400\.[0-3]|100\.380\.100|100\.380\.11|100\.380\.4|100\.380\.5)",
        "An outside risk check advised against the payment.",
    ),
    Group("address_avs", r"^(800\.400\.1)", "The billing address is not the one the issuer knows."),
    Group("rejected_3ds", r"^(800\.400\.2|100\.390)", "3-D Secure was tried and did not succeed."),
    Group("blacklist", r"^(800\.[32])", "The card, account, shopper or address is on a block list."),
    Group("risk_validation", r"^(800\.1[123456]0)", "Too often, too much, twice, or contradictory."),
    Group("config_validation", r"^(600\.[23]|500\.[12]|800\.121)", "The channel is not set up for what was asked."),
    Group("registration_validation", r"^(100\.[13]50)", "The registration (token) named cannot be used like this."),
    Group("job_validation", r"^(100\.250|100\.360)", "The schedule described cannot be kept."),
    Group("reference_validation", r"^(700\.[1345][05]0)", "The payment referred to does not allow this follow-up."),
    Group("mac_control", r"^(700\.600|700\.601)", "The issuer advised not to try this card again for now."),
    Group("format_validation", r"^(200\.[123]|100\.[53][07]|800\.900|100\.[69]00\.500)", "Malformed or not permitted."),
    Group("address_validation", r"^(100\.800)", "A part of the address is missing or malformed."),
    Group("contact_validation", r"^(100\.[97]00)", "Name, e-mail, phone, birth date or IP is missing or malformed."),
    Group("account_validation", r"^(100\.100|100\.2[01])", "Card, bank or wallet data is missing or malformed."),
    Group("amount_validation", r"^(100\.55)", "The amount or the currency is missing or malformed."),
    Group("risk_mgmt_validation", r"^(100\.380\.[23]|100\.380\.101)", "The request lacks what the risk check needs."),
    Group("chargeback", r"^(000\.100\.2)", "Notice of a dispute: the payer or the bank took the money back.", 200),
)

# Codes that the patterns miss or misjudge: captures that differ from the authorised amount are not disputes, and two
# approvals of an old scoring service fell out of the patterns when those were tightened.
GROUP_EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {"000.100.211": "success", "000.100.212": "success", "000.500.000": "success", "000.500.100": "success"}
)

_REVIEW_GROUPS = frozenset({"success_review"})
_SUCCESS_GROUPS = frozenset({"success"}) | _REVIEW_GROUPS
_PENDING_GROUPS = frozenset({"pending", "pending_long"})
_TECHNICAL_GROUPS = frozenset({"comm_error", "system_error"})


_results = [
    Result(row.code, group.id, row.http_status or group.http_status, row.text, row.wire_text)
    for group in GROUPS
    for row in ROWS_BY_GROUP[group.id]
]
RESULTS: Mapping[str, Result] = MappingProxyType(
    {result.code: result for result in sorted(_results, key=lambda result: result.code)}
)


CAUSES: Mapping[str, Cause] = MappingProxyType(
    {row.code: row.cause for rows in ROWS_BY_GROUP.values() for row in rows if row.cause}
    | {row.code: Cause(Origin.GATEWAY, f"{row.text} Strict channels only.") for row in DECLINES}
)
"""The cause of every code; a test compares it with the source."""


def get_result(code: str) -> Result:
    """Returns the row of a code; a code without a row is a bug, hence a KeyError."""
    return RESULTS[code]


def make_invalid(*faults: Fault) -> InvalidParameters:
    """Makes the refusal of a request with faults in its parameters."""
    return InvalidParameters(RESULTS[codes.INVALID_REQUEST], list(faults))


def is_success(code: str) -> bool:
    """Returns True for a success, also where the payment is to be reviewed: its money has moved."""
    return RESULTS[code].group in _SUCCESS_GROUPS


def is_review(code: str) -> bool:
    """Returns True for a success that is to be reviewed."""
    return RESULTS[code].group in _REVIEW_GROUPS


def awaits_decision(code: str) -> bool:
    """Returns True for a success that somebody has yet to accept or reject."""
    return is_review(code) and code not in (codes.OWN_RISK, codes.REVIEW_REJECTED)


def is_pending(code: str) -> bool:
    """Returns True while the outcome is open, for minutes or for days."""
    return RESULTS[code].group in _PENDING_GROUPS


def is_technical(code: str) -> bool:
    """Returns True where a system failed, and nobody decided about the payment."""
    return RESULTS[code].group in _TECHNICAL_GROUPS
