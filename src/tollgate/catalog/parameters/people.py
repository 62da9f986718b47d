"""Rows of customers, senders and recipients.
The rows of the customer are mounted a second time for shipping.
"""

from dataclasses import replace

from tollgate.catalog.parameters import row
from tollgate.catalog.shape import BOOLEAN, COUNTRY3, DATE, RECENT_DATE, choice, digits, number, pattern, text


def _plain_names(names: str, length_max: int) -> tuple[row.Parameter, ...]:
    shape = pattern(
        f"([^\\W_]| ){{1,{length_max}}}",
        1,
        length_max,
        message=f"must have 1 to {length_max} letters, digits or blanks",
        notation=f"AN{length_max}, letters, digits, blanks",
    )
    return row.several(names, shape)


_BROWSER = (
    row.plain("browser.acceptHeader", text(1, 2048), row.CONDITIONAL, note="The accept header exactly as sent"),
    row.plain("browser.language", text(1, 8), row.CONDITIONAL, note="BCP 47 language of the browser"),
    row.plain("browser.screenHeight", digits(1, 6), row.CONDITIONAL, note="Pixels"),
    row.plain("browser.screenWidth", digits(1, 6), row.CONDITIONAL, note="Pixels"),
    row.plain(
        "browser.timezone",
        pattern("[+-]?[0-9]{1,4}", 1, 5),
        row.CONDITIONAL,
        note="Minutes from local time to UTC; positive west of Greenwich",
    ),
    row.plain("browser.userAgent", text(1, 2048), row.CONDITIONAL, note="The user agent header"),
    row.plain("browser.javaEnabled", BOOLEAN, row.CONDITIONAL, note="Whether the browser runs Java"),
    row.plain("browser.javascriptEnabled", BOOLEAN, note="Whether the browser runs JavaScript"),
    row.plain("browser.screenColorDepth", digits(1, 2), note="Bits per pixel"),
    row.plain("browser.challengeWindow", number(1, 5), note="Size code of the challenge window"),
    row.Parameter("browser.deviceId", text(1, 32)),
)

_CUSTOMER = (
    row.Parameter("merchantCustomerId", text(1, 255), note="The merchant's number for the customer"),
    row.Parameter("givenName", text(1, 50), row.CONDITIONAL, note="Needed as soon as any customer field is sent"),
    row.Parameter("middleName", text(2, 50)),
    row.Parameter("surname", text(1, 50), row.CONDITIONAL, note="Needed as soon as any customer field is sent"),
    row.Parameter("sex", choice("M", "F")),
    row.Parameter("birthDate", RECENT_DATE),
    *row.several("phone mobile", row.PHONE),
    row.Parameter("workPhone", text(1, 25), holds_code=True),
    row.Parameter("email", text(6, 128)),
    row.Parameter("companyName", text(1, 60)),
    row.Parameter(
        "identificationDocType",
        choice("IDCARD", "PASSPORT", "TAXSTATEMENT"),
        row.CONDITIONAL,
        note="Together with identificationDocId",
        use=row.Use.IF_NEEDED,
        to=row.TO_PROVIDERS,
    ),
    row.Parameter(
        "identificationDocId",
        text(8, 64),
        row.CONDITIONAL,
        note="Together with identificationDocType",
        holds_code=True,
        use=row.Use.IF_NEEDED,
        to=row.TO_PROVIDERS,
    ),
    row.Parameter("ip", text(1, 255), note="Address the shopper came from", holds_code=True, use=row.Use.NOT_FORM),
    row.Parameter("merchantReference", text(1, 255)),
    row.Parameter("salutation", choice("MR", "MRS", "MS", "MX")),
    row.Parameter("language", pattern("[A-Z]{2}", 2, 2)),
    row.Parameter("category", choice("INDIVIDUAL", "COMPANY")),
    row.Parameter("status", choice("NEW", "EXISTING")),
    # What identifies a device goes to the directory server or to nobody, whatever the rest of the group does.
    row.Parameter("browserFingerprint.id", text(1, 255), to=row.NOT_SENT),
    row.Parameter("browserFingerprint.value", text(1, 4096), to=row.NOT_SENT),
    *(replace(each, to=row.NOT_SENT) for each in _BROWSER),
    row.Parameter("app.deviceId", text(1, 40), to=row.NOT_SENT),
)

CUSTOMERS = (
    *row.mount(
        "customer",
        _CUSTOMER,
        use=row.Use.FORM_ADDITION | row.Use.FORM_QUESTION | row.Use.REGISTRATION,
        details="customer",
        to={
            "merchantCustomerId": row.sent(iso8583="48.03", stripe="metadata[merchantCustomerId]"),
            "givenName": row.sent(stripe="billing_details[name]"),
            "surname": row.sent(stripe="billing_details[name]"),
            "phone": row.sent(stripe="billing_details[phone]"),
            "email": row.sent(stripe="billing_details[email]"),
        },
    ),
    *row.mount(
        "shipping.customer",
        _CUSTOMER,
        without=("browserFingerprint.", "browser.deviceId", "app.deviceId"),
        use=row.Use.REGISTRATION,
        details="shipping.customer",
        to={
            "givenName": row.sent(stripe="shipping[name]"),
            "surname": row.sent(stripe="shipping[name]"),
            "phone": row.sent(stripe="shipping[phone]"),
            **dict.fromkeys(("identificationDocType", "identificationDocId"), row.NOT_SENT),
        },
    ),
)

_PARTY = (
    row.Parameter("birthDate", DATE),
    row.Parameter("accountNumber", text(1, 32), secrecy=row.SEAL, note="May be a card number, so it is kept like one"),
    row.Parameter("street", text(1, 100)),
    *row.several("city state", text(1, 50)),
    row.Parameter("country", COUNTRY3),
    row.Parameter("postcode", text(1, 30)),
)

SENDER = row.mount(
    "sender",
    (
        *_plain_names("name", 100),
        *_plain_names("givenName middleName surname", 50),
        *_PARTY,
        row.Parameter(
            "accountNumberType", choice("OTHER", "RTN_AND_BANK_ACCOUNT", "IBAN", "IBAN_AND_BIC", "CARD_ACCOUNT")
        ),
        row.Parameter(
            "sourceOfFunds",
            choice(*(f"{code:02d}" for code in range(1, 10))),
            note="01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit, 06 other credit, 07 deposit, "
            "08 mobile money, 09 other",
        ),
    ),
    details="sender",
)

RECIPIENT = row.mount(
    "recipient",
    (
        *_plain_names("givenName middleName surname", 48),
        *row.several("phone", row.RECIPIENT_PHONE),
        *_PARTY,
        row.Parameter(
            "accountNumberType",
            choice(
                "OTHER", "RTN_AND_BANK_ACCOUNT", "IBAN", "PHONE_NUMBER", "BAN_AND_BIC", "WALLET_ID", "SOCIAL_NETWORK_ID"
            ),
        ),
    ),
    details="recipient",
)
