"""The result codes, the answered fields and the proof of an authentication. No message is read here."""

from tollgate.connectors.threeds.exchanges import EXPIRED, MALFORMED, UNANSWERED, UNREACHABLE
from tollgate.payments.authentication import AuthenticationCase, AuthenticationResult
from tollgate.payments.order import Authentication

_PASSED = frozenset("YAI")
"""The shopper was authenticated, it was attempted, or it was left to the merchant on request."""

_NO_RESULT_CODE = "100.390.112"
_NO_RESULT = AuthenticationResult(status="")

# The issuer's reasons for a challenge that ended early.
BY_CANCELLATION = {
    "01": "100.390.124",
    "02": "100.390.124",
    "03": "100.390.124",
    "04": "100.380.501",
    "05": "100.380.501",
    "06": "100.390.112",
    "08": "100.380.501",
}

# Reasons that have one meaning for N, U and R. Those from 80 on are the directory server's own.
BY_REASON = {
    MALFORMED: "100.390.115",
    UNREACHABLE: "100.390.111",
    UNANSWERED: "100.390.112",
    EXPIRED: "100.380.501",
    "03": "100.390.113",
    "04": "100.390.119",
    "08": "000.400.108",
    "10": "100.390.118",
    "11": "100.390.118",
    "13": "000.400.102",
    "14": "100.380.501",
    "19": "100.390.119",
    "20": "100.390.120",
    "21": "100.390.121",
    "22": "100.390.112",
    "23": "100.390.122",
    "24": "100.390.122",
    "25": "100.390.122",
    "26": "100.390.124",
    "87": "000.400.101",
}

# Errors that say more than that the request was malformed.
BY_ERROR = {
    "102": "000.400.113",
    "303": "100.390.116",
    "304": "100.390.117",
    "305": "100.390.117",
    "306": "100.390.117",
    "402": "100.390.112",
    "403": "100.390.112",
    "404": "100.390.112",
    "405": "100.390.112",
}

# All other cases, by status and flow.
BY_STATUS = {
    ("N", "frictionless"): "100.390.114",
    ("N", "challenge"): "100.380.401",
    ("R", "frictionless"): "100.390.114",
    ("R", "challenge"): "100.390.114",
    ("U", "frictionless"): "100.390.112",
    ("U", "challenge"): "100.390.112",
}


def find_authentication_refusal(case: AuthenticationCase) -> str | None:
    """Returns the result code of the refusal, or None if the card may be charged."""
    result = case.result
    if result is None:
        return _NO_RESULT_CODE
    if result.status in _PASSED:
        return None
    return (
        BY_CANCELLATION.get(result.cancelled or "")
        or BY_ERROR.get(case.error.get("errorCode", ""))
        or BY_REASON.get(result.reason or "")
        or BY_STATUS.get((result.status, case.flow or "frictionless"), _NO_RESULT_CODE)
    )


def describe_case(case: AuthenticationCase) -> dict[str, str]:
    """Returns the known fields of the answer by their whole names."""
    result = case.result or _NO_RESULT
    fields = (
        ("eci", result.eci),
        ("verificationId", result.value),
        ("version", case.version),
        ("flow", case.flow),
        ("dsTransactionId", case.ds_id),
        ("acsTransactionId", case.acs_id),
        ("authenticationStatus", result.status),
        ("challengeMandatedIndicator", case.is_mandated),
        ("transactionStatusReason", result.reason if (result.reason or "").isdigit() else None),
        ("cardHolderInfo", case.card_holder_text),
        *case.error.items(),
    )
    return {f"threeDSecure.{name}": value for name, value in fields if value}


def make_authentication(case: AuthenticationCase) -> Authentication:
    """Makes the proof for the acquirer."""
    result = case.result or _NO_RESULT
    return Authentication(
        eci=result.eci,
        verification_id=result.value,
        version=case.version,
        ds_transaction_id=case.ds_id,
        acs_transaction_id=case.acs_id,
        authentication_status=result.status or None,
    )
