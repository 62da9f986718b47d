"""The pay button names the amount, and an empty card number shows what one looks like.

Each language's words around the amount are tested with the languages.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext
from browser.repeats import keep_rows
from browser.shops import Site
from browser.watching import Watch
from browser.widget_shop import HostedPage, fill_card, form, number_field, options, pay_button
from gateway import CARD, Client

IS_CUT_OFF = """
input => {
  const style = getComputedStyle(input);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return pen.measureText(input.placeholder).width > room;
}
"""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


@pytest.mark.parametrize(
    ("amount", "currency", "locale", "text"),
    [
        ("1234.50", "EUR", "en", "Pay €1,234.50"),
        ("1234.50", "EUR", "de", "1.234,50 € bezahlen"),
        ("38.50", "USD", "en", "Pay $38.50"),
        ("1200.00", "JPY", "ja", "￥1,200を支払う"),
        ("1.50", "KWD", "en", "Pay KWD 1.500"),
    ],
)
def test_the_amount_is_written_as_the_language_writes_it(
    page: Page, hosted_page: HostedPage, amount: str, currency: str, locale: str, text: str
) -> None:
    checkout = hosted_page.prepare(amount=amount, currency=currency)
    hosted_page.show(page, options({"locale": locale}), hosted_page.script(checkout), form("VISA"))

    expect(pay_button(page)).to_have_text(text)


@pytest.mark.parametrize(
    ("label", "text"),
    [("Donate {amount}", "Donate €92.00"), ("Donate", "Donate"), ("$& {amount} $1", "$& €92.00 $1")],
)
def test_a_label_of_the_shop_says_where_the_amount_stands(
    page: Page, hosted_page: HostedPage, label: str, text: str
) -> None:
    hosted_page.show(
        page, options({"labels": {"submit": label}}), hosted_page.script(hosted_page.prepare()), form("VISA")
    )

    expect(pay_button(page)).to_have_text(text)


def test_a_brand_with_a_text_of_its_own_keeps_it(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("PAYPAL"))
    expect(pay_button(page)).to_have_text("Pay with PayPal")

    own = options({"labels": {"payWith": "{amount} by {brand}"}})
    hosted_page.show(page, own, hosted_page.script(hosted_page.prepare()), form("PAYPAL"))
    expect(pay_button(page)).to_have_text("€92.00 by PayPal")


def test_a_registered_card_is_paid_with_the_amount_in_the_button(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    stored = client.post("/v1/registrations", CARD).json["id"]
    hosted_page.show(page, hosted_page.script(hosted_page.prepare(**{"registrations[0].id": stored})), form("VISA"))

    expect(pay_button(page.locator(".wpwl-container-registration"))).to_have_text("Pay €92.00")


def test_a_checkout_without_an_amount_has_none_in_the_button(page: Page, hosted_page: HostedPage) -> None:
    stores = hosted_page.prepare(amount=None, currency=None, paymentType=None, createRegistration="true")
    own = options({"labels": {"register": "Keep it"}})
    hosted_page.show(page, own, hosted_page.script(stores), form("VISA"))

    expect(pay_button(page)).to_have_text("Keep it")


def test_an_amount_that_changed_while_the_form_stood_is_named_when_it_is_known(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, hosted_page.script(checkout), form("PAYPAL VISA"))
    expect(pay_button(page.locator(".wpwl-container-card"))).to_have_text("Pay €92.00")
    client.post(f"/v1/checkouts/{checkout.id}", {"amount": "50.00", "currency": "EUR", "paymentType": "DB"})

    with page.expect_popup() as opened:
        pay_button(page.locator(".wpwl-container-virtualAccount-PAYPAL")).click()
    expect(opened.value.get_by_role("button", name="Approve")).to_be_visible()
    opened.value.close()

    expect(pay_button(page.locator(".wpwl-container-card"))).to_have_text("Pay €50.00")


def test_in_an_accordion_the_open_method_names_an_amount_that_changed(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(
        page, options({"layout": "accordion"}), hosted_page.script(checkout), form("VISA PAYPAL DIRECTDEBIT_SEPA")
    )
    expect(pay_button(page)).to_have_text("Pay €92.00")
    client.post(f"/v1/checkouts/{checkout.id}", {"amount": "50.00", "currency": "EUR", "paymentType": "DB"})

    with page.expect_response("**/form?*"):
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(pay_button(page)).to_have_text("Pay €50.00")

    for name, text in (("SEPA Direct Debit", "Pay €50.00"), ("PayPal", "Pay with PayPal"), ("Card", "Pay €50.00")):
        page.get_by_role("radio", name=name).check()
        expect(pay_button(page)).to_have_text(text)


@pytest.mark.parametrize("written_on", [".wpwl-button-pay", ".wpwl-button-text"])
def test_what_a_page_wrote_on_the_one_button_stays_and_every_method_pays(
    page: Page, hosted_page: HostedPage, watch: Watch, written_on: str
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, options({"layout": "accordion"}), hosted_page.script(checkout), form("VISA PAYPAL"))
    fill_card(page)
    page.locator(written_on).evaluate("button => { button.textContent = 'Buy now'; }")

    page.get_by_role("radio", name="PayPal").check()
    expect(pay_button(page)).to_have_text("Buy now")
    page.evaluate("wpwl.executePayment('wpwl-container-card')")

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == "000.100.110"
    assert watch.take() == []


def test_a_page_that_broke_the_accordion_is_reported_whenever_a_closed_method_is_to_pay(
    page: Page, hosted_page: HostedPage
) -> None:
    keep = options({"layout": "accordion"}, onError="({ event }) => { document.title += ` ${event}`; }")
    hosted_page.show(page, keep, hosted_page.script(hosted_page.prepare()), form("VISA PAYPAL"))
    expect(number_field(page)).to_be_visible()
    page.locator(".wpwl-method-panel").last.evaluate("panel => panel.replaceWith(...panel.childNodes)")

    for title in ("Payment submit", "Payment submit submit"):
        page.evaluate("wpwl.executePayment('wpwl-container-virtualAccount-PAYPAL')")
        expect(page).to_have_title(title)

    expect(page.get_by_role("alert")).to_have_text("Something went wrong. Please try again.")
    expect(page.get_by_role("radio", name="Card")).to_be_checked()
    expect(number_field(page)).to_be_visible()


@pytest.mark.parametrize("width", keep_rows([320, 280], 280))
def test_an_empty_number_shows_what_one_looks_like(
    open_context: OpenContext, hosted_page: HostedPage, width: int
) -> None:
    page = open_context(viewport={"width": width, "height": 640}).new_page()
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("VISA MASTER AMEX"))

    expect(number_field(page)).to_have_attribute("placeholder", "1234 1234 1234 1234")
    assert not number_field(page).evaluate(IS_CUT_OFF)


def test_without_labels_the_placeholder_says_what_is_asked_for(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, options({"showLabels": False}), hosted_page.script(hosted_page.prepare()), form("VISA"))

    expect(number_field(page)).to_have_attribute("placeholder", "Card number")
    fill_card(page)
    expect(number_field(page)).to_have_value("4200 0000 0000 0000")
