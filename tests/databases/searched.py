"""An app whose payments are searched, payments to be found, and questions about them."""

from __future__ import annotations

from typing import Any

import msgspec

from databases.samples import CHANNEL, MERCHANT, make_completion, make_payment
from tollgate.contract.search_words import read_text
from tollgate.contract.searching import PaymentQuery
from tollgate.flows.index_payments import index_payments
from tollgate.flows.overview import group_tallies, sum_payments
from tollgate.flows.search_payments import SearchPage, search_page
from tollgate.operations.app import App
from tollgate.operations.signing import sign
from tollgate.payments.payment import Outcome, Payment, State
from tollgate.payments.reporting import FOREVER, Place
from tollgate.store.payments import complete_payment, start_payment
from tollgate.values import HOUR, FixedClock

DECLINED: dict[str, Any] = {"state": State.DECLINED, "outcome": Outcome.DECLINED, "result_code": "800.100.151"}
WAITING: dict[str, Any] = {"state": State.WAITING, "outcome": Outcome.WAITING, "result_code": "000.200.000"}


async def start(app: App, **changes: Any) -> Payment:
    payment = make_payment(**changes)
    assert await start_payment(app.database, payment, None, None)
    return payment


async def complete(app: App, payment: Payment, **result: Any) -> Payment:
    completion = make_completion(payment, **result)
    signed = sign(app, completion.payment)
    assert await complete_payment(app.database, msgspec.structs.replace(completion, payment=signed))
    return signed


async def pay(app: App, result: dict[str, Any] | None = None, **changes: Any) -> Payment:
    return await complete(app, await start(app, **changes), **(result or {}))


def move_clock(app: App, at: int) -> None:
    assert isinstance(app.clock, FixedClock)
    app.clock.at = at


async def index_all(app: App) -> int:
    count = 0
    while indexed := await index_payments(app, MERCHANT):
        count += indexed
    return count


async def search(
    app: App, text: str = "", after: Place | None = None, *, is_newest_first: bool = True, **filters: Any
) -> SearchPage:
    read = read_text(text, app.clock.now())
    query = PaymentQuery(
        channel_ids=filters.pop("channel_ids", (CHANNEL,)), words=read.words, currency=read.currency, **filters
    )
    return await search_page(app, MERCHANT, query, after, is_newest_first=is_newest_first)


async def find_ids(app: App, text: str, **filters: Any) -> list[str]:
    return [row.place.id for row in (await search(app, text, **filters)).rows]


async def count(app: App) -> dict[tuple[str, str], tuple[int, int]]:
    """Returns number and approved amount of all payments, by result code and currency."""
    summed = await sum_payments(app, MERCHANT, {CHANNEL}, 0, FOREVER // HOUR * HOUR, hours=24)
    groups = group_tallies(summed.tallies, lambda tally: (tally.result_code, tally.currency))
    return {key: (figures.count, figures.amount) for key, figures in groups.items()}
