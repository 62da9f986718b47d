"""The payment form in pages that are not as they should be, and shoppers who do the unexpected."""

from __future__ import annotations

import json
from html import escape

import pytest
from playwright.sync_api import Page, expect

from browser.shops import HTML, Site
from browser.walks import ADDRESS, CHALLENGED
from browser.watching import Watch
from browser.widget_shop import (
    NONCE,
    PAYMENT_PATH,
    HostedPage,
    bank_page,
    fill_card,
    form,
    hold_frames,
    hold_requests,
    inline,
    options,
    pay_button,
)
from gateway import CARD, Client
from tollgate.web.request import Reply

LIST = "/list"
STYLE = "/shop.css"
RESET = "* { all: unset; display: revert; } .wpwl-group, .wpwl-container, .wpwl-message { display: block; }"
OLDER_FRAMEWORK = "Array.from = (list) => Array.prototype.slice.call(list);"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def test_a_shop_may_reset_all_styles_replace_what_is_built_in_and_trust_no_text(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    """Trusted types, a reset that takes everything back, and a framework from before the built-in functions."""
    stored = client.post("/v1/registrations", CARD).json["id"]
    checkout = hosted_page.prepare(**{"registrations[0].id": stored})
    service = client.base_url
    policy = (
        f"default-src 'none'; script-src 'nonce-{NONCE}' {service}; style-src 'self' {service}; frame-src {service}; "
        f"connect-src {service}; img-src {service}; form-action 'none'; require-trusted-types-for 'script'"
    )
    pieces = (
        f"<!doctype html><link rel=stylesheet href={STYLE}>",
        inline(OLDER_FRAMEWORK),
        options({"registrations": {"hideInitialPaymentForms": True}}),
        form("VISA PAYPAL"),
        hosted_page.script(checkout),
    )
    hosted_page.shop.pages[STYLE] = Reply(200, RESET.encode(), b"text/css")
    hosted_page.shop.pages[PAYMENT_PATH] = Reply(
        200, "".join(pieces).encode(), HTML, ((b"content-security-policy", policy.encode()),)
    )
    page.goto(hosted_page.shop.url + PAYMENT_PATH)

    card = page.locator(".wpwl-container-card")
    expect(page.locator(".wpwl-form-registrations")).to_be_visible()
    expect(card).to_be_hidden()
    page.locator(".wpwl-button-other").click()
    expect(card.locator(".wpwl-message[role=alert]")).to_be_hidden()
    widths = card.locator(".wpwl-form, .wpwl-control-cardHolder, .wpwl-button-pay").evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().right)"
    )
    assert max(widths[1:]) < widths[0], "a field sticks out of the form"
    fill_card(card)
    pay_button(card).click()

    hosted_page.expect_home(page, checkout)


def test_the_form_works_in_a_frame_that_has_no_address_of_its_own(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    inner = escape("".join((form("VISA"), hosted_page.script(checkout))))
    hosted_page.show(page, f'<iframe id="inner" srcdoc="{inner}"></iframe>')
    fill_card(page.frame_locator("#inner").locator("body"))
    pay_button(page.frame_locator("#inner").locator("body")).click()

    hosted_page.expect_home(page, checkout)


def test_a_page_without_an_origin_is_reported_at_once_that_it_cannot_show_the_form(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    checkout = hosted_page.prepare()
    received = inline("var wpwlOptions = { onError: ({ name }) => { document.body.dataset.fault = name; } };")
    inner = escape("".join((received, form("VISA"), hosted_page.script(checkout))))
    hosted_page.show(page, f'<iframe id="inner" sandbox="allow-scripts" srcdoc="{inner}"></iframe>')
    body = page.frame_locator("#inner").locator("body")

    expect(body.get_by_role("alert")).to_be_visible()
    expect(body).to_have_attribute("data-fault", "WidgetError")
    assert watch.take() == []


def test_a_page_whose_policy_keeps_frames_out_is_reported_at_once_which_word_is_missing(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    received = options(onError="({ name, message }) => { (window.faults ||= []).push([name, message]); }")
    hosted_page.put_up(received, form("VISA"), hosted_page.script(hosted_page.prepare()))
    shown, service = hosted_page.shop.pages[PAYMENT_PATH], hosted_page.client.base_url
    assert isinstance(shown, Reply)
    policy = dict(shown.headers)[b"content-security-policy"].replace(f"frame-src {service};".encode(), b"")
    hosted_page.shop.pages[PAYMENT_PATH] = Reply(200, shown.body, HTML, ((b"content-security-policy", policy),))
    page.clock.install()
    page.goto(hosted_page.shop.url + PAYMENT_PATH)

    expect(page.locator(".wpwl-form-card .wpwl-message[role=alert]")).to_contain_text("Something went wrong")
    page.clock.fast_forward("00:30")

    [[name, message]] = page.evaluate("faults")
    assert (name, f"add {service} to frame-src" in message) == ("WidgetError", True)
    assert any("frame-src" in complaint for complaint in watch.take())


def test_a_window_that_another_page_opened_is_not_closed_on_the_way_home(page: Page, hosted_page: HostedPage) -> None:
    """A shop that opens its payment page in a window of its own: not every page with an opener is our popup."""
    checkout = hosted_page.prepare()
    hosted_page.put_up(options({"paymentTarget": "_top"}), hosted_page.script(checkout), form("PAYPAL"))
    hosted_page.put_up(inline(f"addEventListener('click', () => open({json.dumps(PAYMENT_PATH)}));"), path=LIST)
    page.goto(hosted_page.shop.url + LIST)
    with page.expect_popup() as opened:
        page.get_by_role("heading").click()
    window = opened.value

    pay_button(window).click()
    window.get_by_role("button", name="Approve").click()

    hosted_page.expect_home(window, checkout)


def test_a_bank_of_another_origin_is_shown_and_may_ask_for_the_shoppers_key(
    page: Page, hosted_page: HostedPage, site: Site
) -> None:
    """The shop's policy names only the service for its frames."""
    site.pages["/bank"] = Reply(200, b"<!doctype html><title>Bank</title>", HTML)
    checkout = hosted_page.prepare(**ADDRESS)
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    fill_card(page, CHALLENGED)
    pay_button(page).click()
    expect(bank_page(page).get_by_role("button", name="Send outcome")).to_be_visible()

    frame = page.frame("bank")
    assert frame is not None
    frame.goto(f"{site.url}/bank")

    settings = ["payment", "publickey-credentials-get", "camera"]
    allowed = "(names) => names.filter((name) => document.featurePolicy.allowsFeature(name))"
    assert frame.evaluate(allowed, settings) == settings[:2]


def test_frames_that_come_late_are_missed_and_then_welcome(page: Page, hosted_page: HostedPage) -> None:
    release_frames = hold_frames(page)
    page.clock.install()
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    message = page.locator(".wpwl-form-card .wpwl-message[role=alert]")
    expect(pay_button(page)).to_be_visible()
    # Else the form soon finds the line good again, and loads the frames anew.
    hold_requests(page, "**/v1/checkouts/*/form?*")

    page.clock.fast_forward("00:30")
    expect(message).to_contain_text("No connection")
    release_frames()

    expect(message).to_be_hidden()
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
