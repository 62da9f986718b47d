"""Rules of customers and addresses: which fields call for others. Lenient channels take any subset of a customer."""

from collections.abc import Iterable

from tollgate.catalog.rule import Check, Fields, Rule, Situation, all_or_none, fault_missing, needs
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.values import Fault

MANDATORY_BROWSER_FIELDS = tuple(
    f"customer.browser.{field}"
    for field in ("acceptHeader", "language", "screenHeight", "screenWidth", "timezone", "userAgent", "javaEnabled")
)

MANDATORY_BILLING_FIELDS = tuple(f"billing.{field}" for field in ("street1", "city", "postcode", "country"))
"""3D Secure needs these fields of an address."""

_MERCHANT_SENDS = OPERATIONS_WITH_RULES - {"submit_checkout", "update_registration"}
"""A merchant cannot complete what the form collects, and need not send again what is stored."""


def _names_of(customer: str) -> Check:
    names = (f"{customer}.givenName", f"{customer}.surname")
    # These say where a request came from, not who the customer is.
    silent = tuple(f"{customer}.{field}" for field in ("ip", "browser.", "browserFingerprint.", "app."))

    def check(fields: Fields, _situation: Situation) -> Iterable[Fault]:
        missing = fault_missing(names, fields)
        if not missing:
            return ()
        is_described = any(name.startswith(f"{customer}.") and not name.startswith(silent) for name in fields)
        return missing if is_described else ()

    return check


def _not_digits_only(address: str) -> Check:
    street1, street2 = f"{address}.street1", f"{address}.street2"

    def check(fields: Fields, _situation: Situation) -> Iterable[Fault]:
        if street1 not in fields and street2 not in fields:
            return ()
        letters = "".join((fields.get(street1, "") + fields.get(street2, "")).split())
        if not letters.isdecimal():
            return ()
        named = street1 if street1 in fields else street2
        return (Fault(named, "street1 and street2 together must not consist of digits only"),)

    return check


def _customer_rules(customer: str, prefix: str) -> tuple[Rule, ...]:
    return (
        Rule(
            f"{prefix}_names",
            f"Any {customer} field but ip, browser, browserFingerprint and app calls for givenName and surname.",
            _names_of(customer),
            groups=frozenset({customer.partition(".")[0]}),
            operations=_MERCHANT_SENDS,
            binds_lenient=False,
        ),
        Rule(
            f"{prefix}_document",
            f"{customer}.identificationDocType and {customer}.identificationDocId are sent together or not at all.",
            all_or_none(f"{customer}.identificationDocType", f"{customer}.identificationDocId"),
            groups=frozenset({customer.partition(".")[0]}),
            binds_lenient=False,
        ),
    )


def _house_number_rule(address: str) -> Rule:
    return Rule(
        f"{address.replace('.', '_')}_house_number",
        f"{address}.houseNumber2 stands only beside {address}.houseNumber1.",
        needs(f"{address}.houseNumber2", f"{address}.houseNumber1"),
        groups=frozenset({address.partition(".")[0]}),
    )


def _street_rule(address: str) -> Rule:
    return Rule(
        f"{address.replace('.', '_')}_street",
        f"{address}.street1 and {address}.street2 together do not consist of digits only.",
        _not_digits_only(address),
        groups=frozenset({address.partition(".")[0]}),
    )


PEOPLE_RULES = (
    *_customer_rules("customer", "customer"),
    *_customer_rules("shipping.customer", "shipping_customer"),
    Rule(
        "browser_complete",
        "When 3D Secure runs, the seven mandatory customer.browser fields are sent together or not at all.",
        all_or_none(*MANDATORY_BROWSER_FIELDS),
        groups=frozenset({"customer"}),
        operations=frozenset({"authenticate"}),
    ),
    # An enrolled card could not be paid with a part of them, and its holder is not asked for what the merchant has set.
    Rule(
        "checkout_billing",
        "A checkout has billing.street1, billing.city, billing.postcode and billing.country, or none of them.",
        all_or_none(*MANDATORY_BILLING_FIELDS),
        groups=frozenset({"billing"}),
        operations=frozenset({"create_checkout", "create_payment_link"}),
        binds_lenient=False,
    ),
    *(_house_number_rule(address) for address in ("billing", "shipping", "merchant.billing", "merchant.shipping")),
    *(_street_rule(address) for address in ("billing", "merchant.billing")),
)
