"""A payment link whose payment is not decided, whose checkout has ended, or whose attempts are used up."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.sync_api import Page, Route, expect

from api.paying_forms import PAYPAL, SCRIPT, begin_at_provider, come_back, post, press
from browser.conftest import OpenContext
from browser.linking import read_own_context
from browser.shopping import DECLINED, NUMBER, fill_in_card, pay_button, wait_for_form
from browser.test_payment_links import expect_receipt, forget_refusals, visit
from browser.test_shop import list_faults
from browser.watching import Watch
from gateway import CARD, Client

CHECKOUT = re.compile(r"checkoutId=([0-9A-F]{32}\.[a-z0-9-]+)")
LOOKS_MS = 60_000
HURRY = "{ const start = setTimeout; window.setTimeout = (run, ms, ...more) => start(run, ms / 10, ...more); }"
"""A page that looks every few seconds looks ten times as often."""
WATCH_RELOADS = """
document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.dataset.loadedBy = performance.getEntriesByType("navigation")[0].type;
});
navigation.addEventListener("navigate", ({ navigationType }) => {
  sessionStorage.reloads = Number(sessionStorage.reloads || 0) + (navigationType === "reload");
});
"""
"""The page's policy lets nobody wait for a script's value, but for an attribute. The browser tells of a navigation the
moment it is asked for, and not only when the next page is there."""


def find_checkout(client: Client, link: str) -> str:
    found = CHECKOUT.search(client.send("GET", link.removeprefix(client.base_url)).body.decode())
    assert found is not None
    return found[1]


def expect_checking(page: Page) -> None:
    expect(page.get_by_role("heading", name="We are checking your payment")).to_be_visible()


def test_a_page_that_waits_stays_until_there_is_something_to_say(page: Page, client: Client) -> None:
    link = read_own_context(client)
    page.add_init_script(HURRY)
    provider = begin_at_provider(client, find_checkout(client, link))
    page.goto(link)
    expect_checking(page)
    assert list_faults(page) == []
    page.get_by_role("link", name="Reload page").focus()
    with page.expect_response(link, timeout=LOOKS_MS):
        pass
    with page.expect_response(link, timeout=LOOKS_MS):
        expect(page.get_by_role("link", name="Reload page")).to_be_focused()

    come_back(client, press(client, provider, "approve"))

    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible(timeout=LOOKS_MS)
    expect_receipt(page)


def test_a_page_that_waits_outlasts_a_server_that_fails(page: Page, client: Client, watch: Watch) -> None:
    link, asked = read_own_context(client), []
    page.add_init_script(HURRY)
    provider = begin_at_provider(client, find_checkout(client, link))
    page.goto(link)
    expect_checking(page)

    def fail(route: Route) -> None:
        asked.append(route.request.resource_type)
        route.fulfill(status=503, content_type="text/html", body="<h1>The proxy found no server</h1>")

    page.route(link, fail)
    for _ in range(2):
        with page.expect_response(link, timeout=LOOKS_MS):
            pass
    assert set(asked) == {"fetch"}, "the page itself stays"
    page.unroute(link)
    come_back(client, press(client, provider, "approve"))

    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible(timeout=LOOKS_MS)
    forget_refusals(watch)


def test_a_shopper_cancels_at_the_provider_and_pays_another_way(page: Page, client: Client) -> None:
    link = read_own_context(client)
    begin_at_provider(client, find_checkout(client, link))
    page.goto(link)
    expect_checking(page)

    page.get_by_role("button", name="Cancel this payment and pay another way").click()

    wait_for_form(page)
    assert page.url == link


def test_nothing_is_cut_off_while_a_payment_is_checked(open_context: OpenContext, client: Client) -> None:
    link = read_own_context(client)
    post(client, find_checkout(client, link), PAYPAL)
    page = open_context(locale="de", viewport={"width": 320, "height": 640}).new_page()
    page.goto(link)

    expect(page.get_by_role("button", name="Zahlung abbrechen und anders bezahlen")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_form_whose_checkout_has_ended_is_followed_by_another(page: Page, client: Client, watch: Watch) -> None:
    link = read_own_context(client)
    visit(page, link)
    first = find_checkout(client, link)
    path = f"/v1/checkouts/{first}?entityId={client.entity_id}"
    assert client.send("DELETE", path, headers=client.authorized()).status == 200
    fill_in_card(page, NUMBER)

    with page.expect_navigation():
        pay_button(page).click()

    wait_for_form(page)
    assert first not in (page.locator("#form-script").get_attribute("src") or "")
    forget_refusals(watch)


def test_a_checkout_that_is_gone_whenever_the_page_is_loaded_is_reported(
    page: Page, client: Client, watch: Watch
) -> None:
    body = '{"result":{"code":"200.300.404","description":"invalid or missing parameter"}}'
    page.route("**/v1/checkouts/*/form*", lambda route: route.fulfill(status=400, body=body))
    page.add_init_script(WATCH_RELOADS)
    page.goto(read_own_context(client))
    expect(page.locator("html")).to_have_attribute("data-loaded-by", "reload")

    expect(page.get_by_text("This page was open for too long. Please reload it.")).to_be_visible()
    # The form tells the page of the fault in the same task that shows the text: another reload would be counted by now.
    assert page.evaluate("sessionStorage.reloads") == "1"
    watch.take()


def test_a_form_whose_attempts_are_used_up_says_when_to_try_again(
    open_context: OpenContext, client: Client, watch: Watch
) -> None:
    link = read_own_context(client)
    page = open_context(timezone_id="Asia/Tokyo").new_page()
    visit(page, link)
    checkout_id = find_checkout(client, link)
    for _ in range(10):
        post(client, checkout_id, {**CARD, "card.number": DECLINED}, headers=SCRIPT)
    fill_in_card(page, NUMBER)

    pay_button(page).click()

    told = re.compile(r"No more attempts are possible for now. Please try again after .* at \d+:\d\d.[AP]M, or contact")
    expect(page.locator(".wpwl-message").first).to_have_text(told)
    page.reload()
    expect(page.get_by_role("heading", name="Too many attempts")).to_be_visible()
    expect(page.get_by_text(told)).to_be_visible()
    assert list_faults(page) == []
    forget_refusals(watch)


def test_the_end_of_a_link_is_shown_in_the_shoppers_time_zone(open_context: OpenContext, client: Client) -> None:
    link = read_own_context(client, validUntil="5", validUntilUnit="HOUR")
    (told,) = client.get(f"/paybylink/v1/{link.rpartition('/')[2]}").json["paymentLinks"]
    end = datetime.strptime(told["validUntil"], "%Y-%m-%d %H:%M:%S%z").astimezone(ZoneInfo("Asia/Tokyo"))
    page = open_context(timezone_id="Asia/Tokyo").new_page()

    visit(page, link)

    expect(page.locator(".valid time")).to_contain_text(f"{end:%B} {end.day}, {end.year}")
    expect(page.locator(".valid time")).to_contain_text(f"{end:%-I:%M}")
