"""Shoppers who come in several tabs, reload, or come while something else is under way: still one end."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.flows.resume import Forward, GoHome, Wait
from tollgate.operations.app import App
from tollgate.payments.payment import RecoveryTask, State
from unit.app_fixture import ScriptedWire
from unit.flows.chains import meddle_with
from unit.flows.shopping import (
    BROWSER,
    BROWSER_FIELDS,
    CHALLENGE,
    FRICTIONLESS,
    METHOD_URL,
    REFUSED,
    Bank,
    go_shopping,
    make_order,
    open_bank,
    run_due,
    tick,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


def decode(field: str) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(base64.urlsafe_b64decode(field + "=" * (-len(field) % 4)))
    return message


async def test_two_tabs_that_come_back_at_once_charge_once(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    await shopper.come()
    await shopper.tell_result()

    ends = await asyncio.gather(*[shopper.come(has_answer=True) for _ in range(5)])

    assert {type(end) for end in ends} <= {GoHome, Wait}
    assert len(wire.sent) == 1
    assert (await shopper.look()).state is State.APPROVED


async def test_while_the_charge_is_under_way_another_tab_is_asked_to_wait(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    seen: list[object] = []

    async def look_in() -> None:
        seen.append(await shopper.come())
        seen.append((await shopper.look()).state)

    wire.meanwhile = look_in
    await shopper.walk()

    assert seen == [Wait(), State.STARTED]
    assert len(wire.sent) == 1


async def test_who_reloads_while_the_bank_is_asked_asks_under_another_name(both: tuple[App, Bank]) -> None:
    """A directory refuses a question that it was asked before, and that is no answer about the shopper."""
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))
    seen: list[object] = []

    async def reload() -> None:
        bank.meanwhile = None
        seen.append(await shopper.come(browser=BROWSER))

    bank.meanwhile = reload
    forward = await shopper.come(browser=BROWSER)

    first, second = (question["threeDSServerTransID"] for question in bank.asked)
    assert first != second
    assert seen == [forward]
    assert isinstance(forward, Forward)
    assert decode(forward.fields["creq"])["threeDSServerTransID"] == second
    assert (await shopper.tell_result())["messageType"] == "RRes"


async def test_of_two_tabs_that_have_the_bank_asked_the_first_answer_is_the_truth(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.answers = [REFUSED, CHALLENGE]
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))
    other_ends: list[object] = []

    async def come_in_another_tab() -> None:
        bank.meanwhile = None
        other_ends.append(await shopper.come(browser=BROWSER))

    bank.meanwhile = come_in_another_tab
    end = await shopper.come(browser=BROWSER)

    assert isinstance(other_ends[0], GoHome)
    assert isinstance(end, GoHome)
    assert (await shopper.look()).state is State.DECLINED
    assert wire.sent == []


async def test_an_answer_of_the_bank_that_comes_after_the_end_changes_nothing(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.answers = [FRICTIONLESS]
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))

    async def let_time_pass() -> None:
        tick(app, LIMITS.challenge_lifetime)
        assert await run_due(app) == {RecoveryTask.EXPIRE: True}

    bank.meanwhile = let_time_pass

    assert isinstance(await shopper.come(browser=BROWSER), GoHome)
    assert (await shopper.look()).result_code == "100.396.103"
    assert wire.sent == []


async def test_who_comes_again_after_a_process_died_asking_the_bank_goes_on(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.method_url, bank.answers = METHOD_URL, [ZeroDivisionError(), CHALLENGE]
    shopper = await go_shopping(app, bank)
    await shopper.report_method()
    with pytest.raises(ZeroDivisionError):
        await shopper.come()

    assert isinstance(await shopper.come(browser=BROWSER), Forward)

    first, second = bank.asked
    assert first["threeDSServerTransID"] != second["threeDSServerTransID"]
    assert (first["threeDSCompInd"], second["threeDSCompInd"]) == ("Y", "N")


async def test_after_the_end_the_address_leads_home_and_nothing_happens_again(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    home = await shopper.walk()

    assert [await shopper.come(), await shopper.come(has_answer=True), await shopper.come(browser=BROWSER)] == 3 * [
        home
    ]

    assert len(wire.sent) == 1


async def test_a_result_that_arrives_while_the_shopper_comes_back_counts(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    """The issuer was answered that the result arrived, so the payment must not end as if it had not."""
    app, bank = both
    shopper = await go_shopping(app, bank)

    received: list[str] = []

    async def tell() -> bool:
        received.append((await shopper.tell_result())["messageType"])
        return True

    await replace(shopper, app=meddle_with(app, tell)).come(has_answer=True)

    payment = await shopper.look()
    assert received[0] == "RRes"
    assert (payment.state, payment.details["threeDSecure.authenticationStatus"]) == (State.APPROVED, "Y")
    assert len(wire.sent) == 1
