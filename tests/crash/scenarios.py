"""One payment on its way through other people's hands: the shop orders, an issuer notifies, a shopper comes back.

Every step is one request to whichever gateway is alive; taking it again is what people do who got no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode, urlsplit

from crash.world import World, insist_on
from directory_server import Case
from gateway import CARD, Answer, Client

SHOP_URL = "https://shop.example/back"
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "User-Agent": "Mozilla/5.0"}
BROWSER = {
    "language": "de",
    "screenHeight": "1080",
    "screenWidth": "1920",
    "timezone": "-60",
    "javaEnabled": "false",
}


class Step(StrEnum):
    """The words say what a caller does who got no answer."""

    ORDER = "repeated"
    COLLECT = "reloaded"
    """Our own page sends what it found out about the browser."""
    TELL = "told again"
    RETURN = "back again"


class Method(StrEnum):
    CARD = "card"
    PROVIDER = "provider"
    ACCOUNT = "account"


_HEADERS = {"acceptHeader": "text/html", "userAgent": "Mozilla/5.0"}
BROWSER_FIELDS = {f"customer.browser.{name}": value for name, value in {**BROWSER, **_HEADERS}.items()}
BILLING = {
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}
FIELDS: dict[Method, dict[str, str]] = {
    Method.CARD: {**CARD, **BILLING, "shopperResultUrl": SHOP_URL},
    Method.PROVIDER: {"paymentBrand": "PAYPAL", "shopperResultUrl": SHOP_URL},
    Method.ACCOUNT: {
        "paymentBrand": "DIRECTDEBIT_SEPA",
        "bankAccount.holder": "Jane Jones",
        "bankAccount.iban": "DE89370400440532013000",
        "bankAccount.bic": "COBADEFFXXX",
        "bankAccount.mandate.id": "MANDATE-ONE",
        "bankAccount.mandate.dateOfSignature": "2026-01-15",
    },
}
STEPS: dict[Method, tuple[Step, ...]] = {
    Method.CARD: (Step.ORDER, Step.COLLECT, Step.TELL, Step.RETURN),
    Method.PROVIDER: (Step.ORDER, Step.RETURN),
    Method.ACCOUNT: (Step.ORDER,),
}


@dataclass
class Scenario:
    world: World
    method: Method
    payment_type: str
    amount: str
    key: str
    brings_browser: bool = True
    """The shop says what it knows of the browser, so that our own page need not ask."""
    status: str = "Y"
    """The issuer's final status of the shopper."""
    id: str = ""
    path: str = ""
    """The path to which the shopper returns."""
    shop_url: str = SHOP_URL

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for step in STEPS[self.method] if step is not Step.COLLECT or not self.brings_browser)

    def list_rest(self, since: Step) -> Iterator[Step]:
        yield from self.steps[self.steps.index(since) :]

    def take(self, step: Step, client: Client) -> str:
        """Takes the step and returns its answer in words."""
        match step:
            case Step.ORDER:
                return self._order(client)
            case Step.COLLECT:
                page = client.send("POST", self.path, urlencode({"collected": "1", **BROWSER}), FORM)
                return "sent to the issuer" if b"creq" in page.body else f"{page.status}"
            case Step.TELL:
                return self._tell(client)
            case Step.RETURN:
                return self._come_back(client)

    def _order(self, client: Client) -> str:
        fields = {
            "amount": self.amount,
            "currency": "EUR",
            "paymentType": self.payment_type,
            "testMode": "EXTERNAL",
            "merchantTransactionId": self.key,
            **FIELDS[self.method],
            **(BROWSER_FIELDS if self.method is Method.CARD and self.brings_browser else {}),
        }
        answer = client.post("/v1/payments", fields, {"Idempotency-Key": self.key})
        if answer.status == 200:
            self._remember(answer)
        is_replayed = "idempotency-replayed" in answer.headers
        assert not answer.faults, answer.body
        return f"`{answer.code}`" + (", replayed" if is_replayed else "")

    def _remember(self, answer: Answer) -> None:
        """The way back of a provider's page is known to the provider alone."""
        self.id = answer.json["id"]
        if self.method is Method.PROVIDER:
            message = self.world.acquirer.read_sessions()[self.id].message
            self.path = urlsplit(message.back_url).path if message else ""
        elif "redirect" in answer.json:
            self.path = urlsplit(answer.json["redirect"]["url"]).path

    def _find_case(self) -> Case:
        """The last challenge counts: an issuer that was asked twice answers the second request."""
        cents = self.amount.replace(".", "")
        return [case for case in self.world.merchants.cases if case.request["purchaseAmount"] == cents][-1]

    def _tell(self, client: Client) -> str:
        case = self._find_case()
        url = client.base_url + urlsplit(case.request["threeDSServerURL"]).path
        received = self.world.merchants.deliver(case, case.make_result(self.status), url)
        return "heard" if received["messageType"] == "RRes" else "awaited no more"

    def _come_back(self, client: Client) -> str:
        if self.method is Method.PROVIDER:
            if self.world.acquirer.read_sessions()[self.id].status == "open":
                # No worker may learn of it before the shopper is back.
                self.world.store.postpone_recovery_tasks(self.id)
                self.world.acquirer.decide(self.id, "approved")
            page = client.send("GET", self.path)
        else:
            answer = self._find_case().make_browser_answer(self.status)
            page = client.send("POST", self.path, urlencode({"cres": answer}), FORM)
        is_home = self.shop_url.encode() in page.body or page.headers.get("location", "").startswith(self.shop_url)
        return "sent to the shop" if is_home else f"{page.status}"


def insist_on_step(scenario: Scenario, step: Step, client: Client) -> str:
    """Repeats the step until its answer is neither breakage nor `the first request is still running`."""
    heard: list[str] = []

    def ask() -> Answer:
        heard.append(scenario.take(step, client))
        is_early = heard[-1] == "`800.600.100`"
        return Answer(503 if is_early else 200, {}, b'{"result": {"code": ""}}')

    insist_on(ask, f"{step} of {scenario.key}")
    return heard[-1]
