"""Abandoned attempts on both databases: of a shopper who comes back and one who gives up, one has an effect."""

from __future__ import annotations

import asyncio

import orjson
import pytest
from msgspec.structs import replace

from databases.checkout_lives import CARD, PAYPAL, CheckoutWorld, open_checkout_world
from tollgate.contract.checkouts import Submission
from tollgate.contract.shopper_urls import write_shopper_token
from tollgate.flows.resume import Arrival, arrive
from tollgate.flows.submit import abandon_attempt, submit_checkout
from tollgate.flows.verify import verify
from tollgate.payments.checkout import CheckoutKind
from tollgate.payments.payment import Payment, State
from tollgate.store.database import Database
from tollgate.store.payments import find_payment
from tollgate.values import SECOND, PaymentId, Refusal
from tollgate.wire import Silent, Unsent
from unit.app_fixture import MERCHANT
from unit.flows.shopping import BILLING_FIELDS, BROWSER_FIELDS, CHALLENGE, Bank, Shopper

pytestmark = pytest.mark.anyio

ABANDONED = "100.396.101"


@pytest.fixture
async def world(db: Database) -> CheckoutWorld:
    return await open_checkout_world(db)


async def look(world: CheckoutWorld, attempt: str) -> Payment:
    found = await find_payment(world.app.database, MERCHANT.id, PaymentId(attempt))
    assert found is not None
    return found


async def give_up(world: CheckoutWorld, attempt: str) -> str:
    """Returns the state that the form gets, or the code with which it was refused."""
    world.clock.at += SECOND
    try:
        answer = await abandon_attempt(world.app, world.ids["it"], attempt)
    except Refusal as refusal:
        return refusal.result.code
    state: str = orjson.loads(answer.body)["state"]
    return state


async def begin_at_provider(world: CheckoutWorld) -> str:
    await world.prepare("it")
    assert await world.submit("it", PAYPAL) == "000.200.000"
    return await world.remember_attempt("it", "attempt")


async def begin_challenge(world: CheckoutWorld) -> Shopper:
    """Brings a shopper to where the bank has answered, just before the browser comes back."""
    bank = Bank(world.provider.acquirer, [CHALLENGE])
    world.app = replace(world.app, simulator=bank)
    await world.prepare("it")
    pairs = list({**CARD, **BROWSER_FIELDS, **BILLING_FIELDS}.items())
    sent = Submission(pairs=pairs, address="127.0.0.1", accept=None, user_agent=None)
    done = await submit_checkout(world.app, world.ids["it"], CheckoutKind.PAYMENT, sent)
    received = orjson.loads(done.answer.body)
    body = orjson.dumps({"id": received["attempt"], "redirect": {"url": received["next"]["url"]}})
    shopper = Shopper(world.app, bank, replace(done.answer, body=body))
    await shopper.come()
    await shopper.tell_result()
    return shopper


async def test_of_a_return_from_a_provider_and_an_abandonment_one_has_an_effect(world: CheckoutWorld) -> None:
    attempt = await begin_at_provider(world)
    world.clock.at += SECOND
    back = Arrival(page_url="https://gate.example", shopper_token=write_shopper_token(MERCHANT.id, attempt))

    def approve_late() -> asyncio.Future[object]:
        world.provider.sessions.decide(attempt, "approved")
        return asyncio.ensure_future(arrive(world.app, back))

    given_up, _ = await asyncio.gather(give_up(world, attempt), approve_late())

    payment = await look(world, attempt)
    assert (given_up, payment.state) in (("paid", State.APPROVED), ("open", State.DECLINED))
    await world.run_recovery_tasks()
    report = await verify(world.app.database, world.keyring, lambda *_: None, pauses_s=())
    assert report.findings == []


async def test_what_a_provider_approves_after_the_abandonment_is_reversed(world: CheckoutWorld) -> None:
    attempt = await begin_at_provider(world)
    assert await give_up(world, attempt) == "open"

    await world.approve_at_provider(attempt)
    await world.run_recovery_tasks()

    assert (await look(world, attempt)).result_code == ABANDONED
    assert b'"reversed"' in world.provider.sessions.report()
    assert await world.submit("it") == "000.100.110"


@pytest.mark.parametrize("fault", [Silent(), Unsent()], ids=["silent", "unreachable"])
async def test_a_provider_that_cannot_be_asked_may_have_taken_money(world: CheckoutWorld, fault: Exception) -> None:
    attempt = await begin_at_provider(world)
    world.provider.fault = fault
    assert await give_up(world, attempt) == "800.700.100"
    assert (await look(world, attempt)).state is State.WAITING

    world.provider.fault = None
    world.provider.sessions.decide(attempt, "approved")

    assert await give_up(world, attempt) == "paid"


async def test_of_a_passed_challenge_and_an_abandonment_one_has_an_effect(world: CheckoutWorld) -> None:
    shopper = await begin_challenge(world)
    attempt = shopper.body["id"]

    ends = await asyncio.gather(
        *[give_up(world, attempt) for _ in range(3)], shopper.come(has_answer=True), give_up(world, attempt)
    )

    payment = await look(world, attempt)
    charges = len(world.provider.acquirer.sent)
    received = {end for end in ends if isinstance(end, str)}
    if payment.state is State.APPROVED:
        assert charges == 1
        assert received <= {"paid", "800.700.100"}
    else:
        assert (payment.result_code, charges) == (ABANDONED, 0)
        assert received == {"open"}


async def test_while_the_money_message_is_under_way_nothing_is_given_up(world: CheckoutWorld) -> None:
    shopper = await begin_challenge(world)
    received: list[str] = []

    async def close_the_dialog() -> None:
        received.append(await give_up(world, shopper.body["id"]))

    world.provider.acquirer.meanwhile = close_the_dialog
    await shopper.come(has_answer=True)

    assert received == ["800.700.100"]
    assert (await look(world, shopper.body["id"])).state is State.APPROVED


async def test_a_given_up_challenge_leaves_no_security_code_behind(world: CheckoutWorld) -> None:
    shopper = await begin_challenge(world)

    assert await give_up(world, shopper.body["id"]) == "open"

    assert (await shopper.look_at_case()).sealed_secret is None
    await shopper.come(has_answer=True)
    assert world.provider.acquirer.sent == []
