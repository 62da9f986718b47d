"""Rows of customers, senders and recipients.
Where the customer's rows are mounted a second time is told in the last table.
"""

from __future__ import annotations

from tollgate.catalog.parameters.row import (
    BOOLEAN,
    CONDITIONAL,
    OPEN,
    PHONE,
    RECIPIENT_PHONE,
    SEAL,
    Parameter,
    mount,
    several,
)
from tollgate.catalog.shape import choice, country3, date, digits, number, pattern, recent_date, text


def _plain_names(names: str, length_max: int) -> tuple[Parameter, ...]:
    shape = pattern(
        f"([^\\W_]| ){{1,{length_max}}}",
        1,
        length_max,
        message=f"must have 1 to {length_max} letters, digits or blanks",
        notation=f"AN{length_max}, letters, digits, blanks",
    )
    return several(names, shape)


_BROWSER = (
    Parameter("browser.acceptHeader", text(1, 2048), CONDITIONAL, OPEN, note="The accept header exactly as sent"),
    Parameter("browser.language", text(1, 8), CONDITIONAL, OPEN, note="BCP 47 language of the browser"),
    Parameter("browser.screenHeight", digits(1, 6), CONDITIONAL, OPEN, note="Pixels"),
    Parameter("browser.screenWidth", digits(1, 6), CONDITIONAL, OPEN, note="Pixels"),
    Parameter(
        "browser.timezone",
        pattern("[+-]?[0-9]{1,4}", 1, 5),
        CONDITIONAL,
        OPEN,
        note="Minutes from local time to UTC; positive west of Greenwich",
    ),
    Parameter("browser.userAgent", text(1, 2048), CONDITIONAL, OPEN, note="The user agent header"),
    Parameter("browser.javaEnabled", BOOLEAN, CONDITIONAL, OPEN, note="Whether the browser runs Java"),
    Parameter("browser.javascriptEnabled", BOOLEAN, secrecy=OPEN, note="Whether the browser runs JavaScript"),
    Parameter("browser.screenColorDepth", digits(1, 2), secrecy=OPEN, note="Bits per pixel"),
    Parameter("browser.challengeWindow", number(1, 5), secrecy=OPEN, note="Size code of the challenge window"),
    Parameter("browser.deviceId", text(1, 32)),
)

_CUSTOMER = (
    Parameter("merchantCustomerId", text(1, 255), note="The merchant's number for the customer"),
    Parameter("givenName", text(1, 50), CONDITIONAL, note="Needed as soon as any customer field is sent"),
    Parameter("middleName", text(2, 50)),
    Parameter("surname", text(1, 50), CONDITIONAL, note="Needed as soon as any customer field is sent"),
    Parameter("sex", choice("M", "F")),
    Parameter("birthDate", recent_date()),
    *several("phone mobile", PHONE),
    Parameter("workPhone", text(1, 25), holds_code=True),
    Parameter("email", text(6, 128)),
    Parameter("companyName", text(1, 60)),
    Parameter(
        "identificationDocType",
        choice("IDCARD", "PASSPORT", "TAXSTATEMENT"),
        CONDITIONAL,
        note="Together with identificationDocId",
    ),
    Parameter(
        "identificationDocId", text(8, 64), CONDITIONAL, note="Together with identificationDocType", holds_code=True
    ),
    Parameter("ip", text(1, 255), note="Address the shopper came from", holds_code=True),
    Parameter("merchantReference", text(1, 255)),
    Parameter("salutation", choice("MR", "MRS", "MS", "MX")),
    Parameter("language", pattern("[A-Z]{2}", 2, 2)),
    Parameter("category", choice("INDIVIDUAL", "COMPANY")),
    Parameter("status", choice("NEW", "EXISTING")),
    Parameter("browserFingerprint.id", text(1, 255)),
    Parameter("browserFingerprint.value", text(1, 4096)),
    *_BROWSER,
    Parameter("app.deviceId", text(1, 40)),
)

CUSTOMERS = (
    *mount("customer", _CUSTOMER),
    *mount("shipping.customer", _CUSTOMER, without=("browserFingerprint.", "browser.deviceId", "app.deviceId")),
)

_PARTY = (
    Parameter("birthDate", date()),
    Parameter("accountNumber", text(1, 32), secrecy=SEAL, note="May be a card number, so it is kept like one"),
    Parameter("street", text(1, 100)),
    *several("city state", text(1, 50)),
    Parameter("country", country3()),
    Parameter("postcode", text(1, 30)),
)

SENDER = mount(
    "sender",
    (
        *_plain_names("name", 100),
        *_plain_names("givenName middleName surname", 50),
        *_PARTY,
        Parameter(
            "accountNumberType",
            choice("OTHER", "RTN_AND_BANK_ACCOUNT", "IBAN", "IBAN_AND_BIC", "CARD_ACCOUNT"),
        ),
        Parameter(
            "sourceOfFunds",
            choice(*(f"{code:02d}" for code in range(1, 10))),
            note="01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit, 06 other credit, 07 deposit, "
            "08 mobile money, 09 other",
        ),
    ),
)

RECIPIENT = mount(
    "recipient",
    (
        *_plain_names("givenName middleName surname", 48),
        *several("phone", RECIPIENT_PHONE),
        *_PARTY,
        Parameter(
            "accountNumberType",
            choice(
                "OTHER",
                "RTN_AND_BANK_ACCOUNT",
                "IBAN",
                "PHONE_NUMBER",
                "BAN_AND_BIC",
                "WALLET_ID",
                "SOCIAL_NETWORK_ID",
            ),
        ),
    ),
)
