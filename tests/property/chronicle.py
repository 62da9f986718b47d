"""The chronicle remembers every deed as it was predicted and every idempotency key with its answer.

Unpredictable ends are read from the tables and compared with the acquirer's ledger; nothing is asked or sent here.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from acquirer_ledger import Fate as AcquirerFate
from property.audit import Row, Tables
from property.moody_wire import MoodyWire
from property.plain_words import (
    DECLINES,
    NEVER_SEEN,
    PENDING,
    SILENT,
    SUCCESS,
    Deed,
    Fate,
    Memory,
    Ruling,
    Wanted,
    conclude,
    is_given_back,
)
from tollgate.contract.answers import Answer
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.values import HOUR, FixedClock, Refusal

KEY_LIFETIME = 24 * HOUR
AGAINST_THE_LEDGER = ("12", "13")
UNKNOWN_TO_ACQUIRER = ("receipt", "return")
KEY_BUSY, KEY_MISUSED = "800.600.100", "800.110.100"

Called = Answer | Payment | Refusal | None
"""A call ends in None if the process died."""


@dataclass
class Promise:
    """A promise is what an idempotency key stands for."""

    fingerprint: bytes
    made_at: int
    deed_id: str
    body: bytes | None


class Chronicle:
    def __init__(self, wire: MoodyWire, clock: FixedClock) -> None:
        self.wire = wire
        self.clock = clock
        self.memory = Memory()
        self.promises: dict[str, Promise] = {}

    def is_replay(self, idempotency_key: IdempotencyKey | None, called: Called) -> bool:
        """Whether the key was used before; then the answer must be the first one."""
        promise = self.promises.get(idempotency_key.key) if idempotency_key else None
        if idempotency_key is None or promise is None or idempotency_key.created_at - promise.made_at > KEY_LIFETIME:
            return False
        if called is None:
            return True
        if promise.fingerprint != idempotency_key.fingerprint:
            assert read_code(called) == KEY_MISUSED
        elif self.memory.deeds[promise.deed_id].fate is Fate.WRITTEN:
            assert read_code(called) == KEY_BUSY
        else:
            assert isinstance(called, Answer)
            assert read_id(called) == promise.deed_id
            assert promise.body in (None, called.body)
            promise.body = called.body
        return True

    def find_new(self, tables: Tables, called: Called) -> Row | None:
        if called is not None:
            return None if isinstance(called, Refusal) else tables.rows[read_id(called)]
        unknown = [row for row in tables.rows.values() if row.id not in self.memory.deeds]
        new = [row for row in unknown if row.action != "technical_reversal"]
        assert len(new) <= 1
        return new[0] if new else None

    def expect_refusal(self, wanted: Wanted, ruling: Ruling, called: Called) -> None:
        if called is not None:
            assert not wanted.by_merchant
            assert read_code(called) == ruling.code

    def make_deed(self, wanted: Wanted, named: Deed, ruling: Ruling, row: Row, called: Called) -> Deed:
        assert fits(row, ruling), f"{row} is not {ruling}"
        known_code = ruling.code or ("" if wanted.by_merchant else SUCCESS)
        currency = named.currency
        if ruling.code and wanted.amount is not None and wanted.currency is not None:
            currency = wanted.currency
        deed = Deed(
            row.id,
            wanted.payment_type,
            ruling.amount,
            currency,
            row.created_at,
            Fate.WRITTEN,
            known_code,
            does=ruling.does,
            named=named,
            is_final=wanted.is_final,
            releases=ruling.releases,
            known_code=known_code,
        )
        if known_code:
            assert row.id not in self.wire.received
        if called is not None and known_code:
            deed.fate = Fate.DONE if deed.does else Fate.FAILED
        elif called is not None:
            self.hear(deed)
        return deed

    def expect_consent(self, deed: Deed) -> None:
        """The acquirer's strict ledger allows what the gateway allows, unless it knows of less or of more.

        This cannot be said of two requests at once: their messages may arrive in the other order.
        """
        if self.wire.received.get(deed.id) in AGAINST_THE_LEDGER:
            others = self.memory.chain(deed.first)
            assert any(each.does in UNKNOWN_TO_ACQUIRER or each.code in (PENDING, SILENT, "") for each in others)

    def hear(self, deed: Deed) -> None:
        """An answer that came too late leaves it written, for `learn` to find out."""
        received = self.wire.received[deed.id]
        if received != "overtaken":
            deed.fate, deed.code = conclude(deed.payment_type, received)

    def keep(self, deed: Deed, idempotency_key: IdempotencyKey | None, called: Called) -> None:
        self.memory.deeds[deed.id] = deed
        if idempotency_key is not None:
            body = called.body if isinstance(called, Answer) else None
            self.promises[idempotency_key.key] = Promise(
                idempotency_key.fingerprint, idempotency_key.created_at, deed.id, body
            )

    def learn(self, tables: Tables) -> None:
        """An open deed may have become only what the acquirer says it is; all others stay."""
        ledger = self.wire.read_ledger()
        for deed in self.memory.deeds.values():
            row = tables.rows[deed.id]
            if deed.fate is Fate.WRITTEN and row.fate is not Fate.WRITTEN:
                assert self.clock.at > row.deadline_at
                deed.fate, deed.code = conclude(deed.payment_type, "silent")
                if deed.known_code:
                    deed.fate, deed.code = (Fate.DONE if deed.does else Fate.FAILED), deed.known_code
            if deed.fate is Fate.OPEN and row.fate is not Fate.OPEN:
                entry = ledger.get(deed.id)
                if entry is not None and entry.fate is AcquirerFate.APPROVED:
                    deed.fate, deed.code = Fate.DONE, SUCCESS
                else:
                    response = entry.response_code if entry else ""
                    deed.fate, deed.code = Fate.FAILED, DECLINES.get(response, NEVER_SEEN)
        for row in tables.rows.values():
            if row.id not in self.memory.deeds:
                self.learn_reversal(row)

    def learn_reversal(self, row: Row) -> None:
        undone = self.memory.deeds[row.referenced_id or ""]
        assert row.action == "technical_reversal"
        assert (undone.fate, undone.code, is_given_back(undone.payment_type)) == (Fate.FAILED, SILENT, True)
        deed = Deed(row.id, "RV", undone.amount, undone.currency, row.created_at, row.fate, SUCCESS, known_code=SUCCESS)
        deed.does, deed.named = "technical_reversal", undone
        self.memory.deeds[row.id] = deed


def fits(row: Row, ruling: Ruling) -> bool:
    facts = (row.action or "", row.amount, row.releases) == (ruling.does, ruling.amount, ruling.releases)
    return facts and (not ruling.code or row.result_code == ruling.code)


def read_id(called: Called) -> str:
    if isinstance(called, Payment):
        return called.id
    assert isinstance(called, Answer)
    return str(orjson.loads(called.body)["id"])


def read_code(called: Called) -> str:
    assert isinstance(called, Refusal), f"{called} is no refusal"
    return called.result.code
