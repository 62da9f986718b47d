"""Seals of money rows: no result is written without one, and nothing follows a row whose seal is broken.

What a seal covers is told in payments.
"""

from __future__ import annotations

import logging
from hmac import compare_digest

import msgspec

from tollgate.payments import AuthenticationRow, Payment, Settlement, Stage, State, Verdict, list_facts, settle
from tollgate.steps.house import House
from tollgate.steps.registering import find_registration_change
from tollgate.vault import Keyring, make_mac

_log = logging.getLogger("tollgate.integrity")


def settle_sealed(house: House, started: Payment, verdict: Verdict) -> Settlement:
    settlement = settle(started, verdict, house.clock.now())
    payment = settlement.payment
    sealed = msgspec.structs.replace(payment, mac=seal_facts(payment, house.keyring))
    return msgspec.structs.replace(settlement, payment=sealed, registration=find_registration_change(house, sealed))


class BrokenSeal(Exception):
    """A row is not what was written: nobody may act on it before somebody has looked at it."""


def trust(house: House, payment: Payment) -> Payment:
    """The payment itself, if it still says what was written. A row in flight has no seal yet."""
    if has_sound_seal(payment, house.keyring):
        return payment
    raise BrokenSeal(f"the seal of payment {payment.id} does not fit: run `tollgate verify`")


def has_sound_seal(payment: Payment, keyring: Keyring) -> bool:
    """Tells whether a row still says what was written; one that does not is logged."""
    if payment.state is State.STARTED:
        is_sound = payment.mac is None and payment.settled_at is None
    else:
        is_sound = compare_digest(payment.mac or b"", seal_facts(payment, keyring))
    if not is_sound:
        report_tampering("payment", payment.id)
    return is_sound


def report_tampering(table: str, row_id: str) -> None:
    """Logs that a stored row failed its integrity check, which is worth an alarm."""
    _log.error("integrity check failed: run `tollgate verify`", extra={table: row_id})


def seal_case(house: House, row: AuthenticationRow) -> AuthenticationRow:
    """To be written; whoever moves it seals it anew."""
    return msgspec.structs.replace(row, mac=_seal_case_facts(row, house.keyring))


def trust_case(house: House, row: AuthenticationRow) -> AuthenticationRow:
    """Nobody passes a challenge by writing into the store that he did."""
    if fits_case_seal(row, house.keyring):
        return row
    raise BrokenSeal(f"the seal of the authentication of payment {row.id} does not fit")


def fits_case_seal(row: AuthenticationRow, keyring: Keyring) -> bool:
    """What is closed is built upon by nobody."""
    return row.stage is Stage.CLOSED or compare_digest(row.mac or b"", _seal_case_facts(row, keyring))


def _seal_case_facts(row: AuthenticationRow, keyring: Keyring) -> bytes:
    body = msgspec.to_builtins(row.body)
    facts = (row.merchant_id, row.id, row.stage.value, row.created_at, row.expires_at, body)
    return make_mac("authentication", facts, keyring)


def seal_facts(payment: Payment, keyring: Keyring) -> bytes:
    return make_mac("money", list_facts(payment), keyring)
