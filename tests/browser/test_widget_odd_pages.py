"""The payment form in pages that are not as one would wish, and shoppers who do what nobody thought of."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from browser.shops import Site
from browser.widget_shop import TILL, Till, form, inline, options, pay_button
from gateway import Client

LIST = "/list"


@pytest.fixture
def till(shop: Site, client: Client) -> Till:
    return Till(shop, client)


def test_a_window_that_another_page_opened_is_not_closed_on_the_way_home(page: Page, till: Till) -> None:
    """A shop that opens its till in a window of its own: not every page with an opener is our popup."""
    checkout = till.prepare()
    till.put_up(options({"paymentTarget": "_top"}), till.script(checkout), form("PAYPAL"))
    till.put_up(inline(f"addEventListener('click', () => open('{TILL}'));"), path=LIST)
    page.goto(till.shop.url + LIST)
    with page.expect_popup() as opened:
        page.get_by_role("heading").click()
    window = opened.value

    pay_button(window).click()
    window.get_by_role("button", name="Approve").click()

    till.expect_home(window, checkout)
