"""Changes that somebody with a SQL prompt may make to the store, as rows: the statement, and the finding."""

from __future__ import annotations

from dataclasses import dataclass

from tollgate.payments.audit import Proof
from tollgate.payments.ledger import Balance, Entry
from tollgate.store.events import Event

OTHER = "8a" + "9" * 30
"""An id that belongs to nothing."""


@dataclass(frozen=True)
class Tampering:
    name: str
    sql: str
    """`:id` is the transaction `on`, `:other` an unused id, `:neighbour` another merchant."""
    on: str
    proof: Proof
    table: str = "payments"
    rows: int = 1
    row_id: str = ""
    """The id of the finding's row, where it is not (part of) the id of `on`."""


def _change_payment(column: str, value: str, on: str, proof: Proof = Proof.SIGNATURE, row_id: str = "") -> Tampering:
    sql = f"UPDATE payments SET {column} = {value} WHERE id = :id"
    return Tampering(f"{column} of {on}", sql, on, proof, row_id=row_id)


FACTS: dict[str, Tampering] = {
    "merchant_id": _change_payment("merchant_id", ":neighbour", "cp 1"),
    "channel_id": _change_payment("channel_id", ":other", "cp 1"),
    "id": _change_payment("id", ":other", "cp 1", row_id=OTHER),
    "chain_id": _change_payment("chain_id", ":other", "rf 1"),
    "position": _change_payment("position", "99", "rf 1"),
    "referenced_id": _change_payment("referenced_id", ":other", "rf of cp"),
    "checkout_id": _change_payment("checkout_id", "'a.b'", "db"),
    "registration_id": _change_payment("registration_id", ":other", "db"),
    "return_url": _change_payment("return_url", "'https://elsewhere.example'", "db"),
    "payment_type": _change_payment("payment_type", "'DB'", "pa.cp"),
    "action": _change_payment("action", "'refund'", "rv"),
    "state": _change_payment("state", "2", "rf 2"),
    "amount": _change_payment("amount", "amount - 1", "cp 1"),
    "currency": _change_payment("currency", "'USD'", "db"),
    "releases": _change_payment("releases", "0", "cp final"),
    "closes": _change_payment("closes", "0", "cp final"),
    "test_mode": _change_payment("test_mode", "NULL", "db"),
    "created_at": _change_payment("created_at", "created_at - 1", "db"),
    "completed_at": _change_payment("completed_at", "completed_at + 1", "db declined"),
    "outcome": _change_payment("outcome", "'silent'", "rf 2"),
    "result_code": _change_payment("result_code", "'000.000.000'", "db declined"),
    "brand": _change_payment("brand", "'MASTER'", "db"),
    "method": _change_payment("method", "'DC'", "db"),
    "descriptor": _change_payment("descriptor", "'Another shop'", "db"),
    "short_id": _change_payment("short_id", "'0000.0000.0000'", "db"),
    "ndc": _change_payment("ndc", "'another request'", "db"),
    "merchant_transaction_id": _change_payment("merchant_transaction_id", "'another order'", "db"),
    "card": _change_payment("card", "NULL", "db"),
    "echo": _change_payment("echo", """'{"numberOfCaptures": "98"}'""", "pa"),
    "connector": _change_payment("connector", "'iso8583'", "db"),
    "account_id": _change_payment("account_id", ":other", "db"),
    "routing": _change_payment("routing", """'[["8a829418530df1d201531299e097175c","chosen",100]]'""", "db"),
    "risk": _change_payment("risk", """'{"score": 7}'""", "db"),
    "split": _change_payment("split", """'[["bob",4600]]'""", "cp split"),
    "details": _change_payment("details", """'{"AcquirerResponse": "00"}'""", "db declined"),
}
"""A change of each column that the signature of a payment covers."""

BALANCES: dict[str, Tampering] = {
    column: _change_payment(column, f"{column} + 1", "pa", Proof.BALANCE) for column in Balance.__struct_fields__
}

_LINE_VALUES = {
    "id": "id || 'x'",
    "merchant_id": ":neighbour",
    "payment_id": ":other",
    "channel_id": ":other",
    "currency": "'USD'",
    "source": "'earned'",
    "target": "'nobody'",
    "amount": "amount + 1",
    "posted_at": "posted_at - 1",
    "seller_id": "'ann'",
}
LINES: dict[str, Tampering] = {
    column: Tampering(
        f"{column} of a line",
        f"UPDATE ledger_entries SET {column} = {_LINE_VALUES[column]} WHERE payment_id = :id",
        "cp 1",
        Proof.LEDGER,
        "ledger_entries",
    )
    for column in Entry.__struct_fields__
}

_EVENT_VALUES = {
    "id": "id || 'x'",
    "merchant_id": ":neighbour",
    "subject_id": ":other",
    "topic": "'payment.forgotten'",
    "created_at": "created_at - 1",
    "result_code": "'000.000.000'",
    "sequence": "sequence + 1",
}
EVENTS: dict[str, Tampering] = {
    column: Tampering(
        f"{column} of an event",
        f"UPDATE outbox SET {column} = {_EVENT_VALUES[column]} WHERE subject_id = :id",
        "rf 1",
        Proof.EVENT,
        "outbox",
    )
    for column in Event.__struct_fields__
}

_COPIED = (
    "channel_id, payment_type, state, amount, currency, brand, method, descriptor, short_id, ndc, created_at,"
    " deadline_at, test_mode, checkout_id, registration_id, return_url, echo, outcome, result_code, details,"
    " completed_at"
)
_INSERT_FIRST = f"INSERT INTO payments (merchant_id, id, {_COPIED}, mac) SELECT merchant_id, :other, {_COPIED}"
_INSERT_LATER = (
    f"INSERT INTO payments (merchant_id, id, {_COPIED}, mac, referenced_id, action, chain_id, position)"
    f" SELECT merchant_id, :other, {_COPIED}, mac, referenced_id, action, chain_id"
)
_INSERT_ENTRY = (
    "INSERT INTO ledger_entries (merchant_id, id, payment_id, channel_id, currency, source, target, amount, posted_at)"
    " SELECT merchant_id"
)
_REST_OF_LINE = "channel_id, currency, source, target, amount, posted_at FROM ledger_entries WHERE payment_id = :id"

REMOVED = (
    Tampering("the first of a chain", "DELETE FROM payments WHERE id = :id", "pa", Proof.EVENT, "outbox"),
    Tampering(
        "the first of a chain leaves orphans", "DELETE FROM payments WHERE id = :id", "db", Proof.CHAIN, row_id="rf 1"
    ),
    Tampering("the middle of a chain", "DELETE FROM payments WHERE id = :id", "rf 1", Proof.CHAIN, row_id="db"),
    Tampering("the last of a chain", "DELETE FROM payments WHERE id = :id", "cb again", Proof.BALANCE, row_id="cr"),
    Tampering("a refused one", "DELETE FROM payments WHERE id = :id", "cp refused", Proof.CHAIN, row_id="pa"),
    Tampering("one in flight", "DELETE FROM payments WHERE id = :id", "CP started", Proof.BALANCE, row_id="pa open"),
    Tampering("a payment alone", "DELETE FROM payments WHERE id = :id", "neighbour", Proof.LEDGER, "ledger_entries"),
    Tampering(
        "a payment with a key",
        "DELETE FROM payments WHERE id = :id",
        "db",
        Proof.IDEMPOTENCY_KEY,
        "idempotency_keys",
        row_id="key",
    ),
    Tampering(
        "a payment with a recovery task", "DELETE FROM payments WHERE id = :id", "cd unresolved", Proof.JOB, "jobs"
    ),
    Tampering("a line", "DELETE FROM ledger_entries WHERE payment_id = :id", "db", Proof.LEDGER, "ledger_entries"),
    Tampering(
        "the line of what was released",
        "DELETE FROM ledger_entries WHERE payment_id = :id AND target = 'shopper'",
        "cp final",
        Proof.LEDGER,
        "ledger_entries",
    ),
    Tampering(
        "the line of a seller",
        "DELETE FROM ledger_entries WHERE payment_id = :id AND seller_id = 'bob'",
        "cp split",
        Proof.LEDGER,
        "ledger_entries",
    ),
    Tampering("the oldest event", "DELETE FROM outbox WHERE subject_id = :id", "pa", Proof.EVENT, "outbox"),
    Tampering(
        "the event of a decline", "DELETE FROM outbox WHERE subject_id = :id", "db declined", Proof.EVENT, "outbox"
    ),
    Tampering(
        "the recovery task of a refund", "DELETE FROM jobs WHERE subject_id = :id", "rf unresolved", Proof.JOB, "jobs"
    ),
    Tampering(
        "the recovery task of a credit", "DELETE FROM jobs WHERE subject_id = :id", "cd unresolved", Proof.JOB, "jobs"
    ),
    Tampering(
        "the recovery task of a debit", "DELETE FROM jobs WHERE subject_id = :id", "db waiting", Proof.JOB, "jobs"
    ),
    Tampering("the reversal owed", "DELETE FROM jobs WHERE subject_id = :id", "db in doubt", Proof.JOB, "jobs"),
)

ADDED = (
    Tampering(
        "a copy with its signature",
        f"{_INSERT_FIRST}, mac FROM payments WHERE id = :id",
        "db",
        Proof.SIGNATURE,
        row_id=OTHER,
    ),
    Tampering(
        "a copy without a signature",
        f"{_INSERT_FIRST}, NULL FROM payments WHERE id = :id",
        "db",
        Proof.SIGNATURE,
        row_id=OTHER,
    ),
    Tampering(
        "a refund that repeats a number",
        f"{_INSERT_LATER}, position FROM payments WHERE id = :id",
        "rf 1",
        Proof.CHAIN,
        row_id=OTHER,
    ),
    Tampering(
        "a refund with a number of its own",
        f"{_INSERT_LATER}, 6 FROM payments WHERE id = :id",
        "rf 1",
        Proof.SIGNATURE,
        row_id=OTHER,
    ),
    Tampering(
        "a line of a payment that has one",
        f"{_INSERT_ENTRY}, id || 'x', payment_id, {_REST_OF_LINE}",
        "db",
        Proof.LEDGER,
        "ledger_entries",
    ),
    Tampering(
        "a line of no payment",
        f"{_INSERT_ENTRY}, id || 'x', :other, {_REST_OF_LINE}",
        "db",
        Proof.LEDGER,
        "ledger_entries",
    ),
    Tampering(
        "an event of a result that never was",
        "INSERT INTO outbox (merchant_id, id, subject_id, topic, created_at, result_code)"
        " SELECT merchant_id, id || 'x', subject_id, topic, created_at, result_code FROM outbox WHERE subject_id = :id",
        "db",
        Proof.EVENT,
        "outbox",
    ),
)

MOVED = (
    Tampering(
        "signatures swapped",
        "UPDATE payments SET mac = (SELECT p.mac FROM payments AS p WHERE p.chain_id = payments.chain_id"
        " AND p.position = 7 - payments.position) WHERE position IN (3, 4) AND chain_id ="
        " (SELECT c.chain_id FROM payments AS c WHERE c.id = :id)",
        "rf 1",
        Proof.SIGNATURE,
        rows=2,
    ),
    Tampering(
        "numbers swapped",
        "UPDATE payments SET position = 7 - position WHERE position IN (3, 4) AND chain_id ="
        " (SELECT c.chain_id FROM payments AS c WHERE c.id = :id)",
        "rf 1",
        Proof.SIGNATURE,
        rows=2,
    ),
    Tampering(
        "renumbered with a gap", "UPDATE payments SET position = 77 WHERE id = :id", "rf 2", Proof.CHAIN, row_id="db"
    ),
    Tampering("renumbered twice", "UPDATE payments SET position = 3 WHERE id = :id", "rf 2", Proof.CHAIN),
    Tampering("a first that is number two", "UPDATE payments SET position = 2 WHERE id = :id", "cd", Proof.CHAIN),
    Tampering("a first hung behind another", "UPDATE payments SET chain_id = :other WHERE id = :id", "cd", Proof.CHAIN),
    Tampering("refers to itself", "UPDATE payments SET referenced_id = id WHERE id = :id", "cb", Proof.CHAIN),
)

DISGUISED = (
    Tampering("a signature taken away", "UPDATE payments SET mac = NULL WHERE id = :id", "db", Proof.SIGNATURE),
    Tampering(
        "a signature on what has no result",
        "UPDATE payments SET mac = (SELECT p.mac FROM payments AS p WHERE p.merchant_id = :neighbour) WHERE id = :id",
        "DB started",
        Proof.SIGNATURE,
    ),
    Tampering(
        "made to look as if in flight",
        "UPDATE payments SET state = 0, mac = NULL, completed_at = NULL, result_code = '' WHERE id = :id",
        "db",
        Proof.LEDGER,
        "ledger_entries",
    ),
    Tampering(
        "announced and made to look as if in flight",
        "UPDATE payments SET state = 0, mac = NULL, completed_at = NULL, result_code = '' WHERE id = :id",
        "db declined",
        Proof.EVENT,
        "outbox",
    ),
    Tampering("a state that is none", "UPDATE payments SET state = 9 WHERE id = :id", "db", Proof.ROW),
    Tampering("an action that is none", "UPDATE payments SET action = 'gift' WHERE id = :id", "rf 1", Proof.ROW),
    Tampering("an echo that is no JSON", "UPDATE payments SET echo = '{' WHERE id = :id", "db", Proof.ROW),
    Tampering("more drawn than there is", "UPDATE payments SET drawn = 9999 WHERE id = :id", "db", Proof.BOUND),
    Tampering("less than nothing reserved", "UPDATE payments SET reserved = -1 WHERE id = :id", "cd", Proof.BOUND),
    Tampering("accounts that disagree", "UPDATE payments SET chain_net = 0 WHERE id = :id", "db", Proof.LEDGER),
    Tampering(
        "a key of another channel",
        "UPDATE idempotency_keys SET channel_id = :other WHERE payment_id = :id",
        "db",
        Proof.IDEMPOTENCY_KEY,
        "idempotency_keys",
        row_id="key",
    ),
    Tampering(
        "a recovery task under another name",
        "UPDATE jobs SET id = 'x' || id WHERE subject_id = :id",
        "rf unresolved",
        Proof.JOB,
        "jobs",
    ),
)

_KEY_VALUES = {
    "merchant_id": ":neighbour",
    "fingerprint": "body",
    "created_at": "created_at - 1",
    "status": "400",
    "body": "fingerprint",
}
STORED_ANSWERS = tuple(
    Tampering(
        f"{column} of a kept answer",
        f"UPDATE idempotency_keys SET {column} = {value} WHERE payment_id = :id",
        "db",
        Proof.IDEMPOTENCY_KEY,
        "idempotency_keys",
        row_id="key",
    )
    for column, value in _KEY_VALUES.items()
)
"""A replayed answer is tied to these columns."""

TAMPERINGS = (
    *FACTS.values(),
    *BALANCES.values(),
    *LINES.values(),
    *EVENTS.values(),
    *REMOVED,
    *ADDED,
    *MOVED,
    *DISGUISED,
    *STORED_ANSWERS,
)
