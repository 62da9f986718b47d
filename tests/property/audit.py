"""Statements that must hold for the tables after every step, compared with the model in `plain_words`.

The acquirer's ledger is the third opinion. Nothing is moved here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import sqlalchemy as sa

from acquirer_ledger import Entry
from acquirer_ledger import Fate as AcquirerFate
from property.plain_words import SILENT, TAKEN, Deed, Fate, Memory, is_given_back, list_report_entries
from tollgate.operations.app import App
from tollgate.operations.signing import make_signature
from tollgate.payments import audit
from tollgate.payments.payment import Payment
from tollgate.store.database import Database
from tollgate.store.payments import ENTRIES, PAYMENTS, find_payment
from tollgate.store.statements import Statement
from tollgate.values import MerchantId

FATES = {0: Fate.WRITTEN, 1: Fate.DONE, 2: Fate.FAILED, 3: Fate.OPEN, 4: Fate.OPEN}
NOT_SENT = ("receipt", "chargeback", "return", "repeated_chargeback", "chargeback_reversal", "technical_reversal")


@dataclass(frozen=True)
class Row:
    merchant_id: str
    id: str
    channel_id: str
    payment_type: str
    state: int
    amount: int
    currency: str
    created_at: int
    deadline_at: int
    referenced_id: str | None
    result_code: str
    completed_at: int | None
    action: str | None
    chain_id: str | None
    position: int
    releases: int
    mac: bytes | None
    added: int
    drawn: int
    reserved: int
    disputed: int
    counted: int
    chain_length: int
    chain_net: int

    @property
    def fate(self) -> Fate:
        return FATES[self.state]

    @property
    def left(self) -> int:
        return self.amount + self.added - self.drawn - self.reserved


_rows = Statement(sa.text(f"SELECT {', '.join(Row.__dataclass_fields__)} FROM payments ORDER BY position, created_at"))
_events = Statement(sa.text("SELECT subject_id, created_at, result_code FROM outbox"))
_ledger = Statement(
    sa.text(
        "SELECT payment_id, source, target, amount, channel_id, currency FROM ledger_entries WHERE seller_id IS NULL"
    )
)
_jobs = Statement(sa.text("SELECT subject_id, topic FROM jobs"))


@dataclass(frozen=True)
class Tables:
    rows: dict[str, Row]
    events: set[tuple[str, int, str]]
    lines: list[tuple[str, str, str, int, str, str]]
    jobs: dict[str, str]


async def read_tables(db: Database) -> Tables:
    rows = [Row(*each) for each in await db.fetch(_rows, {})]
    return Tables(
        rows={row.id: row for row in rows},
        events={(each[0], each[1], each[2]) for each in await db.fetch(_events, {})},
        lines=[(each[0], each[1], each[2], each[3], each[4], each[5]) for each in await db.fetch(_ledger, {})],
        jobs={each[0]: each[1] for each in await db.fetch(_jobs, {})},
    )


def check_tables(tables: Tables, memory: Memory, ledger: dict[str, Entry]) -> None:
    assert tables.rows.keys() == memory.deeds.keys()
    for deed in memory.deeds.values():
        row = tables.rows[deed.id]
        check_row(row, deed)
        check_balance(row, deed, memory)
        check_owed(row, deed, memory, tables)
        check_against_ledger(row, deed, tables, ledger.get(row.id))
        assert row.completed_at is None or (row.id, row.completed_at, row.result_code) in tables.events
    for first in memory.deeds.values():
        if first.named is None:
            check_chain([tables.rows[deed.id] for deed in memory.chain(first)])
    check_ledger(tables, memory)
    assert all(entry.executions <= 1 and not entry.contradictions for entry in ledger.values())


def check_row(row: Row, deed: Deed) -> None:
    first_id = None if deed.named is None else deed.first.id
    named_id = None if deed.named is None else deed.named.id
    facts = (
        row.payment_type,
        row.amount,
        row.currency,
        row.action or "",
        row.releases,
        row.referenced_id,
        row.chain_id,
    )
    assert facts == (deed.payment_type, deed.amount, deed.currency, deed.does, deed.releases, named_id, first_id)
    assert (row.fate, row.result_code) == (deed.fate, deed.code), f"{deed.payment_type} {deed.does}"
    assert (row.mac is None) == (row.completed_at is None) == (row.fate is Fate.WRITTEN)


def check_balance(row: Row, deed: Deed, memory: Memory) -> None:
    assert row.reserved >= 0
    assert row.drawn >= 0
    assert row.drawn + row.reserved <= row.amount + row.added
    assert row.left == memory.left(deed)
    assert row.added == memory.added(deed)
    assert row.disputed == memory.disputed(deed)
    followers = list(memory.followers(deed))
    # Nothing is reserved for what is over.
    assert row.reserved == 0 or any(not each.is_done for each in followers)
    captured = sum(each.amount for each in followers if each.does in ("capture", "receipt") and each.is_done)
    assert deed.payment_type != "PA" or captured <= deed.amount + row.added
    returned = sum(back.amount for each in followers for back in memory.followers(each, "return"))
    given_back = sum(each.amount for each in followers if each.does in ("refund", "reversal") and each.is_done)
    assert given_back - returned <= (deed.amount if deed.payment_type in (*TAKEN, "RC") else 0)


def check_owed(row: Row, deed: Deed, memory: Memory, tables: Tables) -> None:
    """Every undecided payment has a worker that will decide it, and no other has."""
    is_doubtful = deed.fate is Fate.FAILED and deed.code == SILENT and is_given_back(deed.payment_type)
    undone = [each for each in memory.deeds.values() if each.named is deed and each.does == "technical_reversal"]
    if deed.fate is Fate.OPEN:
        assert tables.jobs[row.id] == ("repeat" if deed.does and deed.payment_type != "PA" else "inquire")
    elif is_doubtful:
        assert len(undone) + (tables.jobs.get(row.id) == "reverse") == 1
    else:
        assert row.id not in tables.jobs
        assert not undone


def check_against_ledger(row: Row, deed: Deed, tables: Tables, entry: Entry | None) -> None:
    """A final payment of the gateway is the same at the acquirer, to the hundredth."""
    if deed.fate in (Fate.OPEN, Fate.WRITTEN) or row.id in tables.jobs:
        return
    moved = entry.amount if entry is not None and entry.fate is AcquirerFate.APPROVED else None
    is_sent = deed.does not in NOT_SENT and deed.fate is Fate.DONE
    assert moved == (row.amount if is_sent else None)


def check_chain(rows: list[Row]) -> None:
    ordered = sorted(rows, key=lambda row: row.position)
    assert [row.position for row in ordered] == list(range(1, len(rows) + 1))
    first = ordered[0]
    assert first.chain_length == len(rows)
    assert all((row.chain_length, row.chain_net) == (1, 0) for row in ordered[1:])
    done = [row for row in rows if row.fate is Fate.DONE]
    taken = sum(row.amount for row in done if row.payment_type in (*TAKEN, "RC") or row.action == "return")
    assert sum(row.amount for row in done if row.action in ("refund", "reversal")) <= taken


def check_ledger(tables: Tables, memory: Memory) -> None:
    lines: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    sums: Counter[tuple[str, str, str]] = Counter()
    totals: Counter[tuple[str, str]] = Counter()
    for payment_id, source, target, amount, channel_id, currency in tables.lines:
        lines[payment_id].append((source, target, amount))
        assert (channel_id, currency) == (tables.rows[payment_id].channel_id, tables.rows[payment_id].currency)
        assert amount > 0
        for account, moved in ((source, -amount), (target, amount)):
            sums[channel_id, currency, account] += moved
            totals[channel_id, currency] += moved
    assert not any(totals.values())
    assert all(balance >= 0 for (_, _, account), balance in sums.items() if account == "held")
    for deed in memory.deeds.values():
        assert sorted(lines[deed.id]) == list_report_entries(deed)
    for first in memory.deeds.values():
        if first.named is None:
            assert tables.rows[first.id].chain_net == memory.net(first)


async def check_signatures(app: App, rows: list[Row]) -> None:
    for row in rows:
        payment = await find_payment(app.database, MerchantId(row.merchant_id), row.id)
        assert payment is not None
        assert payment.mac == make_signature(payment, app.keyring)


async def check_splits(db: Database) -> None:
    """Checks that sellers have what their payments earned, and that no refund took what a seller had not."""
    entries = {entry.id: entry for entry in await ENTRIES.fetch(db, Statement(ENTRIES.select()), {})}
    chains: dict[str, list[Payment]] = defaultdict(list)
    for payment in await PAYMENTS.fetch(db, Statement(PAYMENTS.select().order_by("position")), {}):
        chains[payment.first_id].append(payment)
    for members in chains.values():
        if members[0].split:
            assert [finding.render() for finding in audit.check_chain(members, entries)] == []
