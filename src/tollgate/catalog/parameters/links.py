"""Rows of a payment link: how long it lives, and how its page looks.
What it pays for is described by the rows of any checkout.
"""

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.row import OPEN, Use, mount, plain, several
from tollgate.catalog.shape import BOOLEAN, choice, number, pattern

UNITS_MAX = {"HOUR": 365 * 24, "DAY": 365, "MONTH": 12, "YEAR": 1}
"""The most that a link lives, in each unit: never more than a year of the calendar."""

_LONGEST = ", ".join(f"{count} {unit}" for unit, count in UNITS_MAX.items())
# Which range holds depends on the unit, so a rule checks it.
_LIFETIME = pattern(
    "[0-9]+", 1, 4, message=f"must be a number from 1, at most {_LONGEST}", notation=f"N4, at most {_LONGEST}"
)

_COLOUR = pattern(
    "#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})",
    4,
    7,
    message="must be a colour written #RGB or #RRGGBB",
    notation="AN7, #RGB or #RRGGBB",
)
# The page's policy names the host, so it must be one that a policy can spell; quotes and the like are no part of an
# address.
_ADDRESS = pattern(
    r"https?://[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?(?::[1-9][0-9]{0,4})?(?:[/?#][!#-&(-;=?-\[\]_a-z~]*)?",
    10,
    2048,
    message="must be an https URL",
    notation="AN2048, https URL",
)

LINKS = (
    *mount(
        "",
        (
            plain(
                "validUntil",
                _LIFETIME,
                note=f"How long a payment link lives, {LIMITS.link_days} days by default and a year at most",
                holds_code=True,
            ),
            plain("validUntilUnit", choice(*UNITS_MAX), note="DAY by default"),
            plain("termsAndConditionsUrl", _ADDRESS, note="Linked from the page", holds_code=True),
            plain("privacyPolicyUrl", _ADDRESS, note="Linked from the page", holds_code=True),
            plain("collectBilling", BOOLEAN, note="The form asks for the billing address"),
            plain("mandatoryBilling", BOOLEAN, note="The form insists on the billing address"),
            plain("createQRCode", BOOLEAN, note="Answer the link as a code to scan, too"),
        ),
        use=Use.LINK,
    ),
    *mount(
        "layout",
        (
            plain("logo", _ADDRESS, note="Shown beside the merchant's name", holds_code=True),
            *several("logoWidth", number(16, 600), secrecy=OPEN, holds_code=True),
            *several("logoHeight", number(16, 200), secrecy=OPEN, holds_code=True),
            plain("backgroundImage", _ADDRESS, note="Shown behind the page", holds_code=True),
            *several("merchantNameColor amountColor payButtonColor payButtonTextColor", _COLOUR, secrecy=OPEN),
        ),
        use=Use.LINK,
    ),
)
