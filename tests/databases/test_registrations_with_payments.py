"""A registration and the payment that makes it, on both databases: they end together, whichever is first
or dies. The statements that see to it go by keys.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest
from msgspec.structs import replace

from databases.test_plans import explain_sqlite
from postgres import PostgresCluster
from tollgate.catalog.limits import LIMITS
from tollgate.flows.pay import look_up
from tollgate.flows.recover import complete_overdue
from tollgate.flows.resume import GoHome
from tollgate.operations.accounts import open_registration
from tollgate.operations.app import App
from tollgate.operations.charging import conclude
from tollgate.payments.payment import Outcome, Payment, State, Verdict
from tollgate.payments.registration import RegistrationEvent, RegistrationState, wipe
from tollgate.store import registrations
from tollgate.store.database import Database
from tollgate.store.payments import list_overdue
from tollgate.store.statements import Dialect, Statement
from tollgate.values import DAY, Refusal
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire, furnish_app
from unit.flows.chains import DECLINED, PENDING, read, run_only_job
from unit.flows.registration_samples import (
    ALONE,
    CARD,
    INITIAL,
    KEEP,
    approve,
    get_reference,
    is_sealed,
    list_announced,
    look_at,
    register_card,
    send,
)
from unit.flows.shopping import BASE_URL, BROWSER_FIELDS, CHALLENGE, Bank, Shopper, run_due, tick

pytestmark = pytest.mark.anyio
ROUNDS = 5
"""A race is run so often, because either side may win."""
BACK = {"shopperResultUrl": "https://shop.example/back"}
WALLET = {"paymentBrand": "PAYPAL", "virtualAccount.accountId": "jane@wallet.example", **BACK}
ELSEWHERE = b'{"status":"redirect","redirect":{"url":"https://wallet.example/pay"}}'
CANCELLED = b'{"status":"cancelled"}'
FATES = {State.APPROVED: RegistrationState.ACTIVE, State.DECLINED: RegistrationState.REJECTED}


@pytest.fixture
def wire() -> ScriptedWire:
    return ScriptedWire()


@pytest.fixture
async def app(db: Database, wire: ScriptedWire) -> App:
    return await furnish_app(db, wire)


async def leave_started(app: App, wire: ScriptedWire) -> Payment:
    """Leaves a payment that shall register its card, whose process died while the acquirer was asked."""

    async def die() -> None:
        raise ZeroDivisionError

    wire.meanwhile = die
    with pytest.raises(ZeroDivisionError):
        await send(app, CARD, KEEP)
    wire.meanwhile = None
    [left] = await list_overdue(app.database, NOW * 2, 10)
    return left


async def check_end(app: App, payment_id: str) -> RegistrationState:
    """Payment, registration, its sealed account and its events agree."""
    payment = await read(app, payment_id)
    registration = await look_at(app, payment.registration_id)
    assert registration.state is FATES[payment.state]
    is_active = registration.state is RegistrationState.ACTIVE
    assert registration.result_code == payment.result_code
    assert await is_sealed(app, registration.id) is is_active
    assert (registration.fingerprint is not None) is (registration.initial is not None) is is_active
    announced = [event.topic for event in await list_announced(app) if event.subject_id == registration.id]
    assert announced == [RegistrationEvent.CREATED] * is_active
    return registration.state


# ---- who comes first ----


async def test_of_a_result_and_a_worker_that_gave_up_one_decides_both(app: App, wire: ScriptedWire) -> None:
    for _ in range(ROUNDS):
        left = await leave_started(app, wire)
        approved = Verdict(outcome=Outcome.APPROVED, code="000.100.110")
        tick(app)

        await asyncio.gather(
            complete_overdue(app, left), conclude(app, left, approved, None), complete_overdue(app, left)
        )

        await check_end(app, left.id)


@pytest.mark.parametrize("is_worker_first", [False, True])
async def test_a_second_completion_changes_nothing(app: App, wire: ScriptedWire, is_worker_first: bool) -> None:
    left = await leave_started(app, wire)
    approved = Verdict(outcome=Outcome.APPROVED, code="000.100.110")
    tick(app)
    if is_worker_first:
        await complete_overdue(app, left)
    await conclude(app, left, approved, None)
    await complete_overdue(app, left)

    ended = RegistrationState.REJECTED if is_worker_first else RegistrationState.ACTIVE
    assert await check_end(app, left.id) is ended


async def test_two_tabs_that_come_back_at_once_leave_one_card_behind(app: App, wire: ScriptedWire) -> None:
    bank = Bank(wire, [CHALLENGE])
    app = replace(app, simulator=bank, base_url=BASE_URL)
    received = await send(app, CARD, KEEP, INITIAL, BACK, BROWSER_FIELDS)
    shopper = Shopper(app, bank, received.answer)
    await shopper.come()
    await shopper.tell_result()

    await asyncio.gather(*(shopper.come(has_answer=True) for _ in range(4)))

    assert await check_end(app, received.body["id"]) is RegistrationState.ACTIVE
    assert len(wire.sent) == 1


async def test_of_a_shopper_and_the_end_of_patience_one_decides_both(app: App, wire: ScriptedWire) -> None:
    bank = Bank(wire, [CHALLENGE])
    app = replace(app, simulator=bank, base_url=BASE_URL)
    for _ in range(ROUNDS):
        received = await send(app, CARD, KEEP, BACK, BROWSER_FIELDS)
        shopper = Shopper(app, bank, received.answer)
        await shopper.come()
        await shopper.tell_result()
        tick(app, LIMITS.challenge_lifetime)

        await asyncio.gather(shopper.come(has_answer=True), run_due(app))
        assert isinstance(await shopper.come(has_answer=True), GoHome)

        await check_end(app, received.body["id"])


async def test_a_challenge_that_nobody_answers_leaves_no_card_behind(app: App, wire: ScriptedWire) -> None:
    bank = Bank(wire, [CHALLENGE])
    app = replace(app, simulator=bank, base_url=BASE_URL)
    received = await send(app, CARD, KEEP, BACK, BROWSER_FIELDS)

    tick(app, LIMITS.challenge_lifetime)
    await run_due(app)

    assert await check_end(app, received.body["id"]) is RegistrationState.REJECTED
    assert wire.sent == []


@pytest.mark.parametrize(("answer", "ended"), [(approve("REF"), "ACTIVE"), (CANCELLED, "REJECTED")])
async def test_what_a_provider_decides_on_its_page_is_found_out_by_a_worker(
    app: App, wire: ScriptedWire, answer: bytes, ended: str
) -> None:
    wire.script = [ELSEWHERE, answer]
    received = await send(replace(app, base_url=BASE_URL), WALLET, KEEP)
    assert (await look_at(app, received.registration_id)).state is RegistrationState.PENDING

    assert await run_only_job(app)

    assert await check_end(app, received.body["id"]) is RegistrationState[ended]


async def test_what_a_dead_process_left_is_rejected_and_wiped(app: App, wire: ScriptedWire) -> None:
    left = await leave_started(app, wire)
    assert await is_sealed(app, left.registration_id)

    await complete_overdue(app, left)

    assert await check_end(app, left.id) is RegistrationState.REJECTED


# ---- what others do meanwhile ----


async def remove(app: App, registration_id: str) -> bool:
    seen = await look_at(app, registration_id)
    steps = registrations.change_registration_writes(
        wipe(seen, RegistrationState.DELETED), None, None, event=RegistrationEvent.DELETED, at=app.clock.now()
    )
    return await app.database.write(steps, label="test")


@pytest.mark.parametrize("answer", [approve("REF"), DECLINED])
async def test_one_that_was_removed_while_it_waited_stays_removed(app: App, wire: ScriptedWire, answer: bytes) -> None:
    """The payment is completed all the same, because money does not wait for a registration."""
    wire.script = [PENDING, answer]
    received = await send(app, CARD, KEEP)
    assert await remove(app, received.registration_id)

    assert await run_only_job(app)

    payment = await look_up(app, MERCHANT.id, received.body["id"])
    assert payment is not None
    assert payment.state is (State.DECLINED if answer is DECLINED else State.APPROVED)
    assert (await look_at(app, received.registration_id)).state is RegistrationState.DELETED
    assert not await is_sealed(app, received.registration_id)
    assert [event.topic for event in await list_announced(app)] == [RegistrationEvent.DELETED]


async def test_a_series_that_begins_is_not_overwritten_by_who_has_not_seen_it(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1"), approve("SCHEME2")]
    registration_id = await register_card(app)
    found = await registrations.find_sealed_registration(app.database, MERCHANT.id, registration_id)
    assert found is not None
    seen, sealed, token = found

    await send(app, INITIAL, stored=registration_id)
    steps = registrations.change_registration_writes(
        seen, sealed, token, event=RegistrationEvent.UPDATED, at=app.clock.now()
    )

    assert not await app.database.write(steps, label="test")
    assert await get_reference(app, registration_id) == "SCHEME2"


async def test_a_removed_card_begins_no_series(app: App, wire: ScriptedWire) -> None:
    wire.script = [approve("SCHEME1"), PENDING, approve("SCHEME2")]
    registration_id = await register_card(app)
    begun = await send(app, INITIAL, stored=registration_id)
    await remove(app, registration_id)

    assert await run_only_job(app)

    assert (await read(app, begun.body["id"])).state is State.APPROVED
    assert await get_reference(app, registration_id) == "SCHEME1"


async def test_many_payments_from_one_card_at_once_all_go_through(app: App) -> None:
    """This holds also on a day on which the use of the card is noted."""
    registration_id = await register_card(app)
    tick(app, DAY)

    received = await asyncio.gather(*(send(app, ALONE, stored=registration_id) for _ in range(20)))

    assert {each.code for each in received} == {"000.100.110"}
    assert len({each.body["id"] for each in received}) == 20
    registration = await look_at(app, registration_id)
    assert (registration.state, registration.used_at >= NOW + DAY) == (RegistrationState.ACTIVE, True)


async def test_a_card_that_is_removed_in_the_middle_is_paid_with_before_and_not_after(app: App) -> None:
    registration_id = await register_card(app)
    await asyncio.gather(
        *(send(app, ALONE, stored=registration_id) for _ in range(5)),
        remove(app, registration_id),
        return_exceptions=True,
    )

    with pytest.raises(Refusal) as refused:
        await open_registration(app, MERCHANT.id, registration_id)

    assert refused.value.result.code == "100.150.202"


async def test_a_channel_that_reuses_finds_the_newest_of_several(app: App) -> None:
    reusing = replace(CHANNEL, reuses_registrations=True)
    await register_card(app)
    newest = await register_card(app)

    received = await asyncio.gather(*(send(app, CARD, KEEP, channel=reusing) for _ in range(5)))

    assert {each.registration_id for each in received} == {newest}


# ---- how rows are found ----

BY_KEY = "registrations USING INDEX sqlite_autoindex_registrations_1 (merchant_id=? AND id=?)"
STATEMENTS = {
    "find": (registrations.REGISTRATIONS.by_key, BY_KEY),
    "find sealed": (registrations._find_sealed, BY_KEY),
    "conclude": (registrations._conclude.statement, BY_KEY),
    "reject": (registrations._reject.statement, BY_KEY),
    "announce": (registrations._announce, BY_KEY),
    "note initial": (registrations._note_initial.statement, BY_KEY),
    "note use": (registrations._use.statement, BY_KEY),
    "change": (registrations._change.statement, BY_KEY),
    "same": (
        registrations._same,
        "registrations USING INDEX registrations_by_fingerprint (merchant_id=? AND fingerprint=?)",
    ),
    "outlived": (registrations._outlived, "registrations USING INDEX registrations_kept (keep_until<?)"),
}


@pytest.mark.parametrize(("statement", "way"), STATEMENTS.values(), ids=STATEMENTS)
async def test_sqlite_finds_a_registration_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    compiled = statement.compiled_for(Dialect.SQLITE)

    plan = await explain_sqlite(tmp_path, compiled.text, len(compiled.names))

    assert plan[0] == f"SEARCH {way}"
    assert not [entry for entry in plan if entry.startswith("SCAN")]


@pytest.mark.parametrize("statement", [row[0] for row in STATEMENTS.values()], ids=STATEMENTS)
async def test_postgresql_finds_a_registration_by_an_index(
    cluster: PostgresCluster, postgres_template: str, statement: Statement
) -> None:
    compiled = statement.compiled_for(Dialect.POSTGRESQL)
    connection = await asyncpg.connect(cluster.create_database(postgres_template))
    await connection.execute("SET enable_seqscan = off")
    # The plan that serves every value, as a prepared statement has it.
    await connection.execute("SET plan_cache_mode = force_generic_plan")
    prepared = await connection.prepare(compiled.text)
    kinds = [parameter.name for parameter in prepared.get_parameters()]
    nothing = ", ".join(f"NULL::{kind}" for kind in kinds)
    await connection.execute(f"PREPARE it AS {compiled.text}")
    entries = [record[0] for record in await connection.fetch(f"EXPLAIN EXECUTE it({nothing})")]
    await connection.close()

    assert not [entry for entry in entries if "Seq Scan" in entry], entries
    assert [entry for entry in entries if "registrations" in entry and "Scan" in entry], entries
