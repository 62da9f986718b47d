"""The shopper comes back, once or often, alone or in two tabs: every way leads to one end and at most one charge."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tollgate.flows.resume import Collect, Forward, GoHome
from tollgate.operations.app import App
from tollgate.operations.signing import trust
from tollgate.payments.authentication import Stage
from tollgate.payments.payment import State
from tollgate.wire import Silent
from unit.app_fixture import ScriptedWire
from unit.flows.chains import DECLINED, show
from unit.flows.shopping import (
    BANK_URL,
    BASE_URL,
    BROWSER,
    BROWSER_FIELDS,
    FRICTIONLESS,
    METHOD_URL,
    PROOF,
    REFUSED,
    Bank,
    go_shopping,
    make_order,
    open_bank,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


def decode(field: str) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(base64.urlsafe_b64decode(field + "=" * (-len(field) % 4)))
    return message


# ---- the walk ----


async def test_who_passes_the_challenge_is_charged_once_with_code_and_proof(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    home = await shopper.walk()

    payment, row = await shopper.look(), await shopper.look_at_case()
    path = f"%2Fv1%2Fpayments%2F{payment.id}"
    assert home == GoHome(f"https://shop.example/back?id={payment.id}&resourcePath={path}", is_paid=True)
    assert (payment.state, payment.result_code) == (State.APPROVED, "000.100.110")
    assert trust(app, payment) is payment
    [charge] = map(show, wire.sent)
    assert (charge["key"], charge["amount"], charge["card"]["cvv"]) == (payment.id, 9200, "731")
    assert charge["details"]["authentication"]["verification_id"] == PROOF
    assert payment.details["threeDSecure.authenticationStatus"] == "Y"
    assert (row.stage, row.sealed_secret) == (Stage.CLOSED, None)


async def test_the_bank_is_shown_again_as_often_as_the_shopper_reloads(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    first, second = await shopper.come(), await shopper.come()

    assert isinstance(first, Forward)
    assert first == second
    assert first.url == BANK_URL
    request = decode(first.fields["creq"])
    assert request["threeDSServerTransID"] == bank.asked[0]["threeDSServerTransID"]
    assert request["challengeWindowSize"] == "05"
    assert len(bank.asked) == 1
    assert wire.sent == []


async def test_the_window_of_the_challenge_is_the_one_that_the_shop_has(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order({"customer.browser.challengeWindow": "2"}))

    forward = await shopper.come()

    assert isinstance(forward, Forward)
    assert decode(forward.fields["creq"])["challengeWindowSize"] == "02"


async def test_coming_back_proves_nothing(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    assert isinstance(await shopper.come(has_answer=True), GoHome)

    payment = await shopper.look()
    assert (payment.state, payment.result_code) == (State.DECLINED, "100.390.112")
    assert (await shopper.tell_result())["messageType"] == "Erro"
    assert wire.sent == []


@pytest.mark.parametrize(("status", "code"), [("N", "100.380.401"), ("U", "100.390.112"), ("R", "100.390.114")])
async def test_who_fails_the_challenge_is_not_charged(
    both: tuple[App, Bank], wire: ScriptedWire, status: str, code: str
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)

    await shopper.walk(status=status)

    payment = await shopper.look()
    assert (payment.state, payment.result_code) == (State.DECLINED, code)
    assert (await shopper.look_at_case()).sealed_secret is None
    assert wire.sent == []


async def test_a_decline_after_the_challenge_is_answered_beside_the_authentication(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    wire.script = [DECLINED]

    await shopper.walk()

    payment = await shopper.look()
    assert (payment.state, payment.result_code) == (State.DECLINED, "800.100.152")
    assert payment.details["AcquirerResponse"] == "05"
    assert payment.details["threeDSecure.eci"] == "05"


async def test_an_authentication_by_itself_ends_without_a_charge(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order({"paymentType": None}, operation="authenticate"))

    home = await shopper.walk()

    payment = await shopper.look()
    assert isinstance(home, GoHome)
    assert home.url is not None
    assert home.url.endswith(f"resourcePath=%2Fv1%2FthreeDSecure%2F{payment.id}")
    assert (payment.state, payment.result_code) == (State.APPROVED, "000.100.110")
    assert (await shopper.look_at_case()).sealed_secret is None
    assert wire.sent == []


async def test_an_authorization_in_a_currency_without_fractions_is_charged_unchanged(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    yen = make_order({"paymentType": "PA", "amount": "500", "currency": "JPY"})
    shopper = await go_shopping(app, bank, order=yen)

    await shopper.walk()

    [charge] = map(show, wire.sent)
    assert (charge["type"], charge["amount"], charge["currency"]) == ("authorization", 500, "JPY")


async def test_what_travels_with_the_money_is_not_lost_on_the_way(both: tuple[App, Bank], wire: ScriptedWire) -> None:
    app, bank = both
    order = make_order(
        {
            "card.holder": "Jane Jones",
            "descriptor": "Order 7",
            "merchant.name": "Jones",
            "transactionProcessingCode": "FUNDING",
            "cart.items[3].price": "2.00",
            "sender.name": "Jane",
            "sender.birthDate": "1980-02-29",
            "sender.accountNumber": "AT611904300234573201",
            "recipient.accountNumber": "4200000000000042",
            "customParameters[simulatorDelay]": "5",
        }
    )
    shopper = await go_shopping(app, bank, order=order)

    await shopper.walk()

    [request] = wire.sent
    charge = show(request)
    assert (charge["statement"], charge["processing"]) == ("Jones", "FUNDING")
    assert charge["details"]["cart"] == [{"price": {"amount": 200, "currency": "EUR"}}]
    assert charge["details"]["sender"] == {
        "name": "Jane",
        "birth_date": "1980-02-29",
        "account_number": "AT611904300234573201",
    }
    assert charge["details"]["recipient"] == {"account_number": "4200000000000042"}
    assert charge["card"]["holder"] == "Jane Jones"
    assert request.simulator_overrides == {"simulatorDelay": "5"}


# ---- where the browser comes by first ----


async def test_our_own_page_asks_the_browser_and_then_the_bank_is_asked(both: tuple[App, Bank]) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))

    assert await shopper.come() == Collect(None, "", "https://shop.example/back")
    forward = await shopper.come(browser=BROWSER)

    assert isinstance(forward, Forward)
    [question] = bank.asked
    assert (question["browserUserAgent"], question["threeDSCompInd"]) == ("Opera", "U")
    assert question["notificationURL"] == f"{BASE_URL}/v1/shopper/{shopper.shopper_token}"
    assert (await shopper.look_at_case()).stage is Stage.CHALLENGED


async def test_a_shopper_whom_the_bank_knows_is_charged_as_soon_as_the_browser_came_by(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    bank.answers = [FRICTIONLESS]
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))

    assert isinstance(await shopper.come(browser=BROWSER), GoHome)

    assert (await shopper.look()).state is State.APPROVED
    assert show(wire.sent[0])["card"]["cvv"] == "731"


@pytest.mark.parametrize("answer", [REFUSED, Silent(), b"{"], ids=["refused", "silent", "garbled"])
async def test_whom_the_bank_does_not_know_is_sent_home_uncharged(
    both: tuple[App, Bank], wire: ScriptedWire, answer: dict[str, str] | bytes | Exception
) -> None:
    app, bank = both
    bank.answers = [answer]
    shopper = await go_shopping(app, bank, order=make_order(dict.fromkeys(BROWSER_FIELDS)))

    assert isinstance(await shopper.come(browser=BROWSER), GoHome)

    assert (await shopper.look()).state is State.DECLINED
    assert wire.sent == []


async def test_where_the_shop_ran_the_hidden_page_ours_does_not_run_it_again(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.method_url = METHOD_URL
    shopper = await go_shopping(app, bank)

    await shopper.report_method()
    forward = await shopper.come()

    assert isinstance(forward, Forward)
    assert bank.asked[0]["threeDSCompInd"] == "Y"
    assert bank.asked[0]["browserUserAgent"] == "Mozilla/5.0"


async def test_where_it_did_not_ours_runs_it_and_reports_whether_it_came_back(both: tuple[App, Bank]) -> None:
    app, bank = both
    bank.method_url = METHOD_URL
    shopper = await go_shopping(app, bank)

    page = await shopper.come()
    assert isinstance(page, Collect)
    assert page.method_url == METHOD_URL
    server_id = (await shopper.look_at_case()).body.server_id
    assert decode(page.method_data)["threeDSServerTransID"] == server_id
    forward = await shopper.come(browser=BROWSER)

    assert isinstance(forward, Forward)
    assert bank.asked[0]["threeDSCompInd"] == "N"
