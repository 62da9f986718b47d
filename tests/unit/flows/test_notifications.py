"""The issuer's notification counts once, in time, and only at the address that it was given."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.contract.shopper_urls import write_shopper_token
from tollgate.flows.resume import GoHome, Wait, accept_challenge_result, accept_method_result
from tollgate.operations.app import App
from tollgate.operations.signing import TamperedRow
from tollgate.payments.authentication import Stage
from tollgate.payments.payment import RecoveryTask, State
from tollgate.wire import Silent
from unit.app_fixture import MERCHANT, ScriptedWire
from unit.flows.chains import show
from unit.flows.shopping import (
    BROWSER,
    BROWSER_FIELDS,
    ELSEWHERE,
    METHOD_URL,
    PROOF,
    Bank,
    Shopper,
    change_row,
    go_shopping,
    make_order,
    open_bank,
    run_due,
    tick,
)

pytestmark = pytest.mark.anyio

DECOUPLED = {"threeDSecure.decoupled": "true"}
IN_AN_APP = {"threeDSecure.deviceInfo": '{"sdkEncData":"x"}', **dict.fromkeys(BROWSER_FIELDS)}


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


def is_accepted(received: dict[str, Any]) -> bool:
    return bool(received["messageType"] == "RRes")


async def go_elsewhere(app: App, bank: Bank, changes: dict[str, str | None] | None = None) -> Shopper:
    """The issuer asks the shopper by another way, such as its own app."""
    bank.answers = [ELSEWHERE]
    return await go_shopping(app, bank, order=make_order({**DECOUPLED, **(changes or {})}))


# ---- the result of a challenge ----


async def test_a_result_is_kept_until_the_shopper_is_back(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    received = await shopper.tell_result()

    row = await shopper.look_at_case()
    assert (received["messageType"], received["resultsStatus"]) == ("RRes", "01")
    assert received["threeDSServerTransID"] == row.body.server_id
    assert row.stage is Stage.ANSWERED
    assert row.body.result is not None
    assert (row.body.result.status, row.body.result.eci, row.body.result.value) == ("Y", "05", PROOF)
    assert (await shopper.look()).state is State.WAITING
    assert wire.sent == []


async def test_of_two_results_the_first_counts(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    first = await shopper.tell_result(transStatus="N", authenticationValue=None, eci=None)
    second = await shopper.tell_result()
    await shopper.come(has_answer=True)

    assert (is_accepted(first), is_accepted(second)) == (True, False)
    assert (await shopper.look()).result_code == "100.380.401"
    assert wire.sent == []


async def test_of_results_at_once_one_counts(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    received = await asyncio.gather(*[shopper.tell_result(transStatus=status) for status in "YNYNY"])

    assert [is_accepted(each) for each in received].count(True) == 1
    winner = "YNYNY"[[is_accepted(each) for each in received].index(True)]
    result = (await shopper.look_at_case()).body.result
    assert result is not None
    assert result.status == winner


@pytest.mark.parametrize("late", [0, 1, 10**9])
async def test_a_late_result_does_not_count(both: tuple[App, Bank], late: int) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    row = await shopper.look_at_case()
    # The notification takes a second of its own.
    tick(app, row.expires_at - app.clock.now() - 1_000_000 + late)

    assert not is_accepted(await shopper.tell_result())

    assert await shopper.look_at_case() == row


@pytest.mark.parametrize(
    "members",
    [
        {"threeDSServerTransID": "8a880000-0000-4000-8000-00000000ffff"},
        {"dsTransID": "8a880000-0000-4000-8000-00000000ffff"},
        {"acsTransID": "8a880000-0000-4000-8000-00000000ffff"},
        {"messageVersion": "2.1.0"},
        {"messageType": "ARes"},
        {"transStatus": "C"},
        {"transStatus": "I"},
        {"authenticationValue": None},
        {"challengeCancel": "01"},
    ],
    ids=lambda members: next(iter(members)),
)
async def test_a_result_about_something_else_or_without_proof_does_not_count(
    both: tuple[App, Bank], members: dict[str, str | None]
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    assert not is_accepted(await shopper.tell_result(**members))

    assert (await shopper.look_at_case()).stage is Stage.CHALLENGED


async def test_a_result_counts_only_at_the_address_it_was_promised_to(both: tuple[App, Bank]) -> None:
    app, bank = both
    other = await go_shopping(app, bank)
    other_token = bank.results_token
    shopper = await go_shopping(app, bank)
    ids = MERCHANT.id, shopper.body["id"]
    wrong = [
        other_token,
        other.shopper_token,
        shopper.shopper_token,
        write_shopper_token(*ids),
        write_shopper_token(*ids, bytes(32)),
        write_shopper_token("8a" + "9" * 30, ids[1], bytes(32)),
        *("none", "\0", "é", "\ud800", "A" * 500),
    ]

    received = [await shopper.tell_result(shopper_token=shopper_token) for shopper_token in wrong]

    assert {each["messageType"] for each in received} == {"Erro"}
    assert (await shopper.look_at_case()).stage is Stage.CHALLENGED
    assert (await other.look_at_case()).stage is Stage.CHALLENGED


async def test_a_result_before_the_bank_was_asked_or_after_the_end_does_not_count(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    early = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))
    shopper = await go_shopping(app, bank)

    assert not is_accepted(await shopper.tell_result(shopper_token=early.shopper_token))
    await shopper.walk()
    assert not is_accepted(await shopper.tell_result())

    assert (await early.look_at_case()).stage is Stage.OPEN
    assert len(wire.sent) == 1


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"null", b"[]", b'{"messageType":"RReq"}'])
async def test_whatever_is_said_is_answered_in_the_words_of_the_protocol(both: tuple[App, Bank], body: bytes) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    received = json.loads(await accept_challenge_result(app, bank.results_token, body))

    assert (received["messageType"], received["errorComponent"]) == ("Erro", "S")
    assert (await shopper.look_at_case()).stage is Stage.CHALLENGED


# ---- shoppers who do not come back ----


async def test_who_waits_reads_what_the_issuer_wants_said(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.answers = [{**ELSEWHERE, "cardholderInfo": "Open your app"}]
    shopper = await go_shopping(app, bank, order=make_order(DECOUPLED))

    assert await shopper.come() == Wait("Open your app")


@pytest.mark.parametrize("changes", [{}, IN_AN_APP], ids=["decoupled", "in an app"])
async def test_where_the_issuer_asks_elsewhere_its_result_ends_the_wait_at_once(
    both: tuple[App, Bank], wire: ScriptedWire, changes: dict[str, str | None]
) -> None:
    app, bank = both
    shopper = await go_elsewhere(app, bank, changes)
    assert await shopper.come() == Wait()

    assert is_accepted(await shopper.tell_result())

    payment, row = await shopper.look(), await shopper.look_at_case()
    assert (payment.state, payment.result_code) == (State.APPROVED, "000.100.110")
    [charge] = map(show, wire.sent)
    assert "cvv" not in charge["card"]
    assert charge["details"]["authentication"]["verification_id"] == PROOF
    assert (row.stage, row.sealed_secret) == (Stage.CLOSED, None)
    assert isinstance(await shopper.come(), GoHome)


async def test_a_no_from_elsewhere_ends_it_too(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_elsewhere(app, bank)

    assert is_accepted(await shopper.tell_result(transStatus="N"))

    assert (await shopper.look()).result_code == "100.380.401"
    assert wire.sent == []


async def test_results_from_elsewhere_at_once_charge_once(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_elsewhere(app, bank)

    received = await asyncio.gather(*[shopper.tell_result() for _ in range(5)], shopper.come(), shopper.come())

    assert [isinstance(each, dict) and is_accepted(each) for each in received].count(True) == 1
    assert len(wire.sent) == 1
    assert (await shopper.look()).state is State.APPROVED


async def test_silence_after_a_result_from_elsewhere_owes_a_reversal(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_elsewhere(app, bank)
    wire.script = [Silent(), b'{"status":"reversed"}']

    assert is_accepted(await shopper.tell_result())

    assert (await shopper.look()).result_code == "900.100.300"
    assert await run_due(app) == {RecoveryTask.REVERSE: True}


async def test_a_result_from_elsewhere_is_not_built_on_a_changed_payment(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_elsewhere(app, bank)
    await change_row(app, f"UPDATE payments SET amount = 1 WHERE id = '{shopper.body['id']}'")

    with pytest.raises(TamperedRow):
        await shopper.tell_result()

    assert wire.sent == []


async def test_a_shopper_who_stays_away_elsewhere_ends_like_any_other(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_elsewhere(app, bank)
    tick(app, LIMITS.challenge_lifetime)

    assert await run_due(app) == {RecoveryTask.EXPIRE: True}

    assert (await shopper.look()).result_code == "100.396.103"


# ---- the hidden page ----


async def test_the_hidden_page_is_done_only_for_its_own_authentication(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.method_url = METHOD_URL
    shopper, other = await go_shopping(app, bank), await go_shopping(app, bank)
    server_id = (await shopper.look_at_case()).body.server_id

    await other.report_method(server_id=server_id)
    await shopper.report_method(server_id="8a880000-0000-4000-8000-00000000ffff")
    for shopper_token in ("none", "\0", "é", write_shopper_token(MERCHANT.id, "8a" + "9" * 30)):
        await shopper.report_method(shopper_token=shopper_token)
    await accept_method_result(app, shopper.shopper_token, None)
    assert not (await shopper.look_at_case()).body.is_method_done
    assert not (await other.look_at_case()).body.is_method_done

    await shopper.report_method(shopper_token=write_shopper_token(MERCHANT.id, shopper.body["id"]))
    assert (await shopper.look_at_case()).body.is_method_done


async def test_the_hidden_page_changes_nothing_once_the_bank_was_asked(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.method_url = METHOD_URL
    shopper = await go_shopping(app, bank)
    await shopper.report_method()
    await shopper.come()
    asked = await shopper.look_at_case()
    assert asked.stage is Stage.CHALLENGED

    await shopper.report_method()

    assert await shopper.look_at_case() == asked


async def test_a_hidden_page_that_comes_back_while_the_bank_is_asked_does_not_undo_the_answer(
    both: tuple[App, Bank],
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))

    async def report() -> None:
        await shopper.report_method()

    bank.meanwhile = report
    await shopper.come(browser=BROWSER)

    row = await shopper.look_at_case()
    assert (row.stage, row.body.acs_id is not None) == (Stage.CHALLENGED, True)
