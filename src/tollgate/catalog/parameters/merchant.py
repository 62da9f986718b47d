"""Rows that describe the merchant and the sellers on its marketplace.
Its billing and shipping addresses are mounted in places.
"""

from tollgate.catalog.parameters.row import (
    EXACT_AMOUNT,
    HYPHEN_POSTCODE,
    OPEN,
    Parameter,
    Use,
    mount,
    plain,
    sent,
    several,
)
from tollgate.catalog.shape import COUNTRY2, COUNTRY_NUMERIC, pattern, text

_COORDINATES = pattern(
    r"[+-]?[0-9]{1,3}(\.[0-9]{1,15})?,[+-]?[0-9]{1,3}(\.[0-9]{1,15})?",
    3,
    20,
    message="must be latitude,longitude in at most 20 characters",
    notation="NS20, latitude,longitude",
)

MERCHANT = mount(
    "merchant",
    (
        plain("name", text(1, 100), note="Replaces the name on the shopper's statement", use=Use.CHAIN),
        plain("mcc", text(1, 4), note="Merchant category code", use=Use.CHAIN),
        *several("street", text(1, 100), secrecy=OPEN),
        *several("city", text(1, 100), secrecy=OPEN, use=Use.CHAIN),
        *several("state", text(1, 50), secrecy=OPEN),
        *several("countryCode", COUNTRY_NUMERIC, secrecy=OPEN),
        *several("country", COUNTRY2, secrecy=OPEN, use=Use.CHAIN),
        *several("postcode", HYPHEN_POSTCODE, secrecy=OPEN),
        *several("geographicCoordinates serviceLocationGeographicCoordinates", _COORDINATES, holds_code=True),
        *several("serviceLocationCity", text(1, 100)),
        *several("serviceLocationState", text(1, 50)),
        *several("serviceLocationCountryCode", text(1, 3)),
        *several("serviceLocationPostCode", text(1, 16)),
        *several("additionalContact", text(1, 255)),
        *several("phone customerContactPhone", text(1, 25), holds_code=True),
        *several("foreignRetailIndicator", text(1, 25)),
        Parameter("websiteId", text(1, 255), note="A session id, unique per payment"),
        *several("url", text(1, 255), secrecy=OPEN),
        *several("partnerIdCode taxId", text(1, 60), holds_code=True),
        *several("isoId payFacId marketplaceId", text(1, 255), holds_code=True, use=Use.CHAIN),
        *several("payFacName", text(1, 255), use=Use.CHAIN),
        *several("legalName", text(1, 100)),
        Parameter(
            "submerchantId",
            text(1, 100),
            note="For payment facilitators of one card network",
            holds_code=True,
            use=Use.CHAIN,
        ),
        Parameter("data[key]", text(0, 2048), note="Free data of the merchant"),
        Parameter("app.schemeUrl", text(1, 255), note="Scheme that opens the merchant's app"),
    ),
    details="acceptor",
    to={
        "name": sent(iso8583="43.1", stripe="statement_descriptor_suffix"),
        "city": sent(iso8583="43.2"),
        "country": sent(iso8583="43.3"),
        "mcc": sent(iso8583="18"),
        "submerchantId": sent(iso8583="48.40"),
        "payFacId": sent(iso8583="48.41"),
        "marketplaceId": sent(iso8583="48.42"),
    },
)

MARKETPLACE = mount(
    "marketPlace",
    (
        plain("sellers[n].id", text(1, 255), note="As named by cart items in sellerId", holds_code=True),
        plain("sellers[n].amount", EXACT_AMOUNT, note="The seller's part of the amount"),
    ),
    details="market_place",
)
