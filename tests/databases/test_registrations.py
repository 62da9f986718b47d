"""Registrations by themselves on both databases: stored, changed, removed, each in one unit and announced with it."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import msgspec
import orjson
import pytest

from databases.banking import CHANNEL, MERCHANT, Bank, open_bank
from databases.registration_samples import look, read_row
from databases.samples import make_idempotency_key
from outbox import list_events
from tollgate.catalog.rule import Situation
from tollgate.contract.answers import Answer
from tollgate.contract.fields import Fields, read_fields
from tollgate.contract.registrations import read_registration_order
from tollgate.flows.deliver import render_payload
from tollgate.flows.registrations import deregister, extend_life, register, reregister
from tollgate.flows.verify import verify
from tollgate.operations.accounts import open_registration
from tollgate.operations.app import Call
from tollgate.operations.idempotency import keep_answer_writes
from tollgate.payments.payment import IdempotencyKey
from tollgate.payments.registration import Registration, RegistrationState
from tollgate.payments.schedule import Schedule, ScheduleState
from tollgate.store.database import Database
from tollgate.store.idempotency import NO_PAYMENT, answered_idempotency_writes, find_idempotency_record
from tollgate.store.registrations import note_use
from tollgate.store.schedules import find_schedule, insert_schedule_writes
from tollgate.values import DAY, Money, Refusal, ScheduleId, to_datetime
from tollgate.vault.sealing import EnvelopeError, open_account

pytestmark = pytest.mark.anyio

CARD = [
    ("paymentBrand", "VISA"),
    ("card.number", "4200000000000000"),
    ("card.holder", "Jane Jones"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("customer.givenName", "Jane"),
    ("customer.surname", "Jones"),
]
ACCOUNT = {
    **{name: "" for name, _ in CARD},
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": "DE89370400440532013000",
}
CROWD = 6


@pytest.fixture
async def bank(db: Database) -> Bank:
    return await open_bank(db)


def read_request(operation: str, *pairs: tuple[str, str]) -> Fields:
    return read_fields(list(pairs), Situation(operation, None))


async def keep(bank: Bank, idempotency_key: IdempotencyKey | None = None, **changes: str) -> tuple[str, Answer]:
    fields = read_request("create_registration", *{**dict(CARD), **changes}.items())
    order = read_registration_order(fields, CHANNEL, today=to_datetime(bank.clock.at).date(), is_live=False)
    answer = await register(bank.app, order, Call(CHANNEL, "ndc", idempotency_key))
    return orjson.loads(answer.body)["id"], answer


async def change(
    bank: Bank, registration_id: str, *pairs: tuple[str, str], idempotency_key: IdempotencyKey | None = None
) -> Answer:
    fields = read_request("update_registration", *pairs)
    return await reregister(bank.app, fields, registration_id, Call(CHANNEL, "ndc", idempotency_key))


async def remove(bank: Bank, registration_id: str, idempotency_key: IdempotencyKey | None = None) -> Answer:
    return await deregister(
        bank.app, read_request("delete_registration"), registration_id, Call(CHANNEL, "ndc", idempotency_key)
    )


async def extend(bank: Bank, registration_id: str) -> Answer:
    return await extend_life(bank.app, read_request("extend_registration"), registration_id, Call(CHANNEL, "ndc"))


async def tell(work: Any) -> str:
    """Returns the code of its answer, or of its refusal."""
    try:
        answer: Answer = await work
    except Refusal as refusal:
        return refusal.result.code
    return answer.code


async def list_told(bank: Bank, registration_id: str) -> list[tuple[str, str]]:
    events = await list_events(bank.app.database, MERCHANT.id)
    return [(event.topic, event.result_code) for event in events if event.subject_id == registration_id]


# ---- one unit each ----


async def test_a_life_is_announced_step_by_step(bank: Bank) -> None:
    registration_id, _ = await keep(bank)
    for _ in range(2):
        bank.clock.at += 1
        await change(bank, registration_id, ("card.holder", "Jane Smith"))
    await extend(bank, registration_id)
    bank.clock.at += 1
    await remove(bank, registration_id)

    assert await list_told(bank, registration_id) == [
        ("registration.created", "000.100.110"),
        ("registration.updated", "000.100.110"),
        ("registration.updated", "000.100.110"),
        ("registration.deleted", "000.100.110"),
    ]


async def list_payloads(bank: Bank, registration_id: str) -> list[Any]:
    """Returns the payloads of a registration's events, each rendered now."""
    events = [each for each in await list_events(bank.app.database, MERCHANT.id) if each.subject_id == registration_id]
    return [orjson.loads((await render_payload(bank.app, event))[0]) for event in events]


async def test_the_event_of_a_deletion_shows_the_token_and_the_summary_of_its_card_alone(bank: Bank) -> None:
    registration_id, _ = await keep(bank)
    [created] = await list_payloads(bank, registration_id)
    await remove(bank, registration_id)

    deleted = (await list_payloads(bank, registration_id))[-1]

    card = {"bin": "420000", "last4Digits": "0000", "expiryMonth": "05", "expiryYear": "2034"}
    assert (created["id"], created["card"]) == (registration_id, {**card, "holder": "Jane Jones"})
    assert created["customer"] == {"givenName": "Jane", "surname": "Jones"}
    answered = {"id", "paymentBrand", "result", "card", "risk", "buildNumber", "timestamp", "ndc"}
    assert deleted.keys() == {*answered, "authentication", "channelName"}
    assert (deleted["id"], deleted["card"]) == (registration_id, card)
    assert deleted["authentication"] == {"entityId": CHANNEL.id}


async def test_the_event_of_a_deletion_shows_nothing_of_a_bank_account(bank: Bank) -> None:
    registration_id, _ = await keep(bank, None, **ACCOUNT)
    await remove(bank, registration_id)

    deleted = (await list_payloads(bank, registration_id))[-1]

    assert (deleted["id"], deleted["paymentBrand"]) == (registration_id, "DIRECTDEBIT_SEPA")
    assert not {"bankAccount", "card", "customer"} & deleted.keys()


async def test_two_changes_in_one_microsecond_are_two_events(bank: Bank) -> None:
    registration_id, _ = await keep(bank)

    await change(bank, registration_id, ("card.holder", "Jane Smith"))
    await change(bank, registration_id, ("card.holder", "Jane Jones"))

    assert len(await list_told(bank, registration_id)) == 3


async def test_what_was_changed_is_sealed_anew_under_its_own_row(bank: Bank) -> None:
    registration_id, _ = await keep(bank)
    other_id, _ = await keep(bank)
    before = (await read_row(bank.app.database, registration_id))["sealed_account"]

    await change(bank, registration_id, ("card.expiryYear", "2036"))

    after = (await read_row(bank.app.database, registration_id))["sealed_account"]
    assert after != before
    opened = await open_registration(bank.app, MERCHANT.id, registration_id)
    assert getattr(opened.account, "expiry_year", None) == "2036"
    with pytest.raises(EnvelopeError):
        open_account(after, owner=f"registration/{MERCHANT.id}/{other_id}", keyring=bank.app.keyring)


async def test_removing_wipes_every_column_with_personal_data(bank: Bank) -> None:
    registration_id, _ = await keep(bank, merchantMemo="Jane called")

    await remove(bank, registration_id)

    row = await read_row(bank.app.database, registration_id)
    assert (row["sealed_account"], row["sealed_token"], row["fingerprint"], row["echo"]) == (None, None, None, "{}")
    assert "Jane" not in str(row)
    assert (row["state"], row["brand"]) == (int(RegistrationState.DELETED), "VISA")
    assert orjson.loads(row["card"]) == {
        "bin": "420000",
        "last_digits": "0000",
        "expiry_month": "05",
        "expiry_year": "2034",
    }


async def test_removing_ends_the_active_schedules_of_that_registration_only(bank: Bank) -> None:
    registration_id, _ = await keep(bank)
    other_id, _ = await keep(bank)
    ids = [ScheduleId(f"8a{place:030d}") for place in range(3)]
    owners = [registration_id, registration_id, other_id]
    for schedule_id, owner in zip(ids, owners, strict=True):
        await bank.app.database.write(insert_schedule_writes(make_schedule(schedule_id, owner)), label="test")

    await remove(bank, registration_id)

    found = [await find_schedule(bank.app.database, MERCHANT.id, each) for each in ids]
    assert [(each.state, each.result_code) for each in found if each] == [
        (ScheduleState.ENDED, "100.150.202"),
        (ScheduleState.ENDED, "100.150.202"),
        (ScheduleState.ACTIVE, ""),
    ]


def make_schedule(schedule_id: ScheduleId, registration_id: str) -> Schedule:
    return msgspec.convert(
        {
            "id": schedule_id,
            "merchant_id": MERCHANT.id,
            "channel_id": CHANNEL.id,
            "series_id": schedule_id,
            "registration_id": registration_id,
            "state": ScheduleState.ACTIVE,
            "payment_type": "DB",
            "money": Money(990, "EUR"),
            "plan": {"job.dayOfMonth": "1"},
            "ndc": "ndc",
            "created_at": 1,
            "starts_at": 1,
            "ends_at": None,
            "next_at": 2,
        },
        Schedule,
    )


# ---- at once ----


async def test_one_of_many_removals_succeeds(bank: Bank) -> None:
    registration_id, _ = await keep(bank)

    codes = await asyncio.gather(*[tell(remove(bank, registration_id)) for _ in range(CROWD)])

    assert Counter(codes) == {"000.100.110": 1, "100.150.202": CROWD - 1}


async def test_no_change_is_lost_whoever_else_writes(bank: Bank) -> None:
    registration_id, _ = await keep(bank)
    seen = await look(bank.app.database, registration_id)
    names = [f"customParameters[part_{place}]" for place in range(CROWD)]

    codes = await asyncio.gather(
        *[tell(change(bank, registration_id, (name, "x"))) for name in names],
        tell(extend(bank, registration_id)),
        note(bank, seen),
    )

    assert set(codes) == {"000.100.110"}
    kept = await look(bank.app.database, registration_id)
    assert set(names) <= set(kept.echo)
    assert kept.revision >= CROWD + 1


async def note(bank: Bank, seen: Registration) -> str:
    """A payment that uses the account at the same time."""
    await note_use(bank.app.database, seen, seen.used_at + DAY, seen.keep_until + DAY)
    return "000.100.110"


async def test_a_removal_wins_over_whatever_is_changed_at_the_same_time(bank: Bank) -> None:
    for _ in range(5):
        registration_id, _answer = await keep(bank)

        removed, changed, extended = await asyncio.gather(
            tell(remove(bank, registration_id)),
            tell(change(bank, registration_id, ("card.holder", "Jane Smith"))),
            tell(extend(bank, registration_id)),
        )

        assert removed == "000.100.110"
        assert changed in ("000.100.110", "100.350.101")
        assert extended in ("000.100.110", "100.350.316")
        row = await read_row(bank.app.database, registration_id)
        assert (row["sealed_account"], row["fingerprint"], row["echo"]) == (None, None, "{}")
        assert "Smith" not in str(row)


async def test_a_change_too_often_overtaken_gives_up_and_says_so(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    registration_id, _ = await keep(bank)
    write = type(bank.app.database).write

    async def overtaken(database: Any, steps: Any, *, label: str) -> bool:
        if any("seen_revision" in step.params for step in steps):
            seen = await look(database, registration_id)
            await note_use(database, seen, seen.used_at + 1, seen.keep_until)
        return await write(database, steps, label=label)

    monkeypatch.setattr(type(bank.app.database), "write", overtaken)

    assert await tell(change(bank, registration_id, ("card.holder", "Jane Smith"))) == "800.600.100"
    card = (await look(bank.app.database, registration_id)).card
    assert card is not None
    assert card.holder == "Jane Jones"


# ---- keys ----


async def test_an_idempotency_key_is_stored_with_its_answer_or_not_at_all(bank: Bank) -> None:
    db, idempotency_key = bank.app.database, make_idempotency_key("key-1")
    first, second = Answer(200, b"first"), Answer(200, b"second")

    assert await db.write(answered_idempotency_writes(idempotency_key, MERCHANT.id, first), label="test")
    assert not await db.write(answered_idempotency_writes(idempotency_key, MERCHANT.id, second), label="test")

    stored = await find_idempotency_record(
        db, idempotency_key.merchant_id, idempotency_key.channel_id, idempotency_key.key, 0
    )
    assert stored is not None
    assert (stored.payment_id, stored.status, stored.body) == (NO_PAYMENT, 200, b"first")


async def test_without_an_idempotency_key_nothing_is_stored_under_one(bank: Bank) -> None:
    assert keep_answer_writes(bank.app, Call(CHANNEL, "ndc"), Answer(200, b"")) == []


async def test_a_key_that_outlived_its_time_is_taken_over_with_its_new_answer(bank: Bank) -> None:
    db, idempotency_key = bank.app.database, make_idempotency_key("key-1")
    later: IdempotencyKey = msgspec.structs.replace(
        idempotency_key, created_at=idempotency_key.created_at + 2 * DAY, fingerprint=b"other"
    )
    await db.write(answered_idempotency_writes(idempotency_key, MERCHANT.id, Answer(200, b"first")), label="test")

    assert await db.write(answered_idempotency_writes(later, MERCHANT.id, Answer(400, b"second")), label="test")

    stored = await find_idempotency_record(
        db, idempotency_key.merchant_id, idempotency_key.channel_id, idempotency_key.key, later.created_at
    )
    assert stored is not None
    assert (stored.fingerprint, stored.status, stored.body) == (b"other", 400, b"second")


async def test_one_key_makes_one_registration_and_one_answer(bank: Bank) -> None:
    idempotency_key = make_idempotency_key("key-1", created_at=bank.clock.at)

    stored = await asyncio.gather(*[keep(bank, idempotency_key) for _ in range(CROWD)])

    assert len({answer.body for _, answer in stored}) == 1
    assert len(await list_told(bank, stored[0][0])) == 1


async def test_an_audit_takes_no_offence_at_keys_that_made_no_payment(bank: Bank) -> None:
    registration_id, _ = await keep(bank, make_idempotency_key("key-1", created_at=bank.clock.at))
    await change(bank, registration_id, ("card.holder", "Jane Smith"), idempotency_key=make_idempotency_key("key-2"))
    await remove(bank, registration_id, make_idempotency_key("key-3"))

    report = await verify(bank.app.database, bank.app.keyring, lambda *_: None, pauses_s=())

    assert report.findings == []
