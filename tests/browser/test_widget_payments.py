"""A shopper pays through the payment form of a shop on another origin, in every way, and the shop learns no number."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from browser.conftest import OpenContext
from browser.shopping import pay_with_address
from browser.shops import Site
from browser.walks import ADDRESS, CHALLENGED
from browser.watching import Watch
from browser.widget_shop import (
    DECLINED,
    NUMBER,
    HostedPage,
    Prepared,
    bank_page,
    cvv_field,
    fill_card,
    form,
    inline,
    number_field,
    options,
    pay_button,
    stay_open_for_a_moment,
)
from gateway import CARD, Client

APPROVED = "000.100.110"
SPY = """
    window.heard = [];
    addEventListener("message", (event) => heard.push(JSON.stringify(event.data)));
    const say = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (...args) {
      heard.push(JSON.stringify(args[0]));
      return say.apply(this, args);
    };
    const listen = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
    Object.defineProperty(MessagePort.prototype, "onmessage", {
      set(hear) { listen.set.call(this, (event) => { heard.push(JSON.stringify(event.data)); hear(event); }); },
    });
    const add = MessagePort.prototype.addEventListener;
    MessagePort.prototype.addEventListener = function (name, hear, ...rest) {
      return add.call(this, name, (event) => { heard.push(JSON.stringify(event.data)); hear(event); }, ...rest);
    };
"""
"""A shop that listens to all that is said to its page, and to all that its page says."""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show_hosted_page(page: Page, hosted_page: HostedPage, brands: str, *before: str, **changes: str) -> Prepared:
    checkout = hosted_page.prepare(**changes)
    hosted_page.show(page, *before, hosted_page.script(checkout), form(brands))
    return checkout


def list_told(context: BrowserContext) -> list[str]:
    received: list[str] = []

    def note(message: ConsoleMessage) -> None:
        received.append(message.text)

    context.on("console", note)
    return received


def test_a_shop_never_sees_the_number(open_context: OpenContext, hosted_page: HostedPage) -> None:
    """Swept: its page, its messages, its address, its storage, its console and what it asks for; while the shopper
    types, when the card is declined, and at the result page."""
    context = open_context()
    page, received = context.new_page(), list_told(context)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    checkout = show_hosted_page(page, hosted_page, "VISA MASTER", inline(SPY))
    fill_card(page)

    swept = page.evaluate(
        """() => [document.documentElement.outerHTML, JSON.stringify(heard), location.href, document.cookie,
            JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}),
            ...Array.from(document.querySelectorAll("input, select"), (input) => input.value),
            ...Array.from(document.querySelectorAll("iframe"), (frame) => String(frame.contentDocument))]"""
    )
    heard = page.evaluate("heard.length")
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)

    everything = [*swept, *received, *asked, *(str(visit) for visit in hosted_page.shop.visits)]
    assert heard > 5, "the spy heard nothing, so it proves nothing"
    assert [text for text in everything if NUMBER in "".join(filter(str.isdigit, text))] == []
    assert "null" in swept[-1], "the shop can look into a frame"
    assert hosted_page.read_code(checkout) == APPROVED


def test_the_form_sends_the_accept_header_of_the_browser_and_not_that_of_a_script(
    page: Page, hosted_page: HostedPage
) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA")
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)

    received = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json["customer"]["browser"]

    assert received["acceptHeader"].startswith("text/html,")
    assert "json" not in received["acceptHeader"]


def test_a_declined_shopper_pays_with_another_card_in_the_same_checkout(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA MASTER")
    fill_card(page, DECLINED)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == "800.100.152"
    assert len(watch.take()) == 1, "the browser tells of the answer 400"

    page.go_back()
    fill_card(page)
    pay_button(page).click()

    expect(page.get_by_role("heading", name="Welcome back")).to_be_visible()
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_bank_asks_who_pays_in_a_frame_of_the_page(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA", **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()

    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.url.endswith("/payment"), "the shop's page went away"
    bank_page(page).get_by_role("button", name="Send outcome").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_the_holder_of_an_enrolled_card_is_asked_for_the_billing_address(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """An optional field shows no error; once required, it shows one when left empty."""
    checkout = show_hosted_page(page, hosted_page, "VISA")
    address = page.locator(".wpwl-container-card .wpwl-group-billing")
    expect(address).to_have_count(0)
    fill_card(page, CHALLENGED)
    pay_button(page).click()

    expect(address.locator("legend")).to_have_text("Billing address")
    expect(address.locator("input, select")).to_have_count(4)
    expect(page.locator(".wpwl-hint")).to_have_count(0)
    pay_button(page).click()
    expect(page.locator(".wpwl-hint-billingError")).to_have_count(4)
    pay_with_address(page)
    assert all("400" in complaint for complaint in watch.take())
    bank_page(page).get_by_role("button", name="Send outcome").click()

    hosted_page.expect_home(page, checkout)
    status = hosted_page.client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert status["billing"] == {"street1": "Ring 7", "city": "Graz", "postcode": "8010", "country": "AT"}


def test_a_bank_asks_who_pays_in_the_whole_window(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA", options({"paymentTarget": "_top"}), **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()

    page.get_by_role("button", name="Send outcome").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_shopper_who_closes_the_banks_question_may_pay_otherwise(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page, "VISA", **ADDRESS)
    fill_card(page, CHALLENGED)
    pay_button(page).click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()

    expect(pay_button(page)).to_be_enabled()
    number_field(page).fill(NUMBER)
    cvv_field(page).fill("123")
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_shopper_approves_in_the_providers_window(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page, "PAYPAL")

    with page.expect_popup() as opened:
        pay_button(page).click()
    with opened.value.expect_event("close"):
        opened.value.get_by_role("button", name="Approve").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_shopper_whom_one_brand_refuses_and_who_closes_the_others_window_pays_by_card(
    page: Page, hosted_page: HostedPage, watch: Watch
) -> None:
    """The shop learns why the first brand refused: no field of the form could have been filled in better."""
    refused = "({ name, brand, event, message, result }) => { window.fault = [name, brand, event, message, result]; }"
    received = options({}, onLightboxCancel="() => { window.cancelled = true; }", onError=refused)
    checkout = show_hosted_page(page, hosted_page, "VISA PAYPAL PREPAYMENT", received, paymentType="PA")
    wallet, card = page.locator(".wpwl-form-virtualAccount-PAYPAL"), page.locator(".wpwl-form-card")
    prepayment = pay_button(page.locator(".wpwl-form-prepayment-PREPAYMENT"))
    expect(prepayment).to_be_visible()
    # The merchant changes the checkout under a form that stands already, which offers what is now refused.
    assert hosted_page.client.post(f"/v1/checkouts/{checkout.id}", {"paymentType": "DB"}).code == "000.200.101"
    prepayment.click()
    page.wait_for_function("() => window.fault")
    *fault, message, result = page.evaluate("fault")
    assert (fault, result["code"]) == (["WidgetError", "PREPAYMENT", "submit"], "600.200.310")
    assert message == result["description"]
    assert len(watch.take()) == 1, "the browser tells of the answer 400"

    with page.expect_popup() as opened:
        pay_button(wallet).click()
    expect(opened.value.get_by_role("button", name="Approve")).to_be_visible()
    stay_open_for_a_moment(page)
    opened.value.close()

    expect(pay_button(wallet)).to_be_enabled()
    assert page.evaluate("window.cancelled") is True
    fill_card(card)
    pay_button(card).click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_provider_that_wants_a_form_gets_it_in_its_window(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page, "GIROPAY", bankAccount__bic="DEUTDEFF")

    with page.expect_popup() as opened:
        pay_button(page).click()
    opened.value.get_by_role("button", name="Approve").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_registered_card_pays_with_one_click(page: Page, hosted_page: HostedPage, client: Client) -> None:
    stored = client.post("/v1/registrations", {**CARD, "card.number": NUMBER}).json["id"]
    checkout = show_hosted_page(page, hosted_page, "VISA", **{"registrations[0].id": stored})

    expect(page.locator(".wpwl-form-registrations")).to_contain_text("0000")
    pay_button(page.locator(".wpwl-form-registrations")).click()

    hosted_page.expect_home(page, checkout)
    paid = client.get(f"/v1/checkouts/{checkout.id}/payment").json
    assert (paid["result"]["code"], paid["registrationId"]) == (APPROVED, stored)


def test_a_registered_card_asks_for_its_code_where_the_shop_wants_it(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    stored = client.post("/v1/registrations", {**CARD, "card.number": NUMBER}).json["id"]
    settings = options({"registrations": {"requireCvv": True, "hideInitialPaymentForms": True}})
    checkout = show_hosted_page(page, hosted_page, "VISA", settings, **{"registrations[0].id": stored})
    block = page.locator(".wpwl-form-registrations")
    expect(page.locator(".wpwl-form-card")).to_be_hidden()

    pay_button(block).click()
    expect(block.locator(".wpwl-hint-cvvError")).to_be_visible()
    cvv_field(block).press_sequentially("123")
    cvv_field(block).press("Enter")

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_bank_account_is_debited(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page, "DIRECTDEBIT_SEPA")
    page.locator(".wpwl-control-accountHolder").fill("Jane Jones")
    page.locator(".wpwl-control-accountIban").fill("DE89 3704 0044 0532 0130 01")
    pay_button(page).click()
    expect(page.locator(".wpwl-hint-accountIbanError")).to_be_visible()

    page.locator(".wpwl-control-accountIban").fill("DE89 3704 0044 0532 0130 00")
    pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == APPROVED


def test_a_card_is_stored_without_a_payment(page: Page, hosted_page: HostedPage, client: Client) -> None:
    checkout = hosted_page.prepare(amount=None, currency=None, paymentType=None, createRegistration="true")
    hosted_page.show(page, hosted_page.script(checkout, path="/registration"), form("VISA"))
    fill_card(page)
    pay_button(page).click()

    hosted_page.expect_home(page, checkout, "registration")
    stored = client.get(f"/v1/checkouts/{checkout.id}/registration")
    assert stored.code == APPROVED
    assert client.get(f"/v1/registrations/{stored.json['id']}").json["card"]["last4Digits"] == NUMBER[-4:]


@pytest.mark.parametrize("is_read", [False, True], ids=["unread", "read"])
def test_a_paid_checkout_brings_whoever_comes_back_to_the_result(
    page: Page, hosted_page: HostedPage, is_read: bool
) -> None:
    """This holds also after the merchant has read the status: a shopper who reads that it has ended would pay again."""
    checkout = show_hosted_page(page, hosted_page, "VISA")
    fill_card(page)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    if is_read:
        assert hosted_page.read_code(checkout) == APPROVED

    page.goto(f"{hosted_page.shop.url}/payment")
    expect(page.get_by_role("status")).to_contain_text("already complete")
    page.get_by_role("link", name="Continue").click()

    hosted_page.expect_home(page, checkout)
    assert len(hosted_page.shop.visits_to("/back")) == 2
