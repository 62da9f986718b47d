"""Changes that somebody with a SQL prompt may make to rows of payment methods: the statement, and the finding."""

from __future__ import annotations

from databases.tamperings import OTHER, Tampering
from tollgate.payments.audit import Proof

DEBITS = "file pain.008"


def _change(table: str, column: str, value: str, on: str, proof: Proof, row_id: str = "") -> Tampering:
    sql = f"UPDATE {table} SET {column} = {value} WHERE id = :id"
    return Tampering(f"{column} of {on} as {value}", sql, on, proof, table, row_id=row_id)


def _instruct(column: str, value: str, on: str = "db filed", proof: Proof = Proof.INSTRUCTION) -> Tampering:
    return _change("instructions", column, value, on, proof)


INSTRUCTIONS: dict[str, Tampering] = {
    "id": _instruct("id", ":other"),
    "merchant_id": _instruct("merchant_id", ":neighbour"),
    "channel_id": _instruct("channel_id", ":other"),
    "state": _instruct("state", "4"),
    "direction": _instruct("direction", "'credit'", "db open"),
    "amount": _instruct("amount", "amount + 1", "db open"),
    "currency": _instruct("currency", "'USD'", "db open"),
    "account_of": _instruct("account_of", ":other", "db open"),
    "file_id": _instruct("file_id", ":other"),
}
"""One for each column that an audit reads."""

FILES: dict[str, Tampering] = {
    column: _change("bank_files", column, value, DEBITS, Proof.FILE)
    for column, value in {
        "id": "'x' || id",
        "merchant_id": ":neighbour",
        "channel_id": ":other",
        "scheme": "'pain.009'",
        "due_on": "'2027-01-04'",
        "sequence": "'RCUR'",
        "currency": "'USD'",
        "entries": "entries - 1",
        "total": "total + 1",
    }.items()
}

AUTHENTICATIONS: dict[str, Tampering] = {
    "id": _change("authentications", "id", ":other", "challenged", Proof.AUTHENTICATION, OTHER),
    "merchant_id": _change("authentications", "merchant_id", ":neighbour", "challenged", Proof.AUTHENTICATION),
    "stage": _change("authentications", "stage", "3", "challenged", Proof.AUTHENTICATION),
    "body": _change("authentications", "body", "'{'", "walked", Proof.ROW),
    "created_at": _change("authentications", "created_at", "created_at - 1", "challenged", Proof.SIGNATURE),
    "expires_at": _change("authentications", "expires_at", "expires_at + 1", "challenged", Proof.SIGNATURE),
    "mac": _change("authentications", "mac", "NULL", "challenged", Proof.SIGNATURE),
    "sealed_secret": Tampering(
        "a secret put back",
        "UPDATE authentications SET sealed_secret = (SELECT a.sealed_secret FROM authentications AS a"
        " WHERE a.sealed_secret IS NOT NULL) WHERE id = :id",
        "walked",
        Proof.AUTHENTICATION,
        "authentications",
    ),
}

FORGED = (
    _change("authentications", "stage", "2", "challenged", Proof.SIGNATURE),
    _change("authentications", "body", "replace(body, 'challenge', 'frictionless')", "challenged", Proof.SIGNATURE),
)

TOLD_TWICE = (
    Tampering(
        "a filed debit made open again",
        "UPDATE instructions SET state = 0, file_id = NULL WHERE id = :id",
        "db filed",
        Proof.FILE,
        "bank_files",
        row_id=DEBITS,
    ),
    _instruct("state", "0"),
    Tampering(
        "an open debit given to a file",
        "UPDATE instructions SET state = 1, file_id = (SELECT i.file_id FROM instructions AS i WHERE i.amount = 100)"
        " WHERE id = :id",
        "db open",
        Proof.FILE,
        "bank_files",
        row_id=DEBITS,
    ),
    Tampering(
        "an entry of the same amount from another day",
        "UPDATE instructions SET due_on = '2027-01-04' WHERE id = :id",
        "db filed",
        Proof.FILE,
        "bank_files",
        row_id=DEBITS,
    ),
    Tampering(
        "a payment filed that did not succeed",
        "UPDATE payments SET state = 2 WHERE id = :id",
        "db filed",
        Proof.INSTRUCTION,
        "instructions",
    ),
    _instruct("state", "2", "db open"),
    _instruct("state", "3", "db open"),
    _instruct("state", "9", "db open", Proof.ROW),
    _instruct("direction", "'gift'", "db open", Proof.ROW),
)

REMOVED = (
    Tampering("an instruction", "DELETE FROM instructions WHERE id = :id", "cp", Proof.INSTRUCTION, "instructions"),
    Tampering("a cancellation", "DELETE FROM instructions WHERE id = :id", "rv", Proof.INSTRUCTION, "instructions"),
    Tampering("a noted mandate", "DELETE FROM instructions WHERE id = :id", "pa", Proof.INSTRUCTION, "instructions"),
    Tampering(
        "an entry of a file",
        "DELETE FROM instructions WHERE id = :id",
        "db filed",
        Proof.FILE,
        "bank_files",
        row_id=DEBITS,
    ),
    Tampering(
        "a file", "DELETE FROM bank_files WHERE id = :id", DEBITS, Proof.INSTRUCTION, "instructions", row_id="db filed"
    ),
    Tampering(
        "the payment of an instruction",
        "DELETE FROM payments WHERE id = :id",
        "db open",
        Proof.INSTRUCTION,
        "instructions",
    ),
    Tampering(
        "the payment that an authentication is for",
        "DELETE FROM payments WHERE id = :id",
        "walked",
        Proof.AUTHENTICATION,
        "authentications",
    ),
    Tampering("the end of a wait", "DELETE FROM jobs WHERE subject_id = :id", "challenged", Proof.JOB, "jobs"),
)

BODIES = (
    _change("bank_files", "sealed_body", "substr(sealed_body, 1, length(sealed_body) - 1)", DEBITS, Proof.FILE),
    Tampering(
        "the body of another file",
        "UPDATE bank_files SET sealed_body ="
        " (SELECT f.sealed_body FROM bank_files AS f WHERE f.id <> :id) WHERE id = :id",
        DEBITS,
        Proof.FILE,
        "bank_files",
    ),
)

METHOD_TAMPERINGS = (
    *INSTRUCTIONS.values(),
    *FILES.values(),
    *AUTHENTICATIONS.values(),
    *FORGED,
    *BODIES,
    *TOLD_TWICE,
    *REMOVED,
)
