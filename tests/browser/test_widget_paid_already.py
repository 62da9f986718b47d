"""The form never asks twice for one payment: it reads the state of its checkout before it reports an end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.shops import BACK, HTML, Site, redirect
from browser.watching import Watch
from browser.widget_shop import (
    PAYMENT_PATH,
    HostedPage,
    Prepared,
    count_submissions,
    fill_card,
    form,
    inline,
    options,
    pay_button,
    stay_open_for_a_moment,
)
from gateway import CARD, Client
from tollgate.web.request import Reply

PAYING = "**/v1/checkouts/*/payment"
ASKING = "**/v1/checkouts/*/form?*"
SESSION_GONE = {"result": {"code": "200.300.404", "description": "invalid or missing parameter - No payment session"}}
BUSY = {"result": {"code": "800.700.100", "description": "transaction for the same session is being processed"}}
IN_TROUBLE = {"result": {"code": "800.500.100", "description": "direct debit transaction declined for unknown reason"}}
KEEP_FAULTS = options(
    onError="({ name, message, result }) => { const kept = JSON.parse(sessionStorage.faults || '[]');"
    " sessionStorage.faults = JSON.stringify([...kept, [name, message, result || null]]); }",
    onLightboxCancel="() => { sessionStorage.isCancelled = 'yes'; }",
)
READ_FAULTS = "JSON.parse(sessionStorage.faults || '[]')"
BE_ONLINE = "dispatchEvent(new Event('online'))"
ALREADY_PAID = "already complete"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def pay_elsewhere(hosted_page: HostedPage, checkout: Prepared, result_url: str = "") -> str:
    """Pays in another browser or window and returns the address of the result."""
    fields = {**CARD, "shopperResultUrl": result_url or f"{hosted_page.shop.url}{BACK}?order=17"}
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    answer = hosted_page.client.send("POST", f"/v1/checkouts/{checkout.id}/payment", urlencode(fields), headers)
    assert answer.code == "000.100.110", answer.body
    return str(answer.json["next"]["url"])


def answer_with(body: Mapping[str, object], status: int = 400) -> dict[str, Any]:
    headers = {"access-control-allow-origin": "*"}
    return {"status": status, "content_type": "application/json", "body": json.dumps(body), "headers": headers}


def message_of(page: Page, key: str = "card") -> Locator:
    return page.locator(f".wpwl-form-{key} .wpwl-message[role=alert]")


def show_isolated(page: Page, hosted_page: HostedPage, checkout: Prepared) -> None:
    """A shop whose policy takes every window of another origin away from it. Unlike a driven browser, a shopper's own
    knows that its page is behind another window."""
    hosted_page.put_up(
        inline("document.hasFocus = () => false;"), KEEP_FAULTS, hosted_page.script(checkout), form("PAYPAL VISA")
    )
    shown = hosted_page.shop.pages[PAYMENT_PATH]
    assert isinstance(shown, Reply)
    headers = (*shown.headers, (b"cross-origin-opener-policy", b"same-origin"))
    hosted_page.shop.pages[PAYMENT_PATH] = Reply(200, shown.body, HTML, headers)
    page.goto(hosted_page.shop.url + PAYMENT_PATH)
    expect(pay_button(page)).to_have_count(2)


# ---- who pays what is paid ----


def test_whoever_pays_what_another_window_has_paid_comes_to_the_result(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """The shop has read it already, the second time."""
    for is_read in (False, True):
        checkout = hosted_page.prepare()
        hosted_page.show(page, KEEP_FAULTS, hosted_page.script(checkout), form("VISA"))
        fill_card(page)
        pay_elsewhere(hosted_page, checkout)
        if is_read:
            assert hosted_page.read_code(checkout) == "000.100.110"

        pay_button(page).click()

        hosted_page.expect_home(page, checkout)
        assert page.evaluate(READ_FAULTS) == []
    assert all("400" in complaint for complaint in watch.take())


def test_whoever_pays_while_another_window_does_waits_for_it(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, hosted_page.script(checkout), form("VISA"))
    fill_card(page)
    page.route(PAYING, lambda route: route.fulfill(**answer_with(BUSY)))
    page.route(ASKING, lambda route: route.fulfill(**answer_with({"state": "busy"}, 200)))
    pay_elsewhere(hosted_page, checkout)

    with page.expect_response(ASKING):
        pay_button(page).click()
    expect(message_of(page)).to_contain_text("in another window")
    page.unroute(ASKING)

    hosted_page.expect_home(page, checkout)
    assert len(watch.take()) == 1, "the browser tells of the answer 400"


def test_after_silence_the_next_press_asks_before_it_pays_and_so_does_a_line_that_is_back(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    def lose_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    sent = count_submissions(page)
    page.route(PAYING, lose_answer)
    for count, way in enumerate(("document.querySelector('.wpwl-button-pay')?.click()", BE_ONLINE), start=1):
        checkout = hosted_page.prepare()
        hosted_page.show(page, KEEP_FAULTS, hosted_page.script(checkout), form("VISA"))
        fill_card(page)
        page.route(ASKING, lambda route: route.abort())
        for _ in range(2):
            with page.expect_event("requestfailed", lambda request: "/form?" in request.url):
                pay_button(page).click()
            expect(message_of(page)).to_contain_text("No connection")
        page.unroute(ASKING)

        page.evaluate(way)

        hosted_page.expect_home(page, checkout)
        assert sent() == count
        assert [name for name, *_ in page.evaluate(READ_FAULTS)] == ["PciIframeSubmitError"] * count
    assert watch.take()


def test_only_what_is_gone_is_said_to_be_gone(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    """A faulty parameter of the page, or a service in trouble, is reported as what it is."""
    wrong = '<input type=hidden name="billing.country" value="Germany">'
    hosted_page.show(page, KEEP_FAULTS, hosted_page.script(hosted_page.prepare()), form("VISA", wrong))
    fill_card(page)
    pay_button(page).click()
    expect(message_of(page)).to_contain_text("Something went wrong")
    [[name, message, result]] = page.evaluate(READ_FAULTS)
    assert (name, "billing.country must be" in message) == ("WidgetError", True)
    assert [fault["name"] for fault in result["parameterErrors"]] == ["billing.country"]

    page.route(PAYING, lambda route: route.fulfill(**answer_with(SESSION_GONE)))
    page.route(ASKING, lambda route: route.fulfill(**answer_with(IN_TROUBLE, 500)))
    pay_button(page).click()
    expect(message_of(page)).to_contain_text("Something went wrong")
    page.unroute(ASKING)
    page.route(ASKING, lambda route: route.fulfill(**answer_with(SESSION_GONE)))
    pay_button(page).click()
    expect(message_of(page)).to_contain_text("session has ended")
    assert [name for name, *_ in page.evaluate(READ_FAULTS)] == ["WidgetError", "InvalidCheckoutIdError"]
    assert watch.take()


# ---- where the result is ----


def test_a_payment_page_that_is_its_own_result_page_says_that_it_is_paid(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    pieces = (hosted_page.script(checkout), '<form action="#/done" class="paymentWidgets" data-brands="VISA"></form>')
    hosted_page.show(page, *pieces)
    fill_card(page)
    pay_button(page).click()
    note = page.locator(".wpwl-container-message [role=status]")
    expect(note).to_contain_text(ALREADY_PAID)
    expect(page.locator("form:visible, iframe")).to_have_count(0)
    assert page.url.endswith("#/done")
    assert len(hosted_page.shop.visits_to(PAYMENT_PATH)) == 2

    for action, more in ((PAYMENT_PATH, ""), (f"{PAYMENT_PATH}?x=1", "&lang=en")):
        checkout = hosted_page.prepare()
        hosted_page.put_up(hosted_page.script(checkout), f'<form action="{action}" class="paymentWidgets">VISA</form>')
        url = pay_elsewhere(hosted_page, checkout, hosted_page.shop.url + action)
        hosted_page.shop.visits.clear()
        page.goto(url + more)
        expect(note).to_contain_text(ALREADY_PAID)
        assert len(hosted_page.shop.visits_to(PAYMENT_PATH)) == 1


def test_nobody_is_sent_to_and_fro_between_payment_page_and_result(page: Page, hosted_page: HostedPage) -> None:
    """This holds however the shop leads back, and the shopper can go on."""
    checkout = hosted_page.prepare()
    hosted_page.put_up('<meta name="referrer" content="no-referrer">', hosted_page.script(checkout), form("VISA"))
    hosted_page.shop.pages[BACK] = redirect(hosted_page.shop.url + PAYMENT_PATH)
    pay_elsewhere(hosted_page, checkout)
    note, link = page.get_by_role("status"), page.get_by_role("link", name="Continue")

    page.goto(hosted_page.shop.url + PAYMENT_PATH)
    link.click()
    expect(note).to_contain_text(ALREADY_PAID)
    page.reload(wait_until="commit")
    expect(link).to_be_visible()
    page.wait_for_timeout(300)
    assert len(hosted_page.shop.visits_to(BACK)) == 2, "one click, one reload"

    lenient = replace(hosted_page, client=replace(hosted_page.client, entity_id=hosted_page.client.lenient_entity_id))
    checkout = lenient.prepare()
    pay_elsewhere(lenient, checkout, "com.shop.app://done")
    lenient.show(page, lenient.script(checkout), form("VISA"))
    expect(note).to_contain_text(ALREADY_PAID)


def test_the_back_button_leads_to_the_result_whatever_page_came_before(page: Page, hosted_page: HostedPage) -> None:
    """This holds also where a whole shop is one address with queries and the payment page was reached from itself."""
    checkout = hosted_page.prepare()
    hosted_page.put_up(hosted_page.script(checkout), form("VISA"), f'<a href="{PAYMENT_PATH}?step=2">Next</a>')
    page.goto(hosted_page.shop.url + PAYMENT_PATH)
    page.get_by_role("link", name="Next").click()
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)

    page.go_back(wait_until="commit")

    page.wait_for_url(f"**{BACK}?*")
    hosted_page.expect_home(page, checkout)
    assert len(hosted_page.shop.visits_to(BACK)) == 2


def test_a_payment_page_at_the_address_of_its_result_asks_the_shop_once_it_learns_that_it_is_paid(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """There after a decline, or with the words of an earlier checkout in its address."""
    for is_earlier in (False, True):
        checkout, earlier = hosted_page.prepare(), hosted_page.prepare()
        hosted_page.put_up(hosted_page.script(checkout), '<form action="" class="paymentWidgets">VISA</form>')
        named = earlier if is_earlier else checkout
        page.goto(
            f"{hosted_page.shop.url}{PAYMENT_PATH}?id={named.id}&resourcePath=%2Fv1%2Fcheckouts%2F{named.id}%2Fpayment"
        )
        fill_card(page)
        pay_elsewhere(hosted_page, checkout, page.url)
        hosted_page.shop.visits.clear()

        pay_button(page).click()

        expect(page.get_by_role("status")).to_contain_text(ALREADY_PAID)
        assert [visit.fields["id"] for visit in hosted_page.shop.visits_to(PAYMENT_PATH)] == [checkout.id]
    watch.take()


def test_a_result_in_another_window_leaves_nothing_to_pay_behind(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    settings = options({"shopperResultTarget": "receipt"})
    hosted_page.show(page, settings, hosted_page.script(checkout), form("VISA"), form("PAYPAL"))
    fill_card(page)

    with page.expect_popup() as opened:
        pay_button(page.locator(".wpwl-container-card")).click()

    hosted_page.expect_home(opened.value, checkout)
    expect(page.get_by_role("status")).to_have_count(2)
    expect(page.locator("form:visible, iframe")).to_have_count(0)
    page.evaluate("wpwl.unload()")
    expect(page.locator("form.paymentWidgets")).to_have_count(2)


# ---- windows ----


def test_a_shop_from_which_windows_are_taken_away_follows_them_by_asking(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    show_isolated(page, hosted_page, checkout)
    wallet, card = (page.locator(f".wpwl-container-{key}") for key in ("virtualAccount-PAYPAL", "card"))
    with page.expect_response(ASKING), page.expect_popup() as opened:
        pay_button(wallet).click()
    expect(wallet.get_by_role("status")).to_contain_text("in the window that has opened")
    expect(pay_button(card)).to_have_attribute("aria-disabled", "true")
    page.evaluate("wpwl.executePayment('wpwl-container-card')")
    expect(message_of(page)).to_contain_text("in the window that has opened")

    opened.value.get_by_role("button", name="Approve").click()

    hosted_page.expect_home(page, checkout)
    assert page.evaluate("sessionStorage.isCancelled || 'no'") == "no"


def test_a_shopper_may_give_up_a_window_that_was_taken_away_and_gets_the_whole_page_next_time(
    page: Page, hosted_page: HostedPage
) -> None:
    checkout = hosted_page.prepare()
    show_isolated(page, hosted_page, checkout)
    wallet, card = (page.locator(f".wpwl-container-{key}") for key in ("virtualAccount-PAYPAL", "card"))
    with page.expect_response(ASKING), page.expect_popup():
        pay_button(wallet).click()
    page.evaluate("wpwl.executePayment('wpwl-container-card')")
    wallet.get_by_role("button", name="Use another").click()

    expect(pay_button(card)).to_be_enabled()
    expect(message_of(page)).to_be_hidden()
    assert page.evaluate("sessionStorage.isCancelled") == "yes"
    pay_button(wallet).click()
    page.get_by_role("button", name="Approve").click()
    hosted_page.expect_home(page, checkout)


def test_a_window_that_is_closed_while_the_shopper_looks_elsewhere_is_closed_when_the_shopper_is_back(
    page: Page, hosted_page: HostedPage
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(
        page, inline("document.hasFocus = () => Boolean(window.isBack);"), hosted_page.script(checkout), form("PAYPAL")
    )
    with page.expect_popup() as opened:
        pay_button(page).click()
    opened.value.wait_for_url("**/sandbox/**")
    stay_open_for_a_moment(page)
    with page.expect_response(ASKING):
        opened.value.close()
    expect(page.get_by_role("button", name="Use another")).to_be_visible()

    page.evaluate("window.isBack = true")

    expect(page.get_by_role("button", name="Use another")).to_have_count(0)
    expect(pay_button(page)).to_be_enabled()
