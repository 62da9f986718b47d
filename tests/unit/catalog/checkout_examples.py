"""Examples of the rules that only checkouts are held to: fields that keep each, and fields that break it.
The tests that ask them are elsewhere.
"""

from __future__ import annotations

from unit.catalog.rule_fields import DEBIT, MONEY, NAMES, Example

PREPARED = {**MONEY, "paymentType": "DB"}
REFERENCE = {"referenceUuid": "8a" * 16}
REGISTRATION = {"registrationId": "8a" * 16}
ADDRESS = {
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}
IDEAL = "overridePaymentType[IDEAL]"
TRUSTLY = {**PREPARED, **NAMES, "paymentBrand": "TRUSTLY"}
ORDER = {"customer.merchantCustomerId": "C-1001", "merchantTransactionId": "order-1001"}

CHECKOUT_EXAMPLES = [
    Example("initial_type", "create_checkout", PREPARED, {**PREPARED, "paymentType": "RF"}, ["paymentType"]),
    Example("initial_type", "submit_checkout", DEBIT, {**DEBIT, "paymentType": "RV"}, ["paymentType"]),
    Example("checkout_reference", "create_checkout", PREPARED, {**PREPARED, **REFERENCE}, ["referenceUuid"]),
    Example("checkout_reference", "update_checkout", {}, REFERENCE, ["referenceUuid"]),
    Example("checkout_reference", "create_checkout", PREPARED, {**PREPARED, **REGISTRATION}, ["registrationId"]),
    Example("override_brand", "create_checkout", {**PREPARED, IDEAL: "DB"}, {**PREPARED, IDEAL: "CD"}, [IDEAL]),
    Example("brand_prepared", "create_checkout", {**TRUSTLY, **ORDER}, TRUSTLY, list(ORDER)),
    Example("brand_prepared", "create_payment_link", {**TRUSTLY, **ORDER}, TRUSTLY, list(ORDER)),
    Example(
        "checkout_billing",
        "create_checkout",
        {**PREPARED, **ADDRESS},
        {**PREPARED, "billing.city": "Graz", "billing.country": "AT"},
        ["billing.street1", "billing.postcode"],
    ),
]
