"""The form asks for what a brand needs and the checkout lacks. It leaves out brands that do not fit."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import list_violations
from browser.shops import Site
from browser.widget_shop import HostedPage, Prepared, form, options, pay_button
from gateway import Client
from tollgate.catalog.brands import BRANDS
from tollgate.widget.languages import LANGUAGES

APPROVED = "000.100.110"
ENGLISH = LANGUAGES["en"]


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show_form(page: Page, hosted_page: HostedPage, brands: str, *before: str, **changes: str) -> Prepared:
    checkout = hosted_page.prepare(**changes)
    hosted_page.show(page, *before, hosted_page.script(checkout), form(brands))
    return checkout


def approve_in_popup(page: Page) -> None:
    with page.expect_popup() as opened:
        pay_button(page).click()
    opened.value.get_by_role("button", name="Approve").click()


def read(client: Client, checkout: Prepared) -> dict[str, dict[str, str]]:
    paid: dict[str, dict[str, str]] = client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert paid["result"]["code"] == APPROVED, paid
    return paid


@pytest.mark.parametrize("layout", ["classic", "accordion"])
def test_the_form_asks_for_an_email_address_and_pays_with_it(
    page: Page, hosted_page: HostedPage, client: Client, layout: str
) -> None:
    checkout = show_form(page, hosted_page, "PRZELEWY", options({"layout": layout}), currency="PLN")
    email = page.get_by_label(ENGLISH["email"])
    expect(email).to_have_attribute("inputmode", "email")
    expect(email).to_have_attribute("aria-required", "true")

    pay_button(page).click()
    expect(page.locator(".wpwl-hint-emailError")).to_have_text("Email address is missing.")
    expect(email).to_be_focused()
    email.fill("jane@example.org")
    approve_in_popup(page)

    hosted_page.expect_home(page, checkout)
    assert read(client, checkout)["customer"]["email"] == "jane@example.org"


def test_the_form_asks_for_a_document_and_its_type_and_pays_with_it(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = show_form(page, hosted_page, "BOLETO", paymentType="PA", currency="BRL")
    kind, number = page.get_by_label(ENGLISH["documentType"]), page.get_by_label(ENGLISH["documentNumber"])
    expect(kind).to_have_value("TAXSTATEMENT")
    assert kind.locator("option").all_inner_texts() == [
        ENGLISH[key] for key in ("taxNumber", "identityCard", "passport")
    ]

    number.fill("1234")
    pay_button(page).click()
    expect(page.locator(".wpwl-hint-documentNumberError")).to_have_text("Document number is incomplete.")
    assert list_violations(page, ".wpwl-form") == []
    kind.select_option("PASSPORT")
    number.fill("FB123456")
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    customer = read(client, checkout)["customer"]
    assert (customer["identificationDocType"], customer["identificationDocId"]) == ("PASSPORT", "FB123456")


def test_a_tax_number_that_the_page_asks_for_is_the_document(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    asks = options({"showTaxNumberField": True})
    checkout = show_form(page, hosted_page, "BOLETO", asks, paymentType="PA", currency="BRL")

    page.get_by_label(ENGLISH["taxNumber"]).fill("12345678909")
    expect(page.get_by_label(ENGLISH["documentType"])).to_have_count(0)
    expect(page.get_by_label(ENGLISH["documentNumber"])).to_have_count(0)
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert read(client, checkout)["customer"]["identificationDocType"] == "TAXSTATEMENT"


def test_a_brand_of_another_currency_is_not_offered(page: Page, hosted_page: HostedPage) -> None:
    show_form(page, hosted_page, "PAYPAL TWINT PRZELEWY BOLETO", currency="CHF")

    expect(page.locator(".wpwl-form-virtualAccount-TWINT")).to_be_visible()
    expect(page.locator(".wpwl-form-virtualAccount-PAYPAL")).to_be_visible()
    expect(page.locator(".wpwl-form")).to_have_count(2)


def test_a_shopper_chooses_among_the_countries_of_the_brand(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = show_form(page, hosted_page, "SOFORTUEBERWEISUNG")
    country = page.get_by_label(ENGLISH["country"])
    expect(country).to_be_visible()
    values = country.locator("option").evaluate_all("(options) => options.map((option) => option.value)")
    assert sorted(values) == sorted(["", *BRANDS["SOFORTUEBERWEISUNG"].countries])
    assert list_violations(page, ".wpwl-form") == []

    country.select_option("AT")
    approve_in_popup(page)

    hosted_page.expect_home(page, checkout)
    read(client, checkout)


def test_a_shopper_chooses_a_bank_and_is_not_asked_for_the_only_country(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = show_form(page, hosted_page, "IDEAL", options({"locale": "nl"}))
    bank = page.get_by_label(LANGUAGES["nl"]["bankName"])
    expect(bank).to_be_visible()
    assert bank.locator("option").all_inner_texts()[1:] == list(BRANDS["IDEAL"].banks)
    expect(page.get_by_label(LANGUAGES["nl"]["country"])).to_have_count(0)

    bank.select_option("Rabobank")
    approve_in_popup(page)

    hosted_page.expect_home(page, checkout)
    read(client, checkout)


def test_an_iban_that_is_typed_in_groups_is_sent_without_blanks(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = show_form(page, hosted_page, "GIROPAY")

    page.get_by_label(ENGLISH["accountIban"]).press_sequentially("DE89 3704 0044 0532 0130 00")
    approve_in_popup(page)

    hosted_page.expect_home(page, checkout)
    read(client, checkout)


def test_an_account_that_is_a_phone_is_asked_for_as_one(page: Page, hosted_page: HostedPage, client: Client) -> None:
    checkout = show_form(page, hosted_page, "MBWAY")
    phone = page.get_by_label(ENGLISH["mobilePhone"])
    expect(phone).to_have_attribute("inputmode", "tel")

    phone.fill("351#911222111")
    approve_in_popup(page)

    hosted_page.expect_home(page, checkout)
    assert read(client, checkout)["virtualAccount"]["accountId"] == "351#911222111"


def test_what_the_checkout_brought_is_not_asked_for(page: Page, hosted_page: HostedPage) -> None:
    known = {"customer__email": "jane@example.org", "customer__givenName": "Jane", "customer__surname": "Jones"}
    show_form(page, hosted_page, "PRZELEWY", currency="PLN", **known)

    expect(pay_button(page)).to_be_visible()
    expect(page.get_by_label(ENGLISH["email"])).to_have_count(0)
