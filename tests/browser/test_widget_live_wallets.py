"""Apple Pay and Google Pay in the form of a live host: the wallets' own scripts are loaded and asked for a token.

The scripts are played by stand-ins at their own addresses, and give tokens of the simulated wallet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, Route, expect

from browser.shops import Site
from browser.watching import Watch
from browser.widget_shop import (
    PAYMENT_PATH,
    HostedPage,
    Prepared,
    count_submissions,
    form,
    number_field,
    options,
    pay_button,
    stretch_timer,
)
from gateway import Client
from tollgate.catalog.wallets import WALLET_SHEETS
from tollgate.web.request import Reply
from tollgate.widget.languages import LANGUAGES

ENGLISH = LANGUAGES["en"]
APPROVED = "000.100.110"
# What the page is told there outlives it, for the result page is of the same shop.
NOTE = "const note = (name, value) => { sessionStorage[name] = JSON.stringify(value); };"
APPLE = """
window.ApplePaySession = class {
  static STATUS_SUCCESS = 0;
  static STATUS_FAILURE = 1;
  static canMakePayments() { return true; }
  constructor(version, request) { note("asked", request); }
  begin() { setTimeout(() => this.onvalidatemerchant({ validationURL: "https://apple.example/session" })); }
  completeMerchantValidation(merchant) {
    note("merchant", merchant);
    if (window.shopperCancels) { this.end(); this.oncancel(); return; }
    this.onpaymentauthorized({ payment: { token: { paymentData: TOKEN } } });
  }
  completePayment(result) { this.end(); note("completed", result); }
  abort() { this.end(); note("aborted", true); }
  end() {
    if (this.isOver) throw new Error("the session has ended");
    this.isOver = true;
  }
};
"""
GOOGLE = """
window.google = { payments: { api: { PaymentsClient: class {
  constructor(terms) { note("terms", terms); }
  isReadyToPay(request) { note("readiness", request); return Promise.resolve({ result: READY }); }
  createButton({ onClick }) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Google's own button";
    button.addEventListener("click", onClick);
    return button;
  }
  loadPaymentData(request) {
    note("asked", request);
    if (window.shopperCancels) return Promise.reject({ statusCode: "CANCELED" });
    return Promise.resolve({ paymentMethodData: { tokenizationData: { token: JSON.stringify(TOKEN) } } });
  }
} } } };
"""
LIVE = {
    "APPLEPAY": {"name": "applePay", "merchantName": "Jones"},
    "GOOGLEPAY": {"name": "googlePay", "merchantName": "Jones", "gateway": "gate", "gatewayMerchantId": "shop-1"},
}
# Apple documents its tag with crossorigin, Google without.
SCRIPT_HEADERS: dict[str, dict[str, str]] = {"APPLEPAY": {"access-control-allow-origin": "*"}, "GOOGLEPAY": {}}
WALLET_PATIENCE_MS = 4_000
GOOGLES_OPTIONS = '{ merchantId: "BCR2" }'
APPLES_HOOK = "(url) => Promise.resolve({ validated: url })"
APPLES_OPTIONS = f'{{ countryCode: "AT", onValidateMerchant: {APPLES_HOOK} }}'
LATE_HOOK = "() => new Promise((answer) => { window.answerLate = answer; })"
APPLES_OPTIONS_WAITING = f'{{ countryCode: "AT", onValidateMerchant: {LATE_HOOK} }}'
UNLOADS = "wpwl.unload()"
COMES_BACK = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


@pytest.fixture
def live(page: Page, hosted_page: HostedPage, watch: Watch) -> Iterator[Callable[..., Prepared]]:
    """Shows a form as a live host would: its configuration names the wallet's own script, which a stand-in plays."""
    scripts = {sheet.script_url for sheet in WALLET_SHEETS.values()}

    def show(
        brand: str, stand_in: str, applePay: str = "{}", googlePay: str = GOOGLES_OPTIONS, **more: str
    ) -> Prepared:
        checkout = hosted_page.prepare()
        token = make_token(hosted_page.client, brand, checkout)
        source = WALLET_SHEETS[brand].script_url
        script = NOTE + stand_in.replace("TOKEN", token).replace("READY", "true")
        page.route(source, lambda route: play(route, script, SCRIPT_HEADERS[brand]))
        page.route("**/form?brands=*", lambda route: make_live(route, brand, source))
        hosted_page.put_up(
            options(None, applePay=applePay, googlePay=googlePay, **more),
            form(f"VISA {brand}"),
            hosted_page.script(checkout),
        )
        reply = hosted_page.shop.pages[PAYMENT_PATH]
        assert isinstance(reply, Reply)
        policy = reply.headers[0][1].replace(
            b"script-src ", b"script-src " + source.rpartition("/")[0].encode() + b"/ "
        )
        hosted_page.shop.pages[PAYMENT_PATH] = msgspec.structs.replace(reply, headers=((reply.headers[0][0], policy),))
        stretch_timer(page, WALLET_PATIENCE_MS)
        page.goto(hosted_page.shop.url + PAYMENT_PATH)
        return checkout

    yield show
    hosts = {source.split("/")[2] for source in scripts}
    others = [each for each in watch.take() if each not in {f"asked {host}" for host in hosts}]
    assert others == []


def play(route: Route, script: str, headers: dict[str, str]) -> None:
    route.fulfill(content_type="text/javascript", body=script, headers=headers)


def make_live(route: Route, brand: str, source: str) -> None:
    reply = route.fetch()
    body = reply.json()
    body["brands"][brand]["wallet"] = {**LIVE[brand], "script": source}
    route.fulfill(response=reply, body=json.dumps(body))


def make_token(client: Client, brand: str, checkout: Prepared) -> str:
    """Returns a token of the simulated wallet, as its sheet makes it."""
    name = WALLET_SHEETS[brand].name
    answer = client.post(f"/sandbox/wallets/{name}", {"checkoutId": checkout.id, "origin": "", "card": "visa"})
    found = re.search(r'data-token="([^"]*)"', answer.body.decode())
    assert found
    return unescape(found[1])


def read_note(page: Page, name: str) -> Any:
    return json.loads(page.evaluate(f"sessionStorage.{name} || 'null'"))


def test_apple_s_script_asks_for_what_the_checkout_and_the_page_say(
    page: Page, hosted_page: HostedPage, live: Callable[..., Prepared]
) -> None:
    settings = f'{{ countryCode: "AT", total: {{ label: "Jones Ltd" }}, onValidateMerchant: {APPLES_HOOK} }}'
    checkout = live("APPLEPAY", APPLE, applePay=settings)
    container = page.locator(".wpwl-container-virtualAccount-APPLEPAY")
    expect(container.locator("apple-pay-button")).to_have_attribute("type", "pay")
    expect(pay_button(container)).to_be_hidden()
    container.locator("apple-pay-button").dispatch_event("click")

    hosted_page.expect_home(page, checkout)
    assert read_note(page, "asked") == {
        "countryCode": "AT",
        "currencyCode": "EUR",
        "merchantCapabilities": ["supports3DS"],
        "supportedNetworks": ["visa"],
        "total": {"label": "Jones Ltd", "amount": "92.00"},
    }
    assert read_note(page, "merchant") == {"validated": "https://apple.example/session"}
    assert read_note(page, "completed") == {"status": 0}
    assert hosted_page.read_code(checkout) == APPROVED


def test_google_s_script_asks_for_what_the_checkout_and_the_page_say(
    page: Page, hosted_page: HostedPage, live: Callable[..., Prepared]
) -> None:
    settings = '{ merchantId: "BCR2", gateway: "elsewhere", countryCode: "AT" }'
    checkout = live("GOOGLEPAY", GOOGLE, googlePay=settings)
    page.get_by_role("button", name="Google's own button").click()

    hosted_page.expect_home(page, checkout)
    asked = read_note(page, "asked")
    method = asked["allowedPaymentMethods"][0]
    assert read_note(page, "terms") == {"environment": "PRODUCTION"}
    assert asked["merchantInfo"] == {"merchantId": "BCR2", "merchantName": "Jones"}
    assert asked["transactionInfo"] == {
        "totalPriceStatus": "FINAL",
        "totalPrice": "92.00",
        "currencyCode": "EUR",
        "countryCode": "AT",
    }
    assert method["parameters"]["allowedCardNetworks"] == ["VISA"]
    assert method["tokenizationSpecification"]["parameters"] == {"gateway": "gate", "gatewayMerchantId": "shop-1"}
    assert read_note(page, "readiness")["allowedPaymentMethods"] == [method]
    assert hosted_page.read_code(checkout) == APPROVED


def test_in_an_accordion_a_wallet_s_own_button_takes_the_place_of_ours_while_it_is_open(
    page: Page, live: Callable[..., Prepared]
) -> None:
    live("GOOGLEPAY", GOOGLE, layout="'accordion'")
    own = page.get_by_role("button", name="Google's own button")
    expect(pay_button(page)).to_be_visible()
    expect(own).to_have_count(0)
    page.get_by_role("radio", name="Google Pay").check()
    expect(own).to_be_visible()
    expect(pay_button(page)).to_be_hidden()
    page.get_by_role("radio", name=ENGLISH["card"]).check()

    expect(own).to_have_count(0)
    expect(pay_button(page)).to_be_visible()


@pytest.mark.parametrize("brand", sorted(WALLET_SHEETS))
def test_who_cancels_a_wallet_s_own_sheet_has_sent_nothing(
    page: Page, live: Callable[..., Prepared], brand: str
) -> None:
    submissions = count_submissions(page)
    live(brand, {"APPLEPAY": APPLE, "GOOGLEPAY": GOOGLE}[brand], applePay=APPLES_OPTIONS)
    own = page.locator(".wpwl-wallet-own")
    expect(own).to_have_count(1)
    page.evaluate("window.shopperCancels = true")
    own.dispatch_event("click")
    expect(page.get_by_text(ENGLISH["notCharged"])).to_be_focused()

    assert submissions() == 0
    expect(pay_button(page.locator(".wpwl-container-card"))).not_to_have_attribute("aria-disabled", "true")


def end_attempt(page: Page, way: str, answer: str) -> None:
    """Ends the attempt, then lets the page's code give its late answer, and waits for what the form asks upon that."""
    script = f"() => {{ {way}; {answer}; }}"
    if way == UNLOADS:
        page.evaluate(script)
    else:
        with page.expect_response("**/form?brands=*"):
            page.evaluate(script)


@pytest.mark.parametrize("way", [UNLOADS, COMES_BACK])
def test_apple_s_sheet_is_aborted_when_the_attempt_ends_without_it(
    page: Page, live: Callable[..., Prepared], way: str
) -> None:
    live("APPLEPAY", APPLE, applePay=APPLES_OPTIONS_WAITING)
    page.locator(".wpwl-wallet-own").dispatch_event("click")
    page.wait_for_function("() => window.answerLate")
    end_attempt(page, way, "answerLate({})")

    assert read_note(page, "aborted") is True
    assert read_note(page, "merchant") is None


@pytest.mark.parametrize("way", [UNLOADS, COMES_BACK])
def test_no_sheet_opens_when_the_page_agrees_after_the_attempt_has_ended(
    page: Page, live: Callable[..., Prepared], way: str
) -> None:
    live("APPLEPAY", APPLE, applePay=APPLES_OPTIONS, onBeforeSubmitWallet=LATE_HOOK)
    page.locator(".wpwl-wallet-own").dispatch_event("click")
    page.wait_for_function("() => window.answerLate")
    end_attempt(page, way, "answerLate(true)")

    assert read_note(page, "asked") is None


# ---- sessions that Apple has ended ----


def make_ended(call: str) -> str:
    """Apple's script with a session that throws at this call."""
    return APPLE.replace(f"{call} {{", f"{call} {{ this.isOver = true;")


def test_who_has_paid_is_led_to_the_result_though_apple_s_session_has_ended(
    page: Page, hosted_page: HostedPage, live: Callable[..., Prepared]
) -> None:
    checkout = live("APPLEPAY", make_ended("completePayment(result)"), applePay=APPLES_OPTIONS)
    page.locator(".wpwl-wallet-own").dispatch_event("click")

    hosted_page.expect_home(page, checkout)
    assert read_note(page, "completed") is None
    assert hosted_page.read_code(checkout) == APPROVED


def test_who_comes_back_may_pay_again_though_apple_s_session_has_ended(
    page: Page, live: Callable[..., Prepared]
) -> None:
    live("APPLEPAY", make_ended("abort()"), applePay=APPLES_OPTIONS_WAITING)
    own = page.locator(".wpwl-wallet-own")
    own.dispatch_event("click")
    page.wait_for_function("() => window.answerLate")
    end_attempt(page, COMES_BACK, "window.answerLate = null")
    assert read_note(page, "aborted") is None
    expect(pay_button(page.locator(".wpwl-container-card"))).to_have_attribute("aria-disabled", "false")

    own.dispatch_event("click")

    page.wait_for_function("() => window.answerLate")


def test_a_merchant_that_is_not_validated_gets_the_error_though_apple_s_session_has_ended(
    page: Page, live: Callable[..., Prepared]
) -> None:
    refuses = '{ countryCode: "AT", onValidateMerchant: () => Promise.reject(new Error("no such merchant")) }'
    keep = "({ message }) => { document.title = message; }"
    live("APPLEPAY", make_ended("abort()"), applePay=refuses, onError=keep)
    page.locator(".wpwl-wallet-own").dispatch_event("click")

    expect(page.get_by_text(ENGLISH["unexpectedError"])).to_be_visible()
    expect(page).to_have_title("no such merchant")


@pytest.mark.parametrize(
    ("brand", "stand_in", "settings", "reason"),
    [
        ("APPLEPAY", "", "{}", "wpwlOptions.applePay.countryCode is missing"),
        ("APPLEPAY", "", "APPLES", "this browser or device cannot pay with it"),
        ("GOOGLEPAY", GOOGLE, "{}", "wpwlOptions.googlePay.merchantId is missing"),
        ("GOOGLEPAY", GOOGLE.replace("READY", "false"), "GOOGLES", "this browser or device cannot pay with it"),
        ("GOOGLEPAY", "", "GOOGLES", "google is not defined"),
    ],
)
def test_a_wallet_that_is_not_there_is_left_out_beside_cards(
    page: Page, live: Callable[..., Prepared], brand: str, stand_in: str, settings: str, reason: str
) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "warning" else None)
    settings = settings.replace("APPLES", APPLES_OPTIONS).replace("GOOGLES", GOOGLES_OPTIONS)
    live(brand, stand_in, applePay=settings, googlePay=settings)

    expect(number_field(page)).to_be_visible()
    expect(page.locator(".wpwl-container")).to_have_count(1)
    assert said == [f"paymentWidgets.js leaves out {brand}: {reason}"]
