"""The conditions of brands name what exists, and one function each finds what is missing and what does not fit.
The answers to a merchant are tested elsewhere.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tollgate.widget
from tollgate.catalog.brand_rows import COUNTRY_NAMES, Brand
from tollgate.catalog.brand_terms import FORM_INPUTS, fault_need, find_obstacle, find_question, list_missing
from tollgate.catalog.brands import BRANDS, ROWS
from tollgate.catalog.countries import ALPHA2_CODES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.parameters.names import PARAMETERS, WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.values import Fault

INPUTS = Path(tollgate.widget.__file__).parent / "parts" / "inputs.js"
CONDITIONED = [row for row in ROWS if row.needs or row.strict_needs or row.currencies or row.countries or row.banks]


@pytest.mark.parametrize("brand", CONDITIONED, ids=lambda brand: brand.code)
def test_every_condition_names_what_exists_and_names_it_once(brand: Brand) -> None:
    needed = [name for need in (*brand.needs, *brand.strict_needs) for name in need]

    assert set(needed) <= set(PARAMETERS)
    assert len(set(needed)) == len(needed)
    assert set(brand.currencies) <= set(CURRENCIES)
    assert len(set(brand.currencies)) == len(brand.currencies)
    assert set(brand.countries) <= set(ALPHA2_CODES)
    assert len(set(brand.countries)) == len(brand.countries)
    assert not brand.countries or COUNTRY_NAMES[brand.account] in PARAMETERS
    assert not brand.banks or ("bankAccount.bankName",) in brand.strict_needs


def test_a_card_has_no_conditions_because_its_number_decides() -> None:
    assert [row.code for row in CONDITIONED if row.account not in COUNTRY_NAMES] == []


def test_the_form_has_a_field_for_every_parameter_that_it_can_ask_for() -> None:
    written = re.findall(r'names: \["([^"]+)"\]', INPUTS.read_text("utf-8"))

    assert set(written) - {"card.holder"} == FORM_INPUTS
    assert {name for name in FORM_INPUTS if first_word(name) not in WORDS[Use.FORM_QUESTION]} == set()


@pytest.mark.parametrize(
    ("code", "sent", "strict", "lenient"),
    [
        ("EPS", {}, ["bankAccount.country"], []),
        ("EFT", {}, ["bankAccount.country"], []),
        ("SOFORTUEBERWEISUNG", {}, ["bankAccount.country"], []),
        ("IDEAL", {"bankAccount.country"}, ["bankAccount.bankName"], []),
        ("GIROPAY", {}, ["bankAccount.iban"], []),
        ("GIROPAY", {"bankAccount.bic"}, [], []),
        ("PRZELEWY", {}, ["customer.email"], []),
        ("INTERAC_ONLINE", {}, ["customer.email"], []),
        ("TRUSTLY", {"billing.country"}, ["customer.merchantCustomerId", "merchantTransactionId"], []),
        ("MBWAY", {}, ["virtualAccount.accountId"], ["virtualAccount.accountId"]),
        ("BOLETO", {}, ["customer.identificationDocType", "customer.identificationDocId"], []),
        ("ALIPAY", {}, [], []),
    ],
)
def test_a_brand_lacks_what_none_of_the_sent_fields_is(
    code: str, sent: set[str], strict: list[str], lenient: list[str]
) -> None:
    missing = list_missing(BRANDS[code], sent, is_lenient=False)

    assert [need[0] for need in missing] == strict
    assert [need[0] for need in list_missing(BRANDS[code], sent, is_lenient=True)] == lenient


def test_a_fault_of_several_choices_names_all_of_them() -> None:
    assert fault_need(("customer.email",)) == Fault("customer.email", "may not be empty")
    assert fault_need(("bankAccount.iban", "bankAccount.bic")) == Fault(
        "bankAccount.iban", "bankAccount.iban or bankAccount.bic may not be empty"
    )


def test_the_form_asks_for_no_number_of_the_merchant() -> None:
    assert find_question(("merchantTransactionId",)) is None
    assert find_question(("customer.merchantCustomerId",)) is None
    assert find_question(("bankAccount.bankCode", "bankAccount.bic")) == "bankAccount.bic"


@pytest.mark.parametrize(
    ("code", "currency", "sent", "obstacle"),
    [
        ("TWINT", "CHF", {}, None),
        ("TWINT", "EUR", {}, "TWINT is paid in CHF"),
        ("TWINT", None, {}, None),
        ("PAYPAL", "JPY", {"billing.country": "JP"}, None),
        ("EPS", "EUR", {}, None),
        ("EPS", "EUR", {"bankAccount.country": "AT", "billing.country": "DE"}, None),
        ("EPS", "EUR", {"bankAccount.country": "DE"}, "EPS is paid from AT: check bankAccount.country"),
        ("EPS", "USD", {"bankAccount.country": "DE"}, "EPS is paid in EUR"),
        (
            "AFTERPAY_PACIFIC",
            "AUD",
            {"billing.country": "GB"},
            "AFTERPAY_PACIFIC is paid from AU, NZ: check billing.country",
        ),
    ],
)
def test_an_obstacle_is_a_known_currency_or_country_that_the_brand_does_not_take(
    code: str, currency: str | None, sent: dict[str, str], obstacle: str | None
) -> None:
    assert find_obstacle(BRANDS[code], sent, currency) == obstacle
