"""Paying with the form in a shop's page: once, whatever is pressed, unless the page says no; and what comes after."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from browser.shops import BACK, HTML, Site
from browser.watching import Watch
from browser.widget_shop import (
    DECLINED,
    PAYMENT_PATH,
    HostedPage,
    count_submissions,
    cvv_field,
    fill_card,
    form,
    inline,
    number_field,
    options,
    pay_button,
)
from gateway import Client
from tollgate.web.request import Reply

WAYS_TO_SAY_NO = {
    "a value": "() => false",
    "a promise": "() => Promise.resolve(false)",
    "a promise that fails": "() => Promise.reject(new Error('no'))",
    "the event": "(event) => event.preventDefault()",
}
BUSY = "[...document.querySelectorAll('.wpwl-container')].map((each) => each.getAttribute('aria-busy'))"
COME_BACK = "window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def test_the_page_can_block_a_payment_by_value_promise_or_event(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hook = "function (event) { window.asked.push(this === event.target); return window.verdict(event); }"
    pieces = (
        inline("window.asked = []; window.agrees = [];"),
        options(onBeforeSubmitCard=hook),
        form("VISA"),
        hosted_page.script(checkout),
    )
    hosted_page.show(page, *pieces)
    sent = count_submissions(page)
    fill_card(page)

    for count, verdict in enumerate(WAYS_TO_SAY_NO.values(), start=1):
        page.evaluate(f"void (window.verdict = {verdict})")
        pay_button(page).click()
        page.wait_for_function(f"() => window.asked.length === {count}")
        expect(pay_button(page)).not_to_have_class("wpwl-button-pay-disabled")
        page.wait_for_function(f"() => {BUSY}.every((busy) => busy !== 'true')")
    assert sent() == 0
    assert page.evaluate("asked") == [True] * len(WAYS_TO_SAY_NO)

    # Asked twice, with the page kept by the browser in between: the first answer has no say about the second attempt.
    page.evaluate("void (window.verdict = () => new Promise((agree) => window.agrees.push(agree)))")
    pay_button(page).click()
    page.wait_for_function("() => window.agrees.length === 1")
    page.evaluate(COME_BACK)
    expect(cvv_field(page)).to_have_value("")
    cvv_field(page).press_sequentially("123")
    pay_button(page).click()
    page.wait_for_function("() => window.agrees.length === 2")
    page.evaluate("async () => { agrees[0](false); await new Promise((resolve) => setTimeout(resolve)); }")
    assert (sent(), page.evaluate(BUSY)) == (0, ["true"])

    page.evaluate("agrees[1](true)")
    hosted_page.expect_home(page, checkout)
    assert sent() == 1


@pytest.mark.parametrize("field", ["card.number", "card.cvv", "card.expiry"])
def test_enter_pays_in_every_field(page: Page, hosted_page: HostedPage, field: str) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    fill_card(page)

    place = {"card.number": number_field(page), "card.cvv": cvv_field(page)}.get(field)
    (place or page.locator(f'input[name="{field}"]')).press("Enter")

    hosted_page.expect_home(page, checkout)


def test_enter_does_not_pay_where_the_page_forbids_it_but_the_page_may_pay_itself(
    page: Page, hosted_page: HostedPage
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, options({"disableSubmitOnEnter": True}), form("VISA"), hosted_page.script(checkout))
    sent = count_submissions(page)
    fill_card(page)

    cvv_field(page).press("Enter")
    page.locator(".wpwl-control-cardHolder").press("Enter")
    # What the frame said on Enter has been heard before what it says on leaving.
    expect(page.locator(".wpwl-wrapper-cvv")).not_to_have_class("wpwl-wrapper--focus")
    assert sent() == 0

    page.evaluate("wpwl.executePayment('wpwl-container.wpwl-container-card')")
    hosted_page.expect_home(page, checkout)


def test_a_page_that_pays_with_a_container_it_does_not_have_is_reported(page: Page, hosted_page: HostedPage) -> None:
    keep = "({ name, message }) => { document.title = `${name}: ${message}`; }"
    hosted_page.show(page, options(onError=keep), form("VISA"), hosted_page.script(hosted_page.prepare()))
    expect(pay_button(page)).to_be_visible()

    page.evaluate("wpwl.executePayment('wpwl-container-virtualAccount-PAYPAL')")

    expect(page).to_have_title("WidgetError: there is no container wpwl-container-virtualAccount-PAYPAL")


def test_a_double_click_pays_once(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    after = "function () { window.after = (window.after || 0) + 1; wpwl.executePayment('wpwl-container-card'); }"
    hosted_page.show(page, options(onAfterSubmit=after), form("VISA"), hosted_page.script(checkout))
    sent = count_submissions(page)
    fill_card(page)

    pay_button(page).dblclick()

    hosted_page.expect_home(page, checkout)
    assert sent() == 1
    assert hosted_page.read_code(checkout) == "000.100.110"


def test_the_back_button_after_a_payment_leads_to_its_result(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)

    page.go_back(wait_until="commit")
    page.wait_for_url(f"**{BACK}?*")
    hosted_page.expect_home(page, checkout)
    assert len(hosted_page.shop.visits_to(BACK)) == 2

    assert hosted_page.read_code(checkout) == "000.100.110"
    page.go_back()
    assert page.url == "about:blank", "the payment page has nothing to offer any more, so nobody passes it again"
    page.goto(hosted_page.shop.url + PAYMENT_PATH)
    expect(page.get_by_role("status")).to_contain_text("already complete")
    page.reload(wait_until="commit")
    hosted_page.expect_home(page, checkout)


def test_a_page_that_the_browser_has_kept_is_usable_again_and_forgets_the_security_code(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    # The shop does not answer with a page, so the browser stays where it is: with a form that was left busy.
    hosted_page.shop.pages[BACK] = Reply(204, b"", HTML)
    fill_card(page, DECLINED)
    with page.expect_response(f"**{BACK}?*"):
        pay_button(page).click()
    assert "true" in page.evaluate(BUSY)
    expect(page.locator(".wpwl-spinner")).to_be_visible()
    assert hosted_page.client.post(f"/v1/checkouts/{checkout.id}", {"amount": "17.00"}).code == "000.200.101"

    page.evaluate(COME_BACK)

    page.wait_for_function(f"() => {BUSY}.includes('false')")
    page.wait_for_function("() => wpwl.checkout.amount === '17.00'")
    expect(cvv_field(page)).to_have_value("")
    expect(number_field(page)).to_have_value(re.compile("^4000 "))
    expect(page.locator(".wpwl-spinner")).to_have_count(0)
    assert any("400" in complaint for complaint in watch.take())


def test_what_is_wrong_is_said_beside_its_field_and_goes_away_when_mended(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, options({"allowEmptyCardHolderName": False}), form("VISA"), hosted_page.script(checkout))
    sent = count_submissions(page)
    expect(number_field(page)).to_be_visible()
    expiry, holder = page.get_by_label("Expiry date"), page.get_by_label("Name on card")

    pay_button(page).click()
    for name in ("cardNumberError", "expiryError", "cardHolderError", "cvvError"):
        expect(page.locator(f".wpwl-hint-{name}")).to_be_visible()
    expect(number_field(page)).to_be_focused()
    expect(number_field(page)).to_have_attribute("aria-invalid", "true")
    expect(holder).to_have_attribute("aria-invalid", "true")
    expect(holder).to_have_accessible_description("Name on card is missing.")

    number_field(page).press_sequentially("5454545454545454")
    expect(page.locator(".wpwl-hint-cardBinError")).to_be_visible()
    number_field(page).fill("")
    number_field(page).press_sequentially("4200000000000001")
    holder.focus()
    expect(page.locator(".wpwl-hint-cardNumberError")).to_be_visible()
    number_field(page).fill("")
    number_field(page).press_sequentially("4200")
    number_field(page).press_sequentially("000000000000")
    expect(page.locator(".wpwl-hint-cardNumberError")).to_have_count(0)
    holder.fill("Jane Jones")
    expect(holder).not_to_have_attribute("aria-invalid", "true")
    expiry.press_sequentially("0519")
    expect(page.locator(".wpwl-hint-expiryYearError")).to_be_visible()
    expiry.fill("")
    expiry.press_sequentially("5/34")
    expect(expiry).to_have_value("05 / 34")
    cvv_field(page).press_sequentially("123")
    expect(page.locator(".wpwl-hint, .wpwl-has-error")).to_have_count(0)
    assert sent() == 0


def test_billing_address_and_the_box_that_saves_the_card(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare(billing__state="Styria")
    settings = {
        "billingAddress": {"country": "AT"},
        "mandatoryBillingFields": {"country": True, "city": True},
        "registrations": {"requireCvv": False},
    }
    hosted_page.show(page, options(settings), form("VISA"), hosted_page.script(checkout))
    fill_card(page)
    expect(page.locator('[name="billing.state"]')).to_have_count(0)
    pay_button(page).click()
    expect(page.locator(".wpwl-hint-billingError")).to_have_count(1)
    expect(page.get_by_label("Town or city")).to_be_focused()

    page.get_by_label("Town or city").fill("Graz")
    page.get_by_label("Save this card").check()
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    status = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert status["billing"] == {"state": "Styria", "country": "AT", "city": "Graz"}
    assert hosted_page.client.get(f"/v1/registrations/{status['registrationId']}").status == 200


def test_where_windows_are_blocked_the_page_itself_goes_to_the_provider(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, inline("window.open = () => null;"), form("PAYPAL"), hosted_page.script(checkout))

    pay_button(page).click()
    page.get_by_role("button", name="Approve").click()

    hosted_page.expect_home(page, checkout)


def test_with_saq_a_every_field_of_the_card_lives_in_a_frame(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, options({"enableSAQACompliance": True}), form("VISA MASTER"), hosted_page.script(checkout))
    typed = {"card.number": "5454545454545454", "card.expiry": "0534", "card.holder": "Jane Jones", "card.cvv": "123"}
    for name, text in typed.items():
        page.frame_locator(f'iframe[name="{name}"]').locator("input").press_sequentially(text)

    assert page.locator(".wpwl-form input.wpwl-control").count() == 0
    expect(page.locator(".wpwl-control-brand")).to_have_value("MASTER")
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    card = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json["card"]
    assert (card["holder"], card["expiryMonth"], card["expiryYear"]) == ("Jane Jones", "05", "2034")
