"""The rarer options of a page: a provider within it, a summary before paying, and what it knows of the shopper."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from browser.shops import Site
from browser.widget_shop import (
    NUMBER,
    HostedPage,
    count_submissions,
    cvv_field,
    fill_card,
    form,
    number_field,
    options,
    pay_button,
)
from gateway import CARD, Client
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.widget.languages import LANGUAGES
from tollgate.widget.serving import PARTS_FOLDER as FOLDER

APPROVED = "000.100.110"
ENGLISH = LANGUAGES["en"]


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def test_a_provider_is_shown_within_the_page_and_may_be_closed(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hooks = {
        "onReadyExternal": "(containers) => { window.external = containers; }",
        "onBeforeSubmitInlineVirtualAccount": "() => { window.asked = (window.asked || 0) + 1; }",
        "onBeforeSubmitVirtualAccount": "() => false",
        "onLoadThreeDIframe": "() => { window.bank = true; }",
        "onLightboxCancel": "() => { window.cancelled = true; }",
    }
    hosted_page.show(
        page, options({"inlineFlow": ["PAYPAL"]}, **hooks), hosted_page.script(checkout), form("PAYPAL IDEAL")
    )
    wallet = page.locator(".wpwl-container-virtualAccount-PAYPAL")
    dialog = page.get_by_role("dialog", name=ENGLISH["payWith"].format(brand="PayPal"))
    approve = dialog.frame_locator("iframe").get_by_role("button", name="Approve")

    pay_button(wallet).click()
    expect(approve).to_be_visible()
    dialog.get_by_role("button", name=ENGLISH["close"]).click()
    expect(dialog).to_have_count(0)
    expect(pay_button(wallet)).to_be_enabled()
    assert page.evaluate("[cancelled, asked, window.bank]") == [True, 1, None]
    assert page.evaluate("external") == [{"containerKey": "virtualAccount-PAYPAL", "ccMethods": ["PAYPAL"]}]

    pay_button(wallet).click()
    approve.click()

    hosted_page.expect_home(page, checkout)
    assert len(page.context.pages) == 1, "a window was opened"
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_page_sums_up_before_anything_is_paid(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hooks = {
        "onBeforeSubmitCard": "() => { window.asked = (window.asked || 0) + 1; return Promise.resolve(true); }",
        "onSaveTransactionData": "(facts) => { window.facts = facts; }",
    }
    hosted_page.show(
        page, options({"useSummaryPage": True}, **hooks), hosted_page.script(checkout), form("VISA MASTER")
    )
    submissions = count_submissions(page)
    expect(number_field(page)).to_be_visible()
    pay_button(page).click()
    expect(page.locator(".wpwl-hint-cardNumberError")).to_be_visible()
    assert page.evaluate("window.asked") is None

    fill_card(page)
    pay_button(page).click()
    page.wait_for_function("() => window.facts")

    assert page.evaluate("facts") == {
        "container": "wpwl-container-card",
        "brand": "VISA",
        "holder": "Jane Jones",
        "expiryMonth": "05",
        "expiryYear": "2034",
        "amount": "92.00",
        "currency": "EUR",
    }
    assert submissions() == 0
    expect(pay_button(page)).to_have_attribute("aria-disabled", "false")

    page.evaluate("document.querySelector('.wpwl-container-card').hidden = true")
    page.evaluate("window.asked = 0")
    asked = page.evaluate("wpwl.executePayment(facts.container); window.asked")

    hosted_page.expect_home(page, checkout)
    assert (asked, submissions()) == (0, 1)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_page_pays_from_its_summary_at_once_but_never_past_its_own_guard(page: Page, hosted_page: HostedPage) -> None:
    """The payment uses a registered card, whose summary shows what the page shows of it anyway."""
    stored = hosted_page.client.post("/v1/registrations", {**CARD, "card.number": NUMBER}).json["id"]
    checkout = hosted_page.prepare(**{"registrations[0].id": stored})
    hooks = {
        "onBeforeSubmitOneClickCard": "() => window.isAgreed === true",
        "onSaveTransactionData": "(facts) => { sessionStorage.told = JSON.stringify(facts); "
        "wpwl.executePayment(facts.container); }",
    }
    hosted_page.show(page, options({"useSummaryPage": True}, **hooks), hosted_page.script(checkout), form("VISA"))
    block = page.locator(".wpwl-form-registrations")
    expect(number_field(page)).to_be_visible()
    target = page.locator('.wpwl-container-registration > iframe[name="registrations-target"].wpwl-target')
    expect(target).to_be_hidden()
    assert [target.get_attribute(name) for name in ("src", "title")] == ["about:blank", ENGLISH["storedCards"]]

    submissions = count_submissions(page)
    pay_button(block).click()
    page.evaluate("wpwl.executePayment('wpwl-container-registration')")
    expect(pay_button(block)).to_be_enabled()
    assert (submissions(), page.evaluate("sessionStorage.told")) == (0, None)

    page.evaluate("window.isAgreed = true")
    pay_button(block).click()

    hosted_page.expect_home(page, checkout)
    received = page.evaluate("JSON.parse(sessionStorage.told)")
    year = CARD["card.expiryYear"]
    assert (received["brand"], received["expiryYear"], "0000" in str(received)) == ("VISA", year, False)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_page_says_what_it_knows_of_the_shopper_and_asks_for_the_rest(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = hosted_page.prepare()
    known = {"givenName": "Jane", "surname": "Jones", "email": "jane@example.com", "age": "40", "mobile": 17}
    settings = {"showBirthDate": True, "showTaxNumberField": True, "customer": known}
    settings |= {"forceCardHolderEqualsBillingName": True, "spinner": {"color": "rgb(1, 2, 3)", "lines": 9}}
    hosted_page.show(page, options(settings), hosted_page.script(checkout), form("VISA"))
    number_field(page).press_sequentially(NUMBER)
    cvv_field(page).press_sequentially("123")
    page.locator(".wpwl-control-expiry").press_sequentially("0534")
    birth, tax = (page.locator(f".wpwl-group-{name} input.wpwl-control") for name in ("birthDate", "taxNumber"))
    expect(page.get_by_label(ENGLISH["givenName"])).to_have_value("Jane")
    birth.fill("2999-05-17")
    tax.fill("12345")
    pay_button(page).click()
    expect(page.locator(".wpwl-hint-birthDateError")).to_have_text("Date of birth is not valid.")
    expect(page.locator(".wpwl-hint-taxNumberError")).to_have_text("Tax number is incomplete.")

    birth.fill("1979-05-17")
    tax.fill("12345678901")
    page.locator(".wpwl-control-surname").fill("Doe")
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)

    paid = client.get(f"/v1/checkouts/{checkout.id}/payment").json
    received = {name: value for name, value in paid["customer"].items() if isinstance(value, str) and name != "ip"}
    assert received == {
        "givenName": "Jane",
        "surname": "Doe",
        "email": "jane@example.com",
        "birthDate": "1979-05-17",
        "identificationDocType": "TAXSTATEMENT",
        "identificationDocId": "12345678901",
    }
    assert (paid["card"]["holder"], paid["result"]["code"]) == ("Jane Doe", APPROVED)


def test_a_page_is_marked_as_a_trial_once_and_its_spinner_has_its_colour(page: Page, hosted_page: HostedPage) -> None:
    settings = {"spinner": {"color": "rgb(1, 2, 3)", "lines": 9}, "showCVVHint": True, "allowEmptyCvv": True}
    waits = options(settings, onBeforeSubmitCard="() => new Promise(() => {})")
    hosted_page.show(page, waits, hosted_page.script(hosted_page.prepare()), form("VISA AMEX PAYPAL"))
    fill_card(page)

    expect(page.get_by_role("note")).to_have_text([ENGLISH["testMode"]])
    help_text = page.locator(".wpwl-help-text")
    expect(help_text).to_be_hidden()
    page.get_by_text(ENGLISH["cvvHelp"]).click()
    expect(help_text).to_have_text(f"{ENGLISH['cvvHint']} {ENGLISH['cvvHintMaestro']}")

    pay_button(page.locator(".wpwl-form-card")).click()

    expect(page.locator(".wpwl-spinner")).to_have_css("border-right-color", "rgb(1, 2, 3)")


def test_everything_that_a_page_may_say_of_a_shopper_is_a_parameter() -> None:
    listed = re.search(r"CUSTOMER_WORDS = \[(.*?)\]", (FOLDER / "customer.js").read_text("utf-8"), re.DOTALL)
    assert listed is not None
    words = re.findall(r'"(\w+)"', listed[1])

    assert "givenName" in words
    assert [word for word in words if f"customer.{word}" not in PARAMETERS] == []
