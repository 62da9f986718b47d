"""A shopper may have to authenticate before the card is charged; an authentication row keeps the payment meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.contract.fields import Fields
from tollgate.contract.shopper_urls import read_shopper_token
from tollgate.operations.app import App
from tollgate.operations.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.operations.signing import trust
from tollgate.payments.authentication import Stage
from tollgate.payments.merchants import ThreeDsTerms
from tollgate.payments.payment import IdempotencyKey, RecoveryTask, State
from tollgate.store.authentications import find_authentication
from tollgate.store.idempotency import find_idempotency_record
from tollgate.values import MINUTE, InvalidParameters, Secret
from tollgate.vault.signing import open_once
from tollgate.wire import Silent, Unsent
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire
from unit.flows import shopping
from unit.flows.chains import show
from unit.flows.shopping import (
    CHALLENGE,
    FRICTIONLESS,
    METHOD_URL,
    PROOF,
    Bank,
    go_shopping,
    lease_now,
    make_order,
    open_bank,
    tick,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


def make_key(app: App) -> IdempotencyKey:
    return make_idempotency_key(app, "key", CHANNEL, "POST", "/v1/payments", Fields({}, frozenset(), {}))


# ---- whether ----


async def test_a_challenged_payment_waits_and_nothing_was_charged(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both

    shopper = await go_shopping(app, bank)

    payment, row = await shopper.look(), await shopper.look_at_case()
    assert (shopper.answer.status, shopper.code) == (200, "000.200.000")
    assert shopper.body["redirect"]["method"] == "GET"
    assert shopper.body["redirect"]["parameters"] == []
    assert (payment.state, row.stage, row.body.result) == (State.WAITING, Stage.CHALLENGED, None)
    assert row.expires_at == NOW + LIMITS.challenge_lifetime == NOW + 15 * MINUTE
    assert trust(app, payment) is payment
    assert wire.sent == []


async def test_a_shopper_who_is_known_is_charged_at_once_with_the_proof(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.answers = [FRICTIONLESS]

    shopper = await go_shopping(app, bank)

    assert shopper.code == "000.100.110"
    assert "redirect" not in shopper.body
    [charge] = map(show, wire.sent)
    assert charge["card"]["cvv"] == "731"
    assert charge["details"]["authentication"] == {
        "eci": "05",
        "verification_id": PROOF,
        "version": "2.2.0",
        "ds_transaction_id": shopping.DS_ID,
        "acs_transaction_id": shopping.ACS_ID,
        "authentication_status": "Y",
    }
    assert shopper.body["threeDSecure"]["authenticationStatus"] == "Y"
    assert await find_authentication(app.database, MERCHANT.id, (await shopper.look()).id) is None


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (shopping.REFUSED, "100.390.114"),
        (Silent(), "100.390.111"),
        (Unsent(), "100.390.111"),
        (b"no message", "100.390.115"),
        ({"transStatus": "Y"}, "100.390.115"),
        ({"transStatus": "C"}, "100.390.115"),
    ],
    ids=["refused", "silent", "unsent", "garbled", "a yes without proof", "a challenge without a page"],
)
async def test_who_cannot_be_authenticated_is_not_charged(
    both: tuple[App, Bank], wire: ScriptedWire, answer: dict[str, str] | bytes | Exception, code: str
) -> None:
    app, bank = both
    bank.answers = [answer]

    shopper = await go_shopping(app, bank)

    payment = await shopper.look()
    assert (shopper.answer.status, shopper.code, payment.state) == (400, code, State.DECLINED)
    assert wire.sent == []


@pytest.mark.parametrize(
    "changes",
    [
        {"threeDSecure.disable": "true"},
        {"threeDSecure.eci": "05"},
        {"threeDSecure.verificationId": PROOF, "threeDSecure.eci": "05"},
        {
            "standingInstruction.source": "MIT",
            "standingInstruction.mode": "REPEATED",
            "standingInstruction.initialTransactionId": "MCC123",
        },
        {"card.numberType": "DPAN"},
        {"shopperResultUrl": None},
        {"customParameters[3DS2_enrolled]": "false"},
        {"paymentType": "CD"},
    ],
)
async def test_nobody_is_asked_where_it_is_not_requested_or_makes_no_sense(
    both: tuple[App, Bank], wire: ScriptedWire, changes: dict[str, str | None]
) -> None:
    app, bank = both

    shopper = await go_shopping(app, bank, order=make_order(changes))

    assert shopper.code == "000.100.110"
    assert bank.asked == []
    assert len(wire.sent) == 1


async def test_a_card_that_takes_no_part_is_charged_unless_a_test_says_that_it_does(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.knows_cards = False

    assert (await go_shopping(app, bank)).code == "000.100.110"
    assert len(wire.sent) == 1

    forced = make_order({"customParameters[3DS2_enrolled]": "true"})
    assert (await go_shopping(app, bank, order=forced)).code == "000.200.000"
    assert len(wire.sent) == 1


async def test_a_directory_that_does_not_list_its_cards_is_asked_about_the_card_itself(
    both: tuple[App, Bank],
) -> None:
    app, bank = both
    bank.ranges_fault = Silent()

    assert (await go_shopping(app, bank)).code == "000.200.000"
    assert len(bank.asked) == 1


async def test_a_channel_that_insists_does_not_charge_a_card_that_takes_no_part(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.knows_cards = False
    insisting = replace(CHANNEL, three_ds=ThreeDsTerms(is_required=True))

    shopper = await go_shopping(app, bank, channel=insisting)

    assert shopper.code == "300.100.100"
    assert wire.sent == []


async def test_a_channel_that_insists_is_not_switched_off_by_a_parameter(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    insisting = replace(CHANNEL, three_ds=ThreeDsTerms(is_required=True))

    shopper = await go_shopping(app, bank, order=make_order({"threeDSecure.disable": "true"}), channel=insisting)

    assert shopper.code == "300.100.100"
    assert wire.sent == []


async def test_an_objection_is_answered_without_asking_the_directory_server(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both

    shopper = await go_shopping(app, bank, order=make_order({"card.expiryYear": "2020"}))

    assert shopper.code == "100.100.303"
    assert (bank.asked, wire.sent) == ([], [])


async def test_half_a_browser_is_named_field_by_field_before_anything_is_written(
    both: tuple[App, Bank],
) -> None:
    app, bank = both
    absent = dict.fromkeys(("customer.browser.language", "billing.street1", "billing.postcode", "billing.country"))
    half = make_order(absent)

    with pytest.raises(InvalidParameters) as refused:
        await go_shopping(app, bank, order=half)

    names = {fault.name for fault in refused.value.faults}
    assert names == {"customer.browser.language", "billing.street1", "billing.postcode", "billing.country"}


# ---- what is asked ----


@pytest.mark.parametrize(
    ("amount", "currency", "sent", "exponent"),
    [("92.00", "EUR", "9200", "2"), ("500", "JPY", "500", "0"), ("1.25", "KWD", "1250", "3")],
)
async def test_the_issuer_reads_the_amount_in_minor_units(
    both: tuple[App, Bank], amount: str, currency: str, sent: str, exponent: str
) -> None:
    app, bank = both

    await go_shopping(app, bank, order=make_order({"amount": amount, "currency": currency}))

    [question] = bank.asked
    assert (question["purchaseAmount"], question["purchaseExponent"]) == (sent, exponent)
    assert question["messageCategory"] == "01"


async def test_an_authorization_of_nothing_is_asked_for_without_an_amount(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.answers = [{"transStatus": "Y", "eci": "05"}]

    shopper = await go_shopping(app, bank, order=make_order({"paymentType": "PA", "amount": "0"}))

    [question] = bank.asked
    assert (question["messageCategory"], "purchaseAmount" in question) == ("02", False)
    assert shopper.code == "000.100.110"
    assert show(wire.sent[0])["amount"] == 0


async def test_only_the_directory_learns_where_the_result_goes(both: tuple[App, Bank]) -> None:
    app, bank = both

    shopper = await go_shopping(app, bank)

    [question] = bank.asked
    assert question["notificationURL"] == shopper.body["redirect"]["url"]
    assert bank.results_token not in shopper.answer.body.decode()
    assert bank.results_token != shopper.shopper_token
    results, page = read_shopper_token(bank.results_token), read_shopper_token(shopper.shopper_token)
    assert results is not None
    assert page is not None
    assert not results.key.matches(page.key)


# ---- where the browser comes by first ----


async def test_without_a_browser_the_shopper_comes_by_before_the_issuer_is_asked(
    both: tuple[App, Bank],
) -> None:
    app, bank = both

    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(shopping.BROWSER_FIELDS)))

    assert shopper.code == "000.200.000"
    assert (await shopper.look_at_case()).stage is Stage.OPEN
    assert bank.asked == []
    assert "preconditions" not in shopper.body["redirect"]


async def test_an_issuers_hidden_page_is_handed_to_the_shop(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.method_url = METHOD_URL

    shopper = await go_shopping(app, bank)

    [first] = shopper.body["redirect"]["preconditions"]
    assert (first["url"], first["method"], first["waitUntil"]) == (METHOD_URL, "POST", "iframe#onload")
    assert [field["name"] for field in first["parameters"]] == ["threeDSMethodData"]
    assert (await shopper.look_at_case()).stage is Stage.OPEN
    assert bank.asked == []


# ---- what is stored, and what is not ----


async def test_the_security_code_waits_under_a_key_that_is_stored_nowhere(
    both: tuple[App, Bank], tmp_path: Path
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, idempotency_key=make_key(app))
    row, shopper_token = await shopper.look_at_case(), read_shopper_token(shopper.shopper_token)
    assert shopper_token is not None
    assert row.sealed_secret is not None

    owner = f"authentication/{MERCHANT.id}/{row.id}"
    opened = open_once(row.sealed_secret, shopper_token.key, owner=owner)

    assert opened is not None
    assert opened.matches(Secret("731"))
    await app.database.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert shopper.shopper_token[-40:].encode() not in stored
    assert bank.results_token[-40:].encode() not in stored


async def test_a_replay_answers_that_it_waits_and_not_where(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, idempotency_key=make_key(app))

    earlier = await find_earlier_answer(app, make_key(app))

    assert earlier is not None
    replayed = json.loads(earlier.body)
    assert (replayed["id"], replayed["result"]["code"]) == (shopper.body["id"], "000.200.000")
    assert "redirect" not in replayed
    idempotency_key = await find_idempotency_record(app.database, CHANNEL.merchant_id, CHANNEL.id, "key", 0)
    assert idempotency_key is not None
    assert shopper.shopper_token.encode() not in (idempotency_key.body or b"")


async def test_the_recovery_task_that_ends_the_wait_is_due_in_a_quarter_of_an_hour(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    tick(app, LIMITS.challenge_lifetime - 1)
    assert await lease_now(app) == []
    tick(app, 1)
    [job] = await lease_now(app)

    assert (job.topic, job.subject_id) == (RecoveryTask.EXPIRE, shopper.body["id"])


# ---- by itself ----


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (FRICTIONLESS, 200, "000.400.110"),
        (shopping.REFUSED, 400, "100.390.114"),
        (CHALLENGE, 200, "000.200.000"),
        (shopping.ELSEWHERE, 200, "000.200.000"),
    ],
    ids=["frictionless", "refused", "challenge", "elsewhere"],
)
async def test_an_authentication_by_itself_never_charges(
    both: tuple[App, Bank], wire: ScriptedWire, answer: dict[str, str], status: int, code: str
) -> None:
    app, bank = both
    bank.answers = [answer]
    alone = make_order({"paymentType": None, "threeDSecure.decoupled": "true"}, operation="authenticate")

    shopper = await go_shopping(app, bank, order=alone)

    assert (shopper.answer.status, shopper.code) == (status, code)
    assert (await shopper.look()).payment_type == "3D"
    assert wire.sent == []


async def test_a_bare_authentication_answers_that_a_card_takes_no_part(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.knows_cards = False

    shopper = await go_shopping(app, bank, order=make_order({"paymentType": None}, operation="authenticate"))

    assert shopper.code == "000.400.109"
    assert wire.sent == []


async def test_a_bare_authentication_answers_that_no_server_is_set(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    channel = replace(CHANNEL, test_url="https://acquirer.example", three_ds=None)
    alone = make_order({"paymentType": None, "testMode": "EXTERNAL"}, operation="authenticate")

    shopper = await go_shopping(app, bank, order=alone, channel=channel)

    assert (shopper.answer.status, shopper.code) == (400, "000.400.104")
    assert wire.sent == []
