"""Signatures of payments and authentications: no result is written without one, and no row with a wrong one is used.

What a signature covers is listed in `payments.completion`.
"""

from __future__ import annotations

import logging
from hmac import compare_digest

import msgspec

from tollgate.operations.app import App
from tollgate.operations.registrations import find_registration_change
from tollgate.payments.authentication import AuthenticationRow, Stage
from tollgate.payments.completion import Completion, complete, list_facts
from tollgate.payments.payment import Payment, State, Verdict
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_log = logging.getLogger("tollgate.integrity")


def complete_signed(app: App, started: Payment, verdict: Verdict) -> Completion:
    completion = complete(started, verdict, app.clock.now())
    payment = completion.payment
    sealed = msgspec.structs.replace(payment, mac=sign_payment(payment, app.keyring))
    return msgspec.structs.replace(completion, payment=sealed, registration=find_registration_change(app, sealed))


class TamperedRow(Exception):
    """A row is not what was written: nobody may act on it before somebody has looked at it."""


def trust(app: App, payment: Payment) -> Payment:
    """The payment itself, if it still says what was written. A row in flight has no seal yet."""
    if has_valid_signature(payment, app.keyring):
        return payment
    raise TamperedRow(f"the seal of payment {payment.id} does not fit: run `tollgate verify`")


def has_valid_signature(payment: Payment, keyring: Keyring) -> bool:
    """Tells whether a row still says what was written; one that does not is logged."""
    if payment.state is State.STARTED:
        is_sound = payment.mac is None and payment.completed_at is None
    else:
        is_sound = compare_digest(payment.mac or b"", sign_payment(payment, keyring))
    if not is_sound:
        report_tampering("payment", payment.id)
    return is_sound


def report_tampering(table: str, row_id: str) -> None:
    """Logs that a stored row failed its integrity check, which is worth an alarm."""
    _log.error("integrity check failed: run `tollgate verify`", extra={table: row_id})


def sign_authentication(app: App, row: AuthenticationRow) -> AuthenticationRow:
    """To be written; whoever moves it seals it anew."""
    return msgspec.structs.replace(row, mac=_sign_authentication_facts(row, app.keyring))


def check_authentication(app: App, row: AuthenticationRow) -> AuthenticationRow:
    """Nobody passes a challenge by writing into the store that he did."""
    if has_authentication_signature(row, app.keyring):
        return row
    raise TamperedRow(f"the seal of the authentication of payment {row.id} does not fit")


def has_authentication_signature(row: AuthenticationRow, keyring: Keyring) -> bool:
    """What is closed is built upon by nobody."""
    return row.stage is Stage.CLOSED or compare_digest(row.mac or b"", _sign_authentication_facts(row, keyring))


def _sign_authentication_facts(row: AuthenticationRow, keyring: Keyring) -> bytes:
    body = msgspec.to_builtins(row.body)
    facts = (row.merchant_id, row.id, row.stage.value, row.created_at, row.expires_at, body)
    return make_mac("authentication", facts, keyring)


def sign_payment(payment: Payment, keyring: Keyring) -> bytes:
    return make_mac("money", list_facts(payment), keyring)
