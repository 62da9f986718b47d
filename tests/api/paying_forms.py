"""What a shopper's form sends, and what may follow it in the shopper's browser. No test lives here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from api.checking_out import PREPARED, prepare
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
    """Where the shopper goes on."""
    going_on: dict[str, Any] = answer.json["next"]
    assert going_on["kind"] == kind, answer.body
    url: str = going_on["url"]
    return url


def read_home(url: str) -> dict[str, str]:
    """What the shop is told by the address to which the shopper comes home."""
    assert url.startswith("https://shop.example/result?"), url
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True))


def pass_seconds(client: Client, seconds: int) -> None:
    assert client.post("/sandbox/clock", {"advance": str(seconds), "entityId": None}).status == 200


def list_made(client: Client, reference: str) -> list[dict[str, Any]]:
    """What reports tell of a merchant's reference."""
    answer = client.get("/v1/query", {"merchantTransactionId": reference})
    return list(answer.json["payments"]) if answer.status == 200 else []
