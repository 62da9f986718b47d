"""The payment form fits where it is put, follows the page's colours, gives way to the shop's rules, and can be used by
those who hear or magnify it. Whether it is handsome is for eyes to judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Frame, Locator, Page, expect

from browser.accessibility import list_violations
from browser.repeats import keep_rows
from browser.shops import Site
from browser.walks import ADDRESS, CHALLENGED
from browser.widget_shop import (
    HostedPage,
    Piece,
    bank_page,
    cvv_field,
    fill_card,
    form,
    inline,
    number_field,
    options,
    pay_button,
    wait_for_styles,
)
from gateway import CARD, Client

OpenContext = Callable[..., BrowserContext]

FOLLOWS_THE_SHOPPER = inline("document.documentElement.style.colorScheme = 'light dark';")
EVERYTHING = {"billingAddress": {}, "showCVVHint": True, "registrations": {"requireCvv": True}}
EVERY_KIND = "VISA MASTER AMEX DIRECTDEBIT_SEPA PAYPAL IDEAL"
# These rules judge a page as a whole: that of a test and the document of a frame are none.
WHOLE_PAGE_RULES = ("region", "landmark-one-main", "page-has-heading-one")

# What is wider than its place, or runs out of the window.
MISFITS = """
() => Array.from(document.querySelectorAll(".wpwl-container, .wpwl-container *"))
  .filter(element => element.checkVisibility() && element.tagName !== "OPTION")
  .filter(element => {
    const box = element.getBoundingClientRect();
    const isBlock = getComputedStyle(element).display !== "inline" && element.clientWidth > 0;
    const spills = isBlock && element.scrollWidth > element.clientWidth + 1;
    return spills || box.left < -0.5 || box.right > innerWidth + 0.5;
  })
  .map(element => element.className || element.tagName)
"""
# How large the picture is that an element is painted with.
DRAWN_SIZE = """
async element => {
  const image = new Image();
  image.src = getComputedStyle(element).backgroundImage.slice(5, -2);
  await image.decode();
  return [image.naturalWidth, image.naturalHeight];
}
"""
# As pages have it from the documentation of other gateways: a copy of the mark for every brand.
LOGO_SNIPPET = """() => {
  const first = document.querySelector(".wpwl-brand");
  for (const code of ["MASTER", "VISA"]) {
    const copy = first.cloneNode(true);
    copy.className = `wpwl-brand-card wpwl-brand-custom wpwl-brand-${code}`;
    first.after(copy);
  }
  const outside = document.createElement("div");
  outside.className = "wpwl-brand wpwl-brand-AMEX";
  document.body.append(outside);
}"""
OUTER_WIDTH = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


@pytest.fixture(scope="module")
def stored(client: Client) -> list[str]:
    """Two cards of a shopper."""
    numbers = {"VISA": "4200000000000000", "MASTER": "5454545454545454"}
    cards = ({**CARD, "paymentBrand": brand, "card.number": number} for brand, number in numbers.items())
    return [client.post("/v1/registrations", card).json["id"] for card in cards]


def show_everything(page: Page, hosted_page: HostedPage, stored: list[str], locale: str, *pieces: Piece) -> None:
    """Registered cards, a card form with an address, and other brands; the card form says what is wrong with it."""
    checkout = hosted_page.prepare(**{f"registrations[{place}].id": card for place, card in enumerate(stored)})
    settings = options({**EVERYTHING, "locale": locale})
    hosted_page.show(page, FOLLOWS_THE_SHOPPER, settings, *pieces, hosted_page.script(checkout), form(EVERY_KIND))
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)
    pay_button(page.locator(".wpwl-form-card")).click()
    expect(page.locator(".wpwl-hint-cardNumberError")).to_be_visible()


def list_faults(place: Page | Frame) -> list[str]:
    """Returns all that axe calls a violation."""
    return list_violations(place, without=WHOLE_PAGE_RULES)


def find_faults_everywhere(page: Page) -> list[str]:
    """Looks in the page and in every frame of the service; a blank one is there for its name alone."""
    places: list[Page | Frame] = [page, *(frame for frame in page.frames[1:] if frame.url != "about:blank")]
    return [fault for place in places for fault in list_faults(place)]


def read_style(place: Locator, name: str) -> str:
    value: str = place.evaluate("(element, name) => getComputedStyle(element).getPropertyValue(name)", name)
    return value


def brightness(colour: str) -> float:
    """Returns the brightness of `rgb(1, 2, 3)`, from 0 for black to 1 for white."""
    parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(parts) / 765


@pytest.mark.parametrize(
    ("locale", "width", "scheme"),
    keep_rows(
        [("en", 1100, "light"), ("de", 420, "dark"), ("fr", 280, "light"), ("ar", 300, "dark")],
        ("en", 1100, "light"),
        ("ar", 300, "dark"),
    ),
)
def test_everything_fits_and_nothing_keeps_anybody_out(
    open_context: OpenContext, hosted_page: HostedPage, stored: list[str], locale: str, width: int, scheme: str
) -> None:
    context = open_context(viewport={"width": width, "height": 700}, color_scheme=scheme)
    page = context.new_page()

    show_everything(page, hosted_page, stored, locale)

    assert page.evaluate(MISFITS) == []
    assert page.evaluate(OUTER_WIDTH) <= 0
    assert find_faults_everywhere(page) == []


def test_the_form_follows_the_page_into_the_dark_and_frames_come_along(
    open_context: OpenContext, hosted_page: HostedPage
) -> None:
    page = open_context(color_scheme="dark").new_page()
    hosted_page.show(page, FOLLOWS_THE_SHOPPER, form("VISA"), hosted_page.script(hosted_page.prepare()))
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)

    shown, written = page.locator(".wpwl-form"), number_field(page)
    assert brightness(read_style(shown, "background-color")) < 0.2
    expect(written).to_have_css("color", read_style(page.locator(".wpwl-control-expiry"), "color"))
    assert brightness(read_style(written, "color")) > 0.8

    page.emulate_media(color_scheme="light")

    assert brightness(read_style(shown, "background-color")) == 1
    expect(written).to_have_css("color", read_style(page.locator(".wpwl-control-expiry"), "color"))


def test_a_page_that_knows_no_dark_keeps_a_light_form(open_context: OpenContext, hosted_page: HostedPage) -> None:
    page = open_context(color_scheme="dark").new_page()
    hosted_page.show(page, form("VISA"), hosted_page.script(hosted_page.prepare()))

    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)

    assert brightness(read_style(page.locator(".wpwl-form"), "background-color")) == 1


def test_rules_and_properties_of_the_shop_win(page: Page, hosted_page: HostedPage) -> None:
    rules = ".wpwl-button-pay { background-color: rgb(1, 2, 3) } .wpwl-control { border-radius: 0 } form { gap: 3px }"
    rules += ".wpwl-label-brand, .wpwl-wrapper-brand { display: inline-block; width: 40% }"
    own = inline(
        f"const sheet = new CSSStyleSheet(); sheet.replaceSync({rules!r}); document.adoptedStyleSheets = [sheet];"
        "document.documentElement.style.setProperty('--wpwl-paper', 'rgb(250, 240, 230)');"
    )
    hosted_page.show(page, own, form("VISA"), hosted_page.script(hosted_page.prepare()))
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)

    assert read_style(pay_button(page), "background-color") == "rgb(1, 2, 3)"
    assert {read_style(place, "border-top-left-radius") for place in page.locator(".wpwl-control").all()} == {"0px"}
    assert read_style(page.locator(".wpwl-form"), "background-color") == "rgb(250, 240, 230)"
    # A rule for all forms of the page is not meant for this one.
    assert read_style(page.locator(".wpwl-form"), "row-gap") == "16px"
    # Beside its label too, the select has the mark inside.
    mark, select = (page.locator(name).bounding_box() for name in (".wpwl-brand-card", ".wpwl-control-brand"))
    assert mark is not None
    assert select is not None
    assert select["x"] < mark["x"] < mark["x"] + mark["width"] < select["x"] + select["width"]
    assert select["y"] < mark["y"] < mark["y"] + mark["height"] < select["y"] + select["height"]


def test_short_fields_make_a_pair_where_there_is_room_and_frames_are_as_high_as_fields(
    page: Page, hosted_page: HostedPage
) -> None:
    hosted_page.show(page, form("VISA"), hosted_page.script(hosted_page.prepare()))
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)

    def boxes() -> list[dict[str, Any]]:
        names = ("cardNumber", "expiry", "cvv", "cardHolder")
        found = [page.locator(f".wpwl-control-{name}").bounding_box() for name in names]
        return [dict(box) for box in found if box is not None]

    number, expiry, cvv, holder = boxes()
    assert {box["height"] for box in (number, expiry, cvv, holder)} == {46}
    assert expiry["y"] == cvv["y"]
    assert expiry["x"] + expiry["width"] < cvv["x"]
    assert number["width"] == holder["width"] > 2 * expiry["width"]

    page.set_viewport_size({"width": 280, "height": 700})

    number, expiry, cvv, holder = boxes()
    assert expiry["y"] < cvv["y"]
    assert number["width"] == expiry["width"] == cvv["width"]


@pytest.mark.parametrize("style", ["plain", "logos", "none"])
def test_every_style_loads_and_keeps_nobody_out(page: Page, hosted_page: HostedPage, style: str) -> None:
    hosted_page.show(page, options({"style": style}), form("VISA MASTER"), hosted_page.script(hosted_page.prepare()))
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)

    files = page.locator("link.wpwl-stylesheet").evaluate_all("links => links.map(link => link.href.split('/').pop())")
    wanted = {
        "plain": ["marks.css", "plain.css", "wallets.css"],
        "logos": ["widget.css", "marks.css", "dialog.css", "wallets.css", "logos.css"],
        "none": [],
    }[style]
    assert files == wanted
    assert list_faults(page) == []


def test_marks_are_drawn(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, form(EVERY_KIND), hosted_page.script(hosted_page.prepare()))
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)

    marks = page.locator(".wpwl-brand")
    expect(marks).to_have_count(4)
    for mark in marks.all():
        assert mark.evaluate(DRAWN_SIZE) == [40, 26]


@pytest.mark.parametrize("style", keep_rows(["card", "plain", "logos"], "card", "plain"))
def test_a_mark_that_the_page_makes_itself_is_painted_by_its_class(
    page: Page, hosted_page: HostedPage, style: str
) -> None:
    hosted_page.show(
        page,
        options({"style": style}, onReady=LOGO_SNIPPET),
        form("VISA MASTER"),
        hosted_page.script(hosted_page.prepare()),
    )
    copies = page.locator(".wpwl-group-brand .wpwl-brand-custom")
    expect(copies).to_have_count(2)
    made = [*copies.all(), page.locator("body > .wpwl-brand-AMEX")]

    pictures = [mark.evaluate("mark => getComputedStyle(mark).backgroundImage.split('/').pop()") for mark in made]
    assert pictures == ['VISA.svg")', 'MASTER.svg")', 'AMEX.svg")']
    assert all(mark.evaluate(DRAWN_SIZE) == [40, 26] for mark in made)
    boxes = [mark.bounding_box() for mark in made]
    assert all(box and box["width"] >= 40 and box["height"] >= 26 for box in boxes)
    left, right, _ = boxes
    assert left
    assert right
    assert left["x"] + left["width"] <= right["x"], "the copies lie on top of each other"


@pytest.mark.parametrize(("width", "scheme"), keep_rows([(1100, "light"), (300, "dark")], (300, "dark")))
def test_the_bank_s_window_fits_and_keeps_nobody_out(
    open_context: OpenContext, hosted_page: HostedPage, width: int, scheme: str
) -> None:
    page = open_context(viewport={"width": width, "height": 640}, color_scheme=scheme).new_page()
    hosted_page.show(page, FOLLOWS_THE_SHOPPER, form("VISA"), hosted_page.script(hosted_page.prepare(**ADDRESS)))
    fill_card(page, CHALLENGED)
    pay_button(page).click()

    bank = bank_page(page)
    expect(bank.get_by_role("heading", name="Confirm your payment")).to_be_visible()
    dialog = page.get_by_role("dialog", name="Confirm your payment")
    box = dialog.bounding_box()

    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 640
    assert find_faults_everywhere(page) == []


def test_the_security_code_of_a_registered_card_looks_like_a_field(
    page: Page, hosted_page: HostedPage, stored: list[str]
) -> None:
    checkout = hosted_page.prepare(**{"registrations[0].id": stored[0]})
    hosted_page.show(page, options({"registrations": {"requireCvv": True}}), form("VISA"), hosted_page.script(checkout))

    code = cvv_field(page.locator(".wpwl-form-registrations"))
    expect(code).to_be_visible()
    usual = page.locator(".wpwl-control-cardHolder").evaluate("input => getComputedStyle(input, '::placeholder').color")

    assert code.evaluate("input => getComputedStyle(input, '::placeholder').color") == usual
