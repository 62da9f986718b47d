"""The search index and the tallies: written behind the payments, exactly once, and complete with what comes after."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from databases.samples import CHANNEL, MERCHANT
from databases.searched import DECLINED, WAITING, complete, count, find_ids, index_all, move_clock, pay, search, start
from tollgate.catalog.limits import LIMITS
from tollgate.flows import search_payments
from tollgate.flows.index_payments import index_payments, make_terms
from tollgate.operations.app import App
from tollgate.payments.payment import Payment
from tollgate.store.database import Database
from tollgate.store.payments import find_payment, reopen_writes
from tollgate.store.search_index import delete_terms_writes, get_cursor, list_behind
from tollgate.store.statements import Statement, Write
from tollgate.values import ChannelId, Money
from unit.app_fixture import NOW, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

OTHER = ChannelId("8a" + "9" * 30)
JANE = {"customer.email": "Jane@example.com"}
WORDS = ["JANE@example.com", "0000", "92", "92.00 EUR", "1234.5678.9012", "000.100.110", "000.100", "order-1234"]


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def reload(app: App, payment: Payment) -> Payment:
    found = await find_payment(app.database, MERCHANT, payment.id)
    assert found is not None
    return found


@pytest.mark.parametrize("is_indexed", [True, False])
async def test_a_payment_is_found_by_each_of_its_traits_before_and_after_it_is_indexed(
    app: App, is_indexed: bool
) -> None:
    payment = await pay(app, echo=JANE)
    await pay(
        app,
        DECLINED,
        money=Money(700, "USD"),
        short_id="9999.9999.9999",
        card=None,
        merchant_transaction_id="order-2",
    )
    if is_indexed:
        assert await index_all(app) == 2

    assert {word: await find_ids(app, word) for word in [*WORDS, payment.id]} == {
        word: [payment.id] for word in [*WORDS, payment.id]
    }
    assert await find_ids(app, "92.00 USD") == []
    assert await find_ids(app, "jane@example.com 800.100") == []


async def test_an_event_is_indexed_when_no_earlier_one_can_be_committed_any_more(app: App) -> None:
    payment = await pay(app)
    assert payment.completed_at is not None
    move_clock(app, payment.completed_at + LIMITS.index_delay)
    assert await index_all(app) == 0
    assert await list_behind(app.database) == [MERCHANT]

    move_clock(app, payment.completed_at + LIMITS.index_delay + 1)
    assert await index_all(app) == 1
    assert await list_behind(app.database) == []
    assert (await get_cursor(app.database, MERCHANT)).endswith(payment.id)


async def test_two_workers_at_the_same_events_count_each_payment_once(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tollgate.flows.index_payments.LIMITS", replace(LIMITS, index_batch=3))
    for _ in range(10):
        await pay(app)
    for _ in range(5):
        await asyncio.gather(*[index_payments(app, MERCHANT) for _ in range(4)])

    assert await list_behind(app.database) == []
    assert await count(app) == {("000.100.110", "EUR"): (10, 92_000)}


async def test_a_restarted_process_goes_on_where_the_last_one_ended(app: App) -> None:
    await pay(app)
    await index_all(app)
    await pay(app, DECLINED)
    restarted = App(**{name: getattr(app, name) for name in app.__struct_fields__})

    assert await index_all(restarted) == 1
    assert await count(restarted) == {("000.100.110", "EUR"): (1, 9200), ("800.100.151", "EUR"): (1, 0)}


@pytest.mark.parametrize("is_indexed_between", [True, False])
async def test_a_payment_that_waited_is_counted_once_by_its_last_event(app: App, is_indexed_between: bool) -> None:
    waiting = await pay(app, WAITING)
    assert await count(app) == {}
    if is_indexed_between:
        await index_all(app)
    assert await app.database.write(reopen_writes(waiting, NOW), label="test")
    reopened = await reload(app, waiting)
    done = {("000.100.110", "EUR"): (1, 9200)}

    await complete(app, reopened, completed_at=waiting.created_at + 9)

    assert await count(app) == done
    await index_all(app)
    assert await count(app) == done


async def test_payments_count_at_once_and_currencies_are_never_added(app: App) -> None:
    await pay(app)
    await index_all(app)
    await pay(app, money=Money(500, "EUR"))
    await pay(app, money=Money(500, "USD"))

    expected = {("000.100.110", "EUR"): (2, 9700), ("000.100.110", "USD"): (1, 500)}
    assert await count(app) == expected
    await index_all(app)
    assert await count(app) == expected


async def test_an_old_payment_is_found_by_its_new_result_before_that_is_indexed(app: App) -> None:
    waiting = await pay(app, WAITING)
    await pay(app, DECLINED, created_at=waiting.created_at + 1000)
    await index_all(app)
    assert await app.database.write(reopen_writes(waiting, NOW), label="test")
    await complete(app, await reload(app, waiting), completed_at=waiting.created_at + 9000, result_code="000.100.112")

    assert await find_ids(app, "000.100.112") == [waiting.id]
    assert await find_ids(app, "000.200.000") == []


async def test_a_payment_in_flight_is_found_although_it_has_no_event(app: App) -> None:
    started = await start(app, echo=JANE)
    await pay(app, created_at=started.created_at + 1000)
    await index_all(app)

    assert await find_ids(app, "jane@example.com") == [started.id]
    assert await find_ids(app, "", result="in progress") == [started.id]


@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize("text", ["", "92.00", "order-1234"])
async def test_pages_lead_back_and_forth_through_all_channels_by_key(
    app: App, monkeypatch: pytest.MonkeyPatch, text: str, is_indexed: bool
) -> None:
    monkeypatch.setattr(search_payments, "LIMITS", replace(LIMITS, office_page=3))
    # Some payments have the same time, so only the id sorts them.
    paid = [
        await pay(app, channel_id=OTHER if n % 3 else CHANNEL, created_at=NOW // 2 + n // 2 * 1000) for n in range(8)
    ]
    if is_indexed:
        await index_all(app)
    everything = [each.id for each in sorted(paid, key=lambda each: (each.created_at, each.id), reverse=True)]
    both: dict[str, Any] = {"channel_ids": (CHANNEL, OTHER)}

    first = await search(app, text, **both)
    second = await search(app, text, first.older, **both)
    third = await search(app, text, second.older, **both)
    pages = [[row.place.id for row in page.rows] for page in (first, second, third)]
    assert pages == [everything[:3], everything[3:6], everything[6:]]
    assert (first.newer, third.older) == (None, None)
    back = await search(app, text, third.newer, is_newest_first=False, **both)
    assert [row.place.id for row in back.rows] == everything[3:6]
    begin = await search(app, text, back.newer, is_newest_first=False, **both)
    assert [row.place.id for row in begin.rows] == everything[:3]
    assert begin.newer is None
    assert await find_ids(app, text) == [each for each in everything if each in {p.id for p in paid[::3]}][:3]


@pytest.mark.parametrize("text", ["", "92"])
async def test_a_page_looks_at_a_bounded_number_of_payments_and_says_so(
    app: App, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(search_payments, "LIMITS", replace(LIMITS, search_candidates_max=4))
    wanted = await pay(app, brand="MASTER")
    for _ in range(9):
        await pay(app)
    await index_all(app)

    pages = [await search(app, text, brand="MASTER")]
    while pages[-1].older is not None:
        pages.append(await search(app, text, pages[-1].older, brand="MASTER"))

    assert [page.is_cut for page in pages] == [True, True, False]
    assert [[row.place.id for row in page.rows] for page in pages] == [[], [], [wanted.id]]


async def test_a_tampered_payment_is_shown_as_such_and_not_counted(app: App) -> None:
    payment = await pay(app)
    text = sa.text("UPDATE payments SET amount = 9300 WHERE id = :id")
    assert await app.database.write([Write(Statement(text, is_write=True), {"id": payment.id}, 1)], label="test")
    await index_all(app)

    [row] = (await search(app, "93.00")).rows
    assert (row.place.id, row.is_trusted) == (payment.id, False)
    assert await count(app) == {}


async def test_a_payment_that_cannot_be_read_is_listed_without_its_contents(app: App) -> None:
    payment = await pay(app)
    text = sa.text("UPDATE payments SET outcome = 'unheard of' WHERE id = :id")
    assert await app.database.write([Write(Statement(text, is_write=True), {"id": payment.id}, 1)], label="test")
    assert await index_all(app) == 1

    [row] = (await search(app)).rows
    assert (row.place.id, row.payment, row.is_trusted) == (payment.id, None, False)


async def test_terms_of_a_payment_can_be_deleted(app: App) -> None:
    payment = await pay(app, echo=JANE)
    await index_all(app)
    later = await pay(app, created_at=payment.created_at + 10, money=Money(100, "EUR"))
    await index_all(app)
    emails = [term for term in make_terms(payment) if term.term.startswith("e:")]
    assert len(emails) == 1

    assert await app.database.write(delete_terms_writes(emails), label="test")

    assert await find_ids(app, "jane@example.com") == []
    assert await find_ids(app, "0000") == [later.id, payment.id]
