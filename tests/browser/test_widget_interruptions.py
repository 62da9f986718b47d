"""A payment that is interrupted: closed windows, broken lines, attempts used up. The shopper reads what is true."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import Shoot
from browser.shops import Site
from browser.test_widget_looks import find_faults_everywhere
from browser.walks import ADDRESS, CHALLENGED
from browser.watching import Watch
from browser.widget_shop import (
    DECLINED,
    HostedPage,
    Prepared,
    bank_page,
    cvv_field,
    fill_card,
    form,
    number_field,
    options,
    pay_button,
    stay_open_for_a_moment,
)
from gateway import Client

NOT_CHARGED = "You cancelled the payment. Nothing was charged."
PROCESSING = "being processed"
NO_CONNECTION = "No connection"
APPROVED, ABANDONED = "000.100.110", "100.396.101"
PAYING, ASKING, ABANDONING = "**/v1/checkouts/*/payment", "**/v1/checkouts/*/form?*", "**/v1/checkouts/*/abandoned"
BE_ONLINE = "window.dispatchEvent(new Event('online'))"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show_hosted_page(page: Page, hosted_page: HostedPage, brands: str, *before: str, **changes: str) -> Prepared:
    checkout = hosted_page.prepare(**changes)
    hosted_page.show(page, *before, hosted_page.script(checkout), form(brands))
    return checkout


def message_of(page: Page | Locator) -> Locator:
    return page.locator(".wpwl-group-submit .wpwl-message").first


def read_codes(hosted_page: HostedPage, reference: str) -> list[str]:
    made = hosted_page.client.get("/v1/query", {"merchantTransactionId": reference}).json["payments"]
    return [each["result"]["code"] for each in made if each["paymentType"] == "DB"]


def hold(page: Page, address: str) -> list[Route]:
    """Requests to the address, which wait until the test goes on with them."""
    held: list[Route] = []
    page.route(address, lambda route: held.append(route))
    return held


def take_held(page: Page, held: list[Route]) -> Route:
    while not held:
        page.wait_for_timeout(10)
    return held[0]


def answer(route: Route, status: int, code: str) -> None:
    body = json.dumps({"result": {"code": code, "description": "no"}})
    headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"}
    route.fulfill(status=status, headers=headers, body=body)


# ---- closed by the shopper ----


@pytest.mark.parametrize("way", ["cross", "escape"])
def test_closing_the_banks_question_shows_that_nothing_was_charged_and_keeps_the_code(
    page: Page, hosted_page: HostedPage, way: str
) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA", merchantTransactionId=f"closed-by-{way}", **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()
    expect(bank_page(page).get_by_role("button", name="Send outcome")).to_be_visible()

    if way == "cross":
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
    else:
        page.get_by_role("dialog").get_by_role("button", name="Close").press("Escape")

    expect(message_of(page)).to_have_text(NOT_CHARGED)
    expect(message_of(page)).to_be_focused()
    expect(message_of(page)).to_have_attribute("role", "alert")
    expect(cvv_field(page)).to_have_value("123")
    assert read_codes(hosted_page, f"closed-by-{way}") == [ABANDONED]

    pay_button(page).click()
    expect(message_of(page)).to_be_hidden()
    bank_page(page).get_by_role("button", name="Send outcome").click()
    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


@pytest.mark.parametrize("way", ["window", "button", "dialog"])
def test_leaving_the_provider_shows_that_nothing_was_charged(page: Page, hosted_page: HostedPage, way: str) -> None:
    settings = options({"inlineFlow": ["PAYPAL"]} if way == "dialog" else {})
    reference = f"left-by-{way}"
    checkout = show_hosted_page(page, hosted_page, "PAYPAL", settings, merchantTransactionId=reference)

    if way == "dialog":
        pay_button(page).click()
        expect(page.frame_locator("iframe.wpwl-dialog-frame").get_by_role("button", name="Approve")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
    else:
        with page.expect_popup() as opened:
            pay_button(page).click()
        expect(opened.value.get_by_role("button", name="Approve")).to_be_visible()
        if way == "window":
            stay_open_for_a_moment(page)
            opened.value.close()
        else:
            page.get_by_role("button", name="Use another payment method").click()

    expect(message_of(page)).to_have_text(NOT_CHARGED)
    expect(message_of(page)).to_be_focused()
    assert read_codes(hosted_page, reference) == [ABANDONED]
    assert hosted_page.read_code(checkout) == ABANDONED


def test_who_had_approved_before_closing_the_window_is_led_to_the_result(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    checkout = show_hosted_page(page, hosted_page, "PAYPAL")
    with page.expect_popup() as opened:
        pay_button(page).click()
    opened.value.route("**/v1/shopper/*", lambda route: route.abort())
    with opened.value.expect_event("requestfailed"):
        opened.value.get_by_role("button", name="Approve").click()

    opened.value.close()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED
    watch.take()


def test_nothing_is_said_of_a_payment_that_nobody_could_give_up(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """The outcome is unknown while there is no connection, so the next press asks first."""
    checkout = show_hosted_page(page, hosted_page, "VISA", **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()
    expect(bank_page(page).get_by_role("button", name="Send outcome")).to_be_visible()
    for address in (ABANDONING, ASKING):
        page.route(address, lambda route: route.abort())

    page.get_by_role("dialog").get_by_role("button", name="Close").click()

    expect(message_of(page)).to_contain_text(NO_CONNECTION)
    for address in (ABANDONING, ASKING):
        page.unroute(address)
    page.evaluate(BE_ONLINE)
    expect(message_of(page)).to_be_hidden()
    pay_button(page).click()
    bank_page(page).get_by_role("button", name="Send outcome").click()
    hosted_page.expect_home(page, checkout)
    watch.take()


def test_the_code_is_forgotten_once_the_bank_has_answered(page: Page, hosted_page: HostedPage) -> None:
    """The page stays where the result is shown in another window, and a code is used once."""
    settings = options({"shopperResultTarget": "receipt"})
    checkout = show_hosted_page(page, hosted_page, "VISA", settings, **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()
    opened_to_all = {"Access-Control-Allow-Origin": "*"}
    page.route(ASKING, lambda route: route.fulfill(status=200, body='{"state": "open"}', headers=opened_to_all))

    with page.expect_popup() as opened:
        bank_page(page).get_by_role("button", name="Send outcome").click()

    hosted_page.expect_home(opened.value, checkout)
    expect(cvv_field(page)).to_have_value("")


# ---- while it is under way ----


def test_processing_is_said_once_something_was_sent_and_not_before(page: Page, hosted_page: HostedPage) -> None:
    hook = "() => new Promise((agree) => { window.agree = agree; })"
    checkout = show_hosted_page(page, hosted_page, "VISA", options({}, onBeforeSubmitCard=hook))
    status = page.locator(".wpwl-status")
    fill_card(page)
    held = hold(page, PAYING)

    pay_button(page).click()
    page.wait_for_function("() => window.agree")
    expect(pay_button(page)).to_have_attribute("aria-disabled", "true")
    expect(status).to_have_text("")
    page.evaluate("agree(true)")
    expect(status).to_contain_text(PROCESSING)
    take_held(page, held).continue_()
    hosted_page.expect_home(page, checkout)


def test_fields_and_other_forms_rest_while_a_payment_is_under_way(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """The focus returns to the field in which Enter was pressed when the payment was declined."""
    show_hosted_page(page, hosted_page, "VISA PAYPAL", '<input id="own" aria-label="Coupon">')
    card, wallet = page.locator(".wpwl-container-card"), page.locator(".wpwl-container-virtualAccount-PAYPAL")
    fill_card(page, DECLINED)
    held = hold(page, PAYING)

    cvv_field(page).press("Enter")

    page.wait_for_function("() => document.querySelector('.wpwl-group-cvv').inert")
    expect(pay_button(card)).to_be_focused()
    assert card.locator(".wpwl-group:not(.wpwl-group-submit)").evaluate_all("(all) => all.every((each) => each.inert)")
    assert wallet.evaluate("(element) => element.inert")
    assert find_faults_everywhere(page) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.wpwl-container')") is None, "another field has the focus"
    pay_button(card).focus()
    answer(take_held(page, held), 400, "600.200.500")

    expect(message_of(card)).to_contain_text("Something went wrong")
    assert page.locator("[inert]").count() == 0
    assert page.evaluate("document.activeElement.name") == "card.cvv"
    watch.take()


@pytest.mark.parametrize("ending", ["unload", "kept page", "dialog"])
def test_nothing_is_left_resting_however_it_ends(page: Page, hosted_page: HostedPage, ending: str) -> None:
    show_hosted_page(page, hosted_page, "VISA PAYPAL", '<p id="rest">The page itself</p>', **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page.locator(".wpwl-container-card")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.locator("[inert]").count() > 1

    match ending:
        case "unload":
            page.evaluate("wpwl.unload()")
        case "kept page":
            page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        case _:
            page.get_by_role("dialog").get_by_role("button", name="Close").click()

    expect(page.locator("[inert]")).to_have_count(0)


# ---- the line ----


def test_a_frame_whose_line_broke_is_loaded_once_more(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    loads: list[str] = []

    def break_first(route: Route) -> None:
        loads.append(route.request.url)
        route.abort() if len(loads) == 1 else route.continue_()

    page.route("**/frame/cvv?*", break_first)
    checkout = show_hosted_page(page, hosted_page, "VISA")

    fill_card(page)
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert len(loads) == 2
    watch.take()


@pytest.mark.parametrize("is_told", [True, False], ids=["told by the browser", "found by asking"])
def test_no_connection_goes_when_the_line_is_back(
    page: Page, hosted_page: HostedPage, watch: Watch, is_told: bool
) -> None:
    show_hosted_page(page, hosted_page, "VISA")
    fill_card(page)
    for address in (PAYING, ASKING):
        page.route(address, lambda route: route.abort())
    pay_button(page).click()
    expect(message_of(page)).to_contain_text(NO_CONNECTION)
    page.unroute(PAYING)
    page.unroute(ASKING)

    if is_told:
        page.evaluate(BE_ONLINE)

    expect(message_of(page)).to_be_hidden()
    watch.take()


def test_the_security_code_stays_when_nobody_answered(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA")
    fill_card(page)
    page.context.set_offline(True)
    pay_button(page).click()
    expect(message_of(page)).to_contain_text(NO_CONNECTION)

    page.context.set_offline(False)

    expect(message_of(page)).to_be_hidden()
    expect(cvv_field(page)).to_have_value("123")
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    watch.take()


def test_a_form_that_could_not_be_loaded_appears_when_the_line_is_back(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    page.route(ASKING, lambda route: route.abort())
    show_hosted_page(page, hosted_page, "VISA")
    expect(page.get_by_role("alert")).to_contain_text(NO_CONNECTION)

    page.unroute(ASKING)

    expect(pay_button(page)).to_be_visible()
    expect(page.locator(".wpwl-container-message")).to_have_count(0)
    watch.take()


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [(500, "999.999.999", "Something went wrong"), (429, "800.120.100", "wait a minute")],
)
def test_a_service_that_answers_is_not_said_to_be_out_of_reach(
    page: Page, hosted_page: HostedPage, watch: Watch, status: int, code: str, text: str
) -> None:
    show_hosted_page(page, hosted_page, "VISA")
    fill_card(page)
    for address in (PAYING, ASKING):
        page.route(address, lambda route: answer(route, status, code))

    pay_button(page).click()

    expect(message_of(page)).to_contain_text(text)
    watch.take()


def test_a_page_from_a_broken_proxy_is_no_lost_connection(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    show_hosted_page(page, hosted_page, "VISA")
    fill_card(page)
    page.route(PAYING, lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))

    pay_button(page).click()

    expect(message_of(page)).to_contain_text("Something went wrong")
    watch.take()


# ---- attempts ----


def test_after_the_last_attempt_the_shopper_is_sent_back_to_the_shop(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA")
    refused = {"paymentBrand": "VISA", "card.number": DECLINED, "card.expiryMonth": "05", "card.expiryYear": "2034"}
    for _ in range(10):
        sent: dict[str, Any] = {**refused, "card.cvv": "123", "shopperResultUrl": hosted_page.shop.url}
        page.request.post(
            f"{hosted_page.client.base_url}/v1/checkouts/{checkout.id}/payment", form=sent, max_redirects=0
        )
    fill_card(page)

    pay_button(page).click()

    expect(message_of(page)).to_have_text(
        "No further attempts are possible. Please return to the shop and start again."
    )
    expect(message_of(page)).not_to_contain_text("wait a minute")
    watch.take()


# ---- in every look ----


def test_what_is_said_after_cancelling_looks_calm(page: Page, hosted_page: HostedPage, shoot: Shoot) -> None:
    show_hosted_page(page, hosted_page, "VISA", **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(message_of(page)).to_have_text(NOT_CHARGED)
    expect(message_of(page)).to_have_class("wpwl-message wpwl-message-calm")
    expect(number_field(page)).to_have_value("4711 1000 0000 0000")
    assert find_faults_everywhere(page) == []
    shoot(page, "form-cancelled")
