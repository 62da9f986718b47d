"""The fields about authenticating the shopper, and those that are missing when it begins. Pure."""

from collections.abc import Mapping

from tollgate.catalog.parameters.names import WORDS
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.results import make_invalid
from tollgate.catalog.rule_rows.people import MANDATORY_BILLING_FIELDS, MANDATORY_BROWSER_FIELDS
from tollgate.catalog.shape import is_true
from tollgate.contract.details import read_browser
from tollgate.contract.fields import Fields
from tollgate.contract.registered import asks_to_register
from tollgate.contract.standing import begins_series, is_by_merchant
from tollgate.payments.accounts import CardAccount, Instrument
from tollgate.payments.authentication import AuthenticationRequest, Browser
from tollgate.values import Fault

_AUTHENTICATED = frozenset(code for code, row in PAYMENT_TYPES.items() if row.can_authenticate)
_WORDS = WORDS[Use.AUTHENTICATION]
_ALREADY_DONE = ("threeDSecure.eci", "threeDSecure.verificationId")
_SWITCHES = ("threeDSecure.disable", "customParameters[custom_disable3DSecure]")
_MANDATED = "04"
_NO_REQUEST = AuthenticationRequest()


def read_authentication_request(
    fields: Fields, payment_type: str, account: Instrument | None
) -> AuthenticationRequest | None:
    """Returns None where nobody is authenticated: it was done elsewhere, or no shopper is present."""
    values = fields.values
    if payment_type not in _AUTHENTICATED or not isinstance(account, CardAccount) or account.number_type != "PAN":
        return None
    if fields.groups.isdisjoint(_WORDS):
        # No shopper could come back, so nothing is asked; but nothing forbids an authentication either.
        return _NO_REQUEST
    reason = values.get("threeDSecure.threeRIInd")
    if not values.keys().isdisjoint(_ALREADY_DONE):
        return None
    if is_by_merchant(values) and reason is None:
        return None
    # The law demands a challenge where other payments will follow.
    is_first = reason is None and (begins_series(values) or asks_to_register(values))
    return AuthenticationRequest(
        browser=read_browser(fields),
        device=values.get("threeDSecure.deviceInfo"),
        challenge_indicator=values.get("threeDSecure.challengeIndicator", _MANDATED if is_first else None),
        is_decoupled=is_true(values.get("threeDSecure.decoupled")),
        requestor_reason=reason,
        is_unwanted=any(is_true(values.get(name)) for name in _SWITCHES),
    )


def check_authentication_fields(echo: Mapping[str, str], *, is_lenient: bool) -> None:
    """Names what is missing when an authentication really begins.

    Browser data is complete or left to our own page. A lenient channel never asks for the billing address.
    """
    has_browser = any(name in echo for name in MANDATORY_BROWSER_FIELDS)
    needed = (*(MANDATORY_BROWSER_FIELDS if has_browser else ()), *(() if is_lenient else MANDATORY_BILLING_FIELDS))
    faults = [Fault(name, "may not be empty when 3D Secure runs") for name in needed if name not in echo]
    if faults:
        raise make_invalid(*faults)


BROWSER_FIELDS: Mapping[str, str] = {
    "language": "language",
    "screenHeight": "screen_height",
    "screenWidth": "screen_width",
    "timezone": "timezone",
    "javaEnabled": "java_enabled",
    "javascriptEnabled": "javascript_enabled",
    "screenColorDepth": "screen_color_depth",
}
"""The data that our own page collects from the browser, by the names of its form."""

_LENGTHS = {"language": 8, "timezone": 5, "screen_height": 6, "screen_width": 6, "screen_color_depth": 2}


def read_collected_browser(
    pairs: Mapping[str, str], *, accept: str | None, user_agent: str | None, ip: str | None
) -> Browser:
    """Reads the data of the shopper's own browser and cuts it to size, because a fault in it could not be corrected."""
    members: dict[str, str | None] = {
        member: pairs[name][: _LENGTHS.get(member, 5)] or None
        for name, member in BROWSER_FIELDS.items()
        if name in pairs
    }
    return Browser(accept_header=(accept or "*/*")[:2048], user_agent=(user_agent or "-")[:2048], ip=ip, **members)
