"""A shopper who has paid sees a tick for a moment before the browser goes to the result, and always gets there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext
from browser.repeats import keep_rows
from browser.shops import Site
from browser.test_widget_looks import find_faults_everywhere
from browser.walks import ADDRESS, CHALLENGED
from browser.watching import Watch
from browser.widget_shop import DECLINED, HostedPage, bank_page, fill_card, form, inline, options, pay_button
from gateway import Client

PAID = "000.100.110"
DONE = "Payment successful"
# The browser's own record of what the shopper saw of it, kept where the next page of the shop still finds it.
WATCH_TICK = inline(
    """
    new MutationObserver(() => {
      const tick = document.querySelector(".wpwl-button-pay .wpwl-tick");
      if (tick && !sessionStorage.seenAt) {
        const status = [...document.querySelectorAll(".wpwl-status")].map((each) => each.textContent).join("");
        const isCovered = Boolean(document.querySelector("dialog[open]"));
        Object.assign(sessionStorage, { seenAt: Date.now(), status, isCovered });
      }
    }).observe(document, { childList: true, subtree: true, characterData: true });
    window.addEventListener("pagehide", () => { sessionStorage.leftAt = Date.now(); });
    """
)
# A page that waits for the tick waits for ever.
NEVER_ENDS = inline(
    "const later = window.setTimeout; window.setTimeout = (run, ms) => later(run, ms === 500 ? 1e9 : ms);"
)
LAYOUTS = ("classic", "accordion")


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def read_record(page: Page) -> dict[str, Any]:
    """The record is empty where no tick was shown."""
    record: dict[str, Any] = json.loads(page.evaluate("JSON.stringify(sessionStorage)"))
    return record if "seenAt" in record else {}


@pytest.mark.parametrize("layout", keep_rows(LAYOUTS, "classic"))
def test_a_card_that_is_paid_at_once(page: Page, hosted_page: HostedPage, layout: str) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, WATCH_TICK, options({"layout": layout}), hosted_page.script(checkout), form("VISA"))
    fill_card(page)

    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    record = read_record(page)
    assert record["status"] == DONE
    assert int(record["leftAt"]) - int(record["seenAt"]) >= 400
    assert hosted_page.read_code(checkout) == PAID


@pytest.mark.parametrize("layout", keep_rows(LAYOUTS, "accordion"))
def test_a_challenge_that_was_passed(page: Page, hosted_page: HostedPage, layout: str) -> None:
    checkout = hosted_page.prepare(**ADDRESS)
    hosted_page.show(page, WATCH_TICK, options({"layout": layout}), hosted_page.script(checkout), form("VISA"))
    fill_card(page, CHALLENGED)
    pay_button(page).click()

    bank_page(page).get_by_label("One-time code").fill("1234")
    bank_page(page).get_by_role("button", name="Confirm").click()

    hosted_page.expect_home(page, checkout)
    assert (read_record(page)["status"], read_record(page)["isCovered"]) == (DONE, "false")
    assert hosted_page.read_code(checkout) == PAID


@pytest.mark.parametrize("layout", keep_rows(LAYOUTS, "classic"))
def test_a_provider_s_window_that_approved(page: Page, hosted_page: HostedPage, layout: str) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, WATCH_TICK, options({"layout": layout}), hosted_page.script(checkout), form("PAYPAL"))
    with page.expect_popup() as opened:
        pay_button(page).click()

    opened.value.get_by_role("button", name="Approve").click()

    hosted_page.expect_home(page, checkout)
    assert read_record(page)["status"] == DONE
    assert hosted_page.read_code(checkout) == PAID


def test_a_decline_has_no_tick(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, WATCH_TICK, hosted_page.script(checkout), form("VISA PAYPAL"))
    fill_card(page, DECLINED)
    pay_button(page.locator(".wpwl-container-card")).click()
    hosted_page.expect_home(page, checkout)
    assert read_record(page) == {}
    # A browser complains of every answer that says no.
    assert all("400" in complaint for complaint in watch.take())

    page.go_back()
    with page.expect_popup() as opened:
        pay_button(page.locator(".wpwl-container-virtualAccount-PAYPAL")).click()
    opened.value.get_by_role("button", name="Decline").click()
    hosted_page.expect_home(page, checkout)
    assert read_record(page) == {}


def test_nobody_waits_who_wants_less_motion(open_context: OpenContext, hosted_page: HostedPage) -> None:
    page = open_context(reduced_motion="reduce").new_page()
    checkout = hosted_page.prepare()
    hosted_page.show(page, NEVER_ENDS, hosted_page.script(checkout), form("VISA"))
    fill_card(page)

    pay_button(page).click()

    hosted_page.expect_home(page, checkout)


def test_a_page_that_is_hidden_or_changed_meanwhile_leaves_all_the_same(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hides = inline(
        """
        const found = new MutationObserver(() => {
          if (document.querySelector(".wpwl-tick")) {
            found.disconnect();
            document.querySelector(".wpwl-container").remove();
            later(() => document.dispatchEvent(new Event("visibilitychange")), 50);
          }
        });
        found.observe(document, { childList: true, subtree: true });
        """
    )
    hosted_page.show(page, NEVER_ENDS, hides, hosted_page.script(checkout), form("VISA"))
    fill_card(page)

    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == PAID


def test_the_tick_keeps_nobody_out(page: Page, hosted_page: HostedPage) -> None:
    """The result page never comes, so that there is time to look."""
    hosted_page.show(
        page,
        NEVER_ENDS,
        options({"layout": "accordion"}),
        hosted_page.script(hosted_page.prepare()),
        form("VISA PAYPAL"),
    )
    fill_card(page)
    pay_button(page).click()

    expect(page.locator(".wpwl-tick")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text=DONE)).to_be_visible()
    assert find_faults_everywhere(page) == []
