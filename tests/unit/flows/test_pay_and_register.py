"""Payments that leave an account behind: what is stored when, and that the registration ends as its payment does."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from tollgate.contract.fields import Fields
from tollgate.flows.recover import complete_overdue
from tollgate.operations.accounts import open_registration
from tollgate.operations.app import App
from tollgate.operations.idempotency import make_idempotency_key
from tollgate.payments.accounts import CardAccount
from tollgate.payments.order import Sequence
from tollgate.payments.registration import RegistrationEvent, RegistrationState
from tollgate.store.instructions import find_instruction
from tollgate.store.payments import list_overdue
from tollgate.values import DAY, Money, Refusal, Secret
from tollgate.wire import Silent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows.chains import DECLINED, PENDING, read, run_only_job
from unit.flows.registration_samples import (
    ALONE,
    BANK,
    CARD,
    CREDITOR,
    INITIAL,
    KEEP,
    REFERENCE,
    Answered,
    approve,
    get_reference,
    is_sealed,
    list_announced,
    look_at,
    register_card,
    send,
)
from unit.flows.shopping import tick

pytestmark = pytest.mark.anyio
SHOP = replace(CHANNEL, creditor=CREDITOR)
REUSING = replace(SHOP, reuses_registrations=True)


# ---- what is stored, and when ----


async def test_a_registration_is_written_before_anything_is_sent_and_usable_after(app: App, wire: ScriptedWire) -> None:
    """Its id is valid wherever it was answered, and nobody pays with what no acquirer has approved."""
    states: list[RegistrationState] = []
    refusals: list[str] = []

    async def look_meanwhile() -> None:
        [started] = await list_overdue(app.database, NOW * 2, 10)
        registration = await look_at(app, started.registration_id)
        states.append(registration.state)
        with pytest.raises(Refusal) as refused:
            await open_registration(app, MERCHANT.id, registration.id)
        refusals.append(refused.value.result.code)

    wire.meanwhile = look_meanwhile
    registration_id = await register_card(app)

    assert (states, refusals) == ([RegistrationState.PENDING], ["100.150.201"])
    assert (await look_at(app, registration_id)).state is RegistrationState.ACTIVE


async def test_the_answer_names_the_registration_in_either_place(app: App) -> None:
    received = await send(app, CARD, KEEP)

    assert received.body["registration"] == {"id": received.registration_id}
    assert len(received.registration_id) == 32
    assert received.registration_id != received.body["id"]


async def test_what_is_stored_is_the_account_without_what_counts_once(app: App) -> None:
    registration_id = await register_card(app, {"customParameters[SHOPPER_x]": "1"})

    stored = await open_registration(app, MERCHANT.id, registration_id)

    assert isinstance(stored.account, CardAccount)
    assert stored.account.number.matches(Secret("4200000000000000"))
    assert (stored.account.cvv, stored.account.holder) == (None, "Jane Jones")
    registration = stored.registration
    assert registration.card is not None
    assert (registration.card.bin, registration.card.last_digits) == ("420000", "0000")
    assert registration.echo["customParameters[SHOPPER_x]"] == "1"
    assert "4200000000000000" not in repr(registration)


async def test_a_plain_payment_stores_and_announces_nothing(app: App) -> None:
    received = await send(app, CARD)

    assert "registrationId" not in received.body
    assert await list_announced(app) == []


async def test_a_key_that_is_sent_again_stores_no_second_account(app: App, wire: ScriptedWire) -> None:
    idempotency_key = make_idempotency_key(app, "key", CHANNEL, "POST", "/v1/payments", Fields({}, frozenset(), {}))

    first = await send(app, CARD, KEEP, idempotency_key=idempotency_key)
    again = await send(app, CARD, KEEP, idempotency_key=idempotency_key)

    assert again.answer.body == first.answer.body
    assert len(wire.sent) == 1
    assert len(await list_announced(app)) == 1


# ---- how it ends ----


async def test_an_approved_payment_makes_it_active_and_says_so_once(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1")]
    received = await send(app, CARD, KEEP)

    registration = await look_at(app, received.registration_id)
    [event] = await list_announced(app)
    assert (event.topic, event.subject_id) == (RegistrationEvent.CREATED, registration.id)
    assert event.result_code == registration.result_code == "000.100.110"
    initial = registration.initial
    assert initial is not None
    assert (initial.reference, initial.payment_type, initial.amount) == ("SCHEME1", "DB", Money(9200, "EUR"))
    assert (initial.payment_id, registration.made_by) == (received.body["id"], received.body["id"])


@pytest.mark.parametrize(
    ("changes", "answer", "code"),
    [
        ({}, DECLINED, "800.100.152"),
        ({}, Silent(), "900.100.300"),
        ({"card.number": "4200000000000001"}, DECLINED, "100.100.101"),
        (ALONE, DECLINED, "100.150.300"),
    ],
)
async def test_a_payment_that_failed_leaves_nothing_of_the_account(
    app: App, wire: ScriptedWire, changes: dict[str, str], answer: bytes | Exception, code: str
) -> None:
    wire.script = [answer]
    received = await send(app, CARD, KEEP, changes)

    registration = await look_at(app, (await read(app, received.body["id"])).registration_id)
    assert received.code == registration.result_code == code
    assert registration.state is RegistrationState.REJECTED
    assert (registration.fingerprint, registration.initial) == (None, None)
    assert not await is_sealed(app, registration.id)
    assert await list_announced(app) == []
    with pytest.raises(Refusal) as refused:
        await open_registration(app, MERCHANT.id, registration.id)
    assert refused.value.result.code == "100.150.203"


async def test_what_a_dead_process_left_is_rejected_and_wiped(app: App, wire: ScriptedWire) -> None:
    async def die() -> None:
        raise ZeroDivisionError

    wire.meanwhile = die
    with pytest.raises(ZeroDivisionError):
        await send(app, CARD, KEEP)
    [left] = await list_overdue(app.database, NOW * 2, 10)
    registration_id = left.registration_id
    assert await is_sealed(app, registration_id)

    await complete_overdue(app, left)
    await complete_overdue(app, left)

    registration = await look_at(app, registration_id)
    assert (registration.state, registration.result_code) == (RegistrationState.REJECTED, "900.100.300")
    assert not await is_sealed(app, registration_id)


async def test_one_that_the_acquirer_decides_later_ends_by_the_workers_question(app: App, wire: ScriptedWire) -> None:
    wire.script = [PENDING, approve("LATE1")]
    received = await send(app, CARD, KEEP)
    assert (await look_at(app, received.registration_id)).state is RegistrationState.PENDING

    assert await run_only_job(app)

    registration = await look_at(app, received.registration_id)
    assert registration.state is RegistrationState.ACTIVE
    assert registration.initial is not None
    assert registration.initial.reference == "LATE1"
    assert [event.topic for event in await list_announced(app)] == [RegistrationEvent.CREATED]


async def test_a_pay_out_may_leave_an_account_behind(app: App) -> None:
    received = await send(app, CARD, KEEP, {"paymentType": "CD"})

    assert (await look_at(app, received.registration_id)).state is RegistrationState.ACTIVE


@pytest.mark.parametrize("amount", ["0.00", "92.00"])
async def test_an_authorization_even_of_nothing_leaves_one_behind(app: App, amount: str) -> None:
    received = await send(app, CARD, KEEP, {"paymentType": "PA", "amount": amount})

    assert (await look_at(app, received.registration_id)).state is RegistrationState.ACTIVE


# ---- the same instrument again ----


async def test_by_default_every_request_makes_a_registration_of_its_own(app: App) -> None:
    first, second = await register_card(app), await register_card(app)

    assert first != second
    prints = [(await look_at(app, each)).fingerprint for each in (first, second)]
    assert prints[0] == prints[1] is not None


async def test_a_channel_that_reuses_names_the_registration_that_is_there(app: App) -> None:
    first = await register_card(app)

    again = await send(app, CARD, KEEP, channel=REUSING)

    assert again.registration_id == first
    assert len(await list_announced(app)) == 1


@pytest.mark.parametrize("changes", [{"card.expiryYear": "2035"}, {"card.number": "4111111111111111"}])
async def test_another_card_is_not_the_one_that_is_there(app: App, changes: dict[str, str]) -> None:
    first = await register_card(app)

    assert (await send(app, CARD, KEEP, changes, channel=REUSING)).registration_id != first


async def test_a_rejected_registration_is_not_reused(app: App, wire: ScriptedWire) -> None:
    wire.script = [DECLINED]
    declined = await send(app, CARD, KEEP)
    first = (await read(app, declined.body["id"])).registration_id

    assert declined.body.keys().isdisjoint({"registrationId", "registration"})
    assert (await send(app, CARD, KEEP, channel=REUSING)).registration_id != first


async def test_a_declined_payment_on_what_is_there_already_does_not_end_it(app: App, wire: ScriptedWire) -> None:
    first = await register_card(app)
    wire.script = [DECLINED]

    again = await send(app, CARD, KEEP, channel=REUSING)

    assert (again.code, again.registration_id) == ("800.100.152", first)
    assert (await look_at(app, first)).state is RegistrationState.ACTIVE
    assert await is_sealed(app, first)


# ---- direct debits ----


async def look_at_debit(app: App, received: Answered) -> tuple[str, str, date]:
    """Reads position, mandate and signing date of a debit, as the bank's file will have them."""
    instruction = await find_instruction(app.database, MERCHANT.id, received.body["id"])
    assert instruction is not None
    return instruction.sequence, instruction.mandate_id, instruction.signed_on


async def test_the_first_debit_of_a_registration_signs_a_mandate_for_the_later_ones(app: App) -> None:
    first = await send(app, BANK, KEEP, channel=SHOP)
    tick(app, 40 * DAY)
    later = await send(app, stored=first.registration_id, channel=SHOP)
    last = await send(app, {"sequence": "FINAL"}, stored=first.registration_id, channel=SHOP)

    assert {received.code for received in (first, later, last)} == {"000.100.110"}
    mandate = first.registration_id, date(2026, 11, 15)
    assert [await look_at_debit(app, received) for received in (first, later, last)] == [
        (Sequence.FIRST, *mandate),
        (Sequence.LATER, *mandate),
        (Sequence.LAST, *mandate),
    ]
    assert later.body["resultDetails"]["MandateId"] == first.registration_id


async def test_a_mandate_that_the_merchant_named_stays_the_accounts(app: App) -> None:
    mandate = {"bankAccount.mandate.id": "M-SEVEN", "bankAccount.mandate.dateOfSignature": "2026-01-15"}
    first = await send(app, BANK, KEEP, mandate, channel=SHOP)
    later = await send(app, stored=first.registration_id, channel=SHOP)

    assert await look_at_debit(app, first) == (Sequence.FIRST, "M-SEVEN", date(2026, 1, 15))
    assert await look_at_debit(app, later) == (Sequence.LATER, "M-SEVEN", date(2026, 1, 15))


async def test_an_account_that_is_there_already_is_debited_under_its_mandate(app: App) -> None:
    """A bank that is shown a second first debit under one mandate sends it back."""
    first = await send(app, BANK, KEEP, channel=REUSING)
    tick(app, DAY)
    again = await send(app, BANK, KEEP, channel=REUSING)
    anew = await send(app, BANK, KEEP, INITIAL, channel=REUSING)
    other = await send(app, BANK, KEEP, {"bankAccount.mandate.id": "M-OTHER"}, channel=REUSING)

    assert {again.registration_id, anew.registration_id, other.registration_id} == {first.registration_id}
    mandate = first.registration_id, date(2026, 11, 15)
    assert [await look_at_debit(app, received) for received in (first, again, anew, other)] == [
        (Sequence.FIRST, *mandate),
        (Sequence.LATER, *mandate),
        (Sequence.FIRST, *mandate),
        (Sequence.FIRST, "M-OTHER", date(2026, 11, 16)),
    ]


async def test_a_debit_that_nobody_keeps_stands_alone_under_a_mandate_of_its_own(app: App) -> None:
    received = await send(app, BANK, channel=SHOP)

    assert (await look_at_debit(app, received))[:2] == (Sequence.ONCE, received.body["id"])


async def test_a_bank_account_is_kept_by_use_and_a_card_by_its_expiry(app: App) -> None:
    bank = await look_at(app, (await send(app, BANK, KEEP, channel=SHOP)).registration_id)
    card = await look_at(app, await register_card(app))

    assert bank.keep_until == app.retention.get_end(None, bank.created_at)
    assert card.keep_until == app.retention.get_end(card.card, 0)
    assert card.keep_until > NOW + 7 * 365 * DAY


async def test_a_series_that_began_elsewhere_goes_on_from_there(app: App, wire: ScriptedWire) -> None:
    """A merchant that brings its cards over charges them alone; the schemes know them by their old beginning."""
    wire.script = [approve("SCHEME1"), approve("SCHEME2")]
    registration_id = await register_card(app, ALONE, {REFERENCE: "ELSEWHERE"})

    assert await get_reference(app, registration_id) == "ELSEWHERE"
    await send(app, INITIAL, {REFERENCE: "STALE"}, stored=registration_id)
    assert await get_reference(app, registration_id) == "SCHEME2"
