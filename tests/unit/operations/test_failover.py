"""A charge goes to another acquirer account only if it was certainly never sent, and is written there first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.acquiring import REVERSALS
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.flows.authenticate import pass_on
from tollgate.flows.follow_up import follow_up
from tollgate.flows.pay import pay, start_attempt, write_start
from tollgate.flows.recover import complete_overdue, run_recovery_task
from tollgate.operations import acquirer_accounts, routes, settings
from tollgate.operations.app import App, Call
from tollgate.operations.caches import ACQUIRER_SECRETS, MerchantCache
from tollgate.operations.circuits import CHARGES_MIN
from tollgate.operations.risk import Judgement
from tollgate.payments.authentication import AuthenticationCase, AuthenticationResult
from tollgate.payments.merchants import AcquirerTerms, Channel, FurtherAccount, RoutingTerms
from tollgate.payments.order import FollowUp, TestMode
from tollgate.payments.payment import Outcome, Payment, RecoveryTask, State
from tollgate.payments.risk import Rule
from tollgate.payments.routing import Strategy
from tollgate.store import jobs, merchants, schema
from tollgate.store.database import Database
from tollgate.store.payments import PAYMENTS
from tollgate.store.risk import list_all_rules
from tollgate.store.statements import Statement
from tollgate.values import InvalidParameters, PaymentId, Refusal, make_id
from tollgate.wire import Silent, Unsent, Wire
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ORDER, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

FIRST = replace(CHANNEL, test_url="https://first.example", acquirer=AcquirerTerms())
ORDERED = replace(ORDER, test_mode=TestMode.EXTERNAL)
DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'
SENDS = 2
"""A request that never left is sent again once, to the same account."""


@pytest.fixture
def wires() -> dict[str, ScriptedWire]:
    return {name: ScriptedWire() for name in ("first", "second", "third")}


@pytest.fixture
async def app(tmp_path: Path, wires: dict[str, ScriptedWire]) -> AsyncIterator[App]:
    def find_wire(address: str, _account: AcquirerAccount | None = None) -> Wire:
        return wires[address.removeprefix("https://").partition(".")[0]]

    app = await open_app(tmp_path, ScriptedWire())
    app = replace(app, merchants=MerchantCache(app.keyring), find_wire=find_wire)
    await merchants.update_channel(app.database, FIRST)
    await app.merchants.refresh(app.database)
    yield app
    await app.database.close()


async def add(app: App, name: str, priority: int, **more: str) -> FurtherAccount:
    sent = {"name": name, "test_url": f"https://{name}.example", "acquirer_priority": str(priority), **more}
    return await acquirer_accounts.add_account(app, get_channel(app), sent)


def get_channel(app: App) -> Channel:
    return app.merchants.get_channel(CHANNEL.id)


async def make_payment(app: App) -> Payment:
    payment_id = PaymentId(make_id())
    await pay(app, ORDERED, Call(get_channel(app), "ndc"), payment_id=payment_id)
    return next(each for each in await list_payments(app) if each.id == payment_id)


async def list_payments(app: App) -> list[Payment]:
    return await PAYMENTS.fetch(app.database, Statement(PAYMENTS.select().order_by("position", "created_at")), {})


def get_reasons(payment: Payment) -> dict[str, str]:
    return {each.account_id: each.reason for each in payment.routing}


async def test_a_lone_account_is_written_as_nothing_special(app: App, wires: dict[str, ScriptedWire]) -> None:
    payment = await make_payment(app)

    assert (payment.account_id, payment.routing) == (None, ())
    assert len(wires["first"].sent) == 1


async def test_what_never_left_goes_to_the_next_account(app: App, wires: dict[str, ScriptedWire]) -> None:
    second, third = await add(app, "second", 2), await add(app, "third", 3)
    wires["first"].script = [Unsent()] * SENDS
    wires["second"].script = [Unsent()] * SENDS

    payment = await make_payment(app)

    assert (payment.state, payment.account_id) == (State.APPROVED, third.id)
    assert get_reasons(payment) == {
        FIRST.id: "could not be reached",
        second.id: "could not be reached",
        third.id: "chosen next",
    }
    assert len(wires["third"].sent) == 1


async def test_where_nobody_can_be_reached_nothing_happened(app: App, wires: dict[str, ScriptedWire]) -> None:
    second = await add(app, "second", 2)
    wires["first"].script = [Unsent()] * SENDS
    wires["second"].script = [Unsent()] * SENDS

    payment = await make_payment(app)

    assert (payment.state, payment.result_code, payment.account_id) == (State.DECLINED, "900.100.600", second.id)
    assert await app.database.fetch(Statement(sa.select(schema.jobs)), {}) == []


@pytest.mark.parametrize("answer", [Silent(), b"\x00garbled", DECLINED])
async def test_what_was_sent_is_never_tried_elsewhere(
    app: App, wires: dict[str, ScriptedWire], answer: bytes | Exception
) -> None:
    await add(app, "second", 2)
    wires["first"].script = [answer]

    payment = await make_payment(app)

    assert (payment.state, payment.account_id) == (State.DECLINED, None)
    assert wires["second"].sent == []


async def test_a_silent_second_account_is_reversed_there_and_not_at_the_first(
    app: App, wires: dict[str, ScriptedWire]
) -> None:
    second = await add(app, "second", 2)
    wires["first"].script = [Unsent()] * SENDS
    wires["second"].script = [Silent()]
    payment = await make_payment(app)
    tried = len(wires["first"].sent)
    job = jobs.Job(
        id=payment.id,
        merchant_id=payment.merchant_id,
        topic=RecoveryTask.REVERSE,
        subject_id=payment.id,
        due_at=NOW,
    )

    await run_recovery_task(app, job)

    assert (payment.state, payment.account_id) == (State.DECLINED, second.id)
    assert [request.path for request in wires["second"].sent][1:] == [REVERSALS]
    assert len(wires["first"].sent) == tried


async def test_a_payment_that_was_completed_meanwhile_is_not_moved(app: App, wires: dict[str, ScriptedWire]) -> None:
    """The recovery worker took over after the deadline, while this process still waited to connect."""
    await add(app, "second", 2)

    async def overtake() -> None:
        wires["first"].meanwhile = None
        await complete_overdue(app, (await list_payments(app))[-1])

    wires["first"].meanwhile = overtake
    wires["first"].script = [Unsent()] * SENDS

    payment = await make_payment(app)

    assert (payment.result_code, payment.account_id) == ("900.100.300", None)
    assert wires["second"].sent == []


async def test_follow_ups_reach_the_account_that_has_the_payment(app: App, wires: dict[str, ScriptedWire]) -> None:
    second = await add(app, "second", 2)
    wires["first"].script = [Unsent()] * SENDS
    payment = await make_payment(app)
    await acquirer_accounts.close_account(app, second)
    refund = FollowUp(
        payment_type="RF",
        amount=100,
        currency="EUR",
        descriptor="Shop",
        short_id="1234.5678.9012",
        practice=None,
        is_final=False,
        echo={},
    )

    await follow_up(app, refund, payment.id, Call(get_channel(app), "ndc"))

    refunded = (await list_payments(app))[-1]
    assert (refunded.payment_type, refunded.state, refunded.account_id) == ("RF", State.APPROVED, second.id)
    assert refunded.routing == ()
    assert len(wires["second"].sent) == 2
    # New payments do not go there any more.
    assert (await make_payment(app)).account_id is None


async def test_an_account_that_cannot_take_a_brand_is_noted_with_its_reason(app: App) -> None:
    second = await add(app, "second", 1, acquirer="stripe")
    order = replace(ORDERED, brand="PAYPAL", method="VA", account=None, card_summary=None)

    route = routes.route_payment(app, get_channel(app), order, PaymentId("8a" + "7" * 30))

    assert route.account_id is None
    assert [each.reason for each in route.considered if each.account_id == second.id] == [
        "the acquirer of this channel does not take PAYPAL"
    ]


async def test_an_account_without_its_secret_is_left_out_while_another_can_be_used(app: App) -> None:
    second = await add(app, "second", 1, acquirer="stripe")
    await merchants.update_channel(app.database, replace(FIRST, acquirer=AcquirerTerms(priority=2)))
    await app.merchants.refresh(app.database)

    payment = await make_payment(app)

    assert payment.account_id is None
    assert get_reasons(payment) == {FIRST.id: "chosen", second.id: "the account has no secret api-key"}
    # It is not counted as a failure of the acquirer, and is used as soon as the secret is there.
    await settings.put_sealed_setting(app.database, app.keyring, f"{ACQUIRER_SECRETS}{second.id}/api-key", b"new")
    await merchants.update_channel(app.database, replace(get_channel(app), is_lenient=True))
    await app.merchants.refresh(app.database)
    route = routes.route_payment(app, get_channel(app), ORDERED, PaymentId(make_id()))
    assert route.account_id == second.id


async def test_a_channel_is_reachable_by_any_of_its_accounts(app: App) -> None:
    await merchants.update_channel(app.database, replace(FIRST, live_url=None))
    live = replace(app, simulator=None, is_live=True)
    await app.merchants.refresh(app.database)
    for brand in (None, "VISA"):
        with pytest.raises(Refusal, match=r"600\.200\.700"):
            routes.check_reachable(live, get_channel(app), None, brand)
    await add(app, "second", 2, live_url="https://second.example")

    for brand in (None, "VISA"):
        routes.check_reachable(live, get_channel(app), None, brand)


async def test_an_account_that_keeps_failing_gets_what_no_other_can_take(
    app: App, wires: dict[str, ScriptedWire]
) -> None:
    second = await add(app, "second", 2)
    wires["first"].script = [*[Unsent()] * SENDS * CHARGES_MIN]
    for _ in range(CHARGES_MIN):
        await make_payment(app)
    tried = len(wires["first"].sent)

    payment = await make_payment(app)

    assert payment.account_id == second.id
    assert get_reasons(payment) == {second.id: "chosen", FIRST.id: "failed too often of late"}
    assert len(wires["first"].sent) == tried
    await acquirer_accounts.close_account(app, second)
    assert (await make_payment(app)).account_id is None


async def test_the_strategy_success_learns_from_charges(app: App, wires: dict[str, ScriptedWire]) -> None:
    second = await add(app, "second", 1)
    terms = RoutingTerms(strategy=Strategy.SUCCESS, exploration=0)
    await merchants.update_channel(app.database, replace(get_channel(app), routing=terms))
    await app.merchants.refresh(app.database)
    wires["first"].script = [DECLINED] * 1000

    payments = [await make_payment(app) for _ in range(40)]

    assert [each.account_id for each in payments[-20:]] == [second.id] * 20


@pytest.mark.parametrize("number", ["", "M-7"])
async def test_a_proof_of_authentication_goes_to_no_account_that_it_was_not_made_for(
    app: App, wires: dict[str, ScriptedWire], number: str
) -> None:
    second = await add(app, "second", 2, acquirer_merchant_id=number)
    wires["first"].script = [Unsent()] * SENDS
    channel, payment_id = get_channel(app), PaymentId(make_id())
    route = routes.route_payment(app, channel, ORDERED, payment_id)
    started = start_attempt(app, ORDERED, Call(channel, "ndc"), payment_id, 30, route, Judgement(at=NOW))
    assert await write_start(app, started, None, None, None, ())
    proof = AuthenticationCase(server_id="s", result=AuthenticationResult(status="Y", eci="05", value="proof"))

    verdict = await pass_on(app, ORDERED, started, route, proof)

    is_bound = number != ""
    assert (verdict.outcome, len(wires["second"].sent)) == ((Outcome.UNSENT, 0) if is_bound else (Outcome.APPROVED, 1))
    assert (verdict.account and verdict.account.account_id) == (None if is_bound else second.id)


# ---- accounts as they are saved ----


async def test_the_old_first_account_is_kept_closed_when_its_address_changes(
    app: App, wires: dict[str, ScriptedWire]
) -> None:
    payment = await make_payment(app)
    await settings.put_sealed_setting(app.database, app.keyring, f"{ACQUIRER_SECRETS}{FIRST.id}/api-key", b"old")
    changed = replace(FIRST, test_url="https://second.example")

    saved = await acquirer_accounts.save_channel(
        app.database, app.keyring, FIRST, changed, new_id="8a" + "9" * 30, now=NOW
    )
    await app.merchants.refresh(app.database)

    assert saved
    [kept] = app.merchants.list_further_accounts(CHANNEL.id)
    assert (kept.id, kept.is_closed, kept.test_url) == (FIRST.id, True, FIRST.test_url)
    assert get_channel(app).first_account_id == "8a" + "9" * 30
    # Both have the secret, and a payment that the old one has still reaches it.
    for account_id in (FIRST.id, "8a" + "9" * 30):
        assert "api-key" in app.merchants.get_acquirer_account(account_id).secrets
    assert routes.get_route(app, get_channel(app), payment).wire is wires["first"]
    fresh = await make_payment(app)
    assert (fresh.account_id, fresh.routing) == ("8a" + "9" * 30, ())
    assert len(wires["second"].sent) == 1


async def test_other_settings_leave_the_first_account_as_it_is(app: App) -> None:
    changed = replace(FIRST, is_lenient=True, acquirer=AcquirerTerms(weight=7, ca_file="new.pem"))

    await acquirer_accounts.save_channel(app.database, app.keyring, FIRST, changed, new_id="8a" + "9" * 30, now=NOW)
    await app.merchants.refresh(app.database)

    assert app.merchants.list_further_accounts(CHANNEL.id) == ()
    assert get_channel(app).account_id is None


async def test_the_identity_of_an_account_never_changes_and_its_terms_do(app: App) -> None:
    second = await add(app, "second", 2, acquirer_merchant_id="M-7")

    with pytest.raises(InvalidParameters) as refused:
        await acquirer_accounts.change_account(
            app, second, {"test_url": "https://third.example", "acquirer_merchant_id": "M-8", "acquirer_weight": "1"}
        )
    changed = await acquirer_accounts.change_account(
        app, second, {"test_url": "https://second.example", "acquirer_weight": "1", "name": "Reserve"}
    )

    assert [fault.name for fault in refused.value.faults] == ["acquirer_merchant_id", "test_url"]
    assert app.merchants.find_further_account(second.id) == changed
    assert (changed.name, changed.terms.weight, changed.terms.priority) == ("Reserve", 1, 2)
    assert (changed.merchant_id, changed.merchant_number, changed.acquirer_number) == (MERCHANT.id, "M-7", "000000")


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ({"name": ""}, "name"),
        ({"name": "line\nfeed"}, "name"),
        ({"name": "x", "acquirer_priority": "0"}, "acquirer_priority"),
        ({"name": "x", "test_url": "ftp://x"}, "test_url"),
        ({"name": "x", "acquirer": "iso8583", "test_url": "https://x.example"}, "test_url"),
    ],
)
async def test_a_wrong_setting_of_an_account_is_named(app: App, sent: dict[str, str], wrong: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        await acquirer_accounts.add_account(app, get_channel(app), sent)

    assert [fault.name for fault in refused.value.faults] == [wrong]
    assert app.merchants.list_further_accounts(CHANNEL.id) == ()


async def test_a_payment_amid_a_refresh_finds_every_account_whole(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are read one after the other, and payments go on meanwhile."""
    paid = []

    async def pay_meanwhile(database: Database) -> list[Rule]:
        paid.append(await make_payment(app))
        return await list_all_rules(database)

    monkeypatch.setattr("tollgate.store.risk.list_all_rules", pay_meanwhile)

    await add(app, "second", 1)

    assert [payment.state for payment in paid] == [State.APPROVED]


async def test_a_payment_of_an_account_that_is_gone_is_refused(app: App) -> None:
    payment = await make_payment(app)

    with pytest.raises(Refusal):
        routes.get_route(app, get_channel(app), replace(payment, account_id="8a" + "0" * 30))
    with pytest.raises(Refusal):
        routes.get_route(app, get_channel(app), replace(payment, connector=ConnectorName.STRIPE))
