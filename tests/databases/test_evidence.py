"""Evidence and recorded facts in both databases: sealed to its row, wrapped again, and recorded once by many."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from databases.samples import NOON
from tollgate.contract.record_lines import RecordLine
from tollgate.flows.evidence import add_evidence, find_content_type, open_evidence
from tollgate.flows.pay import pay
from tollgate.flows.record import apply_lines, plan_lines, record
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.operations.app import App, Call
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import Place
from tollgate.store import evidence
from tollgate.store.database import Database
from tollgate.store.payments import find_payment, list_chain
from tollgate.store.retention import SealedRow
from tollgate.values import InvalidParameters, PaymentId, make_id
from tollgate.vault.keyring import KeyringError
from tollgate.vault.sealing import EnvelopeError
from unit.app_fixture import CHANNEL, MERCHANT, ORDER, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def make_payment(app: App) -> Payment:
    payment_id = PaymentId(make_id())
    await pay(app, ORDER, Call(CHANNEL, "an ndc"), payment_id=payment_id)
    payment = await find_payment(app.database, MERCHANT.id, payment_id)
    assert payment is not None
    return payment


def make_line(payment_type: str, reference: str, **changes: object) -> RecordLine:
    line = RecordLine(number=2, payment_type=payment_type, reference=reference)
    return msgspec.structs.replace(line, **changes)


async def charge_back(app: App) -> Payment:
    return (await record(app, CHANNEL, await make_payment(app), make_line("CB", make_id()))).payment


async def test_evidence_is_sealed_for_its_row_and_opens_after_a_change_of_keys(app: App) -> None:
    chargeback = await charge_back(app)
    first, second = [await add_evidence(app, chargeback, f"{n}.txt", f"note {n}".encode(), "me") for n in (1, 2)]
    assert b"note" not in await evidence.get_content(app.database, first)
    listed = await evidence.list_evidence(app.database, MERCHANT.id, chargeback.id)
    assert {each.id: each for each in listed} == {first.id: first, second.id: second}
    assert await evidence.count_evidence(app.database, MERCHANT.id, [chargeback.id]) == {chargeback.id: 2}

    rotated = msgspec.structs.replace(app, keyring=app.keyring.with_new_key())
    assert await count_retired(app.database, rotated.keyring) > 0
    await rewrap_everything(app.database, rotated.keyring, lambda _: None)
    assert await count_retired(app.database, rotated.keyring) == 0
    assert await open_evidence(rotated, first) == b"note 1"

    with pytest.raises(KeyringError):
        await open_evidence(app, second)
    # What was sealed for one row does not open in another.
    sealed = [await evidence.get_content(app.database, each) for each in (first, second)]
    found = SealedRow(MERCHANT.id, second.id, sealed[1])
    assert await evidence.SEALED.rewrap(app.database, found, sealed[0])
    with pytest.raises(EnvelopeError):
        await open_evidence(rotated, second)


async def test_evidence_is_kept_with_chargebacks_only(app: App) -> None:
    with pytest.raises(InvalidParameters):
        await add_evidence(app, await make_payment(app), "note", b"a note", "me")


def test_files_are_known_by_their_first_bytes() -> None:
    assert find_content_type(b"\x89PNG\r\n\x1a\nrest") == "image/png"
    assert find_content_type(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert find_content_type("Grüße".encode()) == "text/plain; charset=utf-8"
    assert find_content_type(b"  ") is None


async def test_two_who_record_the_same_fact_at_once_record_it_once(app: App) -> None:
    payment = await make_payment(app)
    line = make_line("CB", "a reference", amount=100)
    recorded = await asyncio.gather(*[record(app, CHANNEL, payment, line) for _ in range(4)])
    chain = await list_chain(app.database, MERCHANT.id, payment.id, 10)
    assert [each.payment_type for each in chain] == ["DB", "CB"]
    assert {each.payment.id for each in recorded} == {chain[1].id}
    assert [each.is_new for each in recorded].count(True) == 1
    assert chain[0].balance.disputed == 100


async def test_a_file_that_was_applied_in_part_is_applied_again_as_a_whole(app: App) -> None:
    payments = [await make_payment(app) for _ in range(3)]
    lines = [make_line("CB", f"r{number}", payment_id=each.id) for number, each in enumerate(payments)]
    planned, faults = await plan_lines(app, lines, [CHANNEL])
    assert faults == []
    await apply_lines(app, planned[:2])
    again, _ = await plan_lines(app, lines, [CHANNEL])
    reports = await apply_lines(app, again)
    assert [each.result for each in reports] == ["recorded before", "recorded before", "recorded"]
    for payment in payments:
        assert len(await list_chain(app.database, MERCHANT.id, payment.id, 10)) == 2


async def test_disputes_are_listed_in_pages_the_newest_first(app: App) -> None:
    made = [(await charge_back(app)).id for _ in range(3)]
    first = last = Place(2**62, "g")
    pages = []
    while page := await evidence.list_disputes(app.database, MERCHANT.id, [CHANNEL.id, "other"], last, 2):
        pages.append([each.row.id for each in page if each.row])
        last = page[-1].place
    assert [len(page) for page in pages] == [2, 1]
    assert sorted(each for page in pages for each in page) == sorted(made)
    assert last.at > NOON
    # The place of the next page must not name a chargeback of a channel that the reader does not see.
    for channel_ids in (["other"], []):
        assert await evidence.list_disputes(app.database, MERCHANT.id, channel_ids, first, 2) == []
