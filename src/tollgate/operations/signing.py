"""Signatures of stored rows: no result is written without one, and no row with a wrong one is used.

The keys are known to the vault alone.
"""

import logging
from collections.abc import Callable, Mapping
from hmac import compare_digest
from typing import Any, TypeVar

import msgspec

from tollgate.catalog.results import get_result, is_pending
from tollgate.contract.answers import Answer, encode_answer, render_answered
from tollgate.contract.events import find_notification_url, render_payment_payload
from tollgate.contract.registered import read_registration_link
from tollgate.contract.standing import describe_initial
from tollgate.operations.app import App
from tollgate.operations.network_tokens import wants_token
from tollgate.operations.risk_answers import choose_verdict
from tollgate.payments.authentication import AuthenticationRow
from tollgate.payments.checkout import PaymentLink
from tollgate.payments.completion import Completion, complete, list_facts
from tollgate.payments.payment import NATURES, Nature, Payment, State, Verdict
from tollgate.payments.registration import RegistrationChange, RegistrationState
from tollgate.payments.schedule import Schedule, ScheduleState
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_log = logging.getLogger("tollgate.integrity")

Signed = Payment | AuthenticationRow | Schedule | PaymentLink
_Row = TypeVar("_Row", Payment, AuthenticationRow, Schedule, PaymentLink)


class _Signing(msgspec.Struct, frozen=True):
    noun: str
    purpose: str
    """Separates the signatures of one table from those of another."""
    list_facts: Callable[[Any], tuple[object, ...]]
    is_exempt: Callable[[Any], bool] = lambda _: False
    """Rows that need no signature, because nothing is built upon them."""
    has_secret_id: bool = False
    """The id opens a page, so it stays out of error texts."""


_TABLE: Mapping[type[Signed], _Signing] = {
    Payment: _Signing("payment", "money", list_facts),
    AuthenticationRow: _Signing("authentication", "authentication", lambda row: row.facts, lambda row: row.is_closed),
    Schedule: _Signing(
        "schedule",
        "schedule",
        lambda row: row.facts,
        lambda row: row.state in (ScheduleState.REPLACED, ScheduleState.ENDED),
    ),
    PaymentLink: _Signing("payment_link", "link", lambda row: row.facts, has_secret_id=True),
}


class TamperedRow(Exception):
    """A row is not what was written: nobody may act on it before somebody has looked at it."""


def make_signature(row: Signed, keyring: Keyring) -> bytes:
    signing = _TABLE[type(row)]
    return make_mac(signing.purpose, signing.list_facts(row), keyring)


def sign(app: App, row: _Row) -> _Row:
    """Returns the row to be written; whoever changes a row signs it again."""
    return msgspec.structs.replace(row, mac=make_signature(row, app.keyring))


def has_signature(row: Signed, keyring: Keyring) -> bool:
    if isinstance(row, Payment) and row.state is State.STARTED:
        return row.mac is None and row.completed_at is None
    return _TABLE[type(row)].is_exempt(row) or compare_digest(row.mac or b"", make_signature(row, keyring))


def is_trusted(app: App, row: Signed) -> bool:
    """Tells whether a row still says what was written; one that does not is logged."""
    if has_signature(row, app.keyring):
        return True
    report_tampering(_TABLE[type(row)].noun, row.id)
    return False


def trust(app: App, row: _Row) -> _Row:
    if is_trusted(app, row):
        return row
    signing = _TABLE[type(row)]
    name = signing.noun if signing.has_secret_id else f"{signing.noun} {row.id}"
    raise TamperedRow(f"the signature of {name} is wrong: run `tollgate verify`")


def report_tampering(table: str, row_id: str) -> None:
    """Logs that a stored row failed its integrity check, which is worth an alarm."""
    _log.error("integrity check failed: run `tollgate verify`", extra={table: row_id})


def complete_signed(app: App, started: Payment, verdict: Verdict) -> Completion:
    return complete_answered(app, started, verdict)[0]


def complete_answered(app: App, started: Payment, verdict: Verdict) -> tuple[Completion, Answer]:
    """Completes an attempt, and returns also the answer about it, which an event repeats."""
    app.activity.completions += 1
    now = app.clock.now()
    completion = complete(started, choose_verdict(app, started, verdict), now)
    app.sightings.complete(started.id, now)
    signed = sign(app, completion.payment)
    result, body = get_result(signed.result_code), render_answered(signed, app.envelope)
    url = None if is_pending(result.code) else find_notification_url(signed)
    payload = None
    if url is not None or app.merchants.list_webhooks(signed.merchant_id):
        payload = render_payment_payload(body, signed, app.merchants.find_channel(signed.channel_id))
    completed = msgspec.structs.replace(
        completion,
        payment=signed,
        registration=find_registration_change(app, signed),
        payload=payload,
        notification_url=url,
    )
    return completed, encode_answer(result.http_status, body)


def find_registration_change(app: App, completed: Payment) -> RegistrationChange | None:
    """Finds what the end of a payment does to the registration that it names; None for most payments."""
    link = read_registration_link(completed)
    if link is None or completed.chain_id is not None or NATURES[completed.payment_type] is Nature.CHECKS:
        return None
    if completed.state not in (State.APPROVED, State.DECLINED):
        return None
    is_approved = completed.state is State.APPROVED
    if not link.is_new and not (is_approved and link.begins_series):
        return None
    ended = RegistrationState.ACTIVE if is_approved else RegistrationState.REJECTED
    return RegistrationChange(
        id=link.id,
        merchant_id=completed.merchant_id,
        state=ended if link.is_new else None,
        result_code=completed.result_code,
        initial=describe_initial(completed) if is_approved else None,
        at=completed.completed_at or completed.created_at,
        wants_token=wants_token(app, completed),
    )
