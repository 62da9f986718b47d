"""Values that are well formed and make no sense: an example of each row, and what each row leaves alone."""

from __future__ import annotations

from datetime import date

import pytest

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.declines import DECLINES, Facts, find_decline
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.results import RESULTS
from tollgate.catalog.tax_numbers import is_brazilian_tax_number

FACTS = Facts(date(2026, 11, 15), BRANDS["VISA"], "DE89370400440532013000")
MBWAY, SKRILL = FACTS._replace(brand=BRANDS["MBWAY"]), FACTS._replace(brand=BRANDS["MONEYBOOKERS"])
TAX = {"billing.country": "BR", "customer.identificationDocType": "TAXSTATEMENT"}

SENSELESS = [
    ("100.100.402", {"card.holder": "Jane <Jones>"}, FACTS),
    ("100.100.402", {"card.holder": "jane@example.org"}, FACTS),
    ("100.210.101", {"virtualAccount.accountId": "jane"}, MBWAY),
    ("100.211.105", {"virtualAccount.accountId": "jane"}, SKRILL),
    ("100.500.301", {"transactionDueDate": "2029-11-16"}, FACTS),
    ("100.550.701", {"amount": "10.00", "taxAmount": "10.01"}, FACTS),
    ("100.550.701", {"amount": "10.00", "shipping.cost": "11.00"}, FACTS),
    ("100.700.801", {**TAX, "customer.identificationDocId": "529.982.247-24"}, FACTS),
    ("100.800.302", {"billing.city": "4711"}, FACTS),
    ("100.900.101", {"customer.email": "notanemail"}, FACTS),
    ("100.900.101", {"customer.email": "jane@@example.org"}, FACTS),
    ("100.900.101", {"shipping.customer.email": "jane@example..org"}, FACTS),
    ("100.900.401", {"customer.ip": "zzz"}, FACTS),
    ("100.900.401", {"customer.ip": "192.0.2.256"}, FACTS),
    ("100.900.450", {"customer.birthDate": "2026-11-16"}, FACTS),
    ("100.900.450", {"recipient.birthDate": "2030-01-01"}, FACTS),
    ("700.450.001", {"bankAccount.iban": "de89370400440532013000"}, FACTS),
    ("700.450.001", {"sender.accountNumber": "4711", "recipient.accountNumber": "4711"}, FACTS),
]

SENSIBLE = [
    ({"card.expiryYear": "2099", "card.holder": "Jane O'Neill-Jones 2nd"}, FACTS),
    ({"card.holder": "山田 太郎", "bankAccount.holder": "3M Company & Co. KG"}, FACTS),
    ({"virtualAccount.accountId": "351#911222333"}, MBWAY),
    ({"virtualAccount.accountId": "jane@example.org"}, SKRILL),
    ({"virtualAccount.accountId": "jane"}, FACTS._replace(brand=BRANDS["PAYPAL"])),
    ({"virtualAccount.accountId": "jane"}, FACTS._replace(brand=None)),
    # What an outside 3-D Secure server found out is passed on as it is.
    ({"threeDSecure.eci": "07", "threeDSecure.authenticationStatus": "N"}, FACTS),
    ({"transactionDueDate": "2029-11-15"}, FACTS),
    ({"amount": "10.00", "taxAmount": "10.00", "shipping.cost": "10.00"}, FACTS),
    ({"taxAmount": "10.00", "cart.items[0].currency": "USD"}, FACTS),
    ({**TAX, "customer.identificationDocId": "529.982.247-25"}, FACTS),
    ({**TAX, "billing.country": "MX", "customer.identificationDocId": "12345678"}, FACTS),
    ({"billing.country": "DE", "billing.postcode": "8010", "billing.city": "München"}, FACTS),
    ({"billing.country": "US", "billing.postcode": "SW1A1AA", "billing.state": "ON"}, FACTS),
    ({"bankAccount.holder": "12345"}, FACTS),
    ({"customer.email": "jane+1@mail.example.org", "customer.ip": "2001:db8::1"}, FACTS),
    ({"customer.email": "jane@localhost", "customer.phone": "+", "customer.mobile": "112"}, FACTS),
    ({"customer.birthDate": "2026-11-15", "sender.birthDate": "1980-02-29"}, FACTS),
    ({"bankAccount.iban": "AT483200000012345864"}, FACTS),
    ({"sender.accountNumber": "4711", "recipient.accountNumber": "4712"}, FACTS),
    ({"sender.accountNumber": "4711"}, FACTS),
]


def find(fields: dict[str, str], facts: Facts, *, is_lenient: bool = False) -> str | None:
    return find_decline(fields, facts, is_lenient=is_lenient)


@pytest.mark.parametrize(("code", "fields", "facts"), SENSELESS)
def test_senseless_values_are_declined_with_their_code(code: str, fields: dict[str, str], facts: Facts) -> None:
    assert find(fields, facts) == code


@pytest.mark.parametrize(("code", "fields", "facts"), SENSELESS)
def test_a_row_applies_only_where_one_of_its_names_was_sent(code: str, fields: dict[str, str], facts: Facts) -> None:
    (row,) = (row for row in DECLINES if row.code == code)

    assert row.applies(fields, facts)
    assert not row.applies({name: text for name, text in fields.items() if name not in row.names}, facts)


@pytest.mark.parametrize(("fields", "facts"), SENSIBLE)
def test_sensible_values_are_left_alone(fields: dict[str, str], facts: Facts) -> None:
    assert find(fields, facts) is None


@pytest.mark.parametrize(("fields", "facts"), [example[1:] for example in SENSELESS])
def test_a_lenient_channel_declines_none_of_them(fields: dict[str, str], facts: Facts) -> None:
    assert find(fields, facts, is_lenient=True) is None


def test_every_row_has_an_example_a_result_and_names_that_exist() -> None:
    assert {row.code for row in DECLINES} == {code for code, _, _ in SENSELESS}
    assert [row.code for row in DECLINES if RESULTS[row.code].http_status != 400] == []
    assert [row.code for row in DECLINES if not row.names or not row.names <= PARAMETERS.keys()] == []


def test_the_rows_stand_in_the_order_of_their_codes() -> None:
    codes = [row.code for row in DECLINES]

    assert codes == sorted(codes)


@pytest.mark.parametrize("number", ["111.444.777-35", "11.222.333/0001-81", "12.ABC.345/01DE-35", "12abc34501de35"])
def test_a_brazilian_tax_number_is_known_by_its_check_digits(number: str) -> None:
    assert is_brazilian_tax_number(number)


@pytest.mark.parametrize("number", ["111.444.777-34", "11.222.333/0001-82", "11111111111", "1234567", "ABC444777355"])
def test_other_numbers_are_no_brazilian_tax_numbers(number: str) -> None:
    assert not is_brazilian_tax_number(number)
