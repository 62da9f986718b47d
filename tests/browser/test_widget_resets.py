"""The payment form under the resets and themes of other people's pages looks as it does without them. Sheets come from
npm; what themes of WordPress say about elements and their types is written out below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.npm_built import serve_built
from browser.repeats import keep_rows
from browser.shops import Site
from browser.widget_shop import PAYMENT_PATH, HostedPage, form, number_field, options, wait_for_styles
from gateway import CARD, Client
from tollgate.web.request import Reply

THEME = """
label, legend, button, summary { text-transform: uppercase; letter-spacing: 2px; font-style: italic }
label { display: inline-block; float: left; width: 30%; margin: 9px; padding: 7px; color: red; font: 700 22px serif }
fieldset { margin: 20px; padding: 20px; border: 3px dotted red; background: pink; min-width: 50px }
legend { padding: 8px; border-bottom: 1px solid red; float: none; width: auto; margin: 4px; font-size: 30px }
input, select, button {
  margin: 11px; padding: 3px; border: 4px dashed red; border-radius: 0; box-shadow: 0 0 9px red; background: yellow;
  color: yellow; font: 700 10px monospace; width: 50px; height: 20px; line-height: 3; text-shadow: 1px 1px red;
  max-width: 90px; min-height: 5px; max-height: 22px; opacity: 0.5; vertical-align: top; text-decoration: underline;
  word-spacing: 3px; text-indent: 20px; transform: skewX(9deg); filter: blur(1px); cursor: help; letter-spacing: 2px;
}
input[type=text], input[type=email], input[type=tel], [type=text] { height: 99px; padding: 40px; background: black }
[type=submit], button[type=submit], [type=button], button[type=button] { background: white; color: white; border: 0 }
iframe, img, svg { max-width: 50px; margin: 9px; border: 5px solid red; opacity: 0.5; height: auto; padding: 3px }
input::placeholder { color: yellow; opacity: 0.2; font-style: italic }
a { color: yellow; text-decoration: underline }
form { margin: 30px; padding: 30px; border: 5px solid red; background: yellow; max-width: 100px; text-align: center }
ul, li { list-style: square; margin: 22px; padding: 8px }
"""
PLACE = "body { margin: 0 } #place { position: absolute; left: 0; width: 600px }"
SHEETS = ("tailwind3", "tailwind4", "bootstrap", "normalize", "wordpress", "theme")
SETTINGS: Mapping[str, Any] = {
    "billingAddress": {},
    "showBirthDate": True,
    "showCustomer": True,
    "registrations": {"requireCvv": True},
}
# What a shopper sees of every element of ours, by its classes and its place among those of the same classes.
LOOK = """
() => {
  const names = [
    ...["display", "visibility", "opacity", "float", "position", "boxSizing", "width", "height", "maxWidth"],
    ...["marginTop", "marginRight", "marginBottom", "marginLeft"],
    ...["paddingTop", "paddingRight", "paddingBottom", "paddingLeft"],
    ...["borderTopWidth", "borderTopStyle", "borderTopColor", "borderTopLeftRadius", "boxShadow"],
    ...["borderBottomWidth", "borderBottomStyle", "borderBottomColor", "backgroundColor", "backgroundImage", "color"],
    ...["textTransform", "textDecorationLine", "letterSpacing", "wordSpacing", "textShadow", "textIndent", "textAlign"],
    ...["lineHeight", "fontFamily", "fontSize", "fontStyle", "fontWeight", "listStyleType", "transform", "filter"],
    ...["cursor", "whiteSpace", "appearance", "verticalAlign"],
  ];
  const seen = {};
  for (const part of document.querySelectorAll("[class*=wpwl-]:not(link)")) {
    if (!part.checkVisibility()) continue;
    const style = getComputedStyle(part);
    const look = Object.fromEntries(names.map((name) => [name, style[name]]));
    if (part.matches("input")) look.placeholder = getComputedStyle(part, "::placeholder").color;
    const name = part.tagName + "." + part.className;
    seen[name + "#" + Object.keys(seen).filter((each) => each.startsWith(name + "#")).length] = look;
  }
  return seen;
}
"""
CLASSLESS = """
() => [...document.querySelectorAll(":is(.wpwl-container, .wpwl-registrations-block) *:not([class])")]
  .filter((part) => !part.matches("option, [type=hidden]"))
  .map((part) => part.outerHTML)
"""
CONTRAST = """
button => {
  const canvas = document.createElement("canvas").getContext("2d");
  const luminance = (color) => {
    for (canvas.fillStyle of ["white", color]) canvas.fillRect(0, 0, 1, 1);
    const [...parts] = canvas.getImageData(0, 0, 1, 1).data.slice(0, 3);
    const [red, green, blue] = parts.map((part) => part / 255).map((part) =>
      part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const style = getComputedStyle(button);
  const [dark, light] = [luminance(style.color), luminance(style.backgroundColor)].sort();
  return (light + 0.05) / (dark + 0.05);
}
"""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show(page: Page, hosted_page: HostedPage, sheet: str | None, **settings: str) -> dict[str, dict[str, str]]:
    stored = hosted_page.client.post("/v1/registrations", CARD).json["id"]
    checkout = hosted_page.prepare(**{"registrations[0].id": stored})
    hosted_page.shop.pages["/theme.css"] = Reply(200, THEME.encode(), b"text/css")
    hosted_page.shop.pages["/place.css"] = Reply(200, PLACE.encode(), b"text/css")
    sheets = ["/place.css"]
    if sheet is not None:
        sheets.append("/theme.css" if sheet == "theme" else serve_built(hosted_page.shop, f"{sheet}.css"))
    links = "".join(f"<link rel=stylesheet href={path}>" for path in sheets)
    place = f"<div id=place>{form('VISA MASTER DIRECTDEBIT_SEPA PAYPAL')}</div>"
    hosted_page.put_up(
        links, options({**SETTINGS, **settings}), place, hosted_page.script(checkout), styles_from="'self'"
    )
    page.goto(hosted_page.shop.url + PAYMENT_PATH)
    if settings.get("layout") == "accordion":
        page.locator(".wpwl-method-card .wpwl-method-radio").check()
    expect(number_field(page.locator(".wpwl-container-card"))).to_be_visible()
    wait_for_styles(page)
    look: dict[str, dict[str, str]] = page.evaluate(LOOK)
    return look


def compare(usual: dict[str, dict[str, str]], found: dict[str, dict[str, str]]) -> list[str]:
    assert list(usual) == list(found)
    return [
        f"{part}: {name} is {found[part][name]}, not {value}"
        for part, look in usual.items()
        for name, value in look.items()
        if found[part][name] != value
    ]


@pytest.mark.parametrize("layout", keep_rows(["classic", "accordion"], "accordion"))
def test_a_sheet_of_the_page_that_does_not_mean_the_form_leaves_it_alone(
    page: Page, hosted_page: HostedPage, layout: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    usual = show(page, hosted_page, None, layout=layout)
    assert page.evaluate(CLASSLESS) == []

    differences = {}
    for sheet in SHEETS:
        differences[sheet] = compare(usual, show(page, hosted_page, sheet, layout=layout))
        assert page.locator(".wpwl-button-pay:visible").first.evaluate(CONTRAST) >= 4.5

    assert differences == {sheet: [] for sheet in SHEETS}


def test_in_the_plain_style_the_page_s_letters_count_and_fields_and_buttons_are_seen(
    page: Page, hosted_page: HostedPage
) -> None:
    for sheet in SHEETS[:-1]:
        look = show(page, hosted_page, sheet, style="plain")

        fields = [part for name, part in look.items() if ".wpwl-control " in name]
        assert len(fields) > 10
        assert {(part["borderTopStyle"], part["borderTopWidth"], part["height"]) for part in fields} == {
            ("solid", "1px", "46px")
        }
        for button in page.locator(".wpwl-button-pay").all():
            assert button.evaluate(CONTRAST) >= 4.5
            assert button.evaluate("part => part.offsetHeight") >= 44
