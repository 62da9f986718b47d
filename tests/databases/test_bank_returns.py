"""Returns on both databases: each becomes one chargeback, however often its file is read; others are reported."""

from __future__ import annotations

import asyncio

import pytest

from databases.banking import CHANNEL, MERCHANT, Bank, open_bank
from tollgate.connectors.sepa_returns import BankReturn
from tollgate.flows.follow_up import record_fact
from tollgate.flows.sepa_files import ReturnReport, collect, take_returns
from tollgate.flows.verify import verify
from tollgate.operations.app import Call
from tollgate.payments.order import FollowUp
from tollgate.payments.payment import Payment, State
from tollgate.store.bank_files import list_bank_files
from tollgate.store.database import Database
from tollgate.store.payments import find_payment, list_chain

pytestmark = pytest.mark.anyio


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


def send_back(payment_id: str, reason: str = "AC04", amount: int | None = 9200, currency: str = "EUR") -> BankReturn:
    return BankReturn(id=payment_id, message_id="", reason=reason, amount=amount, currency=currency if amount else None)


async def file_all(bank: Bank) -> None:
    bank.wait()
    while await collect(bank.app):
        pass


async def list_chargebacks(bank: Bank, first_id: str) -> list[Payment]:
    chain = await list_chain(bank.app.database, MERCHANT.id, first_id, 100)
    return [each for each in chain if each.payment_type == "CB"]


def count(report: ReturnReport) -> tuple[int, int, int]:
    return len(report.taken), len(report.known), len(report.unknown)


async def test_a_return_becomes_a_chargeback_with_the_code_of_its_reason(bank: Bank) -> None:
    paid = await bank.pay()
    await file_all(bank)

    report = await take_returns(bank.app, [send_back(paid, "AM04")])

    (chargeback,) = await list_chargebacks(bank, paid)
    assert count(report) == (1, 0, 0)
    assert (report.taken[0].reference, report.taken[0].reason) == (paid, "AM04")
    assert chargeback.id in report.taken[0].text
    assert (chargeback.state, chargeback.result_code) == (State.APPROVED, "000.100.203")
    assert (chargeback.money.hundredths, chargeback.referenced_id) == (9200, paid)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("AC04", "000.100.202"),
        ("AC06", "000.100.208"),
        ("MD01", "000.100.204"),
        ("MD06", "000.100.206"),
        ("X1", "000.100.200"),
    ],
)
async def test_reasons_have_codes_of_the_catalogue(bank: Bank, reason: str, code: str) -> None:
    paid = await bank.pay()
    await file_all(bank)

    await take_returns(bank.app, [send_back(paid, reason)])

    assert [each.result_code for each in await list_chargebacks(bank, paid)] == [code]


async def test_reading_twice_or_at_once_takes_once(bank: Bank) -> None:
    paid = await bank.pay()
    await file_all(bank)

    reports = await asyncio.gather(*[take_returns(bank.app, [send_back(paid)]) for _ in range(4)])
    later = await take_returns(bank.app, [send_back(paid), send_back(paid)])

    assert sum(len(report.taken) for report in reports) == 1
    assert sum(len(report.known) for report in reports) == 3
    assert count(later) == (0, 2, 0)
    assert len(await list_chargebacks(bank, paid)) == 1


async def test_a_chargeback_that_was_won_is_not_taken_again_from_the_same_file(bank: Bank) -> None:
    paid = await bank.pay()
    await file_all(bank)
    await take_returns(bank.app, [send_back(paid)])
    (chargeback,) = await list_chargebacks(bank, paid)
    won = FollowUp(
        payment_type="CR",
        amount=None,
        currency=None,
        practice=None,
        is_final=False,
        descriptor="",
        short_id="1234.5678.9014",
    )
    await record_fact(bank.app, won, chargeback.id, Call(CHANNEL, "ndc"))

    assert count(await take_returns(bank.app, [send_back(paid)])) == (0, 1, 0)


async def test_a_refund_that_comes_back_may_be_refunded_again(bank: Bank) -> None:
    paid = await bank.pay()
    refunded, _ = await bank.follow("RF", paid, 9200)
    await file_all(bank)

    report = await take_returns(bank.app, [send_back(refunded, "AC01")])

    assert count(report) == (1, 0, 0)
    payment = await find_payment(bank.app.database, MERCHANT.id, paid)
    assert payment is not None
    assert payment.left == 9200
    assert count(await take_returns(bank.app, [send_back(refunded, "AC01")])) == (0, 1, 0)


async def test_captures_and_rebills_come_back_by_their_own_ids(bank: Bank) -> None:
    held = await bank.pay("PA")
    captured, _ = await bank.follow("CP", held, 4000)
    rebilled, _ = await bank.follow("RB", captured, 1000)
    await file_all(bank)

    report = await take_returns(
        bank.app, [send_back(captured, amount=4000), send_back(rebilled, amount=None), send_back(held)]
    )

    assert count(report) == (2, 0, 1)
    assert {each.referenced_id for each in await list_chargebacks(bank, held)} == {captured, rebilled}


async def test_a_return_without_a_debit_is_reported_and_stops_nothing(bank: Bank) -> None:
    paid = await bank.pay()
    await file_all(bank)
    early = await bank.pay()

    report = await take_returns(
        bank.app,
        [
            send_back("8a" + "9" * 30),
            send_back(early),
            send_back(paid, amount=1),
            send_back(paid, currency="USD"),
            send_back(paid, amount=9700),
        ],
    )

    assert [note.text for note in report.unknown] == [
        "no instruction has this reference",
        "no bank was given this instruction",
        "less came back than was instructed",
        "the instruction is in EUR",
    ]
    assert count(report) == (1, 0, 4)
    assert [each.money.hundredths for each in await list_chargebacks(bank, paid)] == [9200]


async def test_a_file_refused_as_a_whole_sends_all_of_it_back(bank: Bank) -> None:
    paid = [await bank.pay() for _ in range(3)]
    await file_all(bank)
    (file,) = await list_bank_files(bank.app.database)
    whole = BankReturn(id="", message_id=file.id, reason="FF01", amount=None, currency=None)
    strange = BankReturn(id="", message_id="8a" + "9" * 30, reason="FF01", amount=None, currency=None)

    report = await take_returns(bank.app, [whole, strange])

    assert count(report) == (3, 0, 1)
    assert {note.reference for note in report.taken} == set(paid)
    assert report.unknown[0].reference == strange.message_id
    assert count(await take_returns(bank.app, [whole])) == (0, 3, 0)


async def test_what_a_refused_file_does_not_list_comes_back_with_the_rest(bank: Bank) -> None:
    paid = [await bank.pay() for _ in range(2)]
    await file_all(bank)
    (file,) = await list_bank_files(bank.app.database)
    listed = BankReturn(id=paid[0], message_id=file.id, reason="AC04", amount=None, currency=None)
    whole = BankReturn(id="", message_id=file.id, reason="FF01", amount=None, currency=None)

    report = await take_returns(bank.app, [listed, whole])

    assert [(note.reference, note.reason) for note in report.taken] == [(paid[0], "AC04"), (paid[1], "FF01")]
    assert count(await take_returns(bank.app, [listed, whole])) == (0, 2, 0)


async def test_the_ledgers_agree_after_returns(bank: Bank) -> None:
    paid = await bank.pay()
    refunded, _ = await bank.follow("RF", paid, 200)
    await file_all(bank)
    await take_returns(bank.app, [send_back(refunded, amount=200), send_back(paid)])

    report = await verify(bank.app.database, bank.app.keyring, lambda _table, _rows: None)

    assert report.findings == []
