"""Examples of the rules about customers, addresses and baskets, as those of the other rules."""

from __future__ import annotations

from tollgate.catalog.limits import LIMITS
from unit.catalog.rule_fields import (
    ALONE,
    BROWSER,
    DEBIT,
    NAMES,
    SELLER,
    SELLERS,
    SHIPPED,
    SHIPPED_TAX_ID,
    TAX_ID,
    Example,
    without,
)

MANY_SELLERS = {
    **DEBIT,
    **{f"marketPlace.sellers[{index}].id": f"s{index}" for index in range(LIMITS.sellers_max)},
    **{f"marketPlace.sellers[{index}].amount": "1.00" for index in range(LIMITS.sellers_max)},
}

PERSON_EXAMPLES = [
    Example(
        "customer_names",
        "create_payment",
        {**DEBIT, **NAMES, "customer.email": "jane@example.org"},
        {**DEBIT, "customer.surname": "Jones", "customer.email": "jane@example.org"},
        ["customer.givenName"],
    ),
    Example(
        "customer_names",
        "create_payment",
        {
            **DEBIT,
            **BROWSER,
            "customer.ip": "192.0.2.1",
            "customer.browserFingerprint.value": "x",
            "customer.app.deviceId": "y",
        },
        {**DEBIT, "customer.merchantCustomerId": "7"},
        ["customer.givenName", "customer.surname"],
    ),
    Example(
        "customer_document",
        "create_payment",
        {**DEBIT, **NAMES, **TAX_ID},
        {**DEBIT, **NAMES, "customer.identificationDocId": "12345678"},
        ["customer.identificationDocType"],
    ),
    Example(
        "customer_document",
        "create_payment",
        {**DEBIT, **NAMES},
        {**DEBIT, **NAMES, "customer.identificationDocType": "PASSPORT"},
        ["customer.identificationDocId"],
    ),
    Example(
        "shipping_customer_names",
        "create_payment",
        {**DEBIT, **SHIPPED, "shipping.customer.email": "jane@example.org"},
        {**DEBIT, "shipping.customer.email": "jane@example.org"},
        ["shipping.customer.givenName", "shipping.customer.surname"],
    ),
    Example(
        "shipping_customer_document",
        "create_payment",
        {**DEBIT, **SHIPPED, **SHIPPED_TAX_ID},
        {**DEBIT, **SHIPPED, **without(SHIPPED_TAX_ID, "shipping.customer.identificationDocId")},
        ["shipping.customer.identificationDocId"],
    ),
    Example(
        "browser_complete",
        "authenticate",
        {**ALONE, **BROWSER},
        {**ALONE, **without(BROWSER, "customer.browser.timezone", "customer.browser.javaEnabled")},
        ["customer.browser.timezone", "customer.browser.javaEnabled"],
    ),
    *(
        Example(
            f"{address.replace('.', '_')}_house_number",
            "create_payment",
            {**DEBIT, f"{address}.houseNumber1": "1", f"{address}.houseNumber2": "a"},
            {**DEBIT, f"{address}.houseNumber2": "a"},
            [f"{address}.houseNumber1"],
        )
        for address in ("billing", "shipping", "merchant.billing", "merchant.shipping")
    ),
    *(
        Example(
            f"{address.replace('.', '_')}_street",
            "create_payment",
            {**DEBIT, f"{address}.street1": "17", f"{address}.street2": "Main Street"},
            {**DEBIT, f"{address}.street1": "17", f"{address}.street2": "4 2"},
            [f"{address}.street1"],
        )
        for address in ("billing", "merchant.billing")
    ),
    Example(
        "item_count",
        "create_payment",
        {**DEBIT, **{f"cart.items[{index}].name": "x" for index in range(LIMITS.items_max)}},
        {**DEBIT, **{f"cart.items[{index}].name": "x" for index in range(LIMITS.items_max + 1)}},
        ["cart.items"],
    ),
    Example(
        "seller_whole",
        "create_payment",
        {**DEBIT, **SELLER},
        {**DEBIT, "marketPlace.sellers[3].id": "s"},
        ["marketPlace.sellers[3].amount"],
    ),
    Example(
        "seller_count",
        "create_payment",
        {**MANY_SELLERS, "amount": f"{LIMITS.sellers_max}.00"},
        {
            **MANY_SELLERS,
            "amount": f"{LIMITS.sellers_max + 1}.00",
            "marketPlace.sellers[999].id": "one more",
            "marketPlace.sellers[999].amount": "1.00",
        },
        ["marketPlace.sellers"],
    ),
    Example(
        "seller_ids",
        "create_payment",
        {**DEBIT, **SELLERS},
        {**DEBIT, **SELLERS, "marketPlace.sellers[1].id": "s"},
        ["marketPlace.sellers[1].id"],
    ),
    *(
        Example(
            "seller_sum",
            operation,
            {**DEBIT, **SELLERS},
            {**DEBIT, **SELLERS, "marketPlace.sellers[1].amount": amount},
            ["marketPlace.sellers[1].amount"],
        )
        for operation in ("create_payment", "create_checkout")
        for amount in ("30.65", "30.67")
    ),
    Example(
        "seller_items",
        "create_payment",
        {**DEBIT, **SELLERS, "cart.items[7].sellerId": "t"},
        {**DEBIT, **SELLERS, "cart.items[7].sellerId": "u"},
        ["cart.items[7].sellerId"],
    ),
]
