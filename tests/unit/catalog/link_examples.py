"""Examples of the rules that payment links are held to: fields that keep each, and fields that break it.
The tests that ask them are elsewhere.
"""

from __future__ import annotations

from unit.catalog.rule_fields import MONEY, Example

LINK = {**MONEY, "paymentType": "DB"}
LOGO, TERMS = "layout.logo", "termsAndConditionsUrl"
SHOP = "//shop.example/a.png"

LINK_EXAMPLES = [
    Example(
        "link_parameters",
        "create_checkout",
        LINK,
        {**LINK, "validUntil": "5", LOGO: f"https:{SHOP}"},
        ["validUntil", LOGO],
    ),
    Example(
        "link_lifetime",
        "create_payment_link",
        {**LINK, "validUntil": "365"},
        {**LINK, "validUntil": "366"},
        ["validUntil"],
    ),
    Example(
        "link_lifetime",
        "create_payment_link",
        {**LINK, "validUntil": "12", "validUntilUnit": "MONTH"},
        {**LINK, "validUntil": "13", "validUntilUnit": "MONTH"},
        ["validUntil"],
    ),
    Example(
        "link_unit",
        "create_payment_link",
        {**LINK, "validUntil": "1", "validUntilUnit": "YEAR"},
        {**LINK, "validUntilUnit": "YEAR"},
        ["validUntil"],
    ),
    Example(
        "link_addresses",
        "create_payment_link",
        {**LINK, LOGO: "http://127.0.0.1:8000/a.png", TERMS: f"https:{SHOP}"},
        {**LINK, LOGO: f"http:{SHOP}", TERMS: f"http:{SHOP}"},
        [LOGO, TERMS],
    ),
    Example("link_accounts", "create_payment_link", LINK, {**LINK, "card.number": "4200000000000000"}, ["card.number"]),
    Example("link_type", "create_payment_link", LINK, {**LINK, "paymentType": "CD"}, ["paymentType"]),
    Example(
        "link_type",
        "create_payment_link",
        {**LINK, "overridePaymentType[VISA]": "PA"},
        {**LINK, "overridePaymentType[VISA]": "CD"},
        ["overridePaymentType[VISA]"],
    ),
    *[
        Example(
            "link_brand",
            "create_payment_link",
            {**LINK, "paymentBrand": "PAYPAL"},
            {**LINK, "paymentBrand": wallet},
            ["paymentBrand"],
        )
        for wallet in ("APPLEPAY", "GOOGLEPAY", "SAMSUNGPAY")
    ],
    Example("needed_fields", "create_payment_link", LINK, {"paymentType": "DB"}, ["amount", "currency"]),
]
