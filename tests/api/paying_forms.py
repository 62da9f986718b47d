"""Forms that shoppers submit, and the steps that may follow in the browser. No test lives here."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from api.challenges import BILLING, BROWSER, CHALLENGED
from api.checking_out import PREPARED, prepare
from api.windows import Page, Window
from gateway import CARD, Answer, Client

SHOP_URL = "https://shop.example/result?order=7"
AT_SHOP = {**PREPARED, "shopperResultUrl": SHOP_URL}
SCRIPT = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
PAYPAL = {"paymentBrand": "PAYPAL"}
GONE = (400, "200.300.404")
BUSY = (400, "800.700.100")
TOO_MANY = (429, "800.120.100")


def open_checkout(client: Client, /, **more: str | None) -> str:
    return prepare(client, {**AT_SHOP, **more})


def post(
    client: Client,
    checkout_id: str,
    fields: Mapping[str, str | None] = CARD,
    *,
    kind: str = "payment",
    headers: Mapping[str, str] = SCRIPT,
) -> Answer:
    body = urlencode({name: text for name, text in fields.items() if text is not None})
    return client.send("POST", f"/v1/checkouts/{checkout_id}/{kind}", body, headers)


def show(client: Client, checkout_id: str, brands: str = "VISA") -> Answer:
    return client.send("GET", f"/v1/checkouts/{checkout_id}/form?{urlencode({'brands': brands})}")


def find_next(answer: Answer, kind: str) -> str:
    """Returns the address at which the shopper continues."""
    going_on: dict[str, Any] = answer.json["next"]
    assert going_on["kind"] == kind, answer.body
    url: str = going_on["url"]
    return url


def read_home(url: str) -> dict[str, str]:
    """Reads what the result address says to the shop."""
    assert url.startswith("https://shop.example/result?"), url
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True))


def pass_seconds(client: Client, seconds: int) -> None:
    assert client.post("/sandbox/clock", {"advance": str(seconds), "entityId": None}).status == 200


def list_made(client: Client, reference: str) -> list[dict[str, Any]]:
    """Lists the payments that reports show for a merchant's reference."""
    answer = client.get("/v1/query", {"merchantTransactionId": reference})
    return list(answer.json["payments"]) if answer.status == 200 else []


# ---- on the way ----


def has_ended(answer: Answer) -> bool:
    """A page for the shopper, who cannot read what a script can."""
    return answer.status == 404 and b"This link has ended" in answer.body


_HOME = re.compile(r'id="home"[^>]*href="([^"]*)"')


def begin_challenge(client: Client, checkout_id: str, **more: str | None) -> Page:
    """Returns the issuer's page, as a frame of the shop's page shows it."""
    answer = post(client, checkout_id, {**CARD, "card.number": CHALLENGED, **BROWSER, **BILLING, **more})
    page = Window(client).walk(find_next(answer, "challenge"))
    assert 'name="returnCode"' in page.text, page.text or page.url
    return page


def pass_challenge(client: Client, page: Page) -> str:
    """Returns the shop's address, to which the shopper comes home."""
    window = Window(client)
    return find_home(window.go_on(window.visit(page.url, {"returnCode": "000.000.000"})))


def find_home(page: Page) -> str:
    found = _HOME.search(page.text)
    assert found is not None, page.text or page.url
    return html.unescape(found[1])


def begin_at_provider(client: Client, checkout_id: str) -> str:
    """Returns the provider's page, as a popup shows it."""
    return find_next(post(client, checkout_id, PAYPAL), "provider")


def press(client: Client, provider_url: str, button: str) -> str:
    """Returns the address of ours by which the shopper comes back."""
    answer = client.send("POST", urlsplit(provider_url).path, f"decision={button}", SCRIPT)
    found = re.search(rb'href="([^"]*/v1/shopper/[^"]*)"', answer.body)
    assert found is not None, answer.body
    return html.unescape(found[1].decode())


def come_back(client: Client, back_url: str) -> str:
    return find_home(Window(client).visit(back_url))
