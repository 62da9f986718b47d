"""A shopper opens a payment link: sees what there is to pay, pays it once, and has a receipt from then on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext, Shoot
from browser.linking import read_own_context
from browser.repeats import keep_rows
from browser.shopping import (
    CHALLENGED,
    DECLINED,
    NUMBER,
    fill_in_card,
    open_method,
    pay_button,
    pay_by_card,
    pay_with_address,
    wait_for_form,
)
from browser.shops import Site
from browser.test_shop import list_faults
from browser.watching import Watch
from browser.widget_shop import bank_page
from gateway import Client
from tollgate.web.request import Reply

PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><rect width="80" height="40"/></svg>'


def end_link(client: Client, link: str) -> None:
    path = f"/paybylink/v1/{link.rpartition('/')[2]}?entityId={client.entity_id}"
    assert client.send("DELETE", path, headers=client.authorized()).status == 200


def read_status(client: Client, link: str) -> int:
    status: int = client.get(f"/paybylink/v1/{link.rpartition('/')[2]}").json["paymentLinks"][0]["status"]
    return status


def visit(page: Page, link: str) -> None:
    page.goto(link)
    wait_for_form(page)


def expect_receipt(page: Page) -> None:
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(page.get_by_role("heading", name="Receipt")).to_be_visible()
    expect(page.locator(".receipt dd").first).to_have_text("€38.50")


def test_a_shopper_pays_a_link_and_finds_the_receipt_again(page: Page, client: Client, shoot: Shoot) -> None:
    link = read_own_context(client)
    visit(page, link)
    expect(page.get_by_role("heading", level=1)).to_contain_text("€38.50")
    expect(page.get_by_role("listitem").filter(has_text="Enamel mug")).to_contain_text("€24.00")
    expect(page.locator(".merchant")).to_have_text("Gatehouse Goods")
    shoot(page, "payment-link")
    faults = list_faults(page)

    pay_by_card(page, NUMBER)
    expect_receipt(page)

    expect(page.locator(".receipt")).to_contain_text("Visa •••• 0000")
    expect(page.locator(".receipt")).to_contain_text("INV-2026-0042")
    shoot(page, "payment-link-receipt")
    faults += list_faults(page)
    assert faults == []
    page.reload()
    expect_receipt(page)
    page.goto(link)
    expect_receipt(page)
    page.go_back()
    expect_receipt(page)
    assert read_status(client, link) == 2


def test_going_back_from_the_receipt_shows_no_form(page: Page, client: Client) -> None:
    visit(page, read_own_context(client))
    pay_by_card(page, NUMBER)
    expect_receipt(page)

    page.go_back()

    expect_receipt(page)
    expect(pay_button(page)).to_have_count(0)


def test_another_tab_of_the_same_browser_learns_of_the_payment(open_context: OpenContext, client: Client) -> None:
    context, link = open_context(), read_own_context(client)
    first, second = context.new_page(), context.new_page()
    visit(first, link)
    visit(second, link)

    pay_by_card(first, NUMBER)
    expect_receipt(first)

    expect_receipt(second)


def test_of_two_shoppers_who_have_the_form_open_one_pays(
    open_context: OpenContext, client: Client, watch: Watch
) -> None:
    link = read_own_context(client)
    first, second = (open_context().new_page() for _ in range(2))
    visit(first, link)
    visit(second, link)
    fill_in_card(second, NUMBER)

    pay_by_card(first, NUMBER)
    expect_receipt(first)
    pay_button(second).click()

    # Whether it shows the result or leads to it, the second shopper does not pay.
    expect(second.locator(".wpwl-message, .ending").first).to_be_visible()
    second.reload()
    expect_receipt(second)
    forget_refusals(watch)


def forget_refusals(watch: Watch) -> None:
    """A browser complains of every answer of 400 and more, whether it was expected or not."""
    assert [text for text in watch.take() if "Failed to load resource" not in text] == []


def test_a_declined_card_is_followed_by_another(page: Page, client: Client, watch: Watch) -> None:
    link = read_own_context(client)
    visit(page, link)

    pay_by_card(page, DECLINED)

    alert = page.get_by_role("alert").filter(has_text="nothing was charged")
    expect(alert).to_be_visible()
    assert list_faults(page) == []
    pay_by_card(page, NUMBER)
    expect_receipt(page)
    forget_refusals(watch)


def test_a_bank_that_asks_who_pays_is_shown_in_the_page(page: Page, client: Client, watch: Watch) -> None:
    visit(page, read_own_context(client))
    fill_in_card(page, CHALLENGED)
    pay_with_address(page)

    bank = bank_page(page)
    bank.get_by_label("One-time code").fill("1234")
    bank.get_by_role("button", name="Confirm").click()

    expect_receipt(page)
    forget_refusals(watch)


def test_a_link_that_is_ended_while_it_is_open_takes_no_payment(page: Page, client: Client, watch: Watch) -> None:
    link = read_own_context(client)
    visit(page, link)
    fill_in_card(page, NUMBER)
    end_link(client, link)

    pay_button(page).click()

    expect(page.get_by_role("heading", name="This payment link is no longer valid")).to_be_visible()
    assert list_faults(page) == []
    assert read_status(client, link) == 4
    forget_refusals(watch)


def test_a_link_that_does_not_exist_says_so(page: Page, client: Client, watch: Watch) -> None:
    page.goto(f"{client.base_url}/paymentlink/{'0' * 32}-8a11aa22bb33")

    expect(page.get_by_role("heading", name="This payment link does not exist")).to_be_visible()
    assert list_faults(page) == []
    forget_refusals(watch)


@pytest.mark.parametrize(
    ("locale", "direction", "text"),
    [
        pytest.param("de-AT", "ltr", "Zu zahlender Betrag", marks=pytest.mark.prove),
        ("ar", "rtl", "المبلغ المطلوب دفعه"),
        ("nb-NO", "ltr", "Beløp å betale"),
        ("xx", "ltr", "Amount to pay"),
    ],
)
def test_the_page_and_its_form_speak_the_shoppers_language(
    open_context: OpenContext, client: Client, locale: str, direction: str, text: str
) -> None:
    page = open_context(locale=locale).new_page()
    visit(page, read_own_context(client))

    expect(page.get_by_text(text)).to_be_visible()
    assert page.locator("html").get_attribute("dir") == direction
    expect(page.locator(f".wpwl-container[dir={direction}], .wpwl-accordion[dir={direction}]").first).to_be_attached()
    assert list_faults(page) == []


@pytest.mark.parametrize(
    ("locale", "query", "notation"),
    [
        ("en-GB", "", r"^\d{1,2} [A-Z][a-z]+ \d{4} at \d{2}:\d{2}$"),
        ("en-US", "", r"^[A-Z][a-z]+ \d{1,2}, \d{4} at \d{1,2}:\d{2}\s[AP]M$"),
        ("en-GB", "?lang=de", r"\d{1,2}\. [A-Z]\w+ \d{4} um \d{2}:\d{2}"),
    ],
)
def test_dates_are_written_as_in_the_shoppers_country(
    open_context: OpenContext, client: Client, locale: str, query: str, notation: str
) -> None:
    page = open_context(locale=locale).new_page()
    visit(page, read_own_context(client) + query)

    expect(page.locator(".valid time")).to_have_text(re.compile(notation))


@pytest.mark.parametrize("locale", keep_rows(["en", "ar"], "ar"))
def test_nothing_is_cut_off_on_a_narrow_screen(open_context: OpenContext, client: Client, locale: str) -> None:
    page = open_context(locale=locale, viewport={"width": 320, "height": 640}).new_page()
    visit(page, read_own_context(client, **{"cart.items[1].name": "Unbreakable" * 12}))

    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("is_there", [True, False])
def test_a_large_logo_shrinks_to_a_narrow_screen(
    open_context: OpenContext, client: Client, site: Site, watch: Watch, is_there: bool
) -> None:
    wide = PICTURE.replace(b"80", b"600").replace(b"40", b"200")
    size = {"layout.logoWidth": "600", "layout.logoHeight": "200"}
    page = open_context(viewport={"width": 320, "height": 640}).new_page()
    if is_there:
        site.pages["/wide.svg"] = Reply(200, wide, b"image/svg+xml")
    visit(page, read_own_context(client, **size, **{"layout.logo": f"{site.url}/wide.svg"}))

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    if is_there:
        box = page.locator(".logo").bounding_box()
        assert box is not None
        assert box["width"] / box["height"] == pytest.approx(3, rel=0.02)
    forget_refusals(watch)


def test_a_picture_that_does_not_load_leaves_no_trace(page: Page, client: Client, site: Site, watch: Watch) -> None:
    pictures = {"layout.logo": f"{site.url}/no-logo.svg", "layout.backgroundImage": f"{site.url}/no-back.svg"}
    visit(page, read_own_context(client, **pictures, **{"layout.logoWidth": "80"}))

    expect(page.locator(".logo")).to_be_hidden()
    expect(page.locator(".backdrop")).to_be_hidden()
    expect(page.locator(".merchant")).to_have_text("Gatehouse Goods")
    forget_refusals(watch)


def test_pictures_come_from_the_hosts_named_without_a_referrer(page: Page, client: Client, site: Site) -> None:
    site.pages["/logo.svg"] = site.pages["/back.svg"] = Reply(200, PICTURE, b"image/svg+xml")
    pictures = {"layout.logo": f"{site.url}/logo.svg", "layout.backgroundImage": f"{site.url}/back.svg"}
    link = read_own_context(client, **pictures, **{"layout.logoWidth": "80"})
    referrers: list[Any] = []
    asked = [f"{site.url}/logo.svg", f"{site.url}/back.svg"]
    page.on("request", lambda sent: referrers.append(sent.headers.get("referer")) if sent.url in asked else None)
    answer = page.goto(link)
    wait_for_form(page)

    assert answer is not None
    policy = answer.headers["content-security-policy"]
    (sources,) = (part for part in policy.split("; ") if part.startswith("img-src"))
    assert set(sources.split()[1:]) == {"'self'", client.base_url, site.url}
    assert page.locator(".logo").evaluate("image => image.complete && image.naturalWidth") == 80
    assert [each or "" for each in referrers] == ["", ""]
    assert list_faults(page) == []


def test_links_of_the_merchant_open_apart_and_carry_nothing(page: Page, client: Client) -> None:
    visit(page, read_own_context(client))
    links = page.locator(".foot a")

    expect(links).to_have_count(2)
    for link in links.all():
        assert link.get_attribute("rel") == "noopener noreferrer nofollow"
        assert link.get_attribute("target") == "_blank"


@pytest.mark.parametrize(
    ("button", "text", "seen"),
    [
        ("#0b7a53", "#ffffff", "rgb(255, 255, 255)"),
        ("#ffee00", "#ffffff", "rgb(0, 0, 0)"),
        ("#111111", "#222222", "rgb(255, 255, 255)"),
    ],
)
def test_the_merchants_colours_are_used_and_stay_readable(
    page: Page, client: Client, button: str, text: str, seen: str
) -> None:
    colours = {"layout.payButtonColor": button, "layout.payButtonTextColor": text, "layout.amountColor": "#fefefe"}
    visit(page, read_own_context(client, **colours))

    assert pay_button(page).evaluate("each => getComputedStyle(each).color") == seen
    assert list_faults(page) == []


def test_hostile_words_of_a_merchant_are_shown_as_words(page: Page, client: Client) -> None:
    words = "<img src=x onerror=alert(1)></script>\"'{{7*7}}"
    visit(page, read_own_context(client, **{"merchant.name": words, "cart.items[0].name": words}))

    expect(page.locator(".merchant")).to_contain_text(words)
    expect(page.get_by_role("listitem").first).to_contain_text(words)


@pytest.mark.parametrize(("asked", "count", "needed"), [("collectBilling", 6, 0), ("mandatoryBilling", 6, 4)])
def test_the_form_asks_for_the_billing_address_where_the_merchant_wants_it(
    page: Page, client: Client, asked: str, count: int, needed: int
) -> None:
    visit(page, read_own_context(client, **{asked: "true"}))
    fields = page.locator(".wpwl-container-card [name^='billing.']")

    expect(fields).to_have_count(count)
    expect(page.locator(".wpwl-container-card [name^='billing.'][aria-required=true]")).to_have_count(needed)


def test_without_scripts_the_page_says_what_is_missing(plain_page: Page, client: Client) -> None:
    plain_page.goto(read_own_context(client))

    expect(plain_page.get_by_text("Please turn on JavaScript")).to_be_visible()
    expect(plain_page.get_by_role("heading", level=1)).to_contain_text("38.50 EUR")


def test_with_scripts_no_text_asks_to_turn_them_on(page: Page, client: Client) -> None:
    visit(page, read_own_context(client))

    expect(page.get_by_text("Please turn on JavaScript")).to_be_hidden()


def test_a_form_that_does_not_load_is_reported(page: Page, client: Client, watch: Watch) -> None:
    page.route("**/paymentWidgets.js*", lambda route: route.abort())
    page.goto(read_own_context(client))

    alert = page.get_by_role("alert").filter(has_text="could not be loaded")
    expect(alert).to_be_visible()
    assert list_faults(page) == []
    page.unroute("**/paymentWidgets.js*")
    alert.get_by_role("link").click()
    wait_for_form(page)
    watch.take()


def test_a_form_keeps_its_options_where_the_pages_own_script_does_not_load(
    page: Page, client: Client, watch: Watch
) -> None:
    page.route("**/link.js", lambda route: route.abort())
    visit(page, read_own_context(client, mandatoryBilling="true"))

    expect(page.locator(".wpwl-container-card [name^='billing.'][aria-required=true]")).to_have_count(4)
    expect(page.get_by_text("Please turn on JavaScript")).to_be_hidden()
    texts = page.evaluate("wpwlOptions.errorMessages")
    assert re.search(r"after \d{4}-\d\d-\d\d \d\d:\d\d UTC, or contact Gatehouse Goods", texts["attemptsUsedUp"])
    assert list_faults(page) == []
    forget_refusals(watch)


def test_a_shopper_goes_on_to_where_the_merchant_wants(page: Page, client: Client, site: Site) -> None:
    visit(page, read_own_context(client, shopperResultUrl=f"{site.url}/thanks"))
    pay_by_card(page, NUMBER)
    expect_receipt(page)

    address = page.get_by_role("link", name="Back to Gatehouse Goods").get_attribute("href")

    assert address is not None
    assert address.startswith(f"{site.url}/thanks?id=")


def test_a_provider_brings_the_shopper_back_to_the_link(page: Page, client: Client) -> None:
    visit(page, read_own_context(client))
    open_method(page, "virtualAccount-PAYPAL")
    with page.expect_popup() as opened:
        pay_button(page).click()
    opened.value.get_by_role("button", name="Approve").click()

    expect_receipt(page)
