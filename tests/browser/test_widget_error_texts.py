"""An error says what is wrong: a field is empty, incomplete, not valid or expired. Addresses are spelled."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Shoot
from browser.shops import Site
from browser.test_widget_looks import find_faults_everywhere
from browser.widget_shop import (
    NUMBER,
    HostedPage,
    Prepared,
    cvv_field,
    fill_card,
    form,
    number_field,
    options,
    pay_button,
)
from gateway import Client

SAQ_A: dict[str, object] = {"enableSAQACompliance": True}


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show_hosted_page(
    page: Page, hosted_page: HostedPage, settings: dict[str, object], brands: str = "VISA", **changes: str
) -> Prepared:
    checkout = hosted_page.prepare(**changes)
    hosted_page.show(page, options(settings), hosted_page.script(checkout), form(brands))
    expect(pay_button(page).first).to_be_visible()
    return checkout


def hint(page: Page, name: str) -> Locator:
    return page.locator(f".wpwl-group-{name} .wpwl-hint")


def test_a_card_number(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page, {})

    # No text follows itself, so that none is left over from the number before.
    for typed, received in (
        ("", "Card number is missing."),
        ("4200 0000", "Card number is incomplete."),
        ("4200 0000 0000 0001", "Card number is not valid."),
        ("4200 0000 0000 000", "Card number is incomplete."),
        ("9999 9999 9999 9999", "Card number is not valid."),
    ):
        number_field(page).fill("")
        number_field(page).press_sequentially(typed)
        pay_button(page).click()

        expect(hint(page, "cardNumber")).to_have_text(received)
        expect(number_field(page)).to_have_accessible_description(received)


@pytest.mark.parametrize("is_framed", [False, True], ids=["in the page", "in a frame"])
def test_an_expiry_date(page: Page, hosted_page: HostedPage, is_framed: bool) -> None:
    show_hosted_page(page, hosted_page, SAQ_A if is_framed else {})
    framed = page.frame_locator('iframe[name="card.expiry"]').locator("input")
    field = framed if is_framed else page.locator(".wpwl-control-expiry")

    for typed, received in (
        ("", "Expiry date is missing."),
        ("05", "Expiry date is incomplete."),
        ("0520", "This card has expired."),
        ("13/34", "Expiry date is not valid."),
    ):
        field.fill("")
        field.press_sequentially(typed)
        pay_button(page).click()

        expect(hint(page, "expiry")).to_have_text(received)


def test_a_security_code_and_a_holder(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page, {"allowEmptyCardHolderName": False})
    number_field(page).press_sequentially(NUMBER)
    cvv_field(page).press_sequentially("12")
    page.locator(".wpwl-control-cardHolder").fill("Jo")

    pay_button(page).click()

    expect(hint(page, "cvv")).to_have_text("Security code is incomplete.")
    expect(hint(page, "cardHolder")).to_have_text("Name on card is incomplete.")
    cvv_field(page).fill("")
    pay_button(page).click()
    expect(hint(page, "cvv")).to_have_text("Security code is missing.")


def test_a_pages_own_text_counts_for_all_that_may_be_wrong_with_its_field(page: Page, hosted_page: HostedPage) -> None:
    own = {"cardNumberError": "Look at your card.", "expiryError": "When?", "invalidError": "{field}: no."}
    show_hosted_page(page, hosted_page, {"errorMessages": own, "billingAddress": {"country": "GB"}})
    for typed in ("", "4200", "4200 0000 0000 0001"):
        number_field(page).fill("")
        number_field(page).press_sequentially(typed)
        pay_button(page).click()
        expect(hint(page, "cardNumber")).to_have_text("Look at your card.")
    page.locator(".wpwl-control-expiry").press_sequentially("0520")
    page.locator(".wpwl-control-billingPostcode").fill("123456789")
    pay_button(page).click()
    expect(hint(page, "expiry")).to_have_text("When?")
    expect(hint(page, "billingPostcode")).to_have_text("Postcode: no.")


def test_every_error_is_seen_and_heard(page: Page, hosted_page: HostedPage, shoot: Shoot) -> None:
    settings = {"billingAddress": {"country": "US"}, "showBirthDate": True, "allowEmptyCardHolderName": False}
    show_hosted_page(page, hosted_page, settings)
    number_field(page).press_sequentially("4200 0000 0000 0001")
    page.locator(".wpwl-control-expiry").press_sequentially("0520")
    cvv_field(page).press_sequentially("1")
    page.locator(".wpwl-control-billingPostcode").fill("205")

    pay_button(page).click()

    expect(hint(page, "billingPostcode")).to_have_text("Postcode is incomplete.")
    expect(hint(page, "birthDate")).to_have_text("Date of birth is missing.")
    expect(page.locator(".wpwl-hint")).to_have_count(8)
    assert find_faults_everywhere(page) == []
    shoot(page, "form-errors")


def test_a_click_that_leaves_a_faulty_field_is_not_lost(page: Page, hosted_page: HostedPage) -> None:
    """A hint that appeared under the pressed button would move it away from the click."""
    show_hosted_page(page, hosted_page, {}, "DIRECTDEBIT_SEPA")
    page.locator(".wpwl-control-accountIban").fill("DE89 3704")

    pay_button(page).click()

    expect(page.locator(".wpwl-hint-accountHolderError")).to_be_visible()


# ---- what need not be filled in ----


def test_what_may_stay_empty_says_so_and_the_rest_is_required(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page, {"billingAddress": {}, "allowEmptyCvv": True})

    expect(page.locator(".wpwl-label", has_text="(optional)")).to_have_text(
        [
            "Security code (optional)",
            "Name on card (optional)",
            "State or region (optional)",
            "Further address details (optional)",
        ]
    )
    expect(cvv_field(page)).to_have_attribute("aria-required", "false")
    expect(number_field(page)).to_have_attribute("aria-required", "true")
    for name in ("expiry", "billingCountry", "billingCity", "billingPostcode", "billingStreet1"):
        expect(page.locator(f".wpwl-control-{name}")).to_have_attribute("aria-required", "true")
    expect(page.locator(".wpwl-control-billingState")).not_to_have_attribute("aria-required", "true")


def test_forms_have_names(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page, {}, "VISA DIRECTDEBIT_SEPA PAYPAL")

    for name in ("Card", "SEPA Direct Debit", "PayPal"):
        expect(page.get_by_role("form", name=name, exact=True)).to_be_visible()


@pytest.mark.parametrize(
    ("brands", "received"),
    [
        (
            "VISA",
            {
                "billingPostcode": "Postcode is not valid.",
                "cardHolder": "Name on card is not valid.",
                "taxNumber": "Tax number is not valid.",
            },
        ),
        ("DIRECTDEBIT_SEPA", {"accountBic": "BIC is not valid."}),
    ],
    ids=["card", "account"],
)
def test_what_begins_no_value_of_a_field_is_not_called_incomplete(
    page: Page, hosted_page: HostedPage, brands: str, received: dict[str, str]
) -> None:
    show_hosted_page(page, hosted_page, {"billingAddress": {"country": "GB"}, "showTaxNumberField": True}, brands)

    for name, text in received.items():
        page.locator(f".wpwl-control-{name}").fill("!!")
        page.locator(f".wpwl-control-{name}").blur()

        expect(hint(page, name)).to_have_text(text)


# ---- addresses ----


def test_another_country_judges_the_postcode_again(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page, {"billingAddress": {"country": "BR"}})
    country = page.locator(".wpwl-control-billingCountry")
    country.select_option("US")
    expect(hint(page, "billingPostcode")).to_have_count(0)
    country.select_option("BR")
    page.locator(".wpwl-control-billingPostcode").fill("01310-100")
    page.locator(".wpwl-control-billingPostcode").blur()
    expect(hint(page, "billingPostcode")).to_have_count(0)

    country.select_option("US")

    expect(hint(page, "billingPostcode")).to_have_text("Postcode is not valid.")
    country.select_option("BR")
    expect(hint(page, "billingPostcode")).to_have_count(0)


@pytest.mark.parametrize(
    ("country", "typed", "shown", "state", "kept"),
    [
        ("GB", "sw1a1aa", "SW1A 1AA", "", {"postcode": "SW1A1AA"}),
        ("CA", "k1a0b1", "K1A 0B1", "ontario", {"postcode": "K1A0B1", "state": "ON"}),
        ("US", "20500 0003", "20500-0003", "california", {"postcode": "205000003", "state": "CA"}),
        ("AU", "2000", "2000", "nsw", {"postcode": "2000", "state": "NSW"}),
        ("DE", "10115", "10115", "Nordrhein-Westfalen", {"postcode": "10115", "state": "NordrheinWestfalen"}),
    ],
)
def test_an_address_is_spelled_as_its_country_and_the_gateway_want_it(
    page: Page, hosted_page: HostedPage, country: str, typed: str, shown: str, state: str, kept: dict[str, str]
) -> None:
    checkout = show_hosted_page(page, hosted_page, {"billingAddress": {"country": country}})
    fill_card(page)
    page.locator(".wpwl-control-billingCity").fill("Town")
    page.locator(".wpwl-control-billingStreet1").fill("Street 1")
    page.locator(".wpwl-control-billingState").fill(state)
    postcode = page.locator(".wpwl-control-billingPostcode")
    postcode.press_sequentially(typed)
    postcode.blur()
    expect(postcode).to_have_value(shown)

    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    billing = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json["billing"]
    assert {name: billing.get(name) for name in kept} == kept
