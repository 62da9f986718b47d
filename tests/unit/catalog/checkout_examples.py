"""Examples of the rules that only checkouts are held to: fields that keep each, and fields that break it.
The tests that ask them are elsewhere.
"""

from __future__ import annotations

from unit.catalog.rule_fields import DEBIT, MONEY, Example

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

CHECKOUT_EXAMPLES = [
    Example("initial_type", "checkout", PREPARED, {**PREPARED, "paymentType": "RF"}, ["paymentType"]),
    Example("initial_type", "checkout_payment", DEBIT, {**DEBIT, "paymentType": "RV"}, ["paymentType"]),
    Example("checkout_reference", "checkout", PREPARED, {**PREPARED, **REFERENCE}, ["referenceUuid"]),
    Example("checkout_reference", "checkout_update", {}, REFERENCE, ["referenceUuid"]),
    Example("checkout_reference", "checkout", PREPARED, {**PREPARED, **REGISTRATION}, ["registrationId"]),
    Example("override_brand", "checkout", {**PREPARED, IDEAL: "DB"}, {**PREPARED, IDEAL: "CD"}, [IDEAL]),
    Example(
        "checkout_billing",
        "checkout",
        {**PREPARED, **ADDRESS},
        {**PREPARED, "billing.city": "Graz", "billing.country": "AT"},
        ["billing.street1", "billing.postcode"],
    ),
]
