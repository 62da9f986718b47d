"""The fields of the payment form on bad days: frames that come late or bare, dates in every spelling, values that
nobody announced, and what the page itself has put into its form."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.shops import Site
from browser.watching import Watch
from browser.widget_shop import (
    FRAME_SCRIPT,
    NUMBER,
    HostedPage,
    count_submissions,
    cvv_field,
    fill_card,
    form,
    hold_frames,
    hold_requests,
    number_field,
    options,
    pay_button,
    stretch_timer,
)
from gateway import Client

MASTERCARD = "5454545454545454"
FRAME_PATIENCE_MS = 20_000
PATIENCE = "00:30"
"""This is longer than the form waits for its frames."""
CONFIGURATION = "**/v1/checkouts/*/form?*"
REFUSED = {"result": {"code": "800.100.100", "description": "transaction declined for unknown reason"}}


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def find_message(page: Page) -> Locator:
    return page.locator(".wpwl-form-card .wpwl-message[role=alert]")


def put_in(page: Page, control: Locator, text: str) -> None:
    """Enters the text at once, as pasting does."""
    control.fill("")
    control.focus()
    page.keyboard.insert_text(text)


def test_whoever_pays_before_the_frames_are_connected_has_to_wait_and_nothing_else(
    page: Page, hosted_page: HostedPage
) -> None:
    release_frames = hold_frames(page)
    stretch_timer(page, FRAME_PATIENCE_MS)
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    sent, card = count_submissions(page), page.locator(".wpwl-container-card")
    fill_card(page)

    pay_button(page).click()
    expect(card).to_have_attribute("aria-busy", "true")
    expect(pay_button(page)).to_have_attribute("aria-disabled", "true")
    assert sent() == 0
    release_frames()

    hosted_page.expect_home(page, checkout)
    assert sent() == 1


def test_frames_that_never_come_are_no_fault_of_the_fields(page: Page, hosted_page: HostedPage) -> None:
    release_frames = hold_frames(page)
    page.clock.install()
    checkout = hosted_page.prepare()
    hosted_page.show(page, form("VISA"), hosted_page.script(checkout))
    card = page.locator(".wpwl-container-card")
    fill_card(page)
    # Else the form soon finds the line good again, and loads the frames anew.
    hold_requests(page, CONFIGURATION)

    # Waiting, and once more when it is known that there is nobody to wait for.
    for patience in (PATIENCE, "00:01"):
        pay_button(page).click()
        page.clock.fast_forward(patience)
        expect(find_message(page)).to_contain_text("No connection")
        expect(card).to_have_attribute("aria-busy", "false")
    expect(page.locator(".wpwl-hint")).to_have_count(0)

    release_frames()
    expect(find_message(page)).to_be_hidden()
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)


def test_a_frame_without_its_style_sheet_is_plain_and_keeps_the_code_covered(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    page.route("**/frame.css", lambda route: route.abort())
    checkout = hosted_page.prepare()
    styles = {"iframeStyles": {"card-number-placeholder": {"color": "red"}}, "maskCvv": True}
    hosted_page.show(page, options(styles), form("VISA"), hosted_page.script(checkout))
    pay_button(page).click()
    expect(number_field(page)).to_have_attribute("aria-invalid", "true")
    expect(number_field(page)).to_have_accessible_description("Card number is missing.")
    expect(cvv_field(page)).to_have_attribute("type", "password")

    fill_card(page)
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert {text.partition(":")[0] for text in watch.take()} == {"Failed to load resource"}


def test_a_date_is_understood_in_one_way_or_not_at_all(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, form("VISA"), hosted_page.script(hosted_page.prepare()))
    expiry, hint = page.locator(".wpwl-control-expiry"), page.locator(".wpwl-group-expiry .wpwl-hint")
    parts = page.locator('[name="card.expiryMonth"], [name="card.expiryYear"]')

    for text, shown in (("2034-05", "05 / 2034"), ("05.2034", "05 / 2034"), ("5/34", "05 / 34"), ("0534", "05 / 34")):
        put_in(page, expiry, text)
        expect(expiry).to_have_value(shown)
        expiry.blur()
        expect(hint).to_have_count(0)
        assert parts.evaluate_all("(inputs) => inputs.map((input) => input.value)") == ["05", "2034"]
    wrong = (
        ("13/34", "13 / 34", "expiryMonthError"),
        ("3405", "34 / 05", "expiryMonthError"),
        ("May 34", "May 34", "expiryError"),
        ("05/31/2034", "05/31/2034", "expiryError"),
    )
    for text, shown, error in wrong:
        put_in(page, expiry, text)
        expect(expiry).to_have_value(shown)
        expect(page.locator(f".wpwl-hint-{error}")).to_be_visible()
        assert parts.evaluate_all("(inputs) => inputs.map((input) => input.value)") == ["", ""]

    # Key by key, the helper has split the 13 before the slash tells that it was meant as a month.
    expiry.fill("")
    expiry.press_sequentially("13")
    expect(expiry).to_have_value("01 / 3")
    expiry.press_sequentially("/34")
    expect(expiry).to_have_value("13 / 34")
    expect(page.locator(".wpwl-hint-expiryMonthError")).to_be_visible()
    # The month is mended in its place, across the slash.
    for _ in range(2):
        expiry.press("ArrowLeft")
    expiry.press("Backspace")
    expect(expiry).to_have_value("1 / 34")
    expiry.press_sequentially("2")
    expect(expiry).to_have_value("12 / 34")
    expect(hint).to_have_count(0)


def test_a_silently_filled_field_counts_and_a_long_message_is_received(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(
        page,
        options({"errorMessages": {"cardNumberError": "y" * 350}}),
        form("VISA MASTER"),
        hosted_page.script(checkout),
    )
    expiry, number = page.locator(".wpwl-control-expiry"), number_field(page)
    pay_button(page).click()
    expect(number).to_have_attribute("aria-invalid", "true")
    expect(number).to_have_accessible_description("y" * 299 + "\u2026")
    expect(page.locator(".wpwl-hint-cardNumberError")).to_have_text("y" * 350)

    expiry.evaluate("(input) => { input.value = '06/2034'; input.dispatchEvent(new Event('change')); }")
    expect(expiry).to_have_value("06 / 2034")
    expect(page.locator(".wpwl-group-expiry .wpwl-hint")).to_have_count(0)
    page.evaluate("document.querySelector('.wpwl-control-expiry').value = '05 / 34'")
    page.locator(".wpwl-control-cardHolder").evaluate("(input) => { input.value = 'Jane Jones'; }")
    number.evaluate("(input, text) => { input.value = text; }", MASTERCARD)
    cvv_field(page).evaluate("(input) => { input.value = '123'; }")
    # By key, because the long message vanishes meanwhile, and the button moves away under a mouse.
    pay_button(page).press("Enter")

    hosted_page.expect_home(page, checkout)
    paid = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert (paid["paymentBrand"], paid["card"]["expiryMonth"]) == ("MASTER", "05")


def test_inputs_of_the_page_count_for_every_form_and_a_box_that_saves_the_card_for_the_card(
    page: Page, hosted_page: HostedPage
) -> None:
    posted: list[dict[str, list[str]]] = []

    def refuse(route: Route) -> None:
        posted.append(parse_qs(route.request.post_data or ""))
        route.fulfill(json=REFUSED, headers={"access-control-allow-origin": "*"})

    checkout = hosted_page.prepare()
    own = (
        "<input type=hidden name=createRegistration value=false>",
        "<label><input type=checkbox name=createRegistration value=true checked>Keep</label>",
        '<p><input name="customParameters[SHOPPER_note]"></p>',
        '<input type=hidden name="customParameters[SHOPPER_wish]" value="none">',
    )
    hosted_page.show(page, options({"registrations": {}}), form("PAYPAL VISA", *own), hosted_page.script(checkout))
    card, wallet = page.locator(".wpwl-container-card"), page.locator(".wpwl-container-virtualAccount-PAYPAL")
    expect(card.locator("[name=createRegistration]")).to_have_count(2)
    expect(page.locator('[name^="customParameters"]')).to_have_count(2)
    card.locator('[name="customParameters[SHOPPER_note]"]').fill("Ring twice")
    page.evaluate("document.querySelector('[name*=SHOPPER_wish]').value = 'gift'")

    page.route("**/v1/checkouts/*/payment", refuse)
    pay_button(wallet).click()
    expect(wallet.locator(".wpwl-message[role=alert]")).to_be_visible()
    page.unroute("**/v1/checkouts/*/payment")
    said = {"customParameters[SHOPPER_note]": ["Ring twice"], "customParameters[SHOPPER_wish]": ["gift"]}
    assert {name: texts for name, texts in posted[0].items() if "SHOPPER" in name} == said
    assert posted[0]["paymentBrand"] == ["PAYPAL"]
    assert "createRegistration" not in posted[0]

    fill_card(card)
    pay_button(card).click()
    hosted_page.expect_home(page, checkout)
    paid = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert paid["customParameters"] == {"SHOPPER_note": "Ring twice", "SHOPPER_wish": "gift"}
    assert hosted_page.client.get(f"/v1/registrations/{paid['registrationId']}").status == 200


def test_whatever_can_be_waited_for_may_block_a_payment(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hook = "() => { window.asked = (window.asked || 0) + 1; return window.verdict(); }"
    hosted_page.show(page, options(onBeforeSubmitCard=hook), form("VISA"), hosted_page.script(checkout))
    sent, card = count_submissions(page), page.locator(".wpwl-container-card")
    fill_card(page, NUMBER)
    says = "then(agree) { setTimeout(() => { window.said = (window.said || 0) + 1; agree(ANSWER); }, 20); }"

    kinds = (f"() => ({{ {says} }})", f"() => Object.assign(() => {{}}, {{ {says} }})")
    for count, kind in enumerate(kinds, start=1):
        page.evaluate(f"void (window.verdict = {kind.replace('ANSWER', 'false')})")
        pay_button(page).click()
        page.wait_for_function(f"() => window.said === {count}")
        expect(card).to_have_attribute("aria-busy", "false")
        assert (page.evaluate("asked"), sent()) == (count, 0)

    page.evaluate(f"void (window.verdict = {kinds[1].replace('ANSWER', 'undefined')})")
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    assert sent() == 1


def test_a_form_that_is_moved_while_its_frames_are_on_their_way_becomes_ready_all_the_same(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """Loaded once in vain and then anew, they are waited for by whoever waited for them before."""
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        is_lost = len(lost) < 2
        lost.append(route.request.url)
        route.abort() if is_lost else route.continue_()

    page.route(FRAME_SCRIPT, lose_the_first)
    checkout = hosted_page.prepare()
    hosted_page.show(page, options(onReady="() => { window.told = true; }"), form("VISA"), hosted_page.script(checkout))
    while len(lost) < 2:
        page.wait_for_timeout(20)
    page.locator(".wpwl-container-card").evaluate("(container) => document.body.append(container)")

    page.wait_for_function("() => window.told")

    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    watch.take()
