"""The main paths of the payment form in Firefox, each from the first key to the result page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser.firefox import Firefox, Tab
from browser.linking import read_own_context
from browser.repeats import keep_rows
from browser.shops import Site
from browser.walks import ADDRESS, CHALLENGED
from browser.widget_shop import DECLINED, NUMBER, PAYMENT_PATH, HostedPage, Piece, Prepared, form, options
from gateway import CARD, Client

APPROVED = "000.100.110"
IS_HOME = "document.querySelector('h1')?.textContent === 'Welcome back'"
CARD_FORM = ".wpwl-container-card"
# The columns of a picture that hold dark pixels, but for its edges.
INKED = """
(async () => {{
  const picture = await createImageBitmap(await (await fetch("data:image/png;base64,{data}")).blob());
  const pen = Object.assign(document.createElement("canvas"), picture).getContext("2d");
  pen.canvas.width = picture.width;
  pen.canvas.height = picture.height;
  pen.drawImage(picture, 0, 0);
  const {{ data, width, height }} = pen.getImageData(0, 0, picture.width, picture.height);
  const isDark = (x, y) => data[(y * width + x) * 4] + data[(y * width + x) * 4 + 1] < 200;
  return [...Array(width).keys()].filter((x) => [...Array(height).keys()].slice(8, -8).some((y) => isDark(x, y)));
}})()
"""


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with Firefox(tmp_path_factory.mktemp("firefox")) as firefox:
        yield firefox


@pytest.fixture
def tab(firefox: Firefox) -> Iterator[Tab]:
    yield firefox.open_tab()
    complaints, firefox.complaints = firefox.complaints, []
    assert complaints == []


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show(tab: Tab, hosted_page: HostedPage, brands: str, *pieces: Piece, **changes: str) -> Prepared:
    checkout = hosted_page.prepare(**changes)
    hosted_page.put_up(*pieces, form(brands), hosted_page.script(checkout))
    tab.goto(hosted_page.shop.url + PAYMENT_PATH)
    return checkout


def type_card(tab: Tab, number: str = NUMBER) -> None:
    tab.frame("/frame/number").type("input", number)
    tab.type(f"{CARD_FORM} .wpwl-control-expiry", "0534")
    tab.type(f"{CARD_FORM} .wpwl-control-cardHolder", "Jane Jones")
    tab.frame("/frame/cvv").type("input", "123")


def expect_home(tab: Tab, hosted_page: HostedPage, checkout: Prepared, code: str = APPROVED) -> None:
    tab.wait_for(IS_HOME)
    hosted_page.check_home(checkout)
    assert hosted_page.read_code(checkout) == code


def test_a_declined_shopper_pays_with_another_card(tab: Tab, hosted_page: HostedPage) -> None:
    checkout = show(tab, hosted_page, "VISA MASTER")
    type_card(tab, DECLINED)
    tab.click(".wpwl-button-pay")
    expect_home(tab, hosted_page, checkout, "800.100.152")

    tab.goto(hosted_page.shop.url + PAYMENT_PATH)
    type_card(tab)
    tab.click(".wpwl-button-pay")

    expect_home(tab, hosted_page, checkout)


def test_the_bank_asks_who_pays_in_a_frame_of_the_page(tab: Tab, hosted_page: HostedPage) -> None:
    checkout = show(tab, hosted_page, "VISA", **ADDRESS)
    type_card(tab, CHALLENGED)
    tab.click(".wpwl-button-pay")

    tab.frame("/acs/challenge/").click("input[type=submit]")

    expect_home(tab, hosted_page, checkout)


def test_a_shopper_approves_in_the_providers_window(tab: Tab, hosted_page: HostedPage) -> None:
    checkout = show(tab, hosted_page, "PAYPAL")
    tab.click(".wpwl-button-pay")

    tab.popup().click("button[value=approve]")

    expect_home(tab, hosted_page, checkout)


def test_a_bank_account_is_debited(tab: Tab, hosted_page: HostedPage) -> None:
    checkout = show(tab, hosted_page, "DIRECTDEBIT_SEPA")
    tab.type(".wpwl-control-accountHolder", "Jane Jones")
    tab.type(".wpwl-control-accountIban", "DE89370400440532013000")
    tab.click(".wpwl-button-pay")

    expect_home(tab, hosted_page, checkout)


def test_a_registered_card_pays_with_one_click(tab: Tab, hosted_page: HostedPage, client: Client) -> None:
    stored = client.post("/v1/registrations", CARD).json["id"]
    checkout = show(tab, hosted_page, "VISA", **{"registrations[0].id": stored})
    tab.click(".wpwl-form-registrations .wpwl-button-pay")

    expect_home(tab, hosted_page, checkout)


def test_a_card_pays_in_the_accordion_beside_other_methods(tab: Tab, hosted_page: HostedPage) -> None:
    checkout = show(tab, hosted_page, "PAYPAL VISA MASTER", options({"layout": "accordion"}))
    tab.click(".wpwl-method-card .wpwl-method-head")
    type_card(tab)
    tab.click(".wpwl-button-pay")

    expect_home(tab, hosted_page, checkout)


def test_the_form_pays_from_right_to_left(tab: Tab, hosted_page: HostedPage) -> None:
    checkout = show(tab, hosted_page, "VISA MASTER", options({"locale": "ar"}))
    tab.wait_for("getComputedStyle(document.querySelector('.wpwl-container')).direction === 'rtl'")
    type_card(tab)
    tab.click(".wpwl-button-pay")

    expect_home(tab, hosted_page, checkout)


def test_a_payment_link_is_paid_and_shows_its_receipt(tab: Tab, client: Client) -> None:
    tab.goto(read_own_context(client))
    tab.click(".wpwl-method-card .wpwl-method-head")
    type_card(tab)
    tab.click(".wpwl-button-pay")

    tab.wait_for("document.querySelector('.receipt')?.textContent.includes('0000')")


@pytest.mark.parametrize("style", keep_rows(["card", "plain", "logos"], "card", "plain"))
def test_the_name_of_the_brand_stands_beside_its_mark(
    firefox: Firefox, tab: Tab, hosted_page: HostedPage, style: str
) -> None:
    show(tab, hosted_page, "VISA MASTER", options({"style": style}))
    select = ".wpwl-control-brand"
    tab.wait_for(f"getComputedStyle(document.querySelector('{select}')).borderTopStyle === 'solid'")

    inked = firefox.open_tab().read(INKED.format(data=tab.shoot(select)))

    start = 64 if style == "card" else 12
    text = [column for column in inked if start - 8 < column < 300]
    assert start - 4 <= text[0] <= start + 8
