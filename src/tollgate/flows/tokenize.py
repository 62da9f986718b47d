"""The network token of a registered card: requested, updated after events, and removed.

A job starts it and may repeat it. The card can be charged whatever becomes of the token.
"""

from hmac import compare_digest

import msgspec

from tollgate.connectors import tokens
from tollgate.connectors.exchange import Conversation
from tollgate.contract import shopper_urls
from tollgate.operations import network_tokens
from tollgate.operations.accounts import make_registration_owner, open_registered
from tollgate.operations.app import App
from tollgate.payments.accounts import CardAccount, CardSummary
from tollgate.payments.registration import (
    NetworkToken,
    Registration,
    RegistrationEvent,
    RegistrationState,
    TokenState,
    renew_card_summary,
)
from tollgate.store import jobs, registrations
from tollgate.store.statements import Write
from tollgate.values import RegistrationId
from tollgate.vault import sealing
from tollgate.vault.signing import hash_once_key, make_mac

_LOOKS_MAX = 5
"""The number of times that a registration is read again because it changed meanwhile."""
_TRIES_MAX = 15
"""A token vault that has not answered for most of a day is left alone; the card's next payment asks again."""

_Row = tuple[Registration, bytes | None, bytes | None]


async def follow_token(app: App, job: jobs.Job) -> bool:
    """Returns true when the job is done and removed; false asks for another try later."""
    for _ in range(_LOOKS_MAX):
        row = await registrations.find_sealed_registration(app.database, job.merchant_id, job.subject_id)
        if row is None:
            raise LookupError(f"job {job.id} names a registration that does not exist")
        match row[0].state:
            case RegistrationState.PENDING:
                return False
            case RegistrationState.REJECTED:
                return await jobs.finish_job(app.database, job)
            case RegistrationState.ACTIVE:
                is_done = await _update(app, job, row)
                if is_done is not None:
                    return is_done
            case _:
                return await _remove(app, job, row)
    return False


async def accept_token_event(app: App, token_text: str, body: bytes) -> bool:
    """Queues a check of the token that an event names; false where the sender does not know the address."""
    shopper_token = shopper_urls.read_shopper_token(token_text)
    if shopper_token is None:
        return False
    registration_id = RegistrationId(shopper_token.payment_id)
    expected = hash_once_key(_make_events_key(app, shopper_token.merchant_id, registration_id))
    event = tokens.read_event(body, registration_id)
    if event is None or not compare_digest(hash_once_key(shopper_token.key), expected):
        return False
    job = registrations.make_token_job(shopper_token.merchant_id, registration_id, app.clock.now(), event.id)
    return await app.database.write(jobs.ensure_job_writes(job), label="token event")


def make_events_url(app: App, registration: Registration) -> str:
    """Returns the address for events about a token. It is derived from the keys, so that repeated requests name one
    address.
    """
    key = _make_events_key(app, registration.merchant_id, registration.id)
    token = shopper_urls.write_shopper_token(registration.merchant_id, registration.id, key)
    return f"{app.base_url}/v1/networkTokens/events/{token}"


def _make_events_key(app: App, merchant_id: str, registration_id: str) -> bytes:
    return make_mac("token events", (merchant_id, registration_id), app.keyring)[1:]


async def _update(app: App, job: jobs.Job, row: _Row) -> bool | None:
    """Returns None where the registration was changed meanwhile, so that it has to be read again."""
    registration = row[0]
    answer = await _ask(app, row)
    if answer is not None and answer.reason is not None and answer.reason.is_passing:
        return job.tries >= _TRIES_MAX and await jobs.finish_job(app.database, job)
    token = None if answer is None else _choose_token(app, registration.network_token, answer)
    if answer is None or token is None:
        return await jobs.finish_job(app.database, job)
    card, known = renew_card_summary(registration.card, answer.card), registration.network_token
    is_same = known is not None and msgspec.structs.replace(token, updated_at=known.updated_at) == known
    if card == registration.card and is_same:
        return await jobs.finish_job(app.database, job)
    unit = _write_change(app, row, token, answer, card)
    return True if await app.database.write([*unit, *jobs.finish_job_writes(job)], label="token stored") else None


async def _remove(app: App, job: jobs.Job, row: _Row) -> bool:
    """Asks the vault to remove a token, including one that was issued while its registration ended."""
    registration = row[0]
    vault = _find_vault(app, registration)
    if vault is None:
        # The vault that issued it has no address now; it is asked once there is one.
        return registration.network_token is None and await jobs.finish_job(app.database, job)
    removal = tokens.remove(registration.id, requestor=vault.terms.requestor_id)
    is_removed = await app.converse(removal, vault.wire, about=registration, label="token removal")
    return await jobs.finish_job(app.database, job) if is_removed else False


def _find_vault(app: App, registration: Registration) -> network_tokens.TokenVault | None:
    channel = app.merchants.find_channel(registration.channel_id)
    return None if channel is None else network_tokens.choose_token_vault(app, channel, registration.test_mode)


async def _ask(app: App, row: _Row) -> tokens.TokenAnswer | None:
    """Returns the vault's answer; None where there is nobody or nothing to ask."""
    registration, sealed_account, _ = row
    vault = _find_vault(app, registration)
    if vault is None or sealed_account is None:
        return None
    question = _choose_question(app, registration, sealed_account, vault.terms.requestor_id)
    if question is None:
        return None
    answer = await app.converse(question, vault.wire, about=registration, label="token request")
    return answer or tokens.TokenAnswer(state=TokenState.REFUSED, reason=tokens.SILENT)


def _choose_question(
    app: App, registration: Registration, sealed_account: bytes, requestor: str
) -> Conversation[tokens.TokenAnswer] | None:
    token, channel = registration.network_token, app.merchants.get_channel(registration.channel_id)
    if token is not None:
        is_issued = token.state is not TokenState.REFUSED
        return tokens.inquire(registration.id, requestor=requestor) if is_issued else None
    account = open_registered(registration, sealed_account, app.keyring)
    if not channel.uses_network_tokens or not isinstance(account, CardAccount):
        return None
    if not tokens.can_have_token(registration.brand, account):
        return None
    events_url = make_events_url(app, registration)
    return tokens.provision(registration.id, registration.brand, account, requestor=requestor, events_url=events_url)


def _choose_token(app: App, known: NetworkToken | None, answer: tokens.TokenAnswer) -> NetworkToken | None:
    """Returns the token to be stored; None where the answer says nothing new about a known token."""
    card_summary = tokens.make_network_token(answer, app.clock.now())
    if known is None or answer.account is not None:
        return card_summary
    if answer.state is not TokenState.DELETED:
        return None
    return msgspec.structs.replace(known, state=TokenState.DELETED, updated_at=card_summary.updated_at)


def _write_change(
    app: App, row: _Row, token: NetworkToken, answer: tokens.TokenAnswer, card: CardSummary | None
) -> list[Write]:
    """Returns the writes of a changed token and card.

    The vault of this host keeps the old number of a renewed card, which only the token knows, with the new expiry.
    """
    registration, sealed_account, _ = row
    owner, keyring = network_tokens.make_token_owner(registration), app.keyring
    sealed_token = (
        None if answer.account is None else sealing.seal_account(answer.account, owner=owner, keyring=keyring)
    )
    changed = msgspec.structs.replace(registration, network_token=token)
    if card == registration.card or card is None:
        return registrations.change_registration_writes(
            changed, sealed_account, sealed_token, event=None, at=token.updated_at
        )
    keep_until = max(registration.keep_until, app.retention.get_end(card, registration.used_at))
    changed = msgspec.structs.replace(changed, card=card, keep_until=keep_until)
    return registrations.change_registration_writes(
        changed,
        _reseal(app, registration, sealed_account, card),
        sealed_token,
        event=RegistrationEvent.UPDATED,
        at=token.updated_at,
    )


def _reseal(app: App, registration: Registration, sealed: bytes | None, card: CardSummary) -> bytes | None:
    owner, keyring = make_registration_owner(registration), app.keyring
    account = None if sealed is None else open_registered(registration, sealed, keyring)
    if not isinstance(account, CardAccount):
        return sealed
    renewed = msgspec.structs.replace(account, expiry_month=card.expiry_month, expiry_year=card.expiry_year)
    return sealing.seal_account(renewed, owner=owner, keyring=keyring)
