"""Changes that somebody with a SQL prompt may make to schedules and runs, as rows: the statement, and the finding."""

from __future__ import annotations

from databases.tamperings import OTHER, Tampering
from tollgate.payments.audit import Proof

PLAN, ONCE, TWICE, FAILED, MISSED = "monthly", "MADE after 1", "MADE after 2", "FAILED after 1", "MISSED after 0"


def _plan(column: str, value: str, proof: Proof = Proof.SIGNATURE, on: str = PLAN, row_id: str = "") -> Tampering:
    sql = f"UPDATE schedules SET {column} = {value} WHERE id = :id"
    return Tampering(f"{column} of {on} as {value}", sql, on, proof, "schedules", row_id=row_id)


def _run(column: str, value: str, on: str = ONCE, proof: Proof = Proof.SCHEDULE, row_id: str = "") -> Tampering:
    sql = f"UPDATE schedule_runs SET {column} = {value} WHERE schedule_id || '/' || CAST(due_at AS TEXT) = :id"
    return Tampering(f"{column} of {on} as {value}", sql, on, proof, "schedule_runs", row_id=row_id)


SCHEDULES: dict[str, Tampering] = {
    "id": _plan("id", ":other", row_id=OTHER),
    "merchant_id": _plan("merchant_id", ":neighbour"),
    "channel_id": _plan("channel_id", ":other"),
    "series_id": _plan("series_id", ":other"),
    "registration_id": _plan("registration_id", ":other"),
    "state": _plan("state", "0", on="over"),
    "payment_type": _plan("payment_type", "'PA'"),
    "amount": _plan("amount", "amount + 1"),
    "currency": _plan("currency", "'USD'"),
    "plan": _plan("plan", "replace(plan, '10', '11')"),
    "created_at": _plan("created_at", "created_at - 1"),
    "starts_at": _plan("starts_at", "starts_at - 1"),
    "ends_at": _plan("ends_at", "9000000000000000"),
    "next_at": _plan("next_at", "next_at + 1", Proof.SCHEDULE),
    "test_mode": _plan("test_mode", "'EXTERNAL'"),
    "echo": _plan("echo", """'{"descriptor": "Another"}'"""),
    "mac": _plan("mac", "NULL"),
}
"""One for each column that an audit judges."""

RUNS: dict[str, Tampering] = {
    "merchant_id": _run("merchant_id", ":neighbour"),
    "schedule_id": _run("schedule_id", ":other", row_id=OTHER),
    "due_at": _run("due_at", "due_at + 1", row_id=PLAN),
    "state": _run("state", "3"),
    "tries": _run("tries", "tries + 1"),
    "payment_id": _run("payment_id", ":other"),
}

NOT_AUDITED = frozenset({"ndc", "result_code", "skipped", "completed_at"})
"""Nothing else in the store contradicts these."""

FORGED = (
    _plan("state", "9", Proof.ROW),
    _plan("plan", "'{'", Proof.ROW),
    _plan("next_at", "NULL", Proof.SCHEDULE),
    _plan("mac", "(SELECT r.fingerprint FROM registrations AS r WHERE r.card LIKE '%411111%')", Proof.SCHEDULE, "over"),
    _run("state", "9", proof=Proof.ROW),
    _run("state", "0"),
    _run("state", "1", FAILED),
    _run("state", "1", MISSED),
    _run("payment_id", "NULL"),
    _run("tries", "1", TWICE),
)

PAID = (
    Tampering(
        "a payment that another run has made already",
        "UPDATE schedule_runs SET payment_id = (SELECT r.payment_id FROM schedule_runs AS r WHERE r.tries = 2)"
        " WHERE schedule_id || '/' || CAST(due_at AS TEXT) = :id",
        ONCE,
        Proof.SCHEDULE,
        "schedule_runs",
    ),
    Tampering(
        "two tries of a run that succeeded",
        "UPDATE payments SET state = 1 WHERE id = :id",
        "try 1 of 2",
        Proof.SCHEDULE,
        "schedule_runs",
        row_id=TWICE,
    ),
    Tampering(
        "the payment of a run that did not succeed",
        "UPDATE payments SET state = 2 WHERE id = :id",
        "try 2 of 2",
        Proof.SCHEDULE,
        "schedule_runs",
        row_id=TWICE,
    ),
    Tampering(
        "the payment of a run",
        "DELETE FROM payments WHERE id = :id",
        "try 2 of 2",
        Proof.SCHEDULE,
        "schedule_runs",
        row_id=TWICE,
    ),
    Tampering(
        "the payment of a run that failed",
        "DELETE FROM payments WHERE id = :id",
        "try 1 of 1",
        Proof.SCHEDULE,
        "schedule_runs",
        row_id=PLAN,
    ),
    Tampering(
        "a schedule that had runs",
        "DELETE FROM schedules WHERE id = :id",
        PLAN,
        Proof.SCHEDULE,
        "schedule_runs",
    ),
    Tampering("a schedule that events speak of", "DELETE FROM schedules WHERE id = :id", "over", Proof.EVENT, "outbox"),
    Tampering(
        "the registration of a schedule",
        "DELETE FROM registrations WHERE id = :id",
        "card",
        Proof.SCHEDULE,
        "schedules",
        row_id=PLAN,
    ),
)

SCHEDULE_TAMPERINGS = (*SCHEDULES.values(), *RUNS.values(), *FORGED, *PAID)
