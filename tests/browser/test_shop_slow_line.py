"""The demo shop on a bad line: slow from the cart to the receipt, or without the script of the payment form."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser.shopping import NUMBER, fill_in_card, order, pay_button
from browser.watching import Watch
from gateway import GatewayProcess

KILOBYTE = 1000
SLOW_LINE = {
    "offline": False,
    "latency": 400,
    "downloadThroughput": 50 * KILOBYTE,
    "uploadThroughput": 50 * KILOBYTE,
}
# What was in the place of the form, in the order in which it came.
WATCH_PLACES = """
window.seenPlaces = [];
new MutationObserver(() => {
  for (const name of ["wpwl-skeleton", "wpwl-accordion"]) {
    const found = document.querySelector("." + name);
    if (found && found.getBoundingClientRect().height > 100 && !window.seenPlaces.includes(name)) {
      window.seenPlaces.push(name);
    }
  }
}).observe(document, { childList: true, subtree: true });
"""


def test_the_whole_demo_is_paid_on_a_slow_line(page: Page, gateway: GatewayProcess) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", SLOW_LINE)
    page.add_init_script(WATCH_PLACES)

    page.goto(f"{gateway.base_url}/sandbox/shop")
    page.get_by_role("button", name="Go to payment").click()
    expect(pay_button(page)).to_be_visible()
    assert page.evaluate("seenPlaces") == ["wpwl-skeleton", "wpwl-accordion"]

    fill_in_card(page, NUMBER)
    pay_button(page).click()

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_a_script_that_does_not_arrive_is_said_in_the_page(page: Page, gateway: GatewayProcess, watch: Watch) -> None:
    order(page, gateway.base_url)
    expect(page.get_by_text("The payment form could not be loaded")).to_be_hidden()
    page.route("**/paymentWidgets.js?*", lambda route: route.abort())
    page.reload()
    expect(page.get_by_text("The payment form could not be loaded")).to_be_visible()
    assert all("ERR_FAILED" in complaint for complaint in watch.take())

    page.unroute("**/paymentWidgets.js?*")
    page.get_by_role("link", name="try again").click()

    expect(pay_button(page)).to_be_visible()
