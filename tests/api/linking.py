"""Payment links as a merchant and a shopper use them over HTTP: making one, opening its page, paying it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from gateway import CARD, Answer, Client

PATH = "/paybylink/v1"
ORDER = {"amount": "38.50", "currency": "EUR", "paymentType": "DB"}
CHECKOUT = re.compile(r"checkoutId=([0-9A-F]{32}\.[a-z0-9-]+)")
DECLINED = "4000000000000002"


def read_own_context(client: Client, headers: dict[str, str] | None = None, /, **more: str) -> Answer:
    renamed = {name.replace("__", "."): value for name, value in more.items()}
    return client.post(PATH, {**ORDER, **renamed}, headers)


@dataclass(frozen=True)
class LinkVisit:
    """One browser in front of one link."""

    client: Client
    id: str

    def open(self, language: str = "en", query: str = "") -> Answer:
        return self.client.send("GET", f"/paymentlink/{self.id}{query}", headers={"Accept-Language": language})

    def find_checkout(self) -> str:
        found = CHECKOUT.search(self.open().body.decode())
        assert found is not None, "the page shows no form"
        return found[1]

    def pay(self, checkout_id: str, number: str = CARD["card.number"]) -> Answer:
        body = urlencode({**CARD, "card.number": number})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        return self.client.send("POST", f"/v1/checkouts/{checkout_id}/payment", body, headers)

    def leave_attempt(self) -> Answer:
        """Sends what the button of the page that waits for a provider sends."""
        found = re.search(r'name="attempt" value="([0-9a-f]{32})"', self.open().body.decode())
        assert found is not None, "the page does not offer to pay another way"
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.client.send("POST", f"/paymentlink/{self.id}", urlencode({"attempt": found[1]}), headers)

    def read(self) -> dict[str, Any]:
        """Reads the link as its merchant does."""
        answer = self.client.get(f"{PATH}/{self.id}")
        assert answer.code == "000.000.100"
        (received,) = answer.json["paymentLinks"]
        assert isinstance(received, dict)
        return received


def visit_new(client: Client, **more: str) -> LinkVisit:
    answer = read_own_context(client, **more)
    assert answer.code == "000.000.100", answer.body
    assert urlsplit(answer.json["link"]).path == f"/paymentlink/{answer.json['id']}"
    return LinkVisit(client, answer.json["id"])


def end(visit: LinkVisit) -> Answer:
    query = urlencode({"entityId": visit.client.entity_id})
    return visit.client.send("DELETE", f"{PATH}/{visit.id}?{query}", None, visit.client.authorized())
