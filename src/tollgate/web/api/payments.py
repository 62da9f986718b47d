"""The merchant's payments: make one, read it again. What happens in between is told in `flows`."""

from __future__ import annotations

import re

from tollgate.catalog import LIMITS, Situation, get_result
from tollgate.contract import Answer, answer_payment, read_fields, read_order
from tollgate.flows import find_earlier_answer, look_up, make_claim, pay
from tollgate.payments import Channel
from tollgate.steps import House
from tollgate.values import Chance, Fault, InvalidParameters, NotFound, to_datetime
from tollgate.web.metrics import count_payment
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow

_REPLAYED = ((b"idempotency-replayed", b"true"),)
_KEY = re.compile(r"[\x21-\x7e]+")


async def create_payment(request: Request, caller: Caller, house: House) -> Reply:
    channel = get_channel(caller)
    fields = read_fields(request.pairs, Situation("payment", None, channel.is_lenient, house.is_live))
    claim = make_claim(house, read_key(request), channel, request.method, "/v1/payments", fields)
    earlier = await find_earlier_answer(house, claim)
    if earlier is not None:
        return Reply(earlier.status, earlier.body, headers=_REPLAYED)
    order = read_order(
        fields,
        channel,
        today=to_datetime(house.clock.now()).date(),
        short_id=make_short_id(house.chance),
        is_live=house.is_live,
    )
    answer = await pay(house, order, channel, caller.ndc, claim)
    if answer.code:
        count_payment(order.kind, get_result(answer.code).group)
    return reply_with(answer)


async def read_payment(request: Request, caller: Caller, house: House) -> Reply:
    payment = await look_up(house, caller.merchant_id, request.names[0])
    if payment is None:
        raise NotFound(get_result("700.400.580"))
    return reply_with(answer_payment(payment, house.envelope))


def get_channel(caller: Caller) -> Channel:
    if caller.channel is None:
        raise LookupError("a route that needs an entity let a caller in without one")
    return caller.channel


def reply_with(answer: Answer) -> Reply:
    return Reply(answer.status, answer.body)


def read_key(request: Request) -> str | None:
    key = request.header(b"idempotency-key")
    if not key:
        return None
    if len(key) > LIMITS.idempotency_key_length_max or not _KEY.fullmatch(key):
        message = f"must have 1 to {LIMITS.idempotency_key_length_max} visible ASCII characters"
        raise InvalidParameters(get_result("200.300.404"), [Fault("Idempotency-Key", message)])
    return key


def make_short_id(chance: Chance) -> str:
    """`dddd.dddd.dddd`, for people to read out; it is not a key."""
    digits = f"{int.from_bytes(chance(8), 'big') % 10**12:012d}"
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


ROUTES = (
    RouteRow(
        method="POST",
        path="/v1/payments",
        operation="create_payment",
        summary="Make a payment: PA, DB or CD.",
        access=Access.ENTITY,
        handler=create_payment,
    ),
    RouteRow(
        method="GET",
        path="/v1/payments/{id}",
        operation="read_payment",
        summary="Read a payment; 404 where there is none.",
        access=Access.TOKEN,
        handler=read_payment,
    ),
)
