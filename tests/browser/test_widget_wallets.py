"""Apple Pay and Google Pay in the form, with the simulated sheet of a test host; and which brands are left out.

The wallets' own scripts are tested in `test_widget_live_wallets.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from browser.accessibility import list_violations
from browser.repeats import keep_rows
from browser.shops import Site
from browser.watching import Watch
from browser.widget_shop import HostedPage, count_submissions, form, number_field, options, pay_button
from gateway import Client
from tollgate.catalog.wallets import WALLET_SHEETS
from tollgate.widget.languages import LANGUAGES

ENGLISH = LANGUAGES["en"]
APPROVED = "000.100.110"
DECLINED = "800.100.152"
SHEET_CARDS = (("Mastercard •••• 5454", APPROVED), ("Visa •••• 0002", DECLINED))
NAMES = {"APPLEPAY": "Apple Pay", "GOOGLEPAY": "Google Pay"}

COUNT_LISTENERS = """
() => {
  window.listeners = new Set();
  const { addEventListener: add, removeEventListener: remove } = window;
  window.addEventListener = (kind, act, ...more) => {
    if (kind === "message") listeners.add(act);
    add.call(window, kind, act, ...more);
  };
  window.removeEventListener = (kind, act, ...more) => {
    listeners.delete(act);
    remove.call(window, kind, act, ...more);
  };
}
"""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def sheet(page: Page, brand: str) -> FrameLocator:
    return page.get_by_role("dialog", name=NAMES[brand]).frame_locator("iframe")


def wallet_button(page: Page, brand: str) -> Callable[[], None]:
    return pay_button(page.locator(f".wpwl-container-virtualAccount-{brand}")).click


@pytest.mark.parametrize(
    ("brand", "card", "code"),
    keep_rows(
        [(brand, *card) for brand in sorted(WALLET_SHEETS) for card in SHEET_CARDS],
        ("APPLEPAY", *SHEET_CARDS[0]),
        ("GOOGLEPAY", *SHEET_CARDS[1]),
    ),
)
def test_a_card_of_the_simulated_sheet_pays_or_is_declined(
    page: Page, hosted_page: HostedPage, watch: Watch, brand: str, card: str, code: str
) -> None:
    checkout = hosted_page.prepare(merchant__name="Jones and Daughters")
    hosted_page.show(page, form(f"VISA {brand}"), hosted_page.script(checkout))
    wallet_button(page, brand)()

    expect(sheet(page, brand).get_by_text("Jones and Daughters")).to_be_visible()
    sheet(page, brand).get_by_label(card).check()
    sheet(page, brand).get_by_role("button", name="Confirm 92.00 EUR").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == code
    # The browser notes that a declined submission was answered with 400.
    assert len(watch.take()) == (code == DECLINED)


@pytest.mark.parametrize("way", ["Cancel", "Escape", "Escape outside", "close"])
def test_who_leaves_the_sheet_has_sent_nothing_and_may_pay_by_card(
    page: Page, hosted_page: HostedPage, way: str
) -> None:
    hosted_page.show(page, form("VISA APPLEPAY"), hosted_page.script(hosted_page.prepare()))
    submissions = count_submissions(page)
    wallet_button(page, "APPLEPAY")()
    expect(sheet(page, "APPLEPAY").get_by_role("button", name="Cancel")).to_be_visible()

    if way == "Cancel":
        sheet(page, "APPLEPAY").get_by_role("button", name="Cancel").click()
    elif way == "Escape":
        sheet(page, "APPLEPAY").get_by_label("Visa •••• 0000").press("Escape")
    elif way == "Escape outside":
        page.get_by_role("button", name=ENGLISH["close"]).press("Escape")
    else:
        page.get_by_role("button", name=ENGLISH["close"]).click()

    button = pay_button(page.locator(".wpwl-container-virtualAccount-APPLEPAY"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    said = page.get_by_text(ENGLISH["notCharged"])
    expect(said).to_be_focused()
    assert submissions() == 0
    expect(pay_button(page.locator(".wpwl-container-card"))).not_to_have_attribute("aria-disabled", "true")
    button.click()
    expect(sheet(page, "APPLEPAY").get_by_role("button", name="Cancel")).to_be_visible()
    expect(said).to_have_count(0)


def test_a_cancellation_after_the_end_of_the_checkout_shows_that_end(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("APPLEPAY"), hosted_page.script(checkout))
    pay_button(page).click()
    expect(sheet(page, "APPLEPAY").get_by_role("button", name="Cancel")).to_be_visible()
    entity = f"?entityId={hosted_page.client.entity_id}"
    hosted_page.client.send("DELETE", f"/v1/checkouts/{checkout.id}{entity}", None, hosted_page.client.authorized())
    sheet(page, "APPLEPAY").get_by_role("button", name="Cancel").click()

    expect(page.get_by_text(ENGLISH["sessionGone"])).to_be_visible()
    assert watch.take()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"body": '{"state": "busy"}'}, "paidElsewhere"),
        ({"status": 503, "body": "{}"}, "unexpectedError"),
        (None, "networkError"),
    ],
)
def test_nothing_was_charged_is_shown_after_a_cancellation_only_where_that_is_known(
    page: Page, hosted_page: HostedPage, watch: Watch, answer: dict[str, Any] | None, text: str
) -> None:
    hosted_page.show(page, form("APPLEPAY"), hosted_page.script(hosted_page.prepare()))
    pay_button(page).click()
    expect(sheet(page, "APPLEPAY").get_by_role("button", name="Cancel")).to_be_visible()
    page.route("**/v1/checkouts/*/form?*", lambda route: answer_with(route, answer))
    sheet(page, "APPLEPAY").get_by_role("button", name="Cancel").click()

    expect(page.locator(".wpwl-message[role=alert]")).to_have_text(ENGLISH[text])
    expect(pay_button(page)).not_to_have_attribute("aria-disabled", "true")
    # Without a line the form asks on and on.
    page.evaluate("wpwl.unload()")
    watch.take()


def answer_with(route: Route, answer: dict[str, Any] | None) -> None:
    if answer is None:
        route.abort()
    else:
        route.fulfill(**answer, headers={"access-control-allow-origin": "*"})


@pytest.mark.parametrize(
    "way", ["wpwl.unload()", "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"]
)
def test_nothing_listens_to_a_sheet_that_was_taken_away(page: Page, hosted_page: HostedPage, way: str) -> None:
    hosted_page.show(page, form("APPLEPAY"), hosted_page.script(hosted_page.prepare()))
    expect(pay_button(page)).to_be_visible()
    page.evaluate(COUNT_LISTENERS)
    pay_button(page).click()
    expect(sheet(page, "APPLEPAY").get_by_role("button", name="Cancel")).to_be_visible()
    assert page.evaluate("listeners.size") == 1
    page.evaluate(way)

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("listeners.size") == 0


def test_the_sheet_opens_once_however_often_the_button_is_pressed(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, form("APPLEPAY"), hosted_page.script(hosted_page.prepare()))
    pay_button(page).evaluate("button => { button.click(); button.click(); }")

    expect(sheet(page, "APPLEPAY").get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.locator("dialog")).to_have_count(1)


def test_a_page_may_refuse_before_the_sheet_opens(page: Page, hosted_page: HostedPage) -> None:
    hook = {"onBeforeSubmitWallet": "() => Promise.resolve(window.mayPay === true)"}
    hosted_page.show(page, options(None, **hook), form("GOOGLEPAY"), hosted_page.script(hosted_page.prepare()))
    pay_button(page).click()
    page.evaluate("window.mayPay = true")
    expect(page.locator("dialog")).to_have_count(0)

    pay_button(page).click()

    expect(sheet(page, "GOOGLEPAY").get_by_role("button", name="Cancel")).to_be_visible()


@pytest.mark.parametrize("scheme", keep_rows(["light", "dark"], "dark"))
def test_buttons_and_sheet_can_be_used_by_everybody(page: Page, hosted_page: HostedPage, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    hosted_page.show(page, form("APPLEPAY GOOGLEPAY"), hosted_page.script(hosted_page.prepare()))
    expect(page.get_by_role("button", name=ENGLISH["payWith"].format(brand="Google Pay"))).to_be_visible()
    shapes = pay_button(page).evaluate_all(
        "all => all.map((each) => [each.offsetHeight, getComputedStyle(each).borderRadius])"
    )
    assert shapes[0] == shapes[1]
    assert list_violations(page, ".wpwl-container", "dialog") == []

    page.get_by_role("button", name=ENGLISH["payWith"].format(brand="Apple Pay")).press("Enter")
    expect(sheet(page, "APPLEPAY").get_by_label("Visa •••• 0000")).to_be_visible()
    page.keyboard.press("Tab")
    expect(sheet(page, "APPLEPAY").get_by_label("Visa •••• 0000")).to_be_focused()

    frame = next(each for each in page.frames if "/sandbox/wallets/" in each.url)
    assert list_violations(page, ".wpwl-container", "dialog") == []
    assert list_violations(frame) == []


def test_in_an_accordion_the_one_button_looks_as_the_open_wallet_wants(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(
        page, options({"layout": "accordion"}), form("VISA APPLEPAY GOOGLEPAY"), hosted_page.script(checkout)
    )
    usual = pay_button(page)
    expect(usual).not_to_have_class(re.compile("wpwl-button-wallet"))
    page.get_by_role("radio", name="Google Pay").check()
    expect(usual).to_have_class(re.compile("wpwl-google-pay-button"))
    page.get_by_role("radio", name="Apple Pay").check()
    expect(usual).to_have_class(re.compile("wpwl-apple-pay-button"))
    expect(usual).not_to_have_class(re.compile("wpwl-google-pay-button"))
    expect(usual).to_have_text(ENGLISH["payWith"].format(brand="Apple Pay"))
    usual.click()
    sheet(page, "APPLEPAY").get_by_role("button", name="Confirm").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


# ---- what is left out ----


def test_a_brand_that_is_left_out_is_named_once_with_its_reason(page: Page, hosted_page: HostedPage) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "warning" else None)
    hosted_page.show(
        page, form("VISA VISAA SAMSUNGPAY"), form("VISAA MASTER"), hosted_page.script(hosted_page.prepare())
    )
    expect(number_field(page.locator(".wpwl-container-card").first)).to_be_visible()
    page.evaluate("document.body.append(document.querySelector('.paymentWidgets').cloneNode())")
    expect(page.locator(".wpwl-container-card")).to_have_count(3)

    assert sorted(said) == [
        "paymentWidgets.js leaves out SAMSUNGPAY: the payment form has no sheet for this wallet",
        "paymentWidgets.js leaves out VISAA: there is no brand of this name",
    ]


@pytest.mark.parametrize("locale", keep_rows(["en", "de"], "de"))
def test_a_page_whose_only_wallet_is_not_there_says_so(
    page: Page, hosted_page: HostedPage, watch: Watch, locale: str
) -> None:
    with page.expect_event("pageerror") as received:
        hosted_page.show(
            page, options({"locale": locale}), form("SAMSUNGPAY"), hosted_page.script(hosted_page.prepare())
        )

    expect(page.get_by_role("alert")).to_have_text(LANGUAGES[locale]["methodUnavailable"])
    assert "SAMSUNGPAY (the payment form has no sheet" in received.value.message
    assert len(watch.take()) == 1
