"""Changes that somebody with a SQL prompt may make to registrations, as rows: the statement, and the finding."""

from __future__ import annotations

from databases.tamperings import OTHER, Tampering
from tollgate.payments.audit import Proof
from tollgate.payments.registration import RegistrationEvent

TABLE = "registrations"


def _change(
    column: str, value: str, on: str = "card", proof: Proof = Proof.REGISTRATION, row_id: str = ""
) -> Tampering:
    sql = f"UPDATE registrations SET {column} = {value} WHERE id = :id"
    return Tampering(f"{column} of {on} as {value}", sql, on, proof, TABLE, row_id=row_id)


def _copy(column: str, source: str, on: str) -> Tampering:
    taken = f"(SELECT {source})"
    return _change(column, taken, on)


_OF_OTHER = "sealed_account FROM registrations AS r WHERE r.card LIKE '%411111%'"
_OF_PAYMENT = "p.sealed_account FROM payments AS p WHERE p.id = made_by"
_TOKEN = "r.sealed_token FROM registrations AS r WHERE r.sealed_token IS NOT NULL"

COLUMNS: dict[str, Tampering] = {
    "id": _change("id", ":other", row_id=OTHER),
    "merchant_id": _change("merchant_id", ":neighbour"),
    "state": _change("state", "0"),
    "brand": _change("brand", "'MASTER'", "virtual"),
    "card": _change("card", "replace(card, '0000', '1111')"),
    "fingerprint": _change("fingerprint", "NULL"),
    "made_by": _change("made_by", ":other"),
    "echo": _change("echo", '\'{"customer.givenName":"Jane"}\'', "removed"),
    "sealed_account": _copy("sealed_account", f"r.{_OF_OTHER}", "card"),
    "sealed_token": _copy("sealed_token", _TOKEN, "card"),
    "network_token": _change("network_token", "'{'", "tokenized", Proof.ROW),
    "initial": _change("initial", "'{'", "card", Proof.ROW),
    "test_mode": _change("test_mode", "'NONE'", "card", Proof.ROW),
}
"""One for each column that an audit judges."""

NOT_AUDITED = frozenset(
    {"channel_id", "method", "ndc", "created_at", "used_at", "keep_until", "result_code", "revision"}
)
"""Nothing else in the store contradicts these."""

MOVED = (
    _copy("sealed_account", _OF_PAYMENT, "card"),
    _copy("sealed_account", f"r.{_OF_OTHER}", "bank account"),
    _copy("sealed_account", _TOKEN, "tokenized"),
    _copy("sealed_token", "r.sealed_account FROM registrations AS r WHERE r.id = :id", "tokenized"),
    _change("sealed_account", "substr(sealed_account, 1, length(sealed_account) - 1)"),
    _change("sealed_account", "NULL"),
)
"""Sealed bytes in another row, or in another place, do not open."""

WOKEN = (
    _change("state", "1", "refused"),
    _change("state", "1", "waiting"),
    _change("state", "9", "card", Proof.ROW),
    _copy("sealed_account", f"r.{_OF_OTHER}", "removed"),
    _copy("sealed_account", f"r.{_OF_OTHER}", "erased"),
    _copy("sealed_account", f"r.{_OF_OTHER}", "refused"),
    _copy("fingerprint", "r.fingerprint FROM registrations AS r WHERE r.card LIKE '%411111%'", "erased"),
    _change("card", """replace(card, '"last_digits"', '"holder":"Jane","last_digits"')""", "removed"),
)

REMOVED = (
    Tampering(
        "the payment that made a registration",
        "DELETE FROM payments WHERE id = (SELECT made_by FROM registrations AS r WHERE r.id = :id)",
        "card",
        Proof.REGISTRATION,
        TABLE,
    ),
    Tampering(
        "the word that a registration was made with a payment",
        f"DELETE FROM outbox WHERE subject_id = :id AND topic = '{RegistrationEvent.CREATED}'",
        "card",
        Proof.EVENT,
        TABLE,
    ),
    Tampering(
        "the word that a registration was made",
        f"DELETE FROM outbox WHERE subject_id = :id AND topic = '{RegistrationEvent.CREATED}'",
        "virtual",
        Proof.EVENT,
        TABLE,
    ),
    Tampering(
        "a registration that events speak of",
        "DELETE FROM registrations WHERE id = :id",
        "removed",
        Proof.EVENT,
        "outbox",
        row_id="removed",
    ),
)

REGISTRATION_TAMPERINGS = (*COLUMNS.values(), *MOVED, *WOKEN, *REMOVED)
