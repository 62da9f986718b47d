"""Rows of what is bought: cart items, payments already made for them, airline tickets.
How many there may be is a limit and a rule.
"""

from tollgate.catalog import shape
from tollgate.catalog.parameters.row import (
    AMOUNT,
    CONDITIONAL,
    EXACT_AMOUNT,
    NOT_SENT,
    OPEN,
    Parameter,
    Use,
    mount,
    plain,
    sent,
    several,
)

_ITEM_TYPES = ("PHYSICAL", "DIGITAL", "MIXED", "ANONYMOUS_DONATION", "AUTHORITIES_PAYMENT")
_PERCENTAGE = shape.pattern(
    r"100(\.0{1,2})?|[0-9]{1,2}(\.[0-9]{1,2})?",
    1,
    6,
    message="must be a percentage from 0 to 100 with up to 2 decimals",
    notation="AN6, 0-100 with up to 2 decimals",
)

_RECIPIENT = (
    Parameter("salutation", shape.text(1, 5)),
    *several("firstName lastName", shape.text(1, 48)),
    Parameter("middleName", shape.text(1, 50)),
    *several("apartment street address", shape.text(1, 100)),
    Parameter("city", shape.text(1, 80)),
    Parameter("state", shape.text(1, 50)),
    Parameter("postcode", shape.text(1, 16)),
    Parameter("country", shape.COUNTRY2_OR_NUMERIC),
    Parameter("phone", shape.digits(1, 25), lenient=shape.text(1, 25), holds_code=True),
    Parameter("email", shape.text(1, 128)),
)

CART_ITEMS = mount(
    "cart.items[n]",
    (
        *several("name", shape.text(1, 255), CONDITIONAL, OPEN),
        *several("merchantItemId", shape.text(1, 255), CONDITIONAL, OPEN, holds_code=True),
        plain("description", shape.text(1, 2048), CONDITIONAL),
        plain("type", shape.choice(*_ITEM_TYPES), CONDITIONAL),
        plain("quantity", shape.pattern(r"[0-9]{1,12}(\.[0-9]{1,3})?", 1, 16), CONDITIONAL, holds_code=True),
        plain("currency", shape.CURRENCY, CONDITIONAL, note="Currency of the item's amounts", to=NOT_SENT),
        plain("price", EXACT_AMOUNT, CONDITIONAL, note="Per unit, with tax and discount"),
        plain("totalAmount", EXACT_AMOUNT, CONDITIONAL),
        plain("taxAmount", EXACT_AMOUNT, CONDITIONAL, note="Per unit"),
        plain("totalTaxAmount", EXACT_AMOUNT, CONDITIONAL),
        plain("tax", _PERCENTAGE, CONDITIONAL),
        plain("taxCategory", shape.choice("AA", "S", "E", "Z"), CONDITIONAL),
        plain("shipping", AMOUNT, CONDITIONAL),
        plain("discount", EXACT_AMOUNT, CONDITIONAL),
        plain("commodityCode", shape.digits(1, 8), note="UNSPSC", holds_code=True),
        plain("commodityDescription", shape.text(1, 50)),
        plain("originalPrice", shape.text(1, 255), note="Without tax and discount"),
        *several("sku sellerId", shape.text(1, 255), secrecy=OPEN, holds_code=True),
        *several("shippingMethod", shape.text(1, 255), secrecy=OPEN),
        *several("giftMessage shippingInstructions", shape.text(1, 255)),
        *several("shippingTrackingNumber", shape.text(1, 255), holds_code=True),
        plain("quantityUnit", shape.choice("M", "CM", "KG", "G", "COUNT"), note="COUNT by default"),
        *several("productUrl imageUrl", shape.URL, secrecy=OPEN),
        plain("totalDiscountAmount", AMOUNT),
        *several("productCode partNumber vatReferenceNumber", shape.text(1, 30), secrecy=OPEN, holds_code=True),
        plain("itemNumber", shape.number(1, 999), note="Line of the invoice"),
        plain("deliveryDate", shape.DATE),
    ),
    details="cart[n]",
) + mount("cart.items[n].recipient", _RECIPIENT, details="cart[n].recipient")

CART_PAYMENTS = mount(
    "cart.payments[n]",
    (
        *several("name brand", shape.text(1, 255), secrecy=OPEN),
        *several("type", shape.choice("GIFTCARD", "PROMOTION"), secrecy=OPEN),
        *several("amount", AMOUNT, secrecy=OPEN),
        plain("currency", shape.CURRENCY, note="Currency of the amount", to=NOT_SENT),
        *several("status", shape.choice("pending", "authorized", "captured"), secrecy=OPEN),
        *several("primary", shape.BOOLEAN, secrecy=OPEN),
    ),
    details="cart_payments[n]",
)

_LEG = (
    *several(
        "ticketNumber flightNumber exchangeTicketNum couponNumber", shape.text(1, 255), CONDITIONAL, holds_code=True
    ),
    *several(
        "stopOverAllowed restrictions fareBasis departureCountry departureAirport airlineName airlineCode departureTime"
        " arrivalCountry arrivalAirport arrivalTime classOfService carrierCode",
        shape.text(1, 255),
        CONDITIONAL,
    ),
    *several("taxAmount feesAmount fareAmount departureTaxAmount", AMOUNT, CONDITIONAL),
    *several("departureDate arrivalDate", shape.DATE, CONDITIONAL),
    Parameter("timeToDeparture", shape.text(1, 10), CONDITIONAL, note="Days"),
)

_PASSENGER = (
    *several("type name ticketRestricted status email dob", shape.text(1, 255), CONDITIONAL),
    *several("ticketNumber phone frequentFlyerNumber checkDigit", shape.text(1, 255), CONDITIONAL, holds_code=True),
    *several("residenceCountry", shape.COUNTRY2, CONDITIONAL),
)

AIRLINE = (
    *mount(
        "airline",
        (
            *several("totalTaxAmount totalFeesAmount totalFareAmount", AMOUNT, CONDITIONAL),
            *several("ticketIssueDate", shape.DATE, CONDITIONAL),
            *several(
                "ticketIssueAddress thirdPartyBooking bookingtype ticketDeliveryMethod agentName",
                shape.text(1, 255),
                CONDITIONAL,
            ),
            *several("bookingRefNum agentCode", shape.text(1, 255), CONDITIONAL, holds_code=True),
        ),
        use=Use.CHAIN,
        details="airline",
        to={"bookingRefNum": sent(iso8583="48.60")},
    ),
    *mount(
        "airline.passengers[n]",
        _PASSENGER,
        use=Use.CHAIN,
        details="airline.passengers[n]",
        to={"ticketNumber": sent(iso8583="48.61[n]"), "name": sent(iso8583="48.62[n]")},
    ),
    *mount(
        "airline.passengers[n].legs[n]",
        _LEG,
        use=Use.CHAIN,
        details="airline.passengers[n].legs[n]",
        to={
            "carrierCode": sent(iso8583="48.63[n][n]"),
            "flightNumber": sent(iso8583="48.64[n][n]"),
            "departureAirport": sent(iso8583="48.65[n][n]"),
            "arrivalAirport": sent(iso8583="48.66[n][n]"),
            "departureDate": sent(iso8583="48.67[n][n]"),
            "classOfService": sent(iso8583="48.68[n][n]"),
            "fareBasis": sent(iso8583="48.69[n][n]"),
        },
    ),
)
