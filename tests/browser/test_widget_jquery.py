"""Pages with jQuery: callbacks get its objects, and the logo snippet that such pages use shows every brand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.npm_built import serve_built
from browser.shops import Site
from browser.widget_shop import NONCE, NUMBER, HostedPage, cvv_field, fill_card, form, number_field, options, pay_button
from gateway import Client

# Kept in the browser, because the last of them is called when the page is about to go.
NOTED = """function () {
  const isWrapped = this.$form.jquery === "3.7.1" && this.$iframe.jquery === "3.7.1";
  const found = isWrapped ? this.$form.find(".wpwl-control-brand").length : -1;
  sessionStorage.NAME = [found, isWrapped ? this.$iframe.attr("name") || "" : "?"].join();
}"""
OF_FRAMES = {
    "onReadyIframeCommunication": ("card.number", "card.cvv"),
    "onFocusIframeCommunication": ("card.number", "card.cvv"),
    "onBlurIframeCommunication": ("card.number", "card.cvv"),
    "onBlurCardNumber": ("card.number",),
    "onBlurSecurityCode": ("card.cvv",),
}
OF_FORMS = ("onBlurCardHolder", "onBlurExpiryDate", "onDetectBrand", "onChangeBrand", "onAfterSubmit")
SNIPPET = """function () {
  var visa = jQuery(".wpwl-brand:first").clone().removeAttr("class");
  visa.attr("class", "wpwl-brand-card wpwl-brand-custom wpwl-brand-VISA");
  var master = jQuery(visa).clone().removeClass("wpwl-brand-VISA").addClass("wpwl-brand-MASTER");
  jQuery(".wpwl-brand:first").after(jQuery(master)).after(jQuery(visa));
}"""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def jquery(hosted_page: HostedPage, more: str = "") -> str:
    served = serve_built(hosted_page.shop, "jquery.js")
    return f'<script nonce="{NONCE}" src="{served}"></script><script nonce="{NONCE}">{more}</script>'


@pytest.mark.parametrize("more", ["", "jQuery.noConflict();"], ids=["usual", "without the dollar"])
def test_callbacks_get_jquery_s_objects_where_the_page_has_jquery(
    page: Page, hosted_page: HostedPage, more: str
) -> None:
    checkout = hosted_page.prepare()
    hooks = {name: NOTED.replace("NAME", name) for name in (*OF_FRAMES, *OF_FORMS)}
    hosted_page.show(
        page, jquery(hosted_page, more), options(None, **hooks), form("VISA MASTER"), hosted_page.script(checkout)
    )
    number_field(page).press_sequentially("5454")
    number_field(page).fill("")
    fill_card(page, NUMBER)
    page.locator(".wpwl-control-cardHolder").focus()
    page.locator(".wpwl-control-expiry").focus()
    cvv_field(page).focus()
    number_field(page).focus()
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    noted = page.evaluate("({ ...sessionStorage })")
    assert sorted(noted) == sorted(hooks)
    assert {name: noted[name] for name in OF_FORMS} == dict.fromkeys(OF_FORMS, "1,")
    assert [name for name, frames in OF_FRAMES.items() if noted[name].removeprefix("1,") not in frames] == []


def test_a_closed_provider_and_a_summary_are_reported_with_jquery_s_objects_too(
    page: Page, hosted_page: HostedPage
) -> None:
    hooks = {name: NOTED.replace("NAME", name) for name in ("onLightboxCancel", "onSaveTransactionData")}
    settings = options({"inlineFlow": ["PAYPAL"], "useSummaryPage": True}, **hooks)
    hosted_page.show(page, jquery(hosted_page), settings, form("PAYPAL"), hosted_page.script(hosted_page.prepare()))
    pay_button(page).click()
    page.wait_for_function("() => sessionStorage.onSaveTransactionData")
    page.evaluate("wpwl.executePayment('wpwl-container-virtualAccount-PAYPAL')")
    dialog = page.get_by_role("dialog")
    expect(dialog.frame_locator("iframe").get_by_role("button", name="Approve")).to_be_visible()
    dialog.get_by_role("button").first.click()
    page.wait_for_function("() => sessionStorage.onLightboxCancel")

    assert page.evaluate("[sessionStorage.onSaveTransactionData, sessionStorage.onLightboxCancel]") == ["0,", "0,"]


def test_without_jquery_the_first_member_is_the_element_all_the_same(page: Page, hosted_page: HostedPage) -> None:
    hook = "function () { window.first = [this.$form[0].tagName, this.$iframe[0].tagName, Array.isArray(this.$form)]; }"
    hosted_page.show(
        page, options(None, onReadyIframeCommunication=hook), form("VISA"), hosted_page.script(hosted_page.prepare())
    )

    page.wait_for_function("() => window.first")
    assert page.evaluate("first") == ["FORM", "IFRAME", True]


def test_the_customary_logo_snippet_shows_one_mark_for_every_brand(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(
        page,
        jquery(hosted_page),
        options(None, onReady=SNIPPET),
        form("VISA MASTER"),
        hosted_page.script(hosted_page.prepare()),
    )
    made = page.locator(".wpwl-brand-custom")
    expect(made).to_have_count(2)

    pictures = made.evaluate_all("marks => marks.map(mark => getComputedStyle(mark).backgroundImage.split('/').pop())")
    assert pictures == ['VISA.svg")', 'MASTER.svg")']
    boxes = [mark.bounding_box() for mark in made.all()]
    assert all(box and (box["width"], box["height"]) == (40, 26) for box in boxes)
