"""Pages of payments, whole chains and what was earned, the same on both databases."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from databases.crowd import TIED, gather_crowd, name_payment
from databases.samples import MERCHANT, NOON, SHOP, make_completion, make_payment
from tollgate.payments.ledger import BalanceChange, LedgerAccount
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment, State
from tollgate.payments.reporting import Listed, Period, Place, ReportEntry, Search
from tollgate.store import reports
from tollgate.store.database import Database
from tollgate.store.payments import complete_payment, start_follow_up_writes, start_payment
from tollgate.values import DAY, SECOND, ChannelId, Money, PaymentId, make_id

pytestmark = pytest.mark.anyio

CROWD = 3000
ALWAYS = Period(begins_at=0, ends_at=NOON + 100 * DAY)


async def find(db: Database, after: Place | None = None, limit: int = 100, **wanted: Any) -> list[Payment]:
    listed = await reports.search_payments(db, SHOP, Search(**wanted), after, limit=limit, skipped=0)
    return [each.row for each in listed if each.row is not None]


def list_payment_ids(page: list[Listed[ReportEntry]]) -> list[str]:
    return [each.row.payment.id for each in page if each.row is not None]


async def write(db: Database, **changes: Any) -> Payment:
    payment = make_payment(**changes)
    assert await start_payment(db, payment, None, None)
    return payment


async def earn(db: Database, **changes: Any) -> Payment:
    payment = await write(db, **changes)
    completion = make_completion(payment)
    assert await complete_payment(db, completion, None)
    return completion.payment


async def follow(db: Database, first: Payment, position: int) -> Payment:
    """Returns the bare row; what may follow what is no question of reading."""
    later = make_payment(payment_type="CP", chain_id=first.id, referenced_id=first.id, position=position)
    balance_change = BalanceChange(payment_id=first.id, chain_length=1)
    assert await db.write(start_follow_up_writes(later, [balance_change]), label="test")
    return later


async def test_payments_are_found_oldest_first_and_the_id_decides_between_equals(db: Database) -> None:
    ids = sorted(make_id() for _ in range(4))
    late = await write(db, created_at=NOON + DAY)
    equals = [await write(db, id=PaymentId(payment_id), created_at=NOON) for payment_id in reversed(ids)]

    assert await find(db) == [*reversed(equals), late]


async def test_every_filter_narrows_and_all_of_them_together(db: Database) -> None:
    plain = await write(db)
    other = await write(
        db,
        payment_type="PA",
        method="DC",
        short_id="9999.9999.9999",
        merchant_transaction_id="other",
        created_at=NOON + DAY,
    )
    await write(db, channel_id=ChannelId("8a" + "7" * 30))

    assert await find(db) == [plain, other]
    assert await find(db, payment_types=("DB",)) == [plain]
    assert await find(db, payment_types=("CP", "DB", "PA")) == [plain, other]
    assert await find(db, payment_types=("CP", "RF")) == []
    assert await find(db, methods=("DC",)) == [other]
    assert await find(db, short_id="9999.9999.9999") == [other]
    assert await find(db, reference="other") == [other]
    assert await find(db, begins_at=NOON + DAY, ends_at=NOON + DAY + 1) == [other]
    assert await find(db, begins_at=NOON + DAY + 1) == []
    assert await find(db, ends_at=NOON + DAY) == [plain]
    everything: dict[str, Any] = {
        "payment_types": ("PA",),
        "methods": ("DC",),
        "short_id": "9999.9999.9999",
        "reference": "other",
    }
    assert await find(db, **everything, begins_at=NOON, ends_at=NOON + 2 * DAY) == [other]


@pytest.mark.parametrize("reference", [None, "the-same-again"])
async def test_walking_by_places_meets_every_payment_once(db: Database, reference: str | None) -> None:
    await gather_crowd(db, CROWD)
    met: list[str] = []
    after: Place | None = None

    while page := await find(db, after, limit=999, reference=reference):
        met += [payment.id for payment in page]
        after = Place(page[-1].created_at, page[-1].id)

    step = 10 if reference else 1
    assert met == [name_payment(n) for n in range(0, CROWD, step)]


async def test_a_numbered_page_is_the_same_as_the_one_that_a_place_leads_to(db: Database) -> None:
    await gather_crowd(db, CROWD)
    wanted = Search(payment_types=("DB",), begins_at=NOON + 10 * SECOND)

    numbered = await reports.search_payments(db, SHOP, wanted, None, limit=50, skipped=50)
    first = await reports.search_payments(db, SHOP, wanted, None, limit=50, skipped=0)
    led_to = await reports.search_payments(db, SHOP, wanted, first[-1].place, limit=50, skipped=0)

    assert first[0].place.id == name_payment(10 * TIED)
    assert numbered == led_to


async def test_counting_stops_at_its_bound(db: Database) -> None:
    await gather_crowd(db, CROWD)

    assert await reports.count_payments(db, SHOP, Search(), 700) == 700
    assert await reports.count_payments(db, SHOP, Search(), CROWD * 2) == CROWD
    assert await reports.count_payments(db, SHOP, Search(reference="the-same-again", payment_types=("PA",)), 700) == 0
    assert await reports.count_report_entries(db, SHOP, ALWAYS, 700) == 700
    assert await reports.count_report_entries(db, SHOP, ALWAYS, CROWD) == CROWD // 2


async def test_several_chains_are_read_at_once_each_in_its_order(db: Database) -> None:
    first, second, alone = [await write(db) for _ in range(3)]
    captures = [await follow(db, first, 2), await follow(db, second, 2), await follow(db, first, 3)]

    chains = await reports.list_chains(db, MERCHANT, [first.id, second.id], 100)

    assert {key: [payment.id for payment in chain] for key, chain in chains.items()} == {
        first.id: [first.id, captures[0].id, captures[2].id],
        second.id: [second.id, captures[1].id],
    }
    assert alone.id not in chains
    assert sum(map(len, (await reports.list_chains(db, MERCHANT, [first.id, second.id], 4)).values())) == 4


async def test_as_many_chains_as_a_page_has_are_read_with_one_statement(db: Database) -> None:
    await gather_crowd(db, CROWD)

    for count in (1, 2, 9, 65, 500):
        ids = [name_payment(n) for n in range(count)]
        chains = await reports.list_chains(db, MERCHANT, ids, 1000)
        assert {key: [row.id for row in chain] for key, chain in chains.items()} == {key: [key] for key in ids}


async def test_what_was_earned_is_summed_by_day_currency_kind_and_direction(db: Database) -> None:
    day = NOON // DAY
    for amount in (100, 250):
        await earn(db, money=Money(amount, "EUR"))
    await earn(db, money=Money(70, "USD"))
    await earn(db, money=Money(30, "EUR"), payment_type="CD")
    await earn(db, money=Money(5, "EUR"), created_at=(day + 1) * DAY)
    await earn(db, money=Money(999, "EUR"), payment_type="PA")
    await earn(db, money=Money(999, "EUR"), channel_id=ChannelId("8a" + "7" * 30))

    tallies = await reports.sum_report_entries(db, SHOP, ALWAYS)

    assert [(tally.day, tally.currency, tally.payment_type, tally.count, tally.gain) for tally in tallies] == [
        (day, "EUR", "CD", 1, -30),
        (day, "EUR", "DB", 2, 350),
        (day, "USD", "DB", 1, 70),
        (day + 1, "EUR", "DB", 1, 5),
    ]
    assert await reports.sum_report_entries(db, SHOP, replace(ALWAYS, ends_at=day * DAY)) == []
    assert [tally.gain for tally in await reports.sum_report_entries(db, SHOP, replace(ALWAYS, currency="USD"))] == [70]
    assert [
        tally.gain for tally in await reports.sum_report_entries(db, SHOP, replace(ALWAYS, test_mode=TestMode.EXTERNAL))
    ] == []


async def test_what_several_channels_earned_is_summed_and_listed_together(db: Database) -> None:
    other = ChannelId("8a" + "7" * 30)
    wide = replace(ALWAYS, channel_ids=(SHOP.id, other))
    await earn(db, money=Money(100, "EUR"))
    await earn(db, money=Money(50, "EUR"), channel_id=other)
    await earn(db, money=Money(999, "EUR"), channel_id=ChannelId("8a" + "6" * 30))

    assert [(tally.count, tally.gain) for tally in await reports.sum_report_entries(db, SHOP, wide)] == [(2, 150)]
    assert await reports.count_report_entries(db, SHOP, wide, 9) == 2
    listed = await reports.list_report_entries(db, SHOP, wide, None, limit=9, skipped=0)
    assert [each.row.gain for each in listed if each.row] == [100, 50]
    assert await reports.list_seller_sums(db, SHOP, wide, None, limit=9, skipped=0) == []


async def test_ledger_entries_are_listed_in_both_orders_and_by_payment_type(db: Database) -> None:
    taken = await earn(db, money=Money(100, "EUR"))
    given = await earn(db, money=Money(30, "EUR"), payment_type="CD", test_mode=TestMode.EXTERNAL)
    failed = await write(db)
    completion = make_completion(failed, state=State.DECLINED, result_code="800.100.151")
    assert await complete_payment(db, completion, None)

    async def list_ids(**changes: Any) -> list[str]:
        return list_payment_ids(
            await reports.list_report_entries(db, SHOP, replace(ALWAYS, **changes), None, limit=9, skipped=0)
        )

    assert await list_ids() == [taken.id, given.id]
    assert await list_ids(is_newest_first=True) == [given.id, taken.id]
    assert await list_ids(payment_types=("CD", "DB")) == [taken.id, given.id]
    assert await list_ids(payment_types=("CD",)) == [given.id]
    assert await list_ids(payment_types=()) == []
    assert await list_ids(test_mode=TestMode.INTERNAL) == [taken.id]
    [listed] = await reports.list_report_entries(
        db, SHOP, replace(ALWAYS, payment_types=("CD",)), None, limit=9, skipped=0
    )
    report_entry = listed.row
    assert report_entry is not None
    assert (report_entry.gain, report_entry.entry.target, report_entry.entry.posted_at) == (
        -30,
        LedgerAccount.SHOPPER,
        given.completed_at,
    )
    assert report_entry.payment.merchant_transaction_id == "order-1234"


@pytest.mark.parametrize("is_newest_first", [False, True])
async def test_paging_through_the_ledger_returns_every_entry_once(db: Database, is_newest_first: bool) -> None:
    await gather_crowd(db, CROWD)
    period = replace(ALWAYS, is_newest_first=is_newest_first)
    met: list[str] = []
    after: Place | None = None

    while page := await reports.list_report_entries(db, SHOP, period, after, limit=999, skipped=0):
        met += list_payment_ids(page)
        after = page[-1].place

    expected = [name_payment(n) for n in range(0, CROWD, 2)]
    assert met == (expected[::-1] if is_newest_first else expected)
