"""Changes that somebody with a SQL prompt may make to reviews: the statement, and the finding."""

from __future__ import annotations

from databases.tamperings import OTHER, Tampering
from tollgate.payments.audit import Proof

_INSERT = (
    "INSERT INTO reviews (merchant_id, id, channel_id, state, opened_at, decided_by, note)"
    " SELECT merchant_id, {id}, channel_id, 0, completed_at, '', '' FROM payments WHERE id = :id"
)


def _change(column: str, value: str, on: str, proof: Proof = Proof.REVIEW) -> Tampering:
    sql = f"UPDATE reviews SET {column} = {value} WHERE id = :id"
    return Tampering(f"{column} of {on} as {value}", sql, on, proof, "reviews")


COLUMNS: dict[str, Tampering] = {
    "merchant_id": _change("merchant_id", ":neighbour", "open"),
    "id": _change("id", ":other", "open"),
    "channel_id": _change("channel_id", ":other", "open"),
    "state": _change("state", "1", "open"),
    "opened_at": _change("opened_at", "opened_at - 1", "open"),
    "decided_at": _change("decided_at", "decided_at + 1", "accepted"),
    "decided_by": _change("decided_by", "'somebody'", "open"),
}
"""One for each column that an audit reads."""

REVIEW_TAMPERINGS = (
    *COLUMNS.values(),
    # A capture would pass after each of these.
    _change("state", "2", "open"),
    _change("state", "3", "open"),
    Tampering(
        "closed by hand with a time",
        "UPDATE reviews SET state = 3, decided_at = 1 WHERE id = :id",
        "open",
        Proof.REVIEW,
        "reviews",
    ),
    Tampering("an open one removed", "DELETE FROM reviews WHERE id = :id", "open", Proof.REVIEW, "reviews"),
    Tampering("a forced one removed", "DELETE FROM reviews WHERE id = :id", "forced", Proof.REVIEW, "reviews"),
    # A second decision would be possible after each of these.
    _change("state", "0", "accepted"),
    _change("state", "0", "rejected"),
    _change("state", "0", "closed"),
    _change("state", "1", "rejected"),
    _change("state", "2", "accepted"),
    _change("decided_at", "NULL", "rejected"),
    _change("decided_at", "decided_at + 1", "closed"),
    Tampering("a decided one removed", "DELETE FROM reviews WHERE id = :id", "accepted", Proof.REVIEW, "reviews"),
    Tampering("a closed one removed", "DELETE FROM reviews WHERE id = :id", "closed", Proof.REVIEW, "reviews"),
    _change("state", "9", "open", Proof.ROW),
    Tampering("one of no payment", _INSERT.format(id=":other"), "open", Proof.REVIEW, "reviews", row_id=OTHER),
    Tampering("one of a plain payment", _INSERT.format(id="id"), "plain", Proof.REVIEW, "reviews"),
    Tampering("what gives the money back", "DELETE FROM jobs WHERE subject_id = :id", "owed", Proof.JOB, "jobs"),
    # The decision is part of the signed payment.
    Tampering(
        "a rejection made a success",
        "UPDATE payments SET result_code = '000.100.110' WHERE id = :id",
        "rejected",
        Proof.SIGNATURE,
    ),
    Tampering("a finding removed", "UPDATE payments SET risk = NULL WHERE id = :id", "forced", Proof.SIGNATURE),
    Tampering(
        "the event of a decision",
        "DELETE FROM outbox WHERE subject_id = :id AND sequence = 2",
        "accepted",
        Proof.EVENT,
        "outbox",
    ),
)
