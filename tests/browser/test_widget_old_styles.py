"""Rules that shops wrote for the form's classes long ago do what they say, in every style that has rules of its own;
and whatever words a shop brings fit in. Boxes are measured, colours are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext
from browser.shops import Site
from browser.widget_shop import PAYMENT_PATH, HostedPage, Piece, form, number_field, options, wait_for_styles
from gateway import CARD, Client
from tollgate.web.request import Reply

OLD_SHEET = "/old.css"
COLUMNS = ".wpwl-group-expiry { float: left; width: 48% } .wpwl-group-cvv { float: right; width: 48% }"
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmütze " * 2
LABELS = (
    *("brand", "cardNumber", "expiryDate", "cvv", "cardHolder", "submit", "payWith", "storedCards", "optional"),
    *("billingAddress", "city", "state", "accountBic", "testMode"),
)
PERSON = {"showBirthDate": True, "showTaxNumberField": True}
ALL_FIELDS = {"billingAddress": {}, "registrations": {"requireCvv": True}}

WEAR = """
rules => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  document.adoptedStyleSheets = [sheet];
}
"""
# Of the card's form: the first part of every class, measured from where the form's own content begins.
MEASURE = """
() => {
  const form = document.querySelector(".wpwl-form-card");
  const { left, top } = form.getBoundingClientRect();
  const style = getComputedStyle(form);
  const [x, y] = [left + form.clientLeft + parseFloat(style.paddingLeft), top + parseFloat(style.paddingTop)];
  const width = form.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const parts = { form: [0, 0, width, 0] };
  for (const part of form.querySelectorAll("*")) {
    const box = part.getBoundingClientRect();
    part.classList.forEach((name) => {
      parts[name] = parts[name] || [box.left - x, box.top - y, box.width, box.height];
    });
  }
  return parts;
}
"""
TOP = "part => part.getBoundingClientRect().top"
BOTTOM = "part => part.getBoundingClientRect().bottom"
COLOUR = "part => getComputedStyle(part).color"
FIRST_WORDS = """
label => {
  const range = document.createRange();
  range.selectNode(label.firstChild);
  return range.getBoundingClientRect().toJSON();
}
"""
SPILLS = """
() => [...document.querySelectorAll(".wpwl-container *")]
  .filter((part) => part.checkVisibility() && part.clientWidth && part.scrollWidth > part.clientWidth + 1)
  .map((part) => part.className)
"""


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def is_beside(self, other: Box) -> bool:
        return is_near(self.top, other.top) and self.right <= other.left + 1

    def is_above(self, other: Box) -> bool:
        return self.bottom <= other.top + 1


Boxes = Mapping[str, Box]


@dataclass(frozen=True)
class Recipe:
    """A recipe is a rule of a shop's sheet and what a shopper then sees."""

    rules: str
    holds: Callable[[Boxes], bool]


def is_near(one: float, other: float) -> bool:
    return abs(one - other) < 1.5


def has_width(boxes: Boxes, name: str, share: float) -> bool:
    return is_near(boxes[name].width, boxes["form"].width * share)


def is_in_columns(boxes: Boxes) -> bool:
    expiry, cvv = boxes["wpwl-group-expiry"], boxes["wpwl-group-cvv"]
    return (
        has_width(boxes, "wpwl-group-expiry", 0.48)
        and has_width(boxes, "wpwl-group-cvv", 0.48)
        and is_near(expiry.left, 0)
        and is_near(cvv.right, boxes["form"].width)
        and expiry.is_beside(cvv)
        and boxes["wpwl-group-cardNumber"].is_above(expiry)
        and cvv.is_above(boxes["wpwl-group-cardHolder"])
        and expiry.is_above(boxes["wpwl-group-cardHolder"])
    )


def is_in_halves(boxes: Boxes) -> bool:
    expiry, cvv, holder = (boxes[f"wpwl-group-{name}"] for name in ("expiry", "cvv", "cardHolder"))
    return (
        all(has_width(boxes, f"wpwl-group-{name}", 0.5) for name in ("expiry", "cvv", "cardHolder"))
        and all(has_width(boxes, f"wpwl-group-{name}", 1) for name in ("brand", "cardNumber", "submit"))
        and is_near(expiry.left, 0)
        and is_near(cvv.right, boxes["form"].width)
        and expiry.is_beside(cvv)
        and cvv.is_above(holder)
        and holder.is_above(boxes["wpwl-group-submit"])
    )


def is_number_beside_expiry(boxes: Boxes) -> bool:
    number, expiry = boxes["wpwl-group-cardNumber"], boxes["wpwl-group-expiry"]
    return has_width(boxes, "wpwl-group-cardNumber", 0.7) and number.is_beside(expiry)


def has_heights(boxes: Boxes) -> bool:
    names = ("brand", "cardNumber", "expiry", "cvv", "cardHolder")
    return {round(boxes[f"wpwl-control-{name}"].height) for name in names} == {34}


def is_mark_at_the_end(boxes: Boxes) -> bool:
    group, mark = boxes["wpwl-group-brand"], boxes["wpwl-brand-card"]
    return is_near(mark.right, group.right - 30) and is_near(mark.top, group.top + 5)


def is_mark_at_the_start(boxes: Boxes) -> bool:
    group, mark = boxes["wpwl-group-brand"], boxes["wpwl-brand-card"]
    return is_near(mark.left, group.left + 3) and is_near(mark.bottom, group.bottom - 2)


def is_mark_floating(boxes: Boxes) -> bool:
    mark, wrapper = boxes["wpwl-brand-card"], boxes["wpwl-wrapper-brand"]
    return is_near(mark.right, boxes["wpwl-group-brand"].right) and wrapper.is_above(mark)


def are_labels_beside_fields(boxes: Boxes) -> bool:
    label, wrapper = boxes["wpwl-label-cardHolder"], boxes["wpwl-wrapper-cardHolder"]
    return (
        label.right <= wrapper.left + 1
        and label.top < wrapper.bottom
        and has_width(boxes, "wpwl-wrapper-cardHolder", 0.6)
    )


RECIPES: Mapping[str, Recipe] = {
    "floats to both sides": Recipe(COLUMNS, is_in_columns),
    "inline blocks": Recipe(
        ".wpwl-group-expiry, .wpwl-group-cvv { display: inline-block; width: 48% }",
        lambda boxes: (
            boxes["wpwl-group-expiry"].is_beside(boxes["wpwl-group-cvv"]) and has_width(boxes, "wpwl-group-cvv", 0.48)
        ),
    ),
    "halves": Recipe(
        ".wpwl-group { width: 50%; float: left }"
        ".wpwl-group-brand, .wpwl-group-cardNumber, .wpwl-group-submit { width: 100% }",
        is_in_halves,
    ),
    "a width alone": Recipe(".wpwl-group-cvv { width: 30% }", lambda boxes: has_width(boxes, "wpwl-group-cvv", 0.3)),
    "a small width": Recipe(".wpwl-group-cvv { width: 6% }", lambda boxes: has_width(boxes, "wpwl-group-cvv", 0.06)),
    "long beside short": Recipe(
        ".wpwl-group-cardNumber { float: left; width: 70% } .wpwl-group-expiry { float: left; width: 30% }",
        is_number_beside_expiry,
    ),
    "one under the other": Recipe(
        ".wpwl-group { float: none; width: auto }",
        lambda boxes: (
            boxes["wpwl-group-expiry"].is_above(boxes["wpwl-group-cvv"]) and has_width(boxes, "wpwl-group-expiry", 1)
        ),
    ),
    "distances": Recipe(
        ".wpwl-group { margin-bottom: 40px }",
        lambda boxes: is_near(boxes["wpwl-group-cardNumber"].bottom + 40, boxes["wpwl-group-expiry"].top),
    ),
    "no labels": Recipe(
        ".wpwl-label { display: none }",
        lambda boxes: (
            boxes["wpwl-label-cardHolder"].height == 0
            and is_near(boxes["wpwl-group-cardHolder"].top, boxes["wpwl-control-cardHolder"].top)
        ),
    ),
    "labels beside fields": Recipe(
        ".wpwl-label { float: left; width: 35% } .wpwl-wrapper { float: right; width: 60% }"
        ".wpwl-group-expiry, .wpwl-group-cvv { width: 100% }",
        are_labels_beside_fields,
    ),
    "heights": Recipe(".wpwl-control { height: 34px; padding: 4px 8px }", has_heights),
    "a narrow wrapper": Recipe(
        ".wpwl-wrapper { width: 65% }",
        lambda boxes: (
            has_width(boxes, "wpwl-control-cardNumber", 0.65) and has_width(boxes, "wpwl-control-cardHolder", 0.65)
        ),
    ),
    "a mark at the end": Recipe(
        ".wpwl-brand-card { position: absolute; right: 30px; top: 5px } .wpwl-group { position: relative }",
        is_mark_at_the_end,
    ),
    "a mark at the start": Recipe(
        ".wpwl-brand-card { position: absolute; left: 3px; bottom: 2px } .wpwl-group { position: relative }",
        is_mark_at_the_start,
    ),
    "a mark below": Recipe(
        ".wpwl-wrapper { float: none; width: 100% } .wpwl-brand-card { position: static; float: right }",
        is_mark_floating,
    ),
    "a button at the right": Recipe(
        ".wpwl-button-pay { float: right; width: 120px }",
        lambda boxes: (
            is_near(boxes["wpwl-button-pay"].width, 120)
            and is_near(boxes["wpwl-button-pay"].right, boxes["form"].width)
        ),
    ),
}

FIELD_COLOURS = {"borderTopColor": "rgb(9, 8, 7)", "borderLeftWidth": "3px", "backgroundColor": "rgb(250, 250, 200)"}
BUTTON_COLOURS = {"borderTopWidth": "0px", "backgroundColor": "rgb(4, 5, 6)", "color": "rgb(255, 255, 0)"}
COLOURS = (
    ".wpwl-control { border: 3px solid rgb(9, 8, 7); background-color: rgb(250, 250, 200) }"
    ".wpwl-button { border: 0; background: rgb(4, 5, 6); color: rgb(255, 255, 0) }"
)


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show(
    page: Page,
    hosted_page: HostedPage,
    *pieces: Piece,
    rules: str = "",
    brands: str = "VISA MASTER",
    inside: Piece = "",
    **changes: str,
) -> None:
    """Shows the page as `HostedPage.show` does, with a sheet of the shop's own."""
    sheet, script = f'<link rel="stylesheet" href="{OLD_SHEET}">', hosted_page.script(hosted_page.prepare(**changes))
    hosted_page.put_up(sheet, *pieces, script, form(brands, inside), styles_from="'self'")
    hosted_page.shop.pages[OLD_SHEET] = Reply(200, rules.encode(), b"text/css")
    page.goto(hosted_page.shop.url + PAYMENT_PATH)
    expect(number_field(page)).to_be_visible()
    wait_for_styles(page)


def measure(page: Page) -> Boxes:
    found: dict[str, list[float]] = page.evaluate(MEASURE)
    return {name: Box(*box) for name, box in found.items()}


def find_boxes(page: Page, selector: str) -> list[Box]:
    found = (part.bounding_box() for part in page.locator(selector).all())
    return [Box(box["x"], box["y"], box["width"], box["height"]) for box in found if box is not None]


def differ(page: Page, selector: str, styles: Mapping[str, str]) -> list[str]:
    """Returns the classes of those parts that look otherwise."""
    each = """
    (parts, styles) => parts
      .filter((part) => Object.entries(styles).some(([name, value]) => getComputedStyle(part)[name] !== value))
      .map((part) => part.className)
    """
    found: list[str] = page.locator(selector).evaluate_all(each, dict(styles))
    return found


@pytest.mark.parametrize("style", ["card", "plain", "logos"])
def test_old_rules_for_the_form_s_classes_do_what_they_say(
    open_context: OpenContext, hosted_page: HostedPage, style: str
) -> None:
    page = open_context(viewport={"width": 560, "height": 800}, reduced_motion="reduce").new_page()
    show(page, hosted_page, options({"style": style}), rules=COLUMNS)

    assert is_in_columns(measure(page)), "ours are loaded later, and give way all the same"

    broken = []
    for name, recipe in RECIPES.items():
        page.evaluate(WEAR, recipe.rules)
        if not recipe.holds(measure(page)):
            broken.append(name)
    assert broken == []

    page.evaluate(WEAR, COLOURS)
    assert differ(page, ".wpwl-control", FIELD_COLOURS) == []
    assert differ(page, ".wpwl-button-pay", BUTTON_COLOURS) == []


@pytest.mark.parametrize(("locale", "width"), [("en", 560), ("ar", 560), ("en", 280)])
def test_without_rules_of_the_shop_short_fields_make_pairs(
    open_context: OpenContext, hosted_page: HostedPage, locale: str, width: int
) -> None:
    page = open_context(viewport={"width": width, "height": 800}).new_page()
    own = '<p>Gift card?</p><label><input type="checkbox" name="customParameters[SHOPPER_news]"> News</label>'
    show(
        page,
        hosted_page,
        options({"locale": locale, "showBirthDate": True, "showTaxNumberField": True, **ALL_FIELDS}),
        inside=own,
    )
    boxes = measure(page)
    pairs = (("expiry", "cvv"), ("billingCity", "billingPostcode"), ("birthDate", "taxNumber"))

    for first, second in ((boxes[f"wpwl-group-{one}"], boxes[f"wpwl-group-{two}"]) for one, two in pairs):
        left, right = (second, first) if locale == "ar" else (first, second)
        if width == 280:
            assert first.is_above(second)
            assert is_near(first.width, boxes["form"].width)
        else:
            assert left.is_beside(right)
            assert is_near(left.width, right.width)
            assert is_near(right.left - left.right, 16)
            assert is_near(left.left, 0)
    # What the shop has put into its form stands between the fields and the button, and touches neither.
    fields, button = boxes["wpwl-group-birthDate"], boxes["wpwl-group-submit"]
    assert button.top - fields.bottom > 3 * 16
    for own_part in ("p", "label"):
        top = page.locator(f".wpwl-form-card > {own_part}").evaluate(TOP)
        assert top >= page.locator(".wpwl-group-taxNumber").evaluate(BOTTOM)

    page.locator(".wpwl-group-cvv").evaluate("group => { group.hidden = true }")

    assert is_near(measure(page)["wpwl-group-expiry"].width, boxes["form"].width)


@pytest.mark.parametrize("style", ["card", "plain"])
def test_long_words_of_the_shop_break_where_there_is_no_room(
    open_context: OpenContext, hosted_page: HostedPage, client: Client, style: str
) -> None:
    stored = client.post("/v1/registrations", {**CARD, "card.holder": LONG_WORD.strip()}).json["id"]
    page = open_context(viewport={"width": 280, "height": 800}).new_page()
    chosen = {"style": style, **ALL_FIELDS, "labels": dict.fromkeys(LABELS, LONG_WORD)}

    show(page, hosted_page, options(chosen), brands="VISA DIRECTDEBIT_SEPA PAYPAL", **{"registrations[0].id": stored})

    assert page.evaluate(SPILLS) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 280
    assert all(box.left >= 0 and box.right <= 280 for box in find_boxes(page, ".wpwl-button-text"))


def test_fields_that_may_stay_empty_say_so(page: Page, hosted_page: HostedPage) -> None:
    show(page, hosted_page, options({"locale": "en", **ALL_FIELDS}), brands="VISA DIRECTDEBIT_SEPA")
    debit = page.locator(".wpwl-form-directDebit")

    for field in (debit, page.locator(".wpwl-form-card")):
        expect(field.get_by_label("State or region (optional)", exact=True)).to_be_visible()
        expect(field.get_by_label("Further address details (optional)", exact=True)).to_be_visible()
        expect(field.get_by_label("Town or city", exact=True)).to_have_attribute("aria-required", "true")
    expect(debit.get_by_label("BIC (optional)", exact=True)).not_to_have_attribute("aria-required", "true")
    expect(debit.get_by_label("IBAN", exact=True)).to_have_attribute("aria-required", "true")
    expect(page.get_by_label("Card type", exact=True)).to_have_attribute("aria-required", "true")
    mark = debit.locator(".wpwl-label-accountBic .wpwl-optional")
    assert mark.evaluate(COLOUR) != debit.locator(".wpwl-label-accountBic").evaluate(COLOUR)


def test_the_word_for_fields_that_may_stay_empty_is_the_shop_s_to_choose(page: Page, hosted_page: HostedPage) -> None:
    chosen = {"locale": "ar", "billingAddress": {}, "mandatoryBillingFields": {"country": True}}
    show(page, hosted_page, options({**chosen, "labels": {"optional": "إذا أردت", "city": "مدينة"}}))

    city = page.get_by_label("مدينة إذا أردت", exact=True)
    expect(city).to_be_visible()
    mark = find_boxes(page, ".wpwl-label-billingCity .wpwl-optional")[0]
    assert mark.right <= page.locator(".wpwl-label-billingCity").evaluate(FIRST_WORDS)["left"]

    show(
        page, hosted_page, options({**chosen, "showLabels": False, "labels": {"optional": "إذا أردت", "city": "مدينة"}})
    )

    city = page.get_by_label("مدينة إذا أردت", exact=True)
    expect(city).to_have_attribute("placeholder", "مدينة إذا أردت")

    show(page, hosted_page, options({**chosen, "labels": {"optional": "", "city": "مدينة"}}))

    expect(page.get_by_label("مدينة", exact=True)).to_be_visible()
