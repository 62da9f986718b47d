"""A wrong address leads nowhere, and nothing is built on a payment that was tampered with meanwhile."""

from __future__ import annotations

import base64

import pytest
from msgspec.structs import replace

from tollgate.contract.shopper_urls import read_shopper_token, write_shopper_token
from tollgate.flows.resume import GoHome, Lost
from tollgate.operations.app import App
from tollgate.operations.card_testing import CardTesting
from tollgate.operations.signing import TamperedRow
from tollgate.payments.authentication import Stage
from tollgate.payments.payment import State
from tollgate.values import CheckoutId
from unit.app_fixture import CHANNEL, MERCHANT, ScriptedWire
from unit.flows.chains import follow, read_answered
from unit.flows.shopping import Bank, change_row, go_shopping, make_order, open_bank

pytestmark = pytest.mark.anyio


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


async def test_a_shopper_token_that_opens_nothing_leads_nowhere_and_changes_nothing(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    shopper, other = await go_shopping(app, bank), await go_shopping(app, bank)
    payment_id, stranger = shopper.body["id"], "8a" + "9" * 30
    shopper_token = read_shopper_token(other.shopper_token)
    assert shopper_token is not None
    other_key = base64.urlsafe_b64decode(shopper_token.key.reveal() + "=")
    own_key = base64.urlsafe_b64decode(shopper.shopper_token + "==")[32:]
    wrong = [
        write_shopper_token(MERCHANT.id, payment_id, other_key),
        write_shopper_token(stranger, payment_id, own_key),
        write_shopper_token(MERCHANT.id, stranger, own_key),
        write_shopper_token(MERCHANT.id, payment_id),
        write_shopper_token(MERCHANT.id, payment_id, own_key[:-1] + bytes([own_key[-1] ^ 1])),
        bank.results_token,
        *(
            "none",
            "\0",
            "é" * 40,
            "\ud800",
            "A" * 86,
            "A" * 4000,
            shopper.shopper_token + "A",
            shopper.shopper_token[:-1],
        ),
    ]

    assert [await shopper.come(shopper_token=text, has_answer=True) for text in wrong] == [Lost()] * len(wrong)

    assert (await shopper.look()).state is State.WAITING
    assert (await shopper.look_at_case()).stage is Stage.CHALLENGED
    assert wire.sent == []


@pytest.mark.parametrize("is_approved", [True, False])
async def test_a_wrong_key_leads_nowhere_also_after_the_challenge_has_ended(
    both: tuple[App, Bank], is_approved: bool
) -> None:
    """A caller gets the result and the shop's address only with the whole address of the shopper."""
    app, bank = both
    shopper = await go_shopping(app, bank)
    if is_approved:
        await shopper.tell_result()
    assert isinstance(await shopper.come(has_answer=True), GoHome)
    own_key = base64.urlsafe_b64decode(shopper.shopper_token + "==")[32:]
    payment_id = shopper.body["id"]
    wrong = [
        write_shopper_token(MERCHANT.id, payment_id),
        write_shopper_token(MERCHANT.id, payment_id, bytes(32)),
        write_shopper_token(MERCHANT.id, payment_id, own_key[:-1] + bytes([own_key[-1] ^ 1])),
    ]

    assert [await shopper.come(shopper_token=text) for text in wrong] == [Lost()] * len(wrong)

    assert isinstance(await shopper.come(), GoHome)


async def test_a_shopper_is_not_sent_to_a_scheme_that_the_channel_does_not_list_any_more(
    both: tuple[App, Bank],
) -> None:
    app, bank = both
    channel = app.merchants.get_channel(CHANNEL.id)
    listing = replace(channel, return_schemes=("shop",))
    app.merchants.fill([listing], [])
    order = make_order({"shopperResultUrl": "shop://back"}, channel=listing)
    shopper = await go_shopping(app, bank, order=order, channel=listing)
    await shopper.tell_result()
    home = await shopper.come(has_answer=True)
    assert isinstance(home, GoHome)
    assert (home.url or "").startswith("shop://back?id=")

    app.merchants.fill([channel], [])

    assert await shopper.come() == GoHome(None)


async def test_a_shopper_is_not_sent_to_a_domain_that_the_channel_does_not_list_any_more(
    both: tuple[App, Bank],
) -> None:
    app, bank = both
    channel = app.merchants.get_channel(CHANNEL.id)
    shopper = await go_shopping(app, bank)
    await shopper.tell_result()
    home = await shopper.come(has_answer=True)
    assert isinstance(home, GoHome)
    assert home.url

    app.merchants.fill([replace(channel, domains=("other.example",))], [])

    assert await shopper.come() == GoHome(None)


@pytest.mark.parametrize("is_by_form", [True, False])
async def test_the_browser_of_the_form_is_counted_for_a_challenge_that_fails(
    both: tuple[App, Bank], is_by_form: bool
) -> None:
    app, bank = both
    counted = CardTesting(app.keyring, app.clock)
    app = replace(app, card_testing=counted)
    order = replace(make_order(), checkout_id=CheckoutId("F" * 32 + ".abc") if is_by_form else None)
    shopper = await go_shopping(app, bank, order=order)

    await shopper.tell_result(transStatus="N")
    await shopper.come(has_answer=True, address="203.0.113.79")

    letters = {key[0] for key in counted.take_changes()}
    assert ("f" in letters, "b" in letters) == (is_by_form, True)


@pytest.mark.parametrize("change", ["amount = 1", "mac = NULL", "echo = '{}'", "currency = 'USD'"])
async def test_a_waiting_payment_that_somebody_changed_is_not_gone_on_with(
    both: tuple[App, Bank], wire: ScriptedWire, change: str
) -> None:
    app, bank = both
    shopper = await go_shopping(app, bank)
    await shopper.tell_result()
    await change_row(app, f"UPDATE payments SET {change} WHERE id = '{shopper.body['id']}'")

    with pytest.raises(TamperedRow):
        await shopper.come(has_answer=True)

    assert (await shopper.look()).state is State.WAITING
    assert wire.sent == []


async def test_an_address_without_a_key_asks_nobody_about_a_follow_up(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    """A question blocks what the acquirer never saw; a follow-up is asked about by its worker, which knows better."""
    app, bank = both
    shopper = await go_shopping(app, bank, order=make_order({"threeDSecure.disable": "true"}))
    wire.script = [b'{"status":"pending"}']
    refund = await read_answered(app, await follow(app, await shopper.look(), "RF", 100))
    assert refund.state is State.WAITING
    sent = len(wire.sent)

    await shopper.come(shopper_token=write_shopper_token(MERCHANT.id, refund.id))

    assert len(wire.sent) == sent
