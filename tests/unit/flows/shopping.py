"""Helpers for tests with a shopper: a bank that asks, a browser that comes and goes. No test here."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import sqlalchemy as sa
from msgspec.structs import replace

from tollgate.catalog.rule import Situation
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.threeds import messages
from tollgate.contract.answers import Answer
from tollgate.contract.fields import read_fields
from tollgate.contract.orders import read_order
from tollgate.flows.pay import pay
from tollgate.flows.recover import run_recovery_task
from tollgate.flows.resume import Arrival, Next, accept_challenge_result, accept_method_result, arrive
from tollgate.operations.app import App, Call
from tollgate.payments.authentication import AuthenticationRow, Browser
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.store.authentications import find_authentication
from tollgate.store.jobs import Job, lease_due
from tollgate.store.statements import Statement
from tollgate.values import SECOND, FixedClock, Instant
from unit.app_fixture import CHANNEL, MERCHANT, ScriptedWire
from unit.flows.chains import read

BASE_URL = "https://gate.example"
BANK_URL = "https://bank.example/challenge"
METHOD_URL = "https://bank.example/method"
PROOF = "AAAAAAAAAAAAAAAAAAAAAAAAAAA="
DS_ID = "d5000000-0000-4000-8000-000000000002"
ACS_ID = "ac500000-0000-4000-8000-000000000003"

CHALLENGE = {"transStatus": "C", "acsURL": BANK_URL}
FRICTIONLESS = {"transStatus": "Y", "eci": "05", "authenticationValue": PROOF}
REFUSED = {"transStatus": "N", "transStatusReason": "01"}
ELSEWHERE = {"transStatus": "D"}

BROWSER_FIELDS = {
    "customer.browser.acceptHeader": "text/html",
    "customer.browser.language": "de",
    "customer.browser.screenHeight": "1080",
    "customer.browser.screenWidth": "1920",
    "customer.browser.timezone": "60",
    "customer.browser.userAgent": "Mozilla/5.0",
    "customer.browser.javaEnabled": "false",
}
BILLING_FIELDS = {
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}
BROWSER = Browser(accept_header="*/*", user_agent="Opera", language="en", screen_height="700", screen_width="900")
SENT = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentType": "DB",
    "card.number": "4200000000000000",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "731",
    "merchantTransactionId": "order-0001",
    "shopperResultUrl": "https://shop.example/back",
    **BROWSER_FIELDS,
    **BILLING_FIELDS,
}


@dataclass
class Bank:
    """A directory server and the issuer behind it; what is not for them goes to the acquirer."""

    acquirer: ScriptedWire
    answers: list[dict[str, str] | bytes | Exception] = field(default_factory=list)
    """The answers to questions about a shopper, from the front; the last one stays."""
    method_url: str | None = None
    knows_cards: bool = True
    ranges_fault: Exception | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """This runs after a question came and before it is answered."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if request.path not in (messages.RANGES, messages.AUTHENTICATIONS):
            return await self.acquirer.send(request, timeout_s)
        question = json.loads(request.body)
        answer = self._tell_ranges() if request.path == messages.RANGES else await self._tell(question)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, bytes):
            return WireReply(200, answer)
        named = {"messageVersion": "2.2.0", "threeDSServerTransID": question["threeDSServerTransID"]}
        return WireReply(200, json.dumps(named | answer).encode())

    def _tell_ranges(self) -> dict[str, Any] | Exception:
        number = "4200000000000000"
        known = {"startRange": number, "endRange": number, "acsStartProtocolVersion": "2.1.0"}
        known["acsEndProtocolVersion"] = "2.2.0"
        if self.method_url:
            known["threeDSMethodURL"] = self.method_url
        rows = [known] if self.knows_cards else []
        return self.ranges_fault or {"messageType": "PRes", "cardRangeData": rows}

    async def _tell(self, question: dict[str, Any]) -> dict[str, Any] | bytes | Exception:
        self.asked.append(question)
        if self.meanwhile is not None:
            await self.meanwhile()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not isinstance(answer, dict):
            return answer
        return {"messageType": "ARes", "dsTransID": DS_ID, "acsTransID": ACS_ID, **answer}

    @property
    def results_token(self) -> str:
        return _last_word(self.asked[-1]["threeDSServerURL"])


def make_order(
    changes: Mapping[str, str | None] = {}, *, operation: str = "create_payment", channel: Channel = CHANNEL
) -> Order:
    """A field given as None is left out."""
    sent = {**SENT, **changes}
    pairs = [(name, text) for name, text in sent.items() if text is not None]
    fields = read_fields(pairs, Situation(operation, None, channel.is_lenient, False, channel.return_schemes))
    return read_order(fields, channel, today=date(2026, 11, 15), short_id="1234.5678.9012", is_live=False)


@dataclass
class Shopper:
    """One payment, as its shopper sees it."""

    app: App
    bank: Bank
    answer: Answer

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.answer.body)
        return body

    @property
    def code(self) -> str:
        code: str = self.body["result"]["code"]
        return code

    @property
    def shopper_token(self) -> str:
        return _last_word(self.body["redirect"]["url"])

    async def look(self) -> Payment:
        return await read(self.app, self.body["id"])

    async def look_at_case(self) -> AuthenticationRow:
        row = await find_authentication(self.app.database, MERCHANT.id, (await self.look()).id)
        assert row is not None
        return row

    async def come(
        self,
        *,
        browser: Browser | None = None,
        has_answer: bool = False,
        shopper_token: str | None = None,
        address: str = "",
    ) -> Next:
        """A moment later, because two events of one payment never happen at once."""
        tick(self.app)
        shown = shopper_token or self.shopper_token
        page_url = f"{BASE_URL}/v1/shopper/{shown}"
        arrival = Arrival(
            page_url=page_url, shopper_token=shown, browser=browser, has_answer=has_answer, address=address
        )
        return await arrive(self.app, arrival)

    async def tell_result(self, *, shopper_token: str | None = None, **members: str | None) -> dict[str, Any]:
        """The issuer's last word about the challenge asked for last."""
        message = {
            "messageType": "RReq",
            "messageVersion": "2.2.0",
            "messageCategory": "01",
            "threeDSServerTransID": self.bank.asked[-1]["threeDSServerTransID"],
            "dsTransID": DS_ID,
            "acsTransID": ACS_ID,
            "transStatus": "Y",
            "eci": "05",
            "authenticationValue": PROOF,
            **members,
        }
        body = json.dumps({name: text for name, text in message.items() if text is not None}).encode()
        tick(self.app)
        received: dict[str, Any] = json.loads(
            await accept_challenge_result(self.app, shopper_token or self.bank.results_token, body)
        )
        return received

    async def report_method(self, server_id: str | None = None, shopper_token: str | None = None) -> None:
        row = await self.look_at_case()
        await accept_method_result(self.app, shopper_token or self.shopper_token, server_id or row.body.server_id)

    async def walk(self, *, status: str = "Y") -> Next:
        """Walks through the challenge and back."""
        await self.come()
        await self.tell_result(transStatus=status)
        return await self.come(has_answer=True)


async def go_shopping(
    app: App,
    bank: Bank,
    *,
    order: Order | None = None,
    idempotency_key: IdempotencyKey | None = None,
    channel: Channel = CHANNEL,
) -> Shopper:
    return Shopper(app, bank, await pay(app, order or make_order(), Call(channel, "ndc", idempotency_key)))


def tick(app: App, by: Instant = SECOND) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at += by


async def lease_now(app: App) -> list[Job]:
    """Leases the jobs that are due now and free."""
    now, wall_now = app.clock.now(), app.clock.wall()
    return await lease_due(app.database, now=now, wall_now=wall_now, owner="me", lease_s=0, limit=100)


async def run_due(app: App) -> dict[str, bool]:
    """Maps topics to whether the recovery task is done."""
    tick(app)
    return {job.topic: await run_recovery_task(app, job) for job in await lease_now(app)}


async def change_row(app: App, text: str) -> None:
    await app.database.fetch(Statement(sa.text(text), is_write=True), {})


def open_bank(app: App, acquirer: ScriptedWire) -> tuple[App, Bank]:
    """Returns the same app with a bank on its wire, and an address of its own."""
    bank = Bank(acquirer, [CHALLENGE])
    return replace(app, simulator=bank, base_url=BASE_URL), bank


def _last_word(url: str) -> str:
    return url.rsplit("/", 1)[-1]
