"""Chains compared with the acquirer's ledger and with themselves: balances, positions and entries counted again.

The tables are their own, because those of the gateway are doubted here. Facts about single payments are
compared in `store_reader`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from acquirer import AcquirerProcess
from crash.store_reader import WIRE_WORDS, Line, Record, StoreReader
from tollgate.payments.payment import State


@dataclass(frozen=True)
class Effect:
    """A successful follow-up changes the payment that it names, its chain and the ledger by this."""

    draws: bool = False
    adds: bool = False
    disputes: bool = False
    is_counted: bool = False
    net: int = 0
    entry: tuple[str, str] = ("", "")


EFFECTS = {
    "capture": Effect(draws=True, is_counted=True, net=1, entry=("held", "earned")),
    "void": Effect(draws=True, entry=("held", "shopper")),
    "reversal": Effect(draws=True, net=-1, entry=("earned", "shopper")),
    "refund": Effect(draws=True, net=-1, entry=("earned", "shopper")),
    "rebill": Effect(is_counted=True, net=1, entry=("shopper", "earned")),
    "increment": Effect(adds=True, entry=("shopper", "held")),
    "chargeback": Effect(disputes=True, net=-1, entry=("earned", "shopper")),
    "technical_reversal": Effect(),
}
"""Every action that a crash test performs has a row."""
FIRST_ENTRIES = {"PA": ("shopper", "held"), "DB": ("shopper", "earned"), "CD": ("earned", "shopper")}


def find_chain_contradictions(store: StoreReader, acquirer: AcquirerProcess) -> list[str]:
    """Returns nothing when every balance, position and ledger entry is what the transactions say it is."""
    records = store.read_payments()
    followers: dict[str, list[Record]] = defaultdict(list)
    chains: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        chains[record.chain_id].append(record)
        if record.state is State.APPROVED:
            followers[record.referenced_id].append(record)
    return [
        *(lie for record in records for lie in _compare_balance(record, followers[record.id])),
        *(lie for first in chains[""] for lie in _compare_chain(first, chains.get(first.id, []))),
        *(lie for record in records for lie in _compare_account(record, followers[record.id], acquirer)),
        *_compare_entries(records, store.read_lines()),
        *(f"{record} has no seal" for record in records if not record.signature_length),
    ]


def _compare_balance(record: Record, followers: Iterable[Record]) -> Iterator[str]:
    counted: Counter[str] = Counter()
    closed = 0
    for later in followers:
        effect = EFFECTS[later.action]
        counted["drawn"] += effect.draws * (later.amount + later.releases)
        counted["added"] += effect.adds * later.amount
        counted["disputed"] += effect.disputes * later.amount
        counted["counted"] += effect.is_counted
        closed += later.closes
    if record.reserved:
        yield f"{record} still reserves {record.reserved}"
    for name in ("drawn", "added", "disputed", "counted"):
        if getattr(record, name) != counted[name]:
            yield f"{record} says {name} {getattr(record, name)}, its followers say {counted[name]}"
    if record.closed != closed:
        yield f"{record} has closed {record.closed}, its followers closed {closed}"


def _compare_chain(first: Record, later: list[Record]) -> Iterator[str]:
    positions = sorted(record.position for record in later)
    if positions != list(range(2, first.chain_length + 1)):
        yield f"{first} has a chain of {first.chain_length}, numbered {positions}"
    net = sum(EFFECTS[record.action].net * record.amount for record in later if record.state is State.APPROVED)
    if first.chain_net != net:
        yield f"{first} has a net of {first.chain_net}, its chain says {net}"


def _compare_account(record: Record, followers: Iterable[Record], acquirer: AcquirerProcess) -> Iterator[str]:
    """The acquirer did exactly the same with the same transaction, and has the same sum left of it."""
    sent = {later.id: (WIRE_WORDS[later.action], later.amount) for later in followers if later.is_sent}
    if not sent:
        return
    account = acquirer.read_account(record.id)
    done = {operation.key: (operation.type, operation.amount) for operation in account.operations}
    if done != sent or len(account.operations) != len(sent):
        yield f"{record} was followed by {sent}, at the acquirer by {account.operations}"
    is_hold = record.payment_type == "PA"
    total = account.authorised if is_hold else account.captured
    used = account.reversed + (account.captured if is_hold else account.refunded)
    released = sum(later.releases for later in followers)
    if (total, used) != (record.amount + record.added, record.drawn - released):
        yield f"{record} has {record.drawn - released} drawn, the acquirer says {account}"


def _compare_entries(records: Iterable[Record], lines: Iterable[Line]) -> Iterator[str]:
    posted: dict[str, Counter[tuple[str, str, int]]] = defaultdict(Counter)
    for line in lines:
        posted[line.payment_id][line.source, line.target, line.amount] += 1
    expected: Mapping[str, Counter[tuple[str, str, int]]] = {
        record.id: Counter(_list_entries(record)) for record in records
    }
    for id in posted.keys() | expected.keys():
        if posted.get(id, Counter()) != expected.get(id, Counter()):
            yield f"the ledger has {posted.get(id)} for {id}, and should have {expected.get(id)}"


def _list_entries(record: Record) -> Iterator[tuple[str, str, int]]:
    if record.state is not State.APPROVED:
        return
    source, target = EFFECTS[record.action].entry if record.action else FIRST_ENTRIES[record.payment_type]
    if source:
        yield source, target, record.amount
    if record.releases:
        yield source, "shopper", record.releases
