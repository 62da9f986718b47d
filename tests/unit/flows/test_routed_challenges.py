"""3-D Secure with several acquirer accounts: the issuer is told the numbers of the account that gets the proof, and
after the challenge a charge that was never sent goes to the next account.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from tollgate.connectors.exchange import AcquirerAccount, WireReply, WireRequest
from tollgate.flows.recover import complete_overdue
from tollgate.operations import acquirer_accounts, charging
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.operations.signing import trust
from tollgate.payments.merchants import AcquirerTerms, Channel, FurtherAccount, ThreeDsTerms
from tollgate.payments.payment import Payment, State
from tollgate.store import merchants
from tollgate.wire import Silent, Unsent, Wire
from unit.app_fixture import CHANNEL, ScriptedWire, open_app
from unit.flows.chains import read, show
from unit.flows.shopping import BASE_URL, CHALLENGE, FRICTIONLESS, PROOF, Bank, Shopper, go_shopping, make_order

pytestmark = pytest.mark.anyio

THREE_DS = ThreeDsTerms(test_url="https://directory.example", acquirer_bin="400001", acquirer_merchant_id="M-1")
FIRST = replace(CHANNEL, test_url="https://first.example", acquirer=AcquirerTerms(priority=2), three_ds=THREE_DS)
ORDERED = {"testMode": "EXTERNAL"}
UNREACHABLE: list[bytes | Exception] = [Unsent()] * 2
"""A request that never left is sent again once, to the same account."""
NUMBERS = {"acquirer_merchant_id": "M-2", "acquirer_bin": "400002"}


class TimedWire(ScriptedWire):
    """Notes how long each message may take."""

    def __init__(self) -> None:
        super().__init__()
        self.timeouts: list[float] = []

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        self.timeouts.append(timeout_s)
        return await super().send(request, timeout_s)


@pytest.fixture
def wires() -> dict[str, TimedWire]:
    return {name: TimedWire() for name in ("first", "second", "third")}


@pytest.fixture
def bank() -> Bank:
    return Bank(ScriptedWire(), [CHALLENGE])


@pytest.fixture
async def app(tmp_path: Path, wires: dict[str, TimedWire], bank: Bank) -> AsyncIterator[App]:
    def find_wire(address: str, _account: AcquirerAccount | None = None) -> Wire:
        return wires.get(address.removeprefix("https://").partition(".")[0], bank)

    app = await open_app(tmp_path, ScriptedWire())
    app = replace(app, merchants=MerchantCache(app.keyring), find_wire=find_wire, base_url=BASE_URL)
    await merchants.update_channel(app.database, FIRST)
    await app.merchants.refresh(app.database)
    yield app
    await app.database.close()


def get_channel(app: App) -> Channel:
    return app.merchants.get_channel(CHANNEL.id)


async def add(app: App, name: str, priority: int, **more: str) -> FurtherAccount:
    sent = {"name": name, "test_url": f"https://{name}.example", "acquirer_priority": str(priority), **more}
    return await acquirer_accounts.add_account(app, get_channel(app), sent)


async def shop(app: App, bank: Bank) -> Shopper:
    return await go_shopping(app, bank, order=make_order(ORDERED), channel=get_channel(app))


def get_reasons(payment: Payment) -> dict[str, str]:
    return {each.account_id: each.reason for each in payment.routing}


# ---- the numbers that the issuer is told ----


@pytest.mark.parametrize("answer", [FRICTIONLESS, CHALLENGE])
async def test_the_issuer_is_told_the_numbers_of_the_account_that_was_chosen(
    app: App, bank: Bank, wires: dict[str, TimedWire], answer: dict[str, str]
) -> None:
    second = await add(app, "second", 1, **NUMBERS)
    bank.answers = [answer]

    shopper = await shop(app, bank)
    if answer is CHALLENGE:
        await shopper.walk()

    payment = await shopper.look()
    assert (payment.state, payment.account_id) == (State.APPROVED, second.id)
    assert [(each["acquirerBIN"], each["acquirerMerchantID"]) for each in bank.asked] == [("400002", "M-2")]
    [charge] = map(show, wires["second"].sent)
    assert charge["details"]["authentication"]["verification_id"] == PROOF
    assert wires["first"].sent == []


async def test_an_account_without_numbers_has_those_of_the_channel(app: App, bank: Bank) -> None:
    await add(app, "second", 1)

    await (await shop(app, bank)).come()

    assert [(each["acquirerBIN"], each["acquirerMerchantID"]) for each in bank.asked] == [("400001", "M-1")]


# ---- failover after a challenge ----


async def test_after_the_challenge_an_account_that_cannot_be_reached_is_left_for_the_next(
    app: App, bank: Bank, wires: dict[str, TimedWire]
) -> None:
    second, third = await add(app, "second", 3), await add(app, "third", 4)
    shopper = await shop(app, bank)
    wires["first"].script, wires["second"].script = [*UNREACHABLE], [*UNREACHABLE]

    await shopper.walk()

    payment = await shopper.look()
    assert (payment.state, payment.account_id) == (State.APPROVED, third.id)
    assert trust(app, payment) is payment
    assert get_reasons(payment) == {
        CHANNEL.id: "could not be reached",
        second.id: "could not be reached",
        third.id: "chosen next",
    }
    [charge] = map(show, wires["third"].sent)
    assert charge["details"]["authentication"]["verification_id"] == PROOF


async def test_what_was_sent_after_the_challenge_is_tried_nowhere_else(
    app: App, bank: Bank, wires: dict[str, TimedWire]
) -> None:
    await add(app, "second", 3)
    shopper = await shop(app, bank)
    wires["first"].script = [Silent()]

    await shopper.walk()

    payment = await shopper.look()
    assert (payment.state, payment.account_id) == (State.DECLINED, None)
    assert wires["second"].sent == []


async def test_an_account_that_was_closed_during_the_challenge_is_not_tried(
    app: App, bank: Bank, wires: dict[str, TimedWire]
) -> None:
    second, third = await add(app, "second", 3), await add(app, "third", 4)
    shopper = await shop(app, bank)
    await acquirer_accounts.close_account(app, second)
    wires["first"].script = [*UNREACHABLE]

    await shopper.walk()

    assert (await shopper.look()).account_id == third.id
    assert wires["second"].sent == []


async def test_the_chosen_account_has_the_payment_although_it_was_closed_during_the_challenge(
    app: App, bank: Bank, wires: dict[str, TimedWire]
) -> None:
    second = await add(app, "second", 1)
    shopper = await shop(app, bank)
    await acquirer_accounts.close_account(app, second)

    await shopper.walk()

    assert ((await shopper.look()).state, len(wires["second"].sent)) == (State.APPROVED, 1)


async def test_an_account_that_was_added_during_the_challenge_was_not_considered(
    app: App, bank: Bank, wires: dict[str, TimedWire]
) -> None:
    shopper = await shop(app, bank)
    await add(app, "second", 3)
    wires["first"].script = [*UNREACHABLE]

    await shopper.walk()

    payment = await shopper.look()
    assert (payment.state, payment.result_code, payment.routing) == (State.DECLINED, "900.100.600", ())
    assert wires["second"].sent == []


# ---- the time that is left ----


@pytest.mark.parametrize(("spent_s", "is_tried"), [(0.0, True), (2.5, True), (2.6, False)])
async def test_another_account_is_tried_only_while_half_of_the_acquirers_time_is_left(
    app: App, bank: Bank, wires: dict[str, TimedWire], monkeypatch: pytest.MonkeyPatch, spent_s: float, is_tried: bool
) -> None:
    second = await add(app, "second", 3)
    bank.answers = [FRICTIONLESS]
    watch = SimpleNamespace(now=100.0)
    monkeypatch.setattr(charging, "time", SimpleNamespace(monotonic=lambda: watch.now))
    wires["first"].script = [*UNREACHABLE]

    async def spend() -> None:
        watch.now += spent_s / len(UNREACHABLE)

    wires["first"].meanwhile = spend

    payment = await (await shop(app, bank)).look()

    assert app.acquirer_timeout_s == 5
    assert (payment.account_id == second.id, len(wires["second"].sent)) == (is_tried, int(is_tried))
    # The next one has what is left, so that all of them together have the time of one.
    assert [pytest.approx(5 - spent_s, abs=1e-6)] * is_tried == wires["second"].timeouts


async def test_a_payment_that_is_moved_while_it_is_recovered_is_recovered_where_it_went(
    app: App, bank: Bank, wires: dict[str, TimedWire]
) -> None:
    """A process may sleep past the deadline of a payment and go on just when another has begun to complete it."""
    second = await add(app, "second", 3)
    bank.answers = [FRICTIONLESS]
    wires["first"].script = [*UNREACHABLE]
    seen: list[Payment] = []

    async def note() -> None:
        seen.append(await read(app, wires["first"].sent[0].key))

    async def recover() -> None:
        await complete_overdue(app, seen[0])

    wires["first"].meanwhile, wires["second"].meanwhile = note, recover
    payment = await (await shop(app, bank)).look()

    assert (payment.state, payment.account_id) == (State.APPROVED, second.id)
    assert trust(app, payment) is payment
