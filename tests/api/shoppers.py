"""A shopper without a browser: sees the provider's page, presses its buttons, comes back, and ends at the shop.

Every step is one request. No test lives here.
"""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from api.chains import PENDING, result_of
from gateway import Answer, Client

SHOP_URL = "https://shop.example/back"
PAYER: dict[str, str | None] = {
    "customer.givenName": "Ana",
    "customer.surname": "Lima",
    "customer.identificationDocType": "TAXSTATEMENT",
    "customer.identificationDocId": "12345678909",
}
"""A bank slip requires these parameters."""
BRAND_FIELDS: dict[str, dict[str, str | None]] = {
    "EPS": {"bankAccount.country": "AT"},
    "IDEAL": {"bankAccount.country": "NL", "bankAccount.bankName": "ING"},
    "GIROPAY": {"bankAccount.bic": "DEUTDEFF"},
    "SOFORTUEBERWEISUNG": {"bankAccount.country": "DE"},
    "TRUSTLY": {
        "billing.country": "SE",
        "customer.givenName": "Ana",
        "customer.surname": "Lima",
        "customer.merchantCustomerId": "C-1001",
        "merchantTransactionId": "order-1001",
    },
    "BOLETO": {"currency": "BRL"},
    "BRADESCO": {"currency": "BRL"},
}
"""A strict channel takes no payment with these brands without them."""

_BACK = re.compile(rb'href="([^"]*/v1/shopper/[^"]*)"')
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def order(client: Client, brand: str, payment_type: str = "DB", /, **changes: str | None) -> Answer:
    fields: dict[str, str | None] = {
        "amount": "92.00",
        "currency": "EUR",
        "paymentType": payment_type,
        "paymentBrand": brand,
        "shopperResultUrl": SHOP_URL,
    }
    return client.post("/v1/payments", {**fields, **BRAND_FIELDS.get(brand, {}), **changes})


def open_order(client: Client, brand: str, payment_type: str = "DB", /, **changes: str | None) -> Answer:
    """Makes a payment that waits for its shopper."""
    answer = order(client, brand, payment_type, **changes)
    assert result_of(answer) == PENDING, answer.body
    return answer


def see_page(client: Client, answer: Answer) -> Answer:
    """Opens the page as the answer says: by a link, or by a form with its fields."""
    forward = answer.json["redirect"]
    path = urlsplit(forward["url"]).path
    fields = urlencode([(field["name"], field["value"]) for field in forward["parameters"]])
    if forward["method"] == "POST":
        return client.send("POST", path, fields, _FORM)
    return client.send("GET", f"{path}?{fields}" if fields else path)


def press(client: Client, answer: Answer, button: str) -> Answer:
    path = urlsplit(answer.json["redirect"]["url"]).path
    return client.send("POST", path, urlencode({"decision": button}), _FORM)


def find_way_back(page: Answer) -> str:
    """Returns the path by which the shopper comes back to the gateway."""
    found = _BACK.search(page.body)
    assert found is not None, page.body
    parts = urlsplit(html.unescape(found[1].decode()))
    return parts.path


def come_back(client: Client, way_back: str) -> str:
    """Returns the address at the shop where the shopper ends."""
    reply = client.send("GET", way_back)
    assert reply.status == 303, reply.body
    return reply.headers["location"]


def decide(client: Client, answer: Answer, button: str) -> str:
    """Pressed, and back at the shop."""
    return come_back(client, find_way_back(press(client, answer, button)))


def read_query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
