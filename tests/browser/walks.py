"""A payment made by a merchant's server, the merchant's page that sends the shopper off, and the way home."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from playwright.sync_api import Page, expect

from browser.shops import BACK, HTML, Site
from gateway import CARD, Client
from tollgate.web.request import Reply

CHECKOUT = "/checkout"
CHALLENGED = "4711100000000000"
ADDRESS = {
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}
"""A strict channel requires these for 3-D Secure."""
CHALLENGED_WITH_FRAME = "4200000000000042"


@dataclass(frozen=True)
class Journey:
    """One shopper on the way, and what the merchant knows of it."""

    shop: Site
    client: Client
    answer: Any

    @property
    def id(self) -> str:
        payment_id: str = self.answer["id"]
        return payment_id

    @property
    def redirect(self) -> Any:
        return self.answer["redirect"]

    def start(self, page: Page) -> None:
        """Starts at the merchant's checkout page, which sends the browser on."""
        self.shop.pages[CHECKOUT] = render_checkout(self.redirect)
        page.goto(self.shop.url + CHECKOUT)

    def expect_home(self, page: Page) -> None:
        """The shopper is back, with the words a merchant needs to ask what became of it."""
        expect(page.get_by_role("heading", name="Welcome back")).to_be_visible()
        last = self.shop.visits_to(BACK)[-1]
        assert (last.method, last.fields) == (
            "GET",
            {"order": "17", "id": self.id, "resourcePath": f"/v1/payments/{self.id}"},
        )

    def read_code(self) -> str:
        return self.client.get(f"/v1/payments/{self.id}").code


def pay_by_card(shop: Site, client: Client, number: str, **changes: str) -> Journey:
    return _begin(shop, client, {**CARD, **ADDRESS, "card.number": number, **changes})


def pay_by_brand(shop: Site, client: Client, brand: str) -> Journey:
    return _begin(shop, client, {"paymentBrand": brand, "bankAccount.country": "DE", "bankAccount.bic": "DEUTDEFF"})


def _begin(shop: Site, client: Client, fields: dict[str, str]) -> Journey:
    shared = {
        "amount": "92.00",
        "currency": "EUR",
        "paymentType": "DB",
        "shopperResultUrl": f"{shop.url}{BACK}?order=17",
    }
    answer = client.post("/v1/payments", {**shared, **fields})
    assert answer.code == "000.200.000", answer.body
    return Journey(shop, client, answer.json)


def render_checkout(redirect: Any) -> Reply:
    """Renders a merchant's page: preconditions in hidden frames first, then a form that the shopper follows."""
    frames = "".join(
        f'<iframe name="frame{index}" hidden></iframe>' + _render_form(step, f"frame{index}")
        for index, step in enumerate(redirect.get("preconditions", ()))
    )
    # A form that gets drops the query of its address, so an address to get is a link.
    onward = (
        f'<a id="onward" href="{escape(redirect["url"])}">Pay</a>'
        if redirect["method"] == "GET"
        else _render_form(redirect, "_self", button="<button id='onward'>Pay</button>")
    )
    script = """
        const frame = document.querySelector("iframe");
        const goOn = () => document.getElementById("onward").click();
        if (frame) {
          frame.addEventListener("load", goOn, { once: true });
          document.forms[0].submit();
        }
    """
    body = f"<!doctype html><title>Checkout</title><h1>Checkout</h1>{frames}{onward}<script>{script}</script>"
    return Reply(200, body.encode(), HTML)


def _render_form(step: Any, target: str, button: str = "") -> str:
    fields = "".join(
        f'<input type="hidden" name="{escape(field["name"])}" value="{escape(field["value"])}">'
        for field in step["parameters"]
    )
    opening = f'<form method="{escape(step["method"])}" action="{escape(step["url"])}" target="{target}">'
    return f"{opening}{fields}{button}</form>"
