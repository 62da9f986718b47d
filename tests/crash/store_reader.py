"""The gateway's tables compared with the acquirer's ledger once everything is complete.

The tables are read directly, because it is the gateway that is doubted.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import apsw
import asyncpg

from acquirer import Entry, Fate
from tollgate.catalog import codes
from tollgate.payments.authentication import Stage
from tollgate.payments.following import Action
from tollgate.payments.payment import State
from tollgate.payments.registration import RegistrationState
from tollgate.store import schema
from tollgate.store.instructions import InstructionState

Rows = list[tuple[str, ...]]

SILENT = "900.100.300"
_GIVEN_BACK = frozenset({SILENT, codes.DUPLICATE_REQUEST})
"""These took money, or may have taken it, and failed all the same."""
PENDING = "000.200.000"
QUIET_S = 300.0
ASIDE = 4_000_000_000_000_000
"""An instant that no clock of these tests reaches."""

_IS_OPEN = f"state IN ({State.STARTED:d}, {State.UNRESOLVED:d})"
_PAYMENTS = """SELECT id, payment_type, state, amount, result_code, coalesce(referenced_id, ''),
 coalesce(idempotency_key, ''), coalesce(action, ''), coalesce(chain_id, ''), position, releases, closes, added, drawn,
 reserved, disputed, counted, closed, chain_length, chain_net, coalesce(length(mac), 0)
 FROM payments ORDER BY created_at, position"""
_REGISTRATIONS = """SELECT id, state, coalesce(made_by, ''), coalesce(network_token, ''),
 CASE WHEN sealed_account IS NULL AND fingerprint IS NULL THEN 0 ELSE 1 END,
 (SELECT count(*) FROM outbox WHERE subject_id = registrations.id AND topic = 'registration.created')
 FROM registrations ORDER BY created_at"""
_LINES = f"SELECT payment_id, source, target, amount FROM {schema.ledger.name} ORDER BY id"
_OTHERS = """SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""

TECHNICAL = Action.TECHNICAL_REVERSAL.value
WIRE_WORDS = {
    "capture": "capture",
    "void": "reversal",
    "reversal": "reversal",
    "refund": "refund",
    "rebill": "rebill",
    "increment": "increment",
    "renewal": "renewal",
}
"""The follow-ups that are sent to the acquirer, and under which name."""


@dataclass(frozen=True)
class Record:
    id: str
    payment_type: str
    state: State
    amount: int
    code: str
    referenced_id: str
    key: str
    action: str
    chain_id: str
    position: int
    releases: int
    closes: int
    added: int
    drawn: int
    reserved: int
    disputed: int
    counted: int
    closed: int
    chain_length: int
    chain_net: int
    signature_length: int

    @property
    def is_technical(self) -> bool:
        return self.action == TECHNICAL

    @property
    def is_sent(self) -> bool:
        """Whether it was sent to the acquirer, and neither refused at once nor reported by a bank."""
        return not self.chain_id or self.action in WIRE_WORDS


@dataclass(frozen=True)
class Stored:
    """A registration."""

    id: str
    state: RegistrationState
    made_by: str
    """The payment with which it was made."""
    token: str
    is_kept: bool
    """Whether anything is left of its account."""
    announced: int
    """This counts the events that announced it."""

    @property
    def received(self) -> str:
        return f"registration {self.state.name.lower()}"


@dataclass(frozen=True)
class Line:
    payment_id: str
    source: str
    target: str
    amount: int


@dataclass(frozen=True)
class StoreReader:
    query: Callable[[str], Rows]
    has_server: bool = False

    def has_nothing_open(self) -> bool:
        """Nothing is open and nothing is owed."""
        return not self.list_open()

    def wait_until_nothing_is_open(self, within_s: float = QUIET_S) -> None:
        deadline = time.monotonic() + within_s
        while not self.has_nothing_open():
            assert time.monotonic() < deadline, f"after {within_s} s still {self.list_open()}"
            time.sleep(0.1)

    def wait_until_alone(self, within_s: float = QUIET_S) -> None:
        """A database server may still be busy with the last words of a client that died."""
        deadline = time.monotonic() + within_s
        while self.has_server and self.query(_OTHERS) != [("0",)]:
            assert time.monotonic() < deadline, f"somebody is still connected after {within_s} s"
            time.sleep(0.02)

    def list_open(self, *more: str) -> Rows:
        """Lists open payments and jobs in one statement, because one commit may end a job and start a payment."""
        waiting = f"SELECT id, payment_type, state FROM payments WHERE {_IS_OPEN}"
        return self.query(" UNION ALL ".join([waiting, "SELECT id, topic, tries FROM jobs", *more]))

    def list_owed(self) -> list[tuple[str, str]]:
        """Lists payment and topic of every job."""
        return [(subject_id, topic) for subject_id, topic in self.query("SELECT subject_id, topic FROM jobs")]

    def is_calm(self, *topics: str) -> bool:
        """Nothing is open and no recovery task on these topics is due; shoppers may be away, and tasks set aside."""
        waiting = f"SELECT payment_type, 1 FROM payments WHERE {_IS_OPEN}"
        rows = self.query(f"{waiting} UNION ALL SELECT topic, 0 FROM jobs WHERE due_at < {ASIDE}")
        return not any(is_open == "1" or topic in topics for topic, is_open in rows)

    def wait_until_done(self, *topics: str, within_s: float = QUIET_S) -> None:
        deadline = time.monotonic() + within_s
        while not self.is_calm(*topics):
            assert time.monotonic() < deadline, f"after {within_s} s still {self.list_open()}"
            time.sleep(0.1)

    def read_stages(self) -> dict[str, Stage]:
        return {id: Stage(int(stage)) for id, stage in self.query("SELECT id, stage FROM authentications")}

    def read_instructions(self) -> dict[str, InstructionState]:
        rows = self.query("SELECT id, state FROM instructions")
        return {id: InstructionState(int(state)) for id, state in rows}

    def count_secrets(self) -> int:
        """Counts the security codes that still wait for their shopper."""
        return int(self.query("SELECT count(*) FROM authentications WHERE sealed_secret IS NOT NULL")[0][0])

    def postpone_recovery_tasks(self, payment_id: str) -> None:
        """No worker looks at them any more; one that is looking at this moment is waited for."""
        where = f"subject_id = '{payment_id}' AND lease_owner IS NULL"
        deadline = time.monotonic() + QUIET_S
        while not self.query(f"UPDATE jobs SET due_at = {ASIDE} WHERE {where} RETURNING id"):
            assert time.monotonic() < deadline, f"{payment_id} owes nothing, or is never given back"
            time.sleep(0.02)

    def read_payments(self) -> list[Record]:
        return [_read_record(row) for row in self.query(_PAYMENTS)]

    def read_registrations(self) -> list[Stored]:
        return [
            Stored(id, RegistrationState(int(state)), made_by, token, kept == "1", int(announced))
            for id, state, made_by, token, kept, announced in self.query(_REGISTRATIONS)
        ]

    def read_lines(self) -> list[Line]:
        return [Line(id, source, target, int(amount)) for id, source, target, amount in self.query(_LINES)]

    def find_by_key(self, key: str) -> list[Record]:
        return [record for record in self.read_payments() if record.key == key]

    def read_events(self) -> dict[str, list[str]]:
        """Maps payments to the results they announced, in order."""
        events: dict[str, list[str]] = defaultdict(list)
        for subject_id, code in self.query("SELECT subject_id, result_code FROM outbox ORDER BY id"):
            events[subject_id].append(code)
        return events

    def count_unanswered_keys(self) -> int:
        return int(self.query(f"SELECT count(*) FROM {schema.idempotency_keys.name} WHERE status IS NULL")[0][0])


def _read_record(row: tuple[str, ...]) -> Record:
    id, payment_type, state, amount, code, referenced_id, key, action, chain_id, *numbers = row
    words = (code, referenced_id, key, action, chain_id)
    return Record(id, payment_type, State(int(state)), int(amount), *words, *map(int, numbers))


def open_store_reader(database: str) -> StoreReader:
    if database.startswith("postgresql:"):
        return StoreReader(lambda text: asyncio.run(_query_server(database, text)), True)
    path = database.removeprefix("sqlite:///")

    def query(text: str) -> Rows:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(5_000)
        try:
            return [tuple(str(value) for value in row) for row in connection.execute(text)]
        finally:
            connection.close()

    return StoreReader(query)


async def _query_server(database: str, text: str) -> Rows:
    connection = await asyncpg.connect(database)
    try:
        return [tuple(str(value) for value in row) for row in await connection.fetch(text)]
    finally:
        await connection.close()


def find_contradictions(store: StoreReader, ledger: Mapping[str, Entry]) -> list[str]:
    """Everything that contradicts `a failed answer never leaves money taken`, and its like; empty when all is well."""
    records = store.read_payments()
    orders = {record.id: record for record in records if not record.is_technical}
    reversals = Counter(record.referenced_id for record in records if record.is_technical)
    return [
        *_compare_money(orders, ledger),
        *_compare_reversals(orders, reversals),
        *_compare_events(records, store.read_events()),
        *_find_double_charges(ledger.values()),
        *_compare_registrations(orders, store.read_registrations()),
        *([f"{count} idempotency keys without an answer"] if (count := store.count_unanswered_keys()) else []),
    ]


def _compare_money(orders: Mapping[str, Record], ledger: Mapping[str, Entry]) -> Iterator[str]:
    for id in ledger.keys() - orders.keys():
        yield f"the acquirer knows {id}, the gateway does not"
    for record in orders.values():
        entry = ledger.get(record.id)
        has_moved = entry is not None and entry.fate is Fate.APPROVED
        if has_moved != (record.state is State.APPROVED and record.is_sent):
            yield f"{record} but the acquirer says {entry}"
        if has_moved and entry is not None and entry.amount != record.amount:
            yield f"{record} but the acquirer took {entry.amount}"


def _compare_reversals(orders: Mapping[str, Record], reversals: Mapping[str, int]) -> Iterator[str]:
    for record in orders.values():
        if reversals.get(record.id, 0) != (record.code in _GIVEN_BACK):
            yield f"{record} has {reversals.get(record.id, 0)} reversals"
    for id in reversals.keys() - orders.keys():
        yield f"a reversal of {id}, which does not exist"


def _compare_events(records: Iterable[Record], events: Mapping[str, list[str]]) -> Iterator[str]:
    for record in records:
        # A credit that was silent at first announces that, and later what it came to.
        if events.get(record.id) not in ([record.code], [PENDING, record.code]):
            yield f"{record} announced {events.get(record.id)}"


def _compare_registrations(orders: Mapping[str, Record], registrations: Iterable[Stored]) -> Iterator[str]:
    """A registration made by a payment is usable exactly if the payment was approved, and is wiped otherwise."""
    for stored in registrations:
        is_good = stored.state is RegistrationState.ACTIVE
        if stored.made_by:
            maker = orders.get(stored.made_by)
            expected = RegistrationState.ACTIVE if _is_approved(maker) else RegistrationState.REJECTED
            if stored.state is not expected or stored.announced != is_good:
                yield f"{stored} was made by {maker}"
        if stored.is_kept is not is_good:
            yield f"{stored} is kept in part, or too long"


def _is_approved(record: Record | None) -> bool:
    return record is not None and record.state is State.APPROVED


def _find_double_charges(entries: Iterable[Entry]) -> Iterator[str]:
    """Every order of a test has an amount of its own, so the same amount taken twice is one order paid twice."""
    taken: Counter[tuple[str, int]] = Counter()
    for entry in entries:
        if entry.fate is Fate.APPROVED:
            taken[entry.type, entry.amount] += 1
        if entry.executions > 1 or entry.contradictions:
            yield f"one key moved money twice or meant two things: {entry}"
    for what, times in taken.items():
        if times > 1:
            yield f"{what} was taken {times} times"
