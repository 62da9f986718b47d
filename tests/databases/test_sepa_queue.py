"""The SEPA queue on both databases: what is asked for once stands there once, until a file or a cancellation has it."""

from __future__ import annotations

import asyncio
import json
from datetime import date

import msgspec
import pytest

from databases.banking import CHANNEL, MERCHANT, MONDAY, WEDNESDAY, Bank, change_account, open_bank
from tollgate.connectors import sepa
from tollgate.connectors.exchange import WireRequest
from tollgate.operations.sepa_queue import SepaQueue
from tollgate.payments.order import Sequence
from tollgate.store.database import Database
from tollgate.store.instructions import Instruction, InstructionState, find_instruction
from tollgate.values import FixedClock
from tollgate.wire import Silent

pytestmark = pytest.mark.anyio

MESSAGE = sepa.InstructionMessage(
    key="8a01",
    direction=sepa.Direction.DEBIT,
    amount=9200,
    currency="EUR",
    account_of="8a01",
    purpose="Order 7",
    sequence=Sequence.ONCE,
)
KEY = b'{"key":"8a01"}'


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


@pytest.fixture
def queue(db: Database) -> SepaQueue:
    return SepaQueue(db, MERCHANT.id, CHANNEL, FixedClock(MONDAY))


async def tell(queue: SepaQueue, path: str, message: msgspec.Struct | bytes) -> dict[str, str]:
    body = message if isinstance(message, bytes) else msgspec.json.encode(message)
    reply = await queue.send(WireRequest(path=path, body=body, key="8a01"), 5.0)
    answer: dict[str, str] = json.loads(reply.body)
    return answer


async def instruct(queue: SepaQueue, **changes: object) -> dict[str, str]:
    return await tell(queue, sepa.INSTRUCTIONS, msgspec.structs.replace(MESSAGE, **changes))


async def get(db: Database, key: str) -> Instruction:
    found = await find_instruction(db, MERCHANT.id, key)
    assert found is not None
    return found


async def test_an_instruction_is_written_down_with_the_day_it_is_due(db: Database, queue: SepaQueue) -> None:
    answer = await instruct(queue)

    assert (answer["status"], answer["due_on"], answer["mandate_id"]) == ("approved", "2026-11-18", "8a01")
    found = await get(db, "8a01")
    assert (found.state, found.due_on, found.amount) == (InstructionState.OPEN, WEDNESDAY, 9200)
    assert (found.mandate_id, found.signed_on) == ("8a01", date(2026, 11, 16))


async def test_a_repeat_gets_the_answer_of_the_first(db: Database, queue: SepaQueue) -> None:
    first = await instruct(queue)

    assert await instruct(queue, amount=1) == first
    assert (await get(db, "8a01")).amount == 9200


async def test_the_same_many_times_at_once_is_one(db: Database, queue: SepaQueue) -> None:
    answers = await asyncio.gather(*[instruct(queue) for _ in range(10)])

    assert {answer["status"] for answer in answers} == {"approved"}
    assert (await get(db, "8a01")).state is InstructionState.OPEN


@pytest.mark.parametrize(
    ("wanted", "due_on"),
    [
        (None, WEDNESDAY),
        (date(2020, 1, 1), WEDNESDAY),
        (date(2026, 11, 17), WEDNESDAY),
        (date(2026, 11, 20), date(2026, 11, 20)),
        (date(2026, 11, 21), date(2026, 11, 23)),
        (date(2026, 12, 25), date(2026, 12, 28)),
        (date(2027, 3, 26), date(2027, 3, 30)),
    ],
)
async def test_a_day_that_is_too_soon_or_no_banking_day_is_moved(
    db: Database, queue: SepaQueue, wanted: date | None, due_on: date
) -> None:
    answer = await instruct(queue, due_on=wanted)

    assert answer["due_on"] == due_on.isoformat()
    assert (await get(db, "8a01")).due_on == due_on


@pytest.mark.parametrize(
    ("changes", "response"),
    [
        ({"currency": "USD"}, "currency"),
        ({"amount": 100_000_000_000}, "amount"),
        ({"mandate_id": "M" * 36}, "mandate"),
        ({"signed_on": date(2026, 11, 17)}, "signature"),
    ],
)
async def test_what_banks_cannot_write_is_refused(
    db: Database, queue: SepaQueue, changes: dict[str, object], response: str
) -> None:
    answer = await instruct(queue, **changes)

    assert (answer["status"], answer["response_code"]) == ("declined", response)
    assert await find_instruction(db, MERCHANT.id, "8a01") is None


async def test_a_channel_without_creditor_collects_nothing(db: Database) -> None:
    queue = SepaQueue(db, MERCHANT.id, msgspec.structs.replace(CHANNEL, creditor=None), FixedClock(MONDAY))

    assert (await instruct(queue))["response_code"] == "creditor"


async def test_a_reversal_cancels_and_an_unknown_one_blocks(db: Database, queue: SepaQueue) -> None:
    await instruct(queue)

    assert (await tell(queue, sepa.REVERSALS, KEY))["status"] == "reversed"
    assert (await tell(queue, sepa.REVERSALS, KEY))["status"] == "reversed"
    assert (await get(db, "8a01")).state is InstructionState.CANCELLED
    assert (await tell(queue, sepa.REVERSALS, b'{"key":"8a02"}'))["status"] == "unknown"
    assert (await instruct(queue, key="8a02", account_of="8a02"))["status"] == "unknown"
    assert (await get(db, "8a02")).state is InstructionState.BLOCKED


async def test_a_question_blocks_only_where_it_says_so(db: Database, queue: SepaQueue) -> None:
    assert (await tell(queue, sepa.INQUIRIES, b'{"key":"8a01","blocks":false}'))["status"] == "unknown"
    assert await find_instruction(db, MERCHANT.id, "8a01") is None
    assert (await tell(queue, sepa.INQUIRIES, KEY))["status"] == "unknown"
    assert (await instruct(queue))["status"] == "unknown"


async def test_an_inquiry_about_an_instruction_answers_it(queue: SepaQueue) -> None:
    first = await instruct(queue)

    assert await tell(queue, sepa.INQUIRIES, KEY) == first


@pytest.mark.parametrize("path", [sepa.INSTRUCTIONS, sepa.CANCELLATIONS, sepa.REVERSALS, sepa.INQUIRIES, "/other"])
async def test_nonsense_is_declined_and_leaves_nothing(queue: SepaQueue, path: str) -> None:
    answer = await tell(queue, path, b'{"nonsense":1}')

    assert (answer["status"], answer["response_code"]) == ("declined", "message")


async def test_without_a_store_the_sepa_queue_is_silent(db: Database) -> None:
    class Gone:
        dialect = db.dialect

        async def fetch_one(self, *_: object) -> None:
            raise TimeoutError

    queue = SepaQueue(Gone(), MERCHANT.id, CHANNEL, FixedClock(MONDAY))  # type: ignore[arg-type]

    with pytest.raises(Silent):
        await instruct(queue)


async def test_an_authorization_is_noted_and_its_capture_inherits_the_mandate(db: Database, bank: Bank) -> None:
    account = change_account(mandate_id="M-ONE", signed_on=date(2026, 11, 1))
    held = await bank.pay("PA", account=account, due_on=date(2026, 11, 27), sequence=Sequence.FIRST)

    captured, code = await bank.follow("CP", held, 4000)

    assert code == "000.100.110"
    assert (await get(db, held)).state is InstructionState.NOTED
    found = await get(db, captured)
    assert (found.state, found.direction, found.amount) == (InstructionState.OPEN, "debit", 4000)
    assert (found.account_of, found.mandate_id, found.signed_on) == (held, "M-ONE", date(2026, 11, 1))
    assert (found.sequence, found.due_on) == (Sequence.FIRST, date(2026, 11, 27))


async def test_rebills_and_refunds_name_the_account_of_the_first_payment(db: Database, bank: Bank) -> None:
    paid = await bank.pay(sequence=Sequence.FIRST)
    rebilled, _ = await bank.follow("RB", paid, 500)
    refunded, _ = await bank.follow("RF", rebilled, 300)

    rebill, refund = await get(db, rebilled), await get(db, refunded)

    assert (rebill.direction, rebill.sequence, rebill.account_of) == ("debit", Sequence.LATER, paid)
    assert (refund.direction, refund.sequence, refund.account_of) == ("credit", Sequence.ONCE, paid)
    assert refund.amount == 300


async def test_a_reversal_takes_a_debit_back_while_no_file_has_it(db: Database, bank: Bank) -> None:
    paid = await bank.pay()

    reversed_id, code = await bank.follow("RV", paid)

    assert code == "000.100.110"
    assert (await get(db, paid)).state is InstructionState.CANCELLED
    assert (await get(db, reversed_id)).state is InstructionState.NOTED


async def test_a_reversal_of_an_authorization_is_noted(db: Database, bank: Bank) -> None:
    held = await bank.pay("PA")

    reversed_id, code = await bank.follow("RV", held)

    assert code == "000.100.110"
    assert (await get(db, held)).state is InstructionState.NOTED
    assert (await get(db, reversed_id)).direction == "cancel"


async def test_one_debit_is_cancelled_once_however_many_ask(db: Database, queue: SepaQueue) -> None:
    await instruct(queue)
    message = sepa.CancellationMessage(
        key="8a02", original="8a01", account_of="8a01", amount=9200, currency="EUR", purpose=""
    )

    same = await asyncio.gather(*[tell(queue, sepa.CANCELLATIONS, message) for _ in range(5)])
    other = await tell(queue, sepa.CANCELLATIONS, msgspec.structs.replace(message, key="8a03"))

    assert {answer["status"] for answer in same} == {"approved"}
    assert (other["status"], other["response_code"]) == ("declined", "late")
    assert await find_instruction(db, MERCHANT.id, "8a03") is None
