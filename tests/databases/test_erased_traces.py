"""Traces of a person's payments in other tables go with the payments, and nothing puts them back, on both databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from databases.auditing import audit
from databases.searched import find_ids, index_all, move_clock
from databases.test_journal import make_row
from tollgate.catalog.limits import LIMITS
from tollgate.cli.erasing import ACTOR
from tollgate.connectors.exchange import WireRequest
from tollgate.contract.record_lines import RecordLine
from tollgate.flows import erase_person
from tollgate.flows.evidence import add_evidence
from tollgate.flows.index_payments import index_payments
from tollgate.flows.pay import pay
from tollgate.flows.record import record
from tollgate.operations.app import App, Call
from tollgate.payments.erasure import Erasure, SearchKind
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.store import evidence, idempotency, journal, saved_views, search_index
from tollgate.store.database import Database
from tollgate.store.payments import find_payment
from tollgate.store.schema import payment_terms
from tollgate.store.statements import Statement
from tollgate.values import DAY, MerchantId, PaymentId, make_id
from tollgate.workers import journal as workers_journal
from tollgate.workers.journal import JournalWriter
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

JANE = "Jane_Doe+shop@example.com"
JOE = "joe@example.com"


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def pay_as(app: App, email: str, key: IdempotencyKey | None = None) -> Payment:
    payment_id = PaymentId(make_id())
    order = msgspec.structs.replace(ORDER, echo={"customer.email": email})
    await pay(app, order, Call(CHANNEL, f"{CHANNEL.id}_{payment_id}", key), payment_id=payment_id)
    payment = await find_payment(app.database, MERCHANT.id, payment_id)
    assert payment is not None
    return payment


async def erase(app: App, email: str = JANE.upper()) -> Erasure:
    begun = await erase_person.begin_erasure(app, MERCHANT.id, SearchKind.EMAIL, email)
    found = await erase_person.finish_erasure(app, begun, ACTOR)
    return await erase_person.finish_erasure(app, await erase_person.confirm_erasure(app, found, ACTOR), ACTOR)


async def list_terms(app: App) -> set[str]:
    return {row[0] for row in await app.database.fetch(Statement(sa.select(payment_terms.c.term)), {})}


async def expect_clean(app: App) -> None:
    assert (await audit(app.database, app.keyring)).findings == []


async def test_the_email_leaves_the_search_index_and_the_rest_stays(app: App) -> None:
    jane, joe = await pay_as(app, JANE), await pay_as(app, JOE)
    move_clock(app, NOW + DAY)
    await index_all(app)
    assert await find_ids(app, JANE) == [jane.id]
    before = await list_terms(app)

    assert (await erase(app)).erased == {"payments": 1}

    assert before - await list_terms(app) == {f"e:{JANE.lower()}"}
    assert await find_ids(app, JANE) == []
    assert await find_ids(app, JOE) == [joe.id]
    assert set(await find_ids(app, "92.00 EUR")) == {jane.id, joe.id}
    await expect_clean(app)


async def test_an_event_that_is_indexed_after_the_erasure_brings_no_email_back(app: App) -> None:
    jane = await pay_as(app, JANE)
    await erase(app)
    assert await find_ids(app, JANE) == []
    move_clock(app, NOW + DAY)
    assert await index_all(app) == 1
    assert await find_ids(app, "92.00 EUR") == [jane.id]
    assert f"e:{JANE.lower()}" not in await list_terms(app)


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_worker_that_read_the_payment_before_the_erasure_writes_no_email_after_it(
    app: App, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    """is_first: nothing of the merchant was indexed before."""
    if not is_first:
        await pay_as(app, JOE)
        move_clock(app, NOW + DAY)
        await index_all(app)
    jane = await pay_as(app, JANE)
    move_clock(app, NOW + 2 * DAY)
    load = search_index.load_payments

    async def load_and_erase(db: Database, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, Payment | None]:
        loaded = await load(db, merchant_id, ids)
        monkeypatch.undo()
        assert (await erase(app)).erased == {"payments": 1}
        return loaded

    monkeypatch.setattr(search_index, "load_payments", load_and_erase)
    await index_payments(app, MERCHANT.id)
    assert f"e:{JANE.lower()}" not in await list_terms(app)
    assert await search_index.list_behind(app.database) == [MERCHANT.id], "the events are still to be indexed"

    assert await index_all(app) == 1
    assert jane.id in await find_ids(app, "92.00 EUR")
    assert f"e:{JANE.lower()}" not in await list_terms(app)


async def test_lines_of_the_journal_go_by_payment_and_by_trace_id(app: App) -> None:
    jane, joe = await pay_as(app, JANE), await pay_as(app, JOE)
    of: dict[str, Any] = {"merchant_id": MERCHANT.id}
    await journal.insert_rows(
        app.database,
        [
            make_row(1, **of, payment_id=jane.id, ndc=""),
            make_row(2, **of, payment_id="", ndc=jane.ndc),
            make_row(3, **of, payment_id=joe.id, ndc=joe.ndc),
            make_row(4, **of, payment_id="", ndc=joe.ndc),
            make_row(5, **of, payment_id="", ndc=""),
        ],
    )
    await erase(app)
    assert await journal.list_messages(app.database, MERCHANT.id, jane.id, 10) == []
    assert await journal.list_by_ndc(app.database, MERCHANT.id, jane.ndc, 10) == []
    assert len(await journal.list_by_ndc(app.database, MERCHANT.id, joe.ndc, 10)) == 2
    assert len(await journal.list_by_ndc(app.database, MERCHANT.id, "", 10)) == 1


async def test_saved_views_that_search_for_the_person_go_and_similar_ones_stay(app: App) -> None:
    queries = {
        "written as it is": f"q={JANE}",
        "as a form sends it": "q=jane_doe%2Bshop%40EXAMPLE.com&type=DB",
        f"of {JANE}": "q=92.00",
        "one letter differs": "q=janeXdoe%2Bshop%40example.com",
        "another person": "q=joe%40example.com",
    }
    for name, query in queries.items():
        view = saved_views.SavedView(
            user_id="u", id=make_id(), merchant_id=MERCHANT.id, name=name, query=query, created_at=NOW
        )
        await saved_views.insert_view(app.database, view)
    await pay_as(app, JANE)
    await erase(app)
    left = await saved_views.list_views(app.database, "u", MERCHANT.id, 10)
    assert [view.name for view in left] == ["another person", "one letter differs"]


async def test_a_dispute_keeps_the_person_and_its_evidence_until_its_period_is_over(app: App) -> None:
    jane, joe = await pay_as(app, JANE), await pay_as(app, JOE)
    disputes = [
        (await record(app, CHANNEL, paid, RecordLine(number=2, payment_type="CB", reference=make_id()))).payment
        for paid in (jane, joe)
    ]
    for dispute in disputes:
        await add_evidence(app, dispute, "delivery.txt", b"left with the neighbour", "me")

    (postponed,) = (await erase(app)).postponed
    assert "is a dispute of the last 180 days" in postponed.reason
    assert (await find_payment(app.database, MERCHANT.id, jane.id)) is not None
    counts = await evidence.count_evidence(app.database, MERCHANT.id, [each.id for each in disputes])
    assert set(counts) == {each.id for each in disputes}

    move_clock(app, NOW + LIMITS.dispute_period - 1)
    assert (await erase(app)).erased == {"payments": 0}
    move_clock(app, NOW + LIMITS.dispute_period)
    done = await erase(app)

    assert (done.erased, done.postponed) == ({"payments": 1}, ())
    counts = await evidence.count_evidence(app.database, MERCHANT.id, [each.id for each in disputes])
    assert counts == {disputes[1].id: 1}, "evidence about another person stays"
    await expect_clean(app)


async def test_the_stored_answer_of_a_key_is_made_again_without_the_person(app: App) -> None:
    key = IdempotencyKey(
        merchant_id=CHANNEL.merchant_id, channel_id=CHANNEL.id, key="a key", fingerprint=b"fingerprint", created_at=NOW
    )
    jane = await pay_as(app, JANE, key)

    async def read_answer() -> bytes:
        stored = await idempotency.find_idempotency_record_of(app.database, jane)
        assert stored is not None
        assert stored.body is not None
        return stored.body

    assert JANE.encode() in await read_answer()
    await erase(app)
    answer = await read_answer()
    assert JANE.encode() not in answer
    assert jane.id.encode() in answer
    await expect_clean(app)


@pytest.mark.parametrize("is_taken", [True, False])
async def test_a_message_that_was_noted_before_the_erasure_is_not_written_after_it(
    app: App, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    """is_taken: the writer has taken the message and not written it yet."""
    jane = await pay_as(app, JANE)
    writer, request = JournalWriter(app), WireRequest(path="/charge", body=b"{}", key="a key")
    app.journal.is_open = True
    app.journal.note_message(NOW, jane, "charge", request, "no answer")
    app.journal.mask(app.merchants, 10)
    if is_taken:
        insert = journal.insert_rows

        async def erase_and_insert(*arguments: Any) -> bool:
            await erase(app)
            return await insert(*arguments)

        monkeypatch.setattr(workers_journal, "insert_rows", erase_and_insert)
    else:
        await erase(app)
    await writer._write(10)
    assert await journal.list_messages(app.database, MERCHANT.id, jane.id, 10) == []

    monkeypatch.undo()
    app.journal.note_message(NOW, jane, "refund", request, "no answer")
    app.journal.mask(app.merchants, 10)
    await writer._write(10)
    if is_taken:
        assert await journal.list_messages(app.database, MERCHANT.id, jane.id, 10) == [], "one more batch is dropped"
        app.journal.note_message(NOW, jane, "refund", request, "no answer")
        app.journal.mask(app.merchants, 10)
        await writer._write(10)
    assert len(await journal.list_messages(app.database, MERCHANT.id, jane.id, 10)) == 1
