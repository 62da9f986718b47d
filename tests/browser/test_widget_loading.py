"""A shopper sees grey shapes of the form's size before it is there, or a word why it does not come.

Frames that do not come are tested with the mounting of the form.
"""

from __future__ import annotations

import dataclasses
from itertools import product

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext
from browser.repeats import keep_rows
from browser.shops import Site
from browser.test_widget_looks import FOLLOWS_THE_SHOPPER, find_faults_everywhere
from browser.watching import Watch
from browser.widget_shop import HostedPage, Piece, fill_card, form, hold_requests, number_field, options, pay_button
from gateway import Client

CONFIGURATION = "**/v1/checkouts/*/form?*"
BELOW: Piece = '<p id="below">Terms and conditions</p>'
JUMP_MAX_PX = 60
"""The note of the test mode takes 44, and no live host shows it."""
LAYOUTS = {"classic": "VISA MASTER AMEX", "accordion": "VISA MASTER PAYPAL DIRECTDEBIT_SEPA"}
SAMPLE_HEIGHTS = """
  window.heights = [];
  const sample = () => {
    const [below, shapes] = ["#below", ".wpwl-skeleton, .wpwl-container"].map((each) => document.querySelector(each));
    if (below && shapes) heights.push(Math.round(below.getBoundingClientRect().top + scrollY));
    requestAnimationFrame(sample);
  };
  requestAnimationFrame(sample);
"""
"""The place of what stands below the form, in every frame that the browser paints while shapes or form are there."""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def find_top(page: Page) -> float:
    box = page.locator("#below").bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.parametrize(
    ("layout", "scheme"),
    keep_rows(product(LAYOUTS, ["light", "dark"]), ("classic", "dark"), ("accordion", "light")),
)
def test_shapes_keep_the_place_of_the_form(
    open_context: OpenContext, hosted_page: HostedPage, layout: str, scheme: str
) -> None:
    context = open_context(viewport={"width": 600, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    release = hold_requests(page, CONFIGURATION)
    settings = options({"layout": layout, "locale": "en"})
    shown = form(LAYOUTS[layout], "<p>Anything else?</p>")
    hosted_page.show(page, FOLLOWS_THE_SHOPPER, settings, hosted_page.script(hosted_page.prepare()), shown, BELOW)

    expect(page.locator(".wpwl-skeleton")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("The payment form is loading …")
    expect(page.get_by_text("Anything else?")).to_be_hidden()
    faults = find_faults_everywhere(page)
    expected = find_top(page)
    release()

    expect(number_field(page)).to_be_visible()
    expect(page.locator(".wpwl-skeleton")).to_have_count(0)
    page.evaluate("document.querySelector('.wpwl-form-card p').remove()")
    assert abs(find_top(page) - expected) <= JUMP_MAX_PX
    assert faults == []


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_shapes_move_only_for_those_who_like_it(
    open_context: OpenContext, hosted_page: HostedPage, motion: str, moves: bool
) -> None:
    page = open_context(reduced_motion=motion).new_page()
    release = hold_requests(page, CONFIGURATION)
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("VISA"))
    expect(page.locator(".wpwl-skeleton-shapes")).to_be_attached()

    animations = page.locator(".wpwl-skeleton-shapes").evaluate("shapes => shapes.getAnimations().length")

    assert (animations > 0) == moves
    release()
    expect(number_field(page)).to_be_visible()


def test_unloading_takes_the_shapes_and_their_rules_off_the_page(page: Page, hosted_page: HostedPage) -> None:
    release = hold_requests(page, CONFIGURATION)
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("VISA"))
    expect(page.locator(".wpwl-skeleton")).to_be_attached()
    assert page.evaluate("document.adoptedStyleSheets.length") == 1

    page.evaluate("wpwl.unload()")
    release()

    expect(page.locator(".wpwl-skeleton")).to_have_count(0)
    assert page.evaluate("document.adoptedStyleSheets.length") == 0


def test_a_shopper_without_a_connection_sees_that_and_tries_again(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    page.route(CONFIGURATION, lambda route: route.abort())
    checkout = hosted_page.prepare()
    hosted_page.show(page, hosted_page.script(checkout), form("VISA"))
    again = page.get_by_role("button", name="Try again")
    expect(page.get_by_role("alert")).to_contain_text("No connection")
    faults = find_faults_everywhere(page)

    again.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".wpwl-skeleton")).to_have_count(0)
    expect(again).to_be_focused()
    assert all("ERR_FAILED" in complaint for complaint in watch.take())
    # The newest handler counts: the form asks by itself, too, and must not succeed before the press.
    release = hold_requests(page, CONFIGURATION)
    again.click()
    release()

    fill_card(page)
    expect(page.locator("link.wpwl-stylesheet[href$='/widget.css']")).to_have_count(1)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    assert faults == []


def test_the_form_comes_by_itself_when_the_line_is_back(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    release = hold_requests(page, CONFIGURATION)
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("VISA"))
    expect(page.locator(".wpwl-skeleton")).to_be_attached()
    page.context.set_offline(True)
    release()
    expect(page.get_by_role("alert")).to_contain_text("No connection")

    page.context.set_offline(False)

    expect(number_field(page)).to_be_visible()
    expect(pay_button(page)).to_have_css("cursor", "pointer")
    assert all("ERR_INTERNET_DISCONNECTED" in complaint for complaint in watch.take())


def test_a_checkout_that_is_gone_is_not_tried_again(page: Page, hosted_page: HostedPage, watch: Watch) -> None:
    stranger = dataclasses.replace(hosted_page.prepare(), id="0" * 32 + ".test")
    hosted_page.show(page, hosted_page.script(stranger), form("VISA"))

    expect(page.get_by_role("alert")).to_contain_text("session has ended")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    watch.take()


@pytest.mark.parametrize(
    ("layout", "is_slow"), keep_rows(product(LAYOUTS, [True, False]), ("classic", True), ("accordion", False))
)
def test_nothing_jumps_when_the_form_takes_the_place_of_the_shapes(
    open_context: OpenContext, hosted_page: HostedPage, layout: str, is_slow: bool
) -> None:
    page = open_context(viewport={"width": 600, "height": 900}, reduced_motion="no-preference").new_page()
    page.add_init_script(SAMPLE_HEIGHTS)
    release = hold_requests(page, CONFIGURATION) if is_slow else lambda: None
    settings = options({"layout": layout, "locale": "en"})
    hosted_page.show(page, settings, hosted_page.script(hosted_page.prepare()), form(LAYOUTS[layout]), BELOW)
    if is_slow:
        page.wait_for_function("() => heights.length > 5")
    release()
    fill_card(page)

    heights = page.evaluate("heights")
    assert min(heights) >= min(heights[0], heights[-1]) - JUMP_MAX_PX
    assert max(heights) <= max(heights[0], heights[-1]) + JUMP_MAX_PX
