"""Card payments that wait for their shopper, and what shoppers do at the issuer's page. No test lives here."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from api.chains import PENDING, result_of
from api.windows import Page, Window
from gateway import CARD, Answer, Client

SHOP_URL = "https://shop.example/back?order=7"
CHALLENGED = "4711100000000000"
CHALLENGED_WITH_FRAME = "4200000000000042"
FRICTIONLESS = "4200000000000026"
FRICTIONLESS_WITH_FRAME = "4200000000000091"
FLOW, ENROLLED = "customParameters[3DS2_flow]", "customParameters[3DS2_enrolled]"

BROWSER = {
    f"customer.browser.{name}": value
    for name, value in {
        "acceptHeader": "text/html",
        "language": "en",
        "screenHeight": "1080",
        "screenWidth": "1920",
        "timezone": "-60",
        "userAgent": "Mozilla/5.0",
        "javaEnabled": "false",
    }.items()
}

BILLING = {
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}
"""A strict channel requires these for 3-D Secure."""


def order(client: Client, number: str = CHALLENGED, /, brand: str | None = "VISA", **changes: str | None) -> Answer:
    fields: dict[str, str | None] = {
        "amount": "92.00",
        "currency": "EUR",
        "paymentType": "DB",
        "shopperResultUrl": SHOP_URL,
        **CARD,
        **BROWSER,
        **BILLING,
        "paymentBrand": brand,
        "card.number": number,
        "card.cvv": "7319" if brand == "AMEX" else "731",
    }
    return client.post("/v1/payments", {**fields, **changes})


def open_order(client: Client, number: str = CHALLENGED, /, **changes: str | None) -> Answer:
    """Makes a payment that waits for its shopper."""
    answer = order(client, number, **changes)
    assert result_of(answer) == PENDING, answer.body
    return answer


def see_challenge(client: Client, answer: Answer) -> Page:
    """Opens the preconditions and then the issuer's page, as the answer says."""
    window, forward = Window(client), answer.json["redirect"]
    for precondition in forward.get("preconditions", ()):
        window.walk(precondition["url"], {each["name"]: each["value"] for each in precondition["parameters"]})
    page = window.walk(forward["url"], {each["name"]: each["value"] for each in forward["parameters"]} or None)
    assert 'name="returnCode"' in page.text, page.text or page.url
    return page


def choose(client: Client, page: Page, code: str) -> Page:
    """The outcome on the issuer's page, and on to where the shopper ends."""
    return answer_page(client, page, returnCode=code)


def answer_page(client: Client, page: Page, **fields: str) -> Page:
    window = Window(client)
    return window.go_on(window.visit(page.url, fields))


def pass_challenge(client: Client, answer: Answer) -> Page:
    return choose(client, see_challenge(client, answer), "000.000.000")


def read_code(client: Client, answer: Answer) -> str:
    return client.get(f"/v1/payments/{answer.json['id']}").code


def read_return(page: Page) -> dict[str, str]:
    """Reads what the return address says to the shop."""
    assert page.url.startswith("https://shop.example/back?"), page.text or page.url
    return dict(parse_qsl(urlsplit(page.url).query, strict_parsing=True))
