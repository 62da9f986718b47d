"""Pages and chains of reports at their bounds: what is counted, what is skipped, what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.contract.fields import Fields
from tollgate.contract.follow_ups import read_follow_up
from tollgate.flows import report
from tollgate.flows.follow_up import follow_up
from tollgate.flows.pay import pay
from tollgate.operations.app import App, Call
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Period, Search, Window
from tollgate.values import DAY, InvalidParameters, Refusal
from unit.app_fixture import CHANNEL, NOW, ORDER, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

ALL = Search(reference="order-0001")
TODAY = Period(begins_at=NOW - DAY, ends_at=NOW + DAY)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


async def pay_times(app: App, count: int) -> list[Payment]:
    for _ in range(count):
        await pay(app, ORDER, Call(CHANNEL, "ndc"))
    return (await report.search(app, CHANNEL, ALL, Window(rows_max=count))).rows


def limit(monkeypatch: pytest.MonkeyPatch, **bounds: int) -> None:
    monkeypatch.setattr(report, "LIMITS", dataclasses.replace(LIMITS, **bounds))


async def test_pages_are_counted_exactly_and_an_empty_list_has_none(app: App) -> None:
    await pay_times(app, 5)

    async def count_pages(rows_max: int, page_no: int = 1) -> int | None:
        return (await report.search(app, CHANNEL, ALL, Window(rows_max=rows_max, page_no=page_no))).pages

    assert [await count_pages(rows_max) for rows_max in (1, 2, 4, 5, 6)] == [5, 3, 2, 1, 1]
    assert [await count_pages(2, page_no) for page_no in (1, 2, 3, 4)] == [3, 3, 3, 3]
    nothing = await report.search(app, CHANNEL, Search(reference="nobody-sent-this"), Window(rows_max=2))
    assert (nothing.rows, nothing.pages, nothing.cursor) == ([], 0, None)


async def test_nobody_counts_beyond_the_last_numbered_page(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, query_pages_max=2)
    payments = await pay_times(app, 5)

    last = await report.search(app, CHANNEL, ALL, Window(rows_max=2, page_no=2))
    beyond = await report.search(app, CHANNEL, ALL, Window(rows_max=2, cursor=last.cursor))

    assert (last.pages, last.rows) == (2, payments[2:4])
    assert (beyond.pages, beyond.page_no, beyond.rows, beyond.cursor) == (None, None, payments[4:], None)


async def test_who_stands_alone_is_not_looked_for(app: App) -> None:
    alone, first = await pay_times(app, 2)
    fields = {"paymentType": "RF", "amount": "1.00", "currency": "EUR"}
    wanted = read_follow_up(Fields(fields, frozenset(), fields), CHANNEL, short_id="1", is_live=False)
    assert (await follow_up(app, wanted, first.id, Call(CHANNEL, "ndc"))).status == 200

    rows = (await report.search(app, CHANNEL, ALL, Window(rows_max=9))).rows
    chains = await report.show_chains(app, CHANNEL, rows)

    assert {key: [payment.payment_type for payment in chain] for key, chain in chains.items()} == {
        first.id: ["DB", "RF"]
    }
    assert await report.show_chains(app, CHANNEL, [alone]) == {}


async def test_a_page_with_too_many_linked_transactions_is_refused_and_never_cut(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, linked_max=1)
    [first] = await pay_times(app, 1)
    fields = {"paymentType": "RF", "amount": "1.00", "currency": "EUR"}
    wanted = read_follow_up(Fields(fields, frozenset(), fields), CHANNEL, short_id="1", is_live=False)
    await follow_up(app, wanted, first.id, Call(CHANNEL, "ndc"))

    with pytest.raises(InvalidParameters) as refused:
        await report.show_chains(app, CHANNEL, (await report.search(app, CHANNEL, ALL, Window(rows_max=9))).rows)

    assert [fault.name for fault in refused.value.faults] == ["limit"]


async def test_a_day_that_is_too_long_for_one_answer_points_to_the_pages(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, settlement_records_max=2)
    await pay_times(app, 2)
    assert len((await report.list_all_completed(app, CHANNEL, TODAY)).rows) == 2
    await pay_times(app, 1)

    with pytest.raises(Refusal) as refused:
        await report.list_all_completed(app, CHANNEL, TODAY)

    assert (refused.value.status, refused.value.result.code) == (400, "200.300.404")
    assert "/reports/v2" in refused.value.detail
    assert len((await report.list_completed(app, CHANNEL, TODAY, Window(rows_max=2))).rows) == 2
