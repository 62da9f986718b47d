"""The audit of a store, on both databases: it passes what happened, and finds what a hand did to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from databases.auditing import Stock, audit, make_stock, put_back, read_plan, tamper
from databases.lives import NEIGHBOUR, live_through_everything, open_lives
from databases.tamperings import BALANCES, EVENTS, FACTS, LINES, OTHER, TAMPERINGS, Tampering
from tollgate.catalog.limits import LIMITS
from tollgate.flows.auditing import EVENTS_KEPT_SINCE
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.checkout import REMIND_TOPIC
from tollgate.payments.completion import SIGNED
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance, Entry
from tollgate.payments.payment import RecoveryTask, State
from tollgate.payments.registration import TOKEN_TOPIC
from tollgate.payments.schedule import RUN_TOPIC
from tollgate.store import audit as walking
from tollgate.store.database import Database
from tollgate.store.events import Event
from tollgate.store.jobs import Job, ensure_job_writes
from tollgate.store.opening import open_database, put_setting
from tollgate.store.payments import find_payment
from tollgate.store.statements import Statement
from tollgate.values import PaymentId
from tollgate.vault.keyring import KeyringError, make_keyring
from unit.app_fixture import MERCHANT

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def stock(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(request, tmp_path_factory, live_through_everything)


@pytest.fixture
async def store(stock: Stock) -> AsyncIterator[Database]:
    async with put_back(stock) as database:
        yield database


# ---- what is right ----


async def test_everything_that_happens_passes(store: Database, stock: Stock) -> None:
    report = await audit(store, stock.keyring)

    assert [finding.render() for finding in report.findings] == []
    assert report.findings_count == 0
    assert report.chains_count == 18
    assert report.rows == {"payments": 46, "ledger_entries": 36, "outbox": 43, "jobs": 5, "idempotency_keys": 1}
    assert all(sum(accounts.values()) == 0 for accounts in report.accounts.values())


async def test_the_store_of_these_tests_has_every_action_and_every_state(store: Database, stock: Stock) -> None:
    rows = await store.fetch(Statement(sa.text("SELECT action, state FROM payments")), {})

    assert {row[0] for row in rows} - {None} == set(Action)
    assert {row[1] for row in rows} == set(State)
    assert set(stock.ids) >= {tampering.on for tampering in TAMPERINGS}


async def test_an_empty_store_passes(db: Database) -> None:
    report = await audit(db, make_keyring())

    assert (report.findings_count, report.rows, report.chains_count) == (0, {}, 0)


@pytest.mark.usefixtures("store")
async def test_an_audit_only_reads(stock: Stock) -> None:
    reading = await open_database(stock.url, read_only=True)

    report = await audit(reading, stock.keyring)

    await reading.close()
    assert report.findings_count == 0


async def test_pages_of_any_size_walk_every_row_once(
    store: Database, stock: Stock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PAGE", "FIRSTS_PAGE"):
        monkeypatch.setattr(walking, name, 2)

    report = await audit(store, stock.keyring)

    assert report.findings_count == 0
    assert report.rows["payments"] == 46
    assert report.rows["ledger_entries"] == 36


# ---- what a hand did ----


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_what_a_hand_did_is_found_and_named(store: Database, stock: Stock, tampering: Tampering) -> None:
    ids = {"id": stock.ids[tampering.on], "other": OTHER, "neighbour": NEIGHBOUR.id}
    await tamper(store, tampering.sql, tampering.rows, **ids)

    report = await audit(store, stock.keyring)

    row_id = stock.ids.get(tampering.row_id, tampering.row_id) or stock.ids[tampering.on]
    received = [finding for finding in report.findings if finding.proof is tampering.proof]
    assert [f for f in received if f.table == tampering.table and row_id in f.row_id], _show(report.findings)
    # Chains that were not changed have no findings.
    assert report.findings_count <= 20, _show(report.findings)


def _show(findings: Sequence[Finding]) -> list[str]:
    return [f"{finding.proof}: {finding.render()}" for finding in findings]


def test_there_is_a_tampering_for_every_signed_member_and_column() -> None:
    assert set(FACTS) == SIGNED.keys() - {"money"} | {"amount", "currency"}
    assert list(BALANCES) == list(Balance.__struct_fields__)
    assert set(LINES) == set(Entry.__struct_fields__)
    assert set(EVENTS) == set(Event.__struct_fields__)


@pytest.mark.parametrize("topic", [*RecoveryTask, RUN_TOPIC, REMIND_TOPIC, TOKEN_TOPIC])
async def test_work_of_any_kind_that_fails_again_and_again_is_named(store: Database, stock: Stock, topic: str) -> None:
    """The job may still get done up to the limit."""
    subject_id = stock.ids["db"]
    job = Job(id=f"{topic}.{subject_id}", merchant_id=MERCHANT.id, topic=topic, subject_id=subject_id, due_at=1)
    await store.write(ensure_job_writes(replace(job, failures=LIMITS.job_failures_max)), label="test")
    before = await audit(store, stock.keyring)
    await tamper(store, "UPDATE jobs SET failures = failures + 1 WHERE subject_id = :id", 1, id=subject_id)

    report = await audit(store, stock.keyring)

    text = f"{topic} of {subject_id} has failed {LIMITS.job_failures_max + 1} times in a row"
    assert before.findings_count == 0
    assert [(found.proof, found.row_id, found.text) for found in report.findings] == [(Proof.JOB, job.id, text)]


async def test_wrong_signatures_are_not_blamed_on_the_key_file_even_if_all_are(store: Database, stock: Stock) -> None:
    """The cards sealed beside them still name its key."""
    await tamper(store, "UPDATE payments SET mac = substr(mac, 2) WHERE mac IS NOT NULL", rows=42)

    report = await audit(store, stock.keyring)

    assert len([finding for finding in report.findings if finding.proof is Proof.SIGNATURE]) == 42


async def test_only_so_many_findings_are_kept_and_the_rest_is_counted(store: Database, stock: Stock) -> None:
    await tamper(store, "UPDATE payments SET reserved = reserved + 1", rows=46)

    report = await audit(store, stock.keyring, findings_max=3)

    assert len(report.findings) == 3
    assert report.findings_count >= 46


# ---- what is no finding ----


async def test_keys_of_another_host_are_refused_instead_of_every_payment(store: Database) -> None:
    with pytest.raises(KeyringError, match="not that of this store"):
        await audit(store, make_keyring())


async def test_an_older_sealing_key_is_of_the_same_host(store: Database, stock: Stock) -> None:
    report = await audit(store, stock.keyring.with_new_key())

    assert report.findings_count == 0


async def test_events_that_were_purged_are_not_missed(store: Database, stock: Stock) -> None:
    payment = await find_payment(store, MERCHANT.id, PaymentId(stock.ids["db"]))
    assert payment is not None
    since = payment.completed_at or 0
    before = Statement(sa.text(f"SELECT count(*) FROM outbox WHERE created_at < {since}"))
    [(purged,)] = await store.fetch(before, {})
    await tamper(store, f"DELETE FROM outbox WHERE created_at < {since}", rows=purged)
    missed = await audit(store, stock.keyring)
    await put_setting(store, EVENTS_KEPT_SINCE, str(since))

    report = await audit(store, stock.keyring)

    assert missed.findings_count == purged > 5
    assert report.findings_count == 0


async def test_a_chain_that_moves_while_it_is_read_is_read_again(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first payment is read, then a capture happens, then followers are read: one more than it knows of."""
    lives = await open_lives(db)
    await lives.pay("pa", payment_type="PA")
    await lives.follow("cp 1", "CP", "pa", 100)
    walk_firsts, walk_followers = walking._FIRSTS.walk, walking._FOLLOWERS.walk
    seen: list[walking.AuditedPayment] = []

    async def capture_meanwhile(db: Database) -> AsyncIterator[list[walking.AuditedPayment]]:
        async for page in walk_firsts(db):
            seen.extend(page)
            await lives.follow("cp 2", "CP", "pa", 100)
            yield page

    async def note_followers(db: Database) -> AsyncIterator[list[walking.AuditedPayment]]:
        async for page in walk_followers(db):
            seen.extend(page)
            yield page

    monkeypatch.setattr(walking._FIRSTS, "walk", capture_meanwhile)
    monkeypatch.setattr(walking._FOLLOWERS, "walk", note_followers)

    report = await audit(db, lives.keyring)

    lengths = {
        payment_row.payment.balance.chain_length
        for payment_row in seen
        if payment_row.payment and payment_row.chain_id is None
    }
    assert (len(seen), lengths) == (3, {2})
    assert report.findings_count == 0
    [accounts] = report.accounts.values()
    assert accounts == {"shopper": -9200, "held": 9000, "earned": 200, "seller": 0}


# ---- how it walks ----

WALKS = [
    (walking._FIRSTS.page, "payments USING INDEX sqlite_autoindex_payments_1"),
    (walking._FOLLOWERS.page, "payments USING INDEX payments_by_chain"),
    (walking.PAYMENTS.by_ids, "payments USING INDEX sqlite_autoindex_payments_1"),
    (walking.ENTRIES.by_ids, "ledger_entries USING PRIMARY KEY"),
    (walking.EVENTS.by_ids, "outbox USING PRIMARY KEY"),
    (walking.JOBS.ids, "jobs USING COVERING INDEX sqlite_autoindex_jobs_1"),
    (walking.ENTRIES.page, "ledger_entries USING PRIMARY KEY"),
    (walking.EVENTS.page, "outbox USING PRIMARY KEY"),
    (walking.JOBS.page, "jobs USING INDEX sqlite_autoindex_jobs_1"),
    (walking.IDEMPOTENCY_RECORDS.page, "idempotency_keys USING INDEX sqlite_autoindex_idempotency_keys_1"),
]


@pytest.mark.parametrize(("statement", "way"), WALKS)
async def test_every_page_is_found_by_an_index(tmp_path: Path, statement: Statement, way: str) -> None:
    plan = await read_plan(tmp_path, statement)

    assert plan[0].startswith(f"SEARCH {way}")
    assert not [entry for entry in plan if entry.startswith("SCAN")]
