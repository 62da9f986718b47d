"""Payments from registrations: which first payment a repeat refers to, and that it costs the store little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.flows.resume import GoHome
from tollgate.operations.app import App
from tollgate.payments.payment import RecoveryTask, State
from tollgate.payments.registration import RegistrationState
from tollgate.values import DAY
from unit.app_fixture import CHANNEL, ScriptedWire
from unit.flows.chains import DECLINED, PENDING, read, run_only_job, show
from unit.flows.registration_samples import (
    ALONE,
    CARD,
    INITIAL,
    KEEP,
    MODE,
    PRESENT,
    REFERENCE,
    SOURCE,
    approve,
    get_reference,
    list_announced,
    look_at,
    register_card,
    send,
)
from unit.flows.shopping import (
    BROWSER_FIELDS,
    FRICTIONLESS,
    REFUSED,
    Bank,
    Shopper,
    open_bank,
    run_due,
    tick,
)

pytestmark = pytest.mark.anyio
INSISTING = replace(CHANNEL, requires_cvv=True)
BACK = {"shopperResultUrl": "https://shop.example/back", **BROWSER_FIELDS}


def get_sent(wire: ScriptedWire) -> dict[str, Any]:
    """Returns what the acquirer last received about the series."""
    received: dict[str, Any] = show(wire.sent[-1]).get("details", {}).get("standing_instruction", {})
    return received


def get_initial(wire: ScriptedWire) -> dict[str, Any]:
    """Returns what the acquirer last received about the first payment of the series."""
    received: dict[str, Any] = show(wire.sent[-1]).get("details", {}).get("initial_payment", {})
    return received


# ---- the beginning of a series ----


@pytest.mark.parametrize("words", [{}, INITIAL, {"recurringType": "INITIAL"}])
async def test_the_payment_that_left_the_card_here_is_what_repeats_go_back_to(
    app: App, wire: ScriptedWire, words: dict[str, str]
) -> None:
    wire.script = [approve("SCHEME1")]
    registration_id = await register_card(app, words)

    for repeat in (ALONE, PRESENT, {"recurringType": "REPEATED"}, {"recurringType": "REGISTRATION_BASED"}):
        received = await send(app, repeat, stored=registration_id)

        assert get_sent(wire)["initial_transaction_id"] == "SCHEME1"
        assert received.body["standingInstruction"]["initialTransactionId"] == "SCHEME1"
        assert (await read(app, received.body["id"])).echo[REFERENCE] == "SCHEME1"


async def test_a_new_beginning_replaces_the_old_one_and_names_itself(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1"), approve("SCHEME2")]
    registration_id = await register_card(app)

    begun = await send(app, INITIAL, stored=registration_id)

    assert begun.body["standingInstruction"]["initialTransactionId"] == "SCHEME2"
    assert "initial_transaction_id" not in get_sent(wire)
    await send(app, ALONE, stored=registration_id)
    assert get_sent(wire)["initial_transaction_id"] == "SCHEME2"
    initial = (await look_at(app, registration_id)).initial
    assert initial is not None
    assert initial.payment_id == begun.body["id"]


async def test_a_repeat_sends_the_acquirer_its_own_ids_of_the_first_payment(app: App, wire: ScriptedWire) -> None:
    wire.script = [b'{"status":"approved","response_code":"00","reference":"R-1","scheme_transaction_id":"SCHEME1"}']
    registration_id = await register_card(app)
    assert get_initial(wire) == {}

    received = await send(app, ALONE, {"amount": "5.00"}, stored=registration_id)

    known = get_initial(wire)
    assert (known["connector_tx_id1"], known["connector_tx_id3"]) == ("R-1", "SCHEME1")
    assert "connector_tx_id2" not in known
    assert known["amount"] == {"amount": 9200, "currency": "EUR"}
    assert "recurringMigration" not in received.body


@pytest.mark.parametrize("answer", [DECLINED, PENDING])
async def test_a_beginning_that_was_not_approved_replaces_nothing(app: App, wire: ScriptedWire, answer: bytes) -> None:
    wire.script = [approve("SCHEME1"), answer]
    registration_id = await register_card(app)

    begun = await send(app, INITIAL, stored=registration_id)

    assert "initialTransactionId" not in begun.body["standingInstruction"]
    assert await get_reference(app, registration_id) == "SCHEME1"


async def test_a_beginning_that_is_approved_later_counts_from_then_on(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1"), PENDING, approve("SCHEME2")]
    registration_id = await register_card(app)
    await send(app, INITIAL, stored=registration_id)

    assert await run_only_job(app)

    assert await get_reference(app, registration_id) == "SCHEME2"


@pytest.mark.parametrize("words", [ALONE, PRESENT, {}, {MODE: "INITIAL", SOURCE: "MIT"}])
async def test_a_repeat_does_not_become_the_beginning(app: App, wire: ScriptedWire, words: dict[str, str]) -> None:
    wire.script = [approve("SCHEME1"), approve("SCHEME2")]
    registration_id = await register_card(app)

    await send(app, words, stored=registration_id)

    assert await get_reference(app, registration_id) == "SCHEME1"


async def test_a_reference_that_the_merchant_names_goes_before_the_kept_one(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1")]
    registration_id = await register_card(app)

    await send(app, ALONE, {REFERENCE: "ELSEWHERE"}, stored=registration_id)

    assert get_sent(wire)["initial_transaction_id"] == "ELSEWHERE"
    assert await get_reference(app, registration_id) == "SCHEME1"


async def test_a_beginning_on_an_account_that_is_there_already_counts_for_it(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1"), approve("SCHEME2")]
    registration_id = await register_card(app)

    again = await send(app, CARD, KEEP, INITIAL, channel=replace(CHANNEL, reuses_registrations=True))

    assert again.registration_id == registration_id
    assert await get_reference(app, registration_id) == "SCHEME2"


# ---- a merchant alone ----


async def test_a_card_that_nobody_left_here_is_not_charged_by_a_merchant_alone(app: App, wire: ScriptedWire) -> None:
    refused = await send(app, CARD, ALONE)

    assert (refused.answer.status, refused.code) == (400, "100.150.300")
    assert wire.sent == []
    assert (await read(app, refused.body["id"])).state is State.DECLINED
    assert (await send(app, CARD, ALONE, {REFERENCE: "MCC123"})).code == "000.100.110"
    assert get_sent(wire)["initial_transaction_id"] == "MCC123"


async def test_all_that_is_said_of_a_series_reaches_the_acquirer(app: App, wire: ScriptedWire) -> None:
    words = {
        **ALONE,
        "standingInstruction.recurringType": "SUBSCRIPTION",
        "standingInstruction.frequency": "0030",
        "standingInstruction.expiry": "2030-12-31",
        "standingInstruction.numberOfInstallments": "12",
        "standingInstruction.industryPractice": "RESUBMISSION",
    }
    registration_id = await register_card(app)

    received = await send(app, words, {REFERENCE: "MCC123"}, stored=registration_id)

    assert get_sent(wire) == {
        "mode": "REPEATED",
        "source": "MIT",
        "type": "RECURRING",
        "recurring_type": "SUBSCRIPTION",
        "initial_transaction_id": "MCC123",
        "frequency": "0030",
        "expiry": "2030-12-31",
        "number_of_installments": "12",
        "industry_practice": "RESUBMISSION",
    }
    assert received.body["standingInstruction"] == {
        name.removeprefix("standingInstruction."): text for name, text in {**words, REFERENCE: "MCC123"}.items()
    }


async def test_older_words_reach_the_acquirer_as_newer_ones_and_are_answered_as_sent(
    app: App, wire: ScriptedWire
) -> None:
    words = {"recurringType": "INITIAL", "recurring.numberOfInstallments": "3"}

    received = await send(app, CARD, words)

    assert get_sent(wire) == {
        "mode": "INITIAL",
        "source": "CIT",
        "type": "INSTALLMENT",
        "number_of_installments": "3",
    }
    assert received.body["recurringType"] == "INITIAL"


async def test_only_a_merchant_alone_is_let_off_the_security_code(app: App, wire: ScriptedWire) -> None:
    registration_id = await register_card(app)
    wire.sent.clear()

    assert (await send(app, stored=registration_id, channel=INSISTING)).code == "100.100.600"
    assert (await send(app, PRESENT, stored=registration_id, channel=INSISTING)).code == "100.100.600"
    assert wire.sent == []
    assert (await send(app, ALONE, stored=registration_id, channel=INSISTING)).code == "000.100.110"
    assert "cvv" not in show(wire.sent[-1])["card"]
    coded = await send(app, {"card.cvv": "731"}, stored=registration_id, channel=INSISTING)
    assert (coded.code, show(wire.sent[-1])["card"]["cvv"]) == ("000.100.110", "731")


async def test_a_registered_card_expires_with_its_last_month(app: App, wire: ScriptedWire) -> None:
    registration_id = await register_card(app, {"card.expiryMonth": "12", "card.expiryYear": "2026"})
    tick(app, 46 * DAY)
    assert (await send(app, ALONE, stored=registration_id)).code == "000.100.110"
    wire.sent.clear()

    tick(app, DAY)
    received = await send(app, ALONE, stored=registration_id)

    assert (received.answer.status, received.code) == (400, "100.100.303")
    assert wire.sent == []


# ---- with the issuer's question ----


async def shop(app: App, bank: Bank, *parts: Mapping[str, str], stored: str | None = None) -> Shopper:
    return Shopper(app, bank, (await send(app, BACK, *parts, stored=stored)).answer)


async def test_a_challenged_beginning_counts_when_its_shopper_is_back(app: App, wire: ScriptedWire) -> None:
    app, bank = open_bank(app, wire)
    wire.script = [approve("SCHEME1"), approve("SCHEME2")]
    registration_id = await register_card(app)

    shopper = await shop(app, bank, INITIAL, stored=registration_id)
    assert shopper.code == "000.200.000"
    assert bank.asked[-1]["threeDSRequestorChallengeInd"] == "04"
    assert await get_reference(app, registration_id) == "SCHEME1"

    assert isinstance(await shopper.walk(), GoHome)
    assert await get_reference(app, registration_id) == "SCHEME2"


@pytest.mark.parametrize("status", ["Y", "N"])
async def test_a_card_that_is_kept_with_a_challenge_ends_with_it(app: App, wire: ScriptedWire, status: str) -> None:
    app, bank = open_bank(app, wire)
    shopper = await shop(app, bank, CARD, KEEP)
    registration_id = shopper.body["registrationId"]
    assert (await look_at(app, registration_id)).state is RegistrationState.PENDING
    assert await list_announced(app) == []

    await shopper.walk(status=status)
    await shopper.come(has_answer=True)

    ended = RegistrationState.ACTIVE if status == "Y" else RegistrationState.REJECTED
    assert (await look_at(app, registration_id)).state is ended
    assert len(await list_announced(app)) == (status == "Y")


async def test_a_challenge_that_nobody_answers_keeps_no_card(app: App, wire: ScriptedWire) -> None:
    app, bank = open_bank(app, wire)
    shopper = await shop(app, bank, CARD, KEEP)

    tick(app, LIMITS.challenge_lifetime)
    assert await run_due(app) == {RecoveryTask.EXPIRE: True}

    registration = await look_at(app, shopper.body["registrationId"])
    assert (registration.state, registration.result_code) == (RegistrationState.REJECTED, "100.396.103")


async def test_a_repeat_that_was_challenged_still_names_its_beginning(app: App, wire: ScriptedWire) -> None:
    app, bank = open_bank(app, wire)
    wire.script = [approve("SCHEME1")]
    registration_id = await register_card(app)

    shopper = await shop(app, bank, PRESENT, {"card.cvv": "731"}, stored=registration_id)
    await shopper.walk()

    assert get_sent(wire)["initial_transaction_id"] == "SCHEME1"
    assert get_initial(wire)["connector_tx_id3"] == "SCHEME1"
    assert show(wire.sent[-1])["card"]["cvv"] == "731"
    assert (await shopper.look()).state is State.APPROVED


async def test_a_merchant_alone_asks_no_issuer(app: App, wire: ScriptedWire) -> None:
    app, bank = open_bank(app, wire)
    registration_id = await register_card(app)

    shopper = await shop(app, bank, ALONE, stored=registration_id)

    assert (shopper.code, bank.asked) == ("000.100.110", [])


@pytest.mark.parametrize(("answer", "state"), [(FRICTIONLESS, "ACTIVE"), (REFUSED, "REJECTED")])
async def test_what_the_issuer_decides_at_once_decides_the_registration(
    app: App, wire: ScriptedWire, answer: dict[str, str], state: str
) -> None:
    app, bank = open_bank(app, wire)
    bank.answers = [answer]

    shopper = await shop(app, bank, CARD, KEEP)

    made_id = (await shopper.look()).registration_id
    assert (await look_at(app, made_id)).state is RegistrationState[state]


async def test_frequency_and_end_of_a_series_are_sent_to_the_issuer(app: App, wire: ScriptedWire) -> None:
    app, bank = open_bank(app, wire)
    terms = {"standingInstruction.frequency": "0030", "standingInstruction.expiry": "2030-12-31"}

    await shop(app, bank, CARD, KEEP, INITIAL, terms)

    asked = bank.asked[-1]
    assert (asked["recurringFrequency"], asked["recurringExpiry"]) == ("0030", "20301231")
    assert asked["threeDSRequestorAuthenticationInd"] == "02"
