"""A browser without a window at the front page of a test host. No test here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

from gateway import Answer

COOKIE = "tollgate_office_developer"
_FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')
_BUTTON = re.compile(
    r'action="(?P<path>/sandbox/front/payments/(?P<id>[0-9a-f]{32})/(?P<word>\w+))".*?'
    r'name="key" value="(?P<key>\w+)".*?name="amount" value="(?P<amount>[0-9.]+)"',
    re.DOTALL,
)


@dataclass(frozen=True)
class Button:
    path: str
    id: str
    word: str
    key: str
    amount: str


@dataclass
class Developer:
    """A browser of its own; `Host` is what it was told to open."""

    base_url: str
    host: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    form_token: str = ""

    def send(
        self, method: str, path: str, fields: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        address = urlsplit(self.base_url).netloc
        connection = HTTPConnection(address, timeout=120)
        sent = {"Host": self.host or address, **(headers or {})}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if fields is not None:
            body, sent["Content-Type"] = urlencode(fields), "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body, sent)
            reply = connection.getresponse()
            answer = Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
            for cookie in reply.headers.get_all("set-cookie", []):
                for name, morsel in SimpleCookie(cookie).items():
                    self.cookies[name] = morsel.value
                    if morsel["max-age"] == "0":
                        del self.cookies[name]
        finally:
            connection.close()
        if found := _FORM_TOKEN.search(answer.body.decode("utf-8", "replace")):
            self.form_token = found[1]
        return answer

    def open(self, **headers: str) -> str:
        """Opens the front page and returns its text."""
        answer = self.send("GET", "/", headers=headers)
        assert answer.status == 200, answer
        return unescape(answer.body.decode())

    def post(self, path: str, fields: Mapping[str, str] = {}, headers: Mapping[str, str] = {}) -> Answer:
        """Sends a form with the token of the last page."""
        return self.send("POST", path, {"form_token": self.form_token, **fields}, headers)

    def list_buttons(self) -> list[Button]:
        found = _BUTTON.finditer(self.send("GET", "/").body.decode())
        return [Button(**match.groupdict()) for match in found]

    def list_words(self, payment_id: str) -> list[str]:
        """Lists the actions that are offered for a payment."""
        return [button.word for button in self.list_buttons() if button.id == payment_id]

    def press(self, button: Button) -> str:
        """Presses a button and returns the notice that follows."""
        answer = self.post(button.path, {"key": button.key, "amount": button.amount})
        assert answer.status == 303, answer
        text = self.open()
        notice = re.search(r'<p class="(?:notice|fault)">(.*?)</p>', text)
        assert notice is not None
        return notice[1]

    def pay(self, **changes: str) -> Answer:
        """Makes a test payment with the fields of the form."""
        page = self.open()
        key = re.search(r'name="key" value="(\w+)" id="try-key"', page)
        entity = re.search(r'id="entity-id">([0-9a-f]{32})<', page)
        assert key is not None
        assert entity is not None
        fields = {
            "entityId": entity[1],
            "amount": "92.00",
            "currency": "EUR",
            "paymentType": "DB",
            "card.number": "4200000000000000",
            "key": key[1],
        }
        return self.post("/sandbox/front/payments", fields | changes)


def read_payment_id(answer: Answer) -> str:
    """Returns the id of the payment in the answer that a page shows."""
    shown = re.search(r'"answer-title"><code>(\{.*?\n\})</code>', unescape(answer.body.decode()), re.DOTALL)
    assert shown is not None, answer
    payment_id: str = json.loads(shown[1])["id"]
    return payment_id
