"""Changes that somebody with a SQL prompt may make to checkouts, as rows: the statement, and the finding."""

from __future__ import annotations

from databases.tamperings import Tampering
from tollgate.payments.audit import Proof

TABLE = "checkouts"


def _change(column: str, value: str, on: str, proof: Proof = Proof.CHECKOUT) -> Tampering:
    return Tampering(
        f"{column} of {on} as {value}", f"UPDATE checkouts SET {column} = {value} WHERE id = :id", on, proof, TABLE
    )


def _on_payment(name: str, sql: str, on: str) -> Tampering:
    return Tampering(name, sql, on, Proof.CHECKOUT, "payments")


_OTHERS = "(SELECT c.sealed_fields FROM checkouts AS c WHERE c.id <> :id AND c.sealed_fields IS NOT NULL LIMIT 1)"

COLUMNS: dict[str, Tampering] = {
    "merchant_id": _change("merchant_id", ":neighbour", "paid"),
    "id": Tampering(
        "id of paid",
        "UPDATE checkouts SET id = 'X' || substr(id, 2) WHERE id = :id",
        "paid",
        Proof.CHECKOUT,
        TABLE,
        row_id="X",
    ),
    "kind": _change("kind", "'registration'", "paid"),
    "state": _change("state", "2", "declined"),
    "subject_id": _change("subject_id", ":other", "paid"),
    "sealed_fields": _change("sealed_fields", _OTHERS, "unpaid"),
}
"""One for each column that an audit judges."""

NOT_AUDITED = frozenset(
    {
        "attempts",
        "channel_id",
        "created_at",
        "expires_at",
        "read_at",
        "reminded_at",
        "reminder",
        "return_url",
        "revision",
        "script",
        "submitted_at",
        "window_ends_at",
        "window_reads",
    }
)
"""Nothing else in the store contradicts these."""

CHECKOUT_TAMPERINGS = (
    *COLUMNS.values(),
    _change("state", "3", "declined"),
    _change("state", "2", "held"),
    _change("state", "1", "paid"),
    _change("state", "1", "stores"),
    _change("state", "2", "stores"),
    _change("state", "2", "unpaid"),
    _change("state", "9", "paid", Proof.ROW),
    _change("kind", "'refund'", "paid", Proof.ROW),
    _change("subject_id", "NULL", "stored"),
    _change("subject_id", "(SELECT c.subject_id FROM checkouts AS c WHERE c.id <> :id AND c.state = 3)", "paid"),
    _change("sealed_fields", "substr(sealed_fields, 1, length(sealed_fields) - 1)", "unpaid"),
    _on_payment(
        "a paid checkout that is open again", "UPDATE checkouts SET state = 0 WHERE subject_id = :id", "payment of paid"
    ),
    _on_payment(
        "a second payment beside the one that paid",
        "UPDATE payments SET checkout_id = (SELECT p.checkout_id FROM payments AS p WHERE p.id <> :id AND p.state = 1 "
        "AND p.checkout_id <> payments.checkout_id ORDER BY p.id LIMIT 1) WHERE id = :id",
        "payment of told",
    ),
    Tampering(
        "the recovery task that gives back what was paid twice",
        "DELETE FROM jobs WHERE subject_id = :id AND topic = 'reverse'",
        "owing attempt",
        Proof.JOB,
        "jobs",
    ),
    Tampering(
        "the payment that paid",
        "DELETE FROM payments WHERE id = (SELECT c.subject_id FROM checkouts AS c WHERE c.id = :id)",
        "paid",
        Proof.CHECKOUT,
        TABLE,
    ),
)
