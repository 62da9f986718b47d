"""The operations that people use, as rows: what each is done to, and the requests it consists of. Measures nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Any

from tools.bench.calling import read_body, render_get, render_post, send_all
from tools.bench.plan import Side
from tools.bench.stocked import Stocked
from tools.bench.subject import ORDER

from gateway import CARD

CONNECTIONS = 16
A_TURN = 64
"""Operations in a turn: as few as show a load of so many connections, so that turns change often."""
A_SINGLE_TURN = 8
"""The same at one connection."""
GROWTH_MAX = 1.2
PAYMENTS_MAX = 1.6
PAGE_SIZE = 100
PREPARING_CONNECTIONS = 16
REGISTRATIONS = 64
"""Payments with a registration take so many registrations in turn."""
_DAY = timedelta(days=1)
_PENDING = "000.200.000"
"""The payment waits for its shopper."""

MONEY = {"amount": ORDER["amount"], "currency": ORDER["currency"]}
AUTHENTICATED = {
    **ORDER,
    "card.number": "4200000000000026",
    "shopperResultUrl": "https://shop.example/result",
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "customer.browser.acceptHeader": "text/html",
    "customer.browser.language": "en",
    "customer.browser.screenHeight": "1080",
    "customer.browser.screenWidth": "1920",
    "customer.browser.screenColorDepth": "24",
    "customer.browser.timezone": "-60",
    "customer.browser.userAgent": "Mozilla/5.0",
    "customer.browser.javaEnabled": "false",
}
"""The issuer of this card authenticates without a challenge."""
BY_REGISTRATION = {name: text for name, text in ORDER.items() if name not in CARD}
FORM = {"Accept": "application/json"}
"""The script of the payment form asks for JSON; the id of the checkout is its only permission."""


@dataclass
class Target:
    """One server, and what operations are done to there."""

    side: Side
    stocked: Stocked
    stored_ids: Iterator[str]
    """Each filled payment once."""
    registrations: Sequence[str] = ()
    payments: int = 0
    """The payments that were answered with success, among them follow-ups."""

    def send(self, requests: Sequence[bytes], connections: int) -> tuple[list[dict[str, Any]], float]:
        """Returns the answers and the seconds they took together. All must say that it was done."""
        bodies, spent_s = send_all(self.stocked.client.base_url, requests, connections)
        answers = [read_body(body) for body in bodies]
        for answer in answers:
            if not is_done(answer):
                raise RuntimeError(f"not done: {answer['result']}")
        return answers, spent_s

    def pay(self, fields: Mapping[str, str], count: int) -> list[str]:
        requests = [self.render_post("/v1/payments", {**ORDER, **fields}) for _ in range(count)]
        answers, _ = self.send(requests, PREPARING_CONNECTIONS)
        self.payments += count
        return [str(answer["id"]) for answer in answers]

    def register(self) -> None:
        requests = [self.render_post("/v1/registrations", CARD) for _ in range(REGISTRATIONS)]
        answers, _ = self.send(requests, PREPARING_CONNECTIONS)
        self.registrations = [str(answer["id"]) for answer in answers]

    def render_post(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None) -> bytes:
        sent = {"entityId": self.stocked.client.entity_id, **fields}
        return render_post(path, {**self.stocked.headers, **(headers or {})}, sent)

    def render_get(self, path: str, query: Mapping[str, str]) -> bytes:
        return render_get(path, self.stocked.headers, {"entityId": self.stocked.client.entity_id, **query})


def is_done(answer: Mapping[str, Any]) -> bool:
    code = str(answer["result"]["code"])
    return code.startswith("000.") and code != _PENDING


Prepare = Callable[[Target, int], list[str]]
"""Returns the ids of what so many operations are done to."""
Step = Callable[[Target, str], bytes]
"""Renders one request, given the id of what it is about."""


def _need_nothing(_target: Target, count: int) -> list[str]:
    return [""] * count


def _need_payments(payment_type: str) -> Prepare:
    return lambda target, count: target.pay({"paymentType": payment_type}, count)


def _need_stored(target: Target, count: int) -> list[str]:
    ids = list(islice(target.stored_ids, count))
    if len(ids) < count:
        raise RuntimeError(f"the store has {len(ids)} payments left instead of {count}")
    return ids


def _need_any_stored(target: Target, count: int) -> list[str]:
    return target.side.pick_stored(target.stocked.database, count)


def _need_registrations(target: Target, count: int) -> list[str]:
    if not target.registrations:
        target.register()
    return list(islice(cycle(target.registrations), count))


def _pay(fields: Mapping[str, str]) -> Step:
    return lambda target, _id: target.render_post("/v1/payments", {**fields, **_make_reference()})


def _pay_with_key(target: Target, _id: str) -> bytes:
    return target.render_post(
        "/v1/payments", {**ORDER, **_make_reference()}, {"Idempotency-Key": secrets.token_hex(16)}
    )


def _pay_by_registration(target: Target, registration_id: str) -> bytes:
    fields = {**BY_REGISTRATION, "registrationId": registration_id, **_make_reference()}
    return target.render_post("/v1/payments", fields)


def _follow_up(payment_type: str, fields: Mapping[str, str] = MONEY) -> Step:
    return lambda target, payment_id: target.render_post(
        f"/v1/payments/{payment_id}", {"paymentType": payment_type, **fields}
    )


def _prepare_checkout(target: Target, _id: str) -> bytes:
    return target.render_post("/v1/checkouts", {**MONEY, "paymentType": "DB", **_make_reference()})


def _submit_form(_target: Target, checkout_id: str) -> bytes:
    fields = {**CARD, "shopperResultUrl": "https://shop.example/result"}
    return render_post(f"/v1/checkouts/{checkout_id}/payment", FORM, fields)


def _read_status(target: Target, checkout_id: str) -> bytes:
    return target.render_get(f"/v1/checkouts/{checkout_id}/payment", {})


def _read_payment(target: Target, payment_id: str) -> bytes:
    return target.render_get(f"/v1/payments/{payment_id}", {})


def _read_page(target: Target, _id: str) -> bytes:
    """Three days, so that midnight may come while we measure."""
    today = datetime.now(UTC).date()
    period = {"date.from": str(today - _DAY), "date.to": str(today + _DAY)}
    return target.render_get("/v3/query", {**period, "limit": str(PAGE_SIZE)})


def _make_reference() -> dict[str, str]:
    return {"merchantTransactionId": f"bench-{secrets.token_hex(8)}"}


@dataclass(frozen=True)
class Operation:
    name: str
    steps: tuple[Step, ...]
    """The first request is about what was prepared, and the others about the id in its answer."""
    prepare: Prepare = field(default=_need_nothing)
    connections: int = CONNECTIONS
    each: int = A_TURN
    cpu_growth_max: float | None = GROWTH_MAX
    """The processor time beside many stored payments, as a multiple of that beside few."""
    time_growth_max: float | None = None
    """The same of the time until it is answered, which other work on the machine disturbs more."""
    payments_max: float | None = None
    """The processor time, as a multiple of a payment's."""
    is_payment: bool = True
    """A payment or follow-up is made and stored."""
    has_endpoint: bool = False
    """The merchant has one endpoint, which hears of every event."""


def _make_follow_up(name: str, step: Step, prepare: Prepare) -> Operation:
    return Operation(name, (step,), prepare, time_growth_max=GROWTH_MAX, payments_max=PAYMENTS_MAX)


def _make_single(name: str, step: Step, prepare: Prepare) -> Operation:
    return Operation(name, (step,), prepare, connections=1, each=A_SINGLE_TURN, time_growth_max=GROWTH_MAX)


PAYMENT = Operation("payment", (_pay(ORDER),))
OPERATIONS = (
    PAYMENT,
    Operation("payment with Idempotency-Key", (_pay_with_key,)),
    Operation("payment with a registration", (_pay_by_registration,), _need_registrations),
    Operation("3-D Secure payment without a challenge", (_pay(AUTHENTICATED),)),
    Operation("checkout: prepare, form, status", (_prepare_checkout, _submit_form, _read_status)),
    _make_follow_up("capture", _follow_up("CP"), _need_payments("PA")),
    _make_follow_up("reversal", _follow_up("RV", {}), _need_payments("PA")),
    _make_follow_up("refund", _follow_up("RF"), _need_payments("DB")),
    _make_single("refund", _follow_up("RF"), _need_payments("DB")),
    _make_single("refund of any payment stored", _follow_up("RF"), _need_stored),
    Operation("read of a payment", (_read_payment,), _need_any_stored, is_payment=False),
    Operation(f"page of {PAGE_SIZE} of a report", (_read_page,), cpu_growth_max=None, is_payment=False),
    Operation("payment with an endpoint", (_pay(ORDER),), has_endpoint=True),
)
"""The growth of a page has no bound: the first page also counts the pages, up to a limit that few never reach."""
