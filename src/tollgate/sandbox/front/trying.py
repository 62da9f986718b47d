"""The test payment of the front page: its form, the request as text, and the answer.

It is sent through the interface, which alone decides what is valid.
"""

import re
import shlex
from collections.abc import Mapping
from urllib.parse import quote, urlencode

import msgspec
import orjson

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.examples import get_example
from tollgate.catalog.payment_types import PAYMENT_TYPES, Role
from tollgate.catalog.results import GROUPS, RESULTS
from tollgate.catalog.test_cards import TEST_CARDS, Behaviour
from tollgate.connectors.acquiring import FORCED_CODE
from tollgate.office import visits
from tollgate.sandbox.tenant import Welcome
from tollgate.values import Instant, to_datetime
from tollgate.web.request import Reply, Request

PATH = "/v1/payments"
FORCED = f"customParameters[{FORCED_CODE}]"
CURRENCIES = ("EUR", "USD", "GBP", "CHF", "JPY")
TYPES = [
    (code, row.label) for code, row in PAYMENT_TYPES.items() if row.role is Role.STARTS and not {"CC"} - row.methods
]
CARDS = [
    (card.number, card.brand, "approved" if not card.result_code else RESULTS[card.result_code].description)
    for card in TEST_CARDS.values()
    if card.behaviour is Behaviour.NO_3DS
]
"""The cards that are charged at once, with what happens. The others need a shopper, as the demo shop has."""
FORCED_CODES = [next(result for result in RESULTS.values() if result.group == group.id) for group in GROUPS]
"""One result for each group, as suggestions."""
_DEBIT = dict(get_example("debit").pairs)
_USUAL = {name: _DEBIT[name] for name in ("amount", "currency", "paymentType", "card.number")} | {FORCED: ""}
_CVV = "1234"
_YEARS_VALID = 5
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9._ -]*")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the interface, as the page shows it."""

    status: int
    code: str
    description: str
    text: str
    """The JSON, indented."""


def make_fields(credentials: Welcome, now: Instant) -> dict[str, str]:
    """Returns the fields of a payment that succeeds."""
    return _complete({"entityId": credentials.entity_id, **_USUAL}, now)


def read_fields(request: Request, credentials: Welcome, now: Instant) -> dict[str, str]:
    """Reads the form; what was not chosen is as usual, and what belongs to the card is added."""
    usual = {"entityId": credentials.entity_id, **_USUAL}
    sent = {name: request.find(name).strip() for name in usual}
    if sent["card.number"] not in TEST_CARDS:
        raise visits.refuse_field("card.number", "must be one of the test cards")
    return _complete(sent, now)


def _complete(chosen: Mapping[str, str], now: Instant) -> dict[str, str]:
    brand = TEST_CARDS[chosen["card.number"]].brand
    return {
        "entityId": chosen["entityId"],
        "amount": chosen["amount"],
        "currency": chosen["currency"],
        "paymentType": chosen["paymentType"],
        "paymentBrand": brand,
        "card.number": chosen["card.number"],
        "card.holder": _DEBIT["card.holder"],
        "card.expiryMonth": _DEBIT["card.expiryMonth"],
        "card.expiryYear": str(to_datetime(now).year + _YEARS_VALID),
        "card.cvv": get_cvv(brand),
        FORCED: chosen[FORCED],
    }


def get_cvv(brand: str) -> str:
    return _CVV[: BRANDS[brand].cvv_length]


def render_body(fields: Mapping[str, str]) -> str:
    """Returns the fields as they are sent, without empty ones."""
    return urlencode({name: value for name, value in fields.items() if value}, quote_via=quote, safe="[]")


def render_raw(credentials: Welcome, fields: Mapping[str, str]) -> str:
    host = credentials.base_url.partition("://")[2]
    head = (
        f"POST {PATH} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {credentials.access_token}",
        "Content-Type: application/x-www-form-urlencoded",
    )
    return "\n".join((*head, "", render_body(fields).replace("&", "\n&")))


def render_curl(credentials: Welcome, fields: Mapping[str, str]) -> str:
    """Returns a command that a shell runs as it is; the script of the page writes the same one."""
    lines = [f"curl {credentials.base_url}{PATH}", f"  -H 'Authorization: Bearer {credentials.access_token}'"]
    for name, value in fields.items():
        if value:
            option = "-d" if _PLAIN_VALUE.fullmatch(value) else "--data-urlencode"
            lines.append(f"  {option} {shlex.quote(f'{name}={value}')}")
    return " \\\n".join(lines)


def read_answer(reply: Reply) -> Answer:
    body = orjson.loads(reply.body)
    result = body["result"]
    text = orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    return Answer(status=reply.status, code=result["code"], description=result["description"], text=text)
