"""Rows of addresses: billing, shipping, the merchant's own copies of both, and the company's.
Pairing of fields is left to the rules.
"""

from __future__ import annotations

from tollgate.catalog.parameters.row import (
    CONDITIONAL,
    EXACT_AMOUNT,
    LETTERS_CITY,
    LONG_PHONE,
    OPEN,
    POSTCODE,
    STATE,
    Parameter,
    mount,
    several,
)
from tollgate.catalog.shape import choice, country2, date, digits, text

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
    Parameter("street1", text(1, 100), CONDITIONAL, note="Street; alone when houseNumber1 is sent"),
    Parameter(
        "street2",
        text(1, 100),
        CONDITIONAL,
        note="Ignored when houseNumber1 is sent",
        ignored_beside="houseNumber1",
    ),
    Parameter("houseNumber1", text(1, 100)),
    Parameter("houseNumber2", text(1, 100), note="Only beside houseNumber1"),
)

_REGION = (
    Parameter("state", STATE, CONDITIONAL),
    Parameter("postcode", POSTCODE, CONDITIONAL),
    Parameter("country", country2(), CONDITIONAL),
    *several("normalized validationStatus", text(1, 255)),
)

_BILLING = (*_STREET, Parameter("city", text(1, 80), CONDITIONAL), *_REGION)

_CONTACT = (
    Parameter("middleName", text(1, 255)),
    Parameter("companyName", text(1, 60)),
    Parameter("workPhone", text(1, 25), holds_code=True),
    Parameter("mobile", LONG_PHONE),
    Parameter("email", text(6, 128)),
)

_SHIPPING = (
    *_STREET,
    Parameter("city", LETTERS_CITY, CONDITIONAL),
    *_REGION,
    Parameter("method", choice(*_SHIPPING_METHODS), CONDITIONAL, OPEN),
    Parameter("cost", EXACT_AMOUNT, CONDITIONAL, OPEN, note="Contained in the amount"),
    Parameter("comment", text(1, 160), CONDITIONAL),
    Parameter("expectedDate", date(), secrecy=OPEN),
    *several("logisticsProvider", text(1, 255)),
    *several("trackingNumber returnTrackingNumber", text(1, 255), holds_code=True),
    Parameter("warehouse", text(1, 100)),
    Parameter("preference", choice("GET_FROM_FILE", "NO_SHIPPING", "SET_PROVIDED_ADDRESS"), secrecy=OPEN),
    *_CONTACT,
    Parameter("phone", LONG_PHONE),
    Parameter("type", choice("RETURN", "SHIPMENT"), secrecy=OPEN),
)

ADDRESSES = (
    *mount("billing", _BILLING),
    *mount("shipping", _SHIPPING),
    *mount(
        "merchant.billing",
        (
            *_BILLING,
            *several("givenName surname", text(1, 255)),
            *_CONTACT,
            *several("phone", text(1, 25), holds_code=True),
        ),
    ),
    *mount("merchant.shipping", _SHIPPING),
)

CORPORATE = mount(
    "corporate",
    (
        *several("name suite", text(1, 30)),
        Parameter("description", text(1, 160)),
        *several("street address", text(1, 100)),
        Parameter("city", text(1, 80)),
        Parameter("state", text(1, 50)),
        Parameter("postCode", text(1, 16)),
        Parameter("postboxNumber", text(1, 15)),
        Parameter("purchase", choice("Y", "N"), secrecy=OPEN, note="Whether a company is buying"),
        Parameter("phone", digits(1, 25), lenient=text(1, 25), holds_code=True),
        Parameter("fax", digits(1, 25), lenient=text(1, 25), holds_code=True),
        Parameter("vatId", text(1, 255), holds_code=True),
    ),
)
