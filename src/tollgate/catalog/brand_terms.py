"""The conditions under which a brand can be paid: fields, currencies and countries. The rows are in `provider_rows`."""

from collections.abc import Container, Mapping

from tollgate.catalog.brand_rows import COUNTRY_NAMES, Brand, Need
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.rule import MISSING
from tollgate.values import Fault

FORM_INPUTS = frozenset(
    {
        *("bankAccount.bankName", "bankAccount.bic", "bankAccount.country", "bankAccount.holder", "bankAccount.iban"),
        *("bankAccount.number", "billing.city", "billing.country", "billing.postcode", "billing.state"),
        *("billing.street1", "billing.street2", "customer.birthDate", "customer.email", "customer.givenName"),
        *("customer.identificationDocId", "customer.identificationDocType", "customer.mobile", "customer.phone"),
        *("customer.surname", "virtualAccount.accountId"),
    }
)
"""The payment form has a field for each of these; the merchant sends everything else."""


def list_missing(brand: Brand, known: Container[str], *, is_lenient: bool) -> list[Need]:
    """Lists the needs of a brand that none of the known parameters meets."""
    needs = brand.needs if is_lenient else (*brand.needs, *brand.strict_needs)
    return [need for need in needs if not any(name in known for name in need)]


def is_met_by_account(need: Need) -> bool:
    """Tells whether a need is part of the account: a registration stores it, and payments with it do not repeat it."""
    return first_word(need[0]) in WORDS[Use.ACCOUNT]


def fault_need(need: Need) -> Fault:
    return Fault(need[0], MISSING if len(need) == 1 else f"{' or '.join(need)} {MISSING}")


def find_question(need: Need) -> str | None:
    """Finds the parameter of a need for which the payment form can ask."""
    return next((name for name in need if name in FORM_INPUTS), None)


def find_obstacle(brand: Brand, values: Mapping[str, str], currency: str | None) -> str | None:
    """Finds a currency, or a country among the values, that the brand does not take; either may still be unknown."""
    if currency is not None and brand.currencies and currency not in brand.currencies:
        return f"{brand.code} is paid in {', '.join(brand.currencies)}"
    name = COUNTRY_NAMES.get(brand.account, "")
    if brand.countries and values.get(name, brand.countries[0]) not in brand.countries:
        return f"{brand.code} is paid from {', '.join(brand.countries)}: check {name}"
    return None
