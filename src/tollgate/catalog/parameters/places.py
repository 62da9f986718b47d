"""Rows of addresses: billing, shipping, the merchant's own copies of both, and the company's.
Pairing of fields is left to the rules.
"""

from tollgate.catalog.parameters import row
from tollgate.catalog.shape import COUNTRY2, DATE, choice, digits, text

_SHIPPING_METHODS = (
    "CARRIER_DESIGNATED_BY_CUSTOMER",
    "ELECTRONIC_DELIVERY",
    "EXPEDITED",
    "GROUND",
    "INTERNATIONAL",
    "LOWEST_COST",
    "MILITARY",
    "NEXT_DAY_OVERNIGHT",
    "OTHER",
    "POINT_PICKUP",
    "PUDO",
    "SAME_DAY_SERVICE",
    "STORE_PICKUP",
    "THREE_DAY_SERVICE",
    "TWO_DAY_SERVICE",
)

_STREET = (
    row.Parameter("street1", text(1, 100), row.CONDITIONAL, note="Street; alone when houseNumber1 is sent"),
    row.Parameter(
        "street2",
        text(1, 100),
        row.CONDITIONAL,
        note="Ignored when houseNumber1 is sent",
        ignored_beside="houseNumber1",
    ),
    row.Parameter("houseNumber1", text(1, 100)),
    row.Parameter("houseNumber2", text(1, 100), note="Only beside houseNumber1"),
)

_REGION = (
    row.Parameter("state", row.STATE, row.CONDITIONAL),
    row.Parameter("postcode", row.POSTCODE, row.CONDITIONAL),
    row.Parameter("country", COUNTRY2, row.CONDITIONAL),
    *row.several("normalized validationStatus", text(1, 255)),
)


def _make_line_places(address: str, *, iso8583: bool = False) -> dict[str, row.Places]:
    """Returns the places of an address that a form has as lines; a number follows its street in the same line."""
    line1, line2, city, state, postcode, country = (
        f"{address}[{part}]" for part in ("line1", "line2", "city", "state", "postal_code", "country")
    )
    # Issuers verify the street and the postcode of the billing address.
    street_tag, postcode_tag = ("48.31", "48.30") if iso8583 else ("", "")
    return {
        "street1": row.sent(stripe=line1, iso8583=street_tag),
        "houseNumber1": row.sent(stripe=line1, iso8583=street_tag),
        "street2": row.sent(stripe=line2),
        "houseNumber2": row.sent(stripe=line2),
        "city": row.sent(stripe=city),
        "state": row.sent(stripe=state),
        "postcode": row.sent(stripe=postcode, iso8583=postcode_tag),
        "country": row.sent(stripe=country),
    }


_BILLING = (*_STREET, row.Parameter("city", text(1, 80), row.CONDITIONAL), *_REGION)

_CONTACT = (
    row.Parameter("middleName", text(1, 255)),
    row.Parameter("companyName", text(1, 60)),
    row.Parameter("workPhone", text(1, 25), holds_code=True),
    row.Parameter("mobile", row.LONG_PHONE),
    row.Parameter("email", text(6, 128)),
)

_SHIPPING = (
    *_STREET,
    row.Parameter("city", row.LETTERS_CITY, row.CONDITIONAL),
    *_REGION,
    row.plain("method", choice(*_SHIPPING_METHODS), row.CONDITIONAL),
    row.plain("cost", row.EXACT_AMOUNT, row.CONDITIONAL, note="Contained in the amount"),
    row.Parameter("comment", text(1, 160), row.CONDITIONAL),
    row.plain("expectedDate", DATE),
    *row.several("logisticsProvider", text(1, 255)),
    *row.several("trackingNumber returnTrackingNumber", text(1, 255), holds_code=True),
    row.Parameter("warehouse", text(1, 100)),
    row.plain("preference", choice("GET_FROM_FILE", "NO_SHIPPING", "SET_PROVIDED_ADDRESS")),
    *_CONTACT,
    row.Parameter("phone", row.LONG_PHONE),
    row.plain("type", choice("RETURN", "SHIPMENT")),
)

ADDRESSES = (
    *row.mount(
        "billing",
        _BILLING,
        use=row.Use.FORM_ADDITION | row.Use.FORM_QUESTION | row.Use.REGISTRATION,
        details="billing",
        to=_make_line_places("billing_details[address]", iso8583=True),
    ),
    *row.mount(
        "shipping",
        _SHIPPING,
        use=row.Use.REGISTRATION,
        details="shipping",
        to={
            **_make_line_places("shipping[address]"),
            "cost": row.sent("shipping_cost"),
            "logisticsProvider": row.sent(stripe="shipping[carrier]"),
            "trackingNumber": row.sent(stripe="shipping[tracking_number]"),
        },
    ),
    *row.mount(
        "merchant.billing",
        (
            *_BILLING,
            *row.several("givenName surname", text(1, 255)),
            *_CONTACT,
            *row.several("phone", text(1, 25), holds_code=True),
        ),
        details="acceptor.billing",
    ),
    *row.mount("merchant.shipping", _SHIPPING, details="acceptor.shipping"),
)

CORPORATE = row.mount(
    "corporate",
    (
        *row.several("name suite", text(1, 30)),
        row.Parameter("description", text(1, 160)),
        *row.several("street address", text(1, 100)),
        row.Parameter("city", text(1, 80)),
        row.Parameter("state", text(1, 50)),
        row.Parameter("postCode", text(1, 16)),
        row.Parameter("postboxNumber", text(1, 15)),
        row.plain("purchase", choice("Y", "N"), note="Whether a company is buying"),
        row.Parameter("phone", digits(1, 25), lenient=text(1, 25), holds_code=True),
        row.Parameter("fax", digits(1, 25), lenient=text(1, 25), holds_code=True),
        row.Parameter("vatId", text(1, 255), holds_code=True),
    ),
    details="corporate",
    to={"purchase": row.sent(iso8583="48.50"), "name": row.sent(iso8583="48.51"), "vatId": row.sent(iso8583="48.52")},
)
