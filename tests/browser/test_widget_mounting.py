"""The payment form comes to every page that has a place for it, whenever script, form and options arrive."""

from __future__ import annotations

import base64
import hashlib

import pytest
from playwright.sync_api import Page, expect

from browser.shops import BACK, HTML, Site
from browser.watching import Watch
from browser.widget_shop import HostedPage, fill_card, form, inline, number_field, options, pay_button
from gateway import Client
from tollgate.web.request import Reply

LATE_OPTIONS = inline(
    "document.addEventListener('DOMContentLoaded', () => { window.wpwlOptions = {labels: {submit: 'Order now'}}; });"
)
ADD_SCRIPT = "const tag = document.createElement('script'); tag.src = {src!r}; document.head.append(tag);"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def test_the_script_may_stand_before_the_form_and_pays(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, hosted_page.script(checkout), form("VISA MASTER"))

    fill_card(page)
    expect(page.locator("form.paymentWidgets")).to_be_hidden()
    assert page.locator(".wpwl-container-card").get_attribute("id")
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == "000.100.110"


@pytest.mark.parametrize("word", ["", "async", "defer"])
def test_the_script_may_stand_after_the_form(page: Page, hosted_page: HostedPage, word: str) -> None:
    hosted_page.show(page, form(), hosted_page.script(hosted_page.prepare(), word=word))

    expect(number_field(page)).to_be_visible()
    expect(page.locator(".wpwl-control-brand option")).to_have_text(["Visa", "Mastercard", "American Express"])


def test_options_may_be_set_when_the_page_is_there(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), LATE_OPTIONS, form())

    expect(pay_button(page)).to_have_text("Order now")


def test_options_may_be_a_constant_of_the_page(page: Page, hosted_page: HostedPage) -> None:
    constant = inline("const wpwlOptions = {labels: {submit: 'Order now'}};")

    hosted_page.show(page, constant, form(), hosted_page.script(hosted_page.prepare()))

    expect(pay_button(page)).to_have_text("Order now")


def test_script_and_form_may_be_added_by_other_scripts_in_any_order(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, "<div id=app></div>")
    src = f"{hosted_page.client.base_url}/v1/paymentWidgets.js?checkoutId={checkout.id}"

    page.evaluate(ADD_SCRIPT.format(src=src))
    page.wait_for_function("() => window.wpwl")
    page.evaluate(f"document.getElementById('app').innerHTML = {form('MASTER')!r}")

    expect(number_field(page)).to_be_visible()
    assert page.evaluate("[wpwl.checkout.id, typeof wpwl.checkout.config.customRedirectPageConfig]") == [
        checkout.id,
        "object",
    ]


def test_brands_may_be_the_text_of_the_form(page: Page, hosted_page: HostedPage) -> None:
    older = f'<form action="{BACK}" class="paymentWidgets">VISA MASTER</form>'

    hosted_page.show(page, older, hosted_page.script(hosted_page.prepare()))

    expect(page.locator(".wpwl-control-brand option")).to_have_text(["Visa", "Mastercard"])


def test_several_forms_each_become_their_own_and_the_inputs_of_the_page_come_along(
    page: Page, hosted_page: HostedPage
) -> None:
    checkout = hosted_page.prepare()
    note = '<input type=hidden name="customParameters[SHOPPER_wish]" value="gift">'
    ready = "function (containers) { window.told = containers; }"
    pieces = (options(onReady=ready), form("VISA", note), form("MASTER PAYPAL"), hosted_page.script(checkout))
    hosted_page.show(page, *pieces)
    first, second = page.locator(".wpwl-container-card").nth(0), page.locator(".wpwl-container-card").nth(1)

    expect(number_field(second)).to_be_visible()
    expect(page.locator(".wpwl-container-virtualAccount-PAYPAL")).to_be_visible()
    page.wait_for_function("() => window.told")
    assert page.evaluate("told.map((each) => each.containerKey + ':' + each.ccMethods)") == [
        "card:VISA",
        "card:MASTER",
        "virtualAccount-PAYPAL:PAYPAL",
    ]
    fill_card(first)
    pay_button(first).click()

    hosted_page.expect_home(page, checkout)
    status = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert status["customParameters"]["SHOPPER_wish"] == "gift"


def test_a_form_whose_brands_nobody_can_pay_with_gives_way_to_the_others(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """Its author is told, and finds it in the console where the page does not listen; of a form that stands alone,
    nobody is told that it is ready."""
    note = "function (fault) { window.fault = [fault.name, fault.brand]; }"
    never = "() => { document.body.dataset.ready = 'yes'; }"

    with page.expect_event("pageerror") as received:
        hosted_page.show(page, options(onReady=never), form("VISSA NOBODYS"), hosted_page.script(hosted_page.prepare()))
    expect(page.get_by_role("alert")).to_be_visible()
    assert "VISSA (there is no brand of this name), NOBODYS (there" in received.value.message
    assert len(watch.take()) == 1
    assert page.evaluate("document.body.dataset.ready || 'never'") == "never"

    hosted_page.show(
        page, options(onError=note), form("NOBODYS"), form("VISA"), hosted_page.script(hosted_page.prepare())
    )

    expect(number_field(page)).to_be_visible()
    expect(page.locator("form:visible")).to_have_count(1)
    assert page.evaluate("fault") == ["WidgetError", "NOBODYS"]


def test_inside_another_form_the_fields_are_not_submitted_with_it(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    place = form("VISA", tag="div")
    outer = f'<form action="/outer"><input name=voucher value=X>{place}<button id=outer>Redeem</button></form>'
    hosted_page.shop.pages["/outer"] = Reply(200, b"<!doctype html><title>Outer</title>", HTML)
    counting = inline("window.outerSubmits = 0; document.forms[0].onsubmit = () => { window.outerSubmits += 1; };")
    hosted_page.show(page, outer, counting, hosted_page.script(checkout))

    fill_card(page)
    assert page.evaluate("[...new FormData(document.forms[0]).keys()]") == ["voucher"]
    page.locator(".wpwl-control-cardHolder").press("Enter")
    hosted_page.expect_home(page, checkout)
    assert hosted_page.shop.visits_to("/outer") == []

    hosted_page.show(page, outer, counting, hosted_page.script(hosted_page.prepare()))
    expect(number_field(page)).to_be_visible()
    page.locator("#outer").click()
    expect(page).to_have_title("Outer")
    assert [visit.fields for visit in hosted_page.shop.visits_to("/outer")] == [{"voucher": "X"}]


def test_it_can_be_unloaded_and_mounted_again_with_another_checkout(page: Page, hosted_page: HostedPage) -> None:
    first, second = hosted_page.prepare(), hosted_page.prepare(amount="5.00")
    hosted_page.show(page, form("VISA"), hosted_page.script(first))
    expect(number_field(page)).to_be_visible()

    page.evaluate("wpwl.unload()")
    assert page.locator("[class*=wpwl-]:visible").count() == 0
    assert page.locator("iframe, link[rel=stylesheet]").count() == 0
    page.evaluate("wpwl.unload()")

    src = f"{hosted_page.client.base_url}/v1/paymentWidgets.js?checkoutId={second.id}"
    page.evaluate(f"document.querySelector('form.paymentWidgets').outerHTML = {form('VISA')!r}")
    page.evaluate(ADD_SCRIPT.format(src=src))
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, second)


def test_a_form_that_was_unloaded_serves_again_where_the_page_has_no_newer_one(
    page: Page, hosted_page: HostedPage
) -> None:
    first, second = hosted_page.prepare(), hosted_page.prepare()
    hosted_page.show(page, form("VISA", "<p>Dear shopper</p>"), hosted_page.script(first))
    expect(page.get_by_text("Dear shopper")).to_be_visible()

    # Another checkout's script, with the first one still there: the newer one takes over.
    src = f"{hosted_page.client.base_url}/v1/paymentWidgets.js?checkoutId={second.id}"
    page.evaluate(ADD_SCRIPT.format(src=src))
    page.wait_for_function("(id) => wpwl.checkout.id === id", arg=second.id)

    expect(number_field(page)).to_be_visible()
    expect(page.locator(".wpwl-container-card")).to_have_count(1)
    expect(page.get_by_text("Dear shopper")).to_be_visible()
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, second)


def test_the_form_goes_and_comes_with_the_element_of_the_page(page: Page, hosted_page: HostedPage) -> None:
    """The element stays in the page as the anchor, so that frameworks can remove, keep and show it again."""
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA", "<p>Dear shopper</p>"), hosted_page.script(checkout))
    expect(number_field(page)).to_be_visible()

    page.evaluate("window.kept = document.querySelector('.paymentWidgets'); kept.parentNode.removeChild(kept)")
    expect(page.locator("[class*=wpwl-]:visible")).to_have_count(0)
    assert page.evaluate("kept.textContent") == "Dear shopper"

    page.evaluate("document.body.append(kept)")
    expect(page.get_by_text("Dear shopper")).to_be_visible()
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)


def test_the_form_follows_an_element_that_is_moved_and_keeps_what_was_typed(
    page: Page, hosted_page: HostedPage
) -> None:
    checkout = hosted_page.prepare()
    list_of_two = f"<main><section id=one>{form('VISA')}</section><section id=two><p>Second</p></section></main>"
    hosted_page.show(page, list_of_two, hosted_page.script(checkout))
    fill_card(page)

    page.evaluate("document.querySelector('#two').prepend(document.querySelector('.paymentWidgets'))")
    expect(page.locator("#two > .paymentWidgets + .wpwl-container + p")).to_be_visible()
    expect(page.locator("#one > *")).to_have_count(0)

    # A page may also put the containers where it likes, and its element stays behind.
    page.evaluate("document.querySelector('main').moveBefore(document.querySelector('.wpwl-container'), null)")
    expect(page.locator("main > section + .wpwl-container")).to_be_visible()
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)


def test_a_page_that_drops_the_name_and_loads_the_script_again_has_one_form(
    page: Page, hosted_page: HostedPage
) -> None:
    first, second = hosted_page.prepare(), hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(first))
    expect(number_field(page)).to_be_visible()

    page.evaluate("delete window.wpwl")
    src = f"{hosted_page.client.base_url}/v1/paymentWidgets.js?checkoutId={second.id}"
    page.evaluate(ADD_SCRIPT.format(src=src))
    page.wait_for_function("(id) => window.wpwl && wpwl.checkout.id === id", arg=second.id)

    expect(page.locator(".wpwl-container-card")).to_have_count(1)
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, second)


def test_a_wrong_integrity_refuses_to_run(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    wrong = "sha384-" + base64.b64encode(hashlib.sha384(b"another script").digest()).decode()

    hosted_page.show(page, form("VISA"), hosted_page.script(hosted_page.prepare(), integrity=wrong))

    expect(page.locator("form.paymentWidgets")).to_have_count(1)
    assert page.evaluate("typeof window.wpwl") == "undefined"
    assert any("integrity" in complaint for complaint in watch.take())


def test_a_checkout_that_is_gone_is_said_instead_of_a_form(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    ended = hosted_page.prepare()
    gone = type(ended)("0" * 32 + ended.id[32:], ended.integrity)
    note = "function (fault) { window.fault = fault.name; }"

    hosted_page.show(page, options(onError=note), form("VISA"), hosted_page.script(gone))

    expect(page.get_by_role("alert")).to_contain_text("session has ended")
    assert page.evaluate("fault") == "InvalidCheckoutIdError"
    assert any("400" in complaint for complaint in watch.take())

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    nameless = f'<script src="{hosted_page.client.base_url}/v1/paymentWidgets.js"></script>'
    hosted_page.show(page, options(onError=note), form("VISA"), nameless)

    expect(page.get_by_role("alert")).to_contain_text("session has ended")
    assert page.evaluate("fault") == "InvalidCheckoutIdError"
    assert [url for url in asked if "/v1/checkouts/" in url] == []
