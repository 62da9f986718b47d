"""Registrations and wallets: opened to be paid with, made by a payment, and never exposed in an echo.

Changing and deleting one is done in the flows.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.card_numbers import keep_digits
from tollgate.catalog.results import get_result
from tollgate.catalog.wallets import Wallet
from tollgate.contract import registered, registrations
from tollgate.contract.account_numbers import list_exposing, refuse_numbers
from tollgate.contract.standing import describe_initial
from tollgate.operations.app import App, Call
from tollgate.operations.network_tokens import wants_token
from tollgate.payments.accounts import BankAccount, CardSummary, Instrument, OpenedCard
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order, Sequence
from tollgate.payments.payment import NATURES, IdempotencyKey, Nature, Payment, State
from tollgate.payments.registration import (
    UNUSABLE,
    NewRegistration,
    RegisteredAccount,
    Registration,
    RegistrationChange,
    RegistrationState,
)
from tollgate.store import merchants, payments
from tollgate.store.registrations import find_registration, find_sealed_registration, list_same_accounts, note_use
from tollgate.values import (
    DAY,
    Instant,
    MerchantId,
    PaymentId,
    Refusal,
    RegistrationId,
    Secret,
    is_id,
    make_id,
    to_datetime,
)
from tollgate.vault import sealing, signing
from tollgate.vault.wallets.contents import WalletTokenError
from tollgate.vault.wallets.loading import open_wallet_token

REGISTRATION_NOUN = "registration"
"""Of what is sealed in a registration's row."""

_SAME_MAX = 20


class RegistrationPlan(msgspec.Struct, frozen=True):
    """An order that shall leave a registration behind, ready to be paid."""

    order: Order
    new: NewRegistration | None
    """None where nothing is stored, or the account is stored already."""


# ---- made with a payment ----


async def prepare_registration(app: App, order: Order, call: Call, payment_id: PaymentId) -> RegistrationPlan:
    if not order.registers or order.account is None:
        return RegistrationPlan(order, None)
    known = await find_same(app, call.channel, order.account, order.brand, order.card_summary)
    if known is not None:
        named = msgspec.structs.replace(order, registration_id=known.id, echo=registered.drop_wish(order.echo))
        joined = await _join_mandate(app, named, order.account, known)
        return RegistrationPlan(joined, None)
    registration_id = RegistrationId(make_id(app.random_bytes))
    account = sign_mandate(order.account, registration_id, app.clock.now())
    order = msgspec.structs.replace(order, account=account, registration_id=registration_id)
    bare = start_registration(app, order, call, registration_id)
    registration = msgspec.structs.replace(bare, made_by=payment_id)
    return RegistrationPlan(order, seal_registration(app, registration, account))


async def _join_mandate(app: App, order: Order, account: Instrument, known: Registration) -> Order:
    """A debit of an account that is stored already goes under its mandate, unless the merchant brings another."""
    if not isinstance(account, BankAccount):
        return order
    kept = await _open_kept(app, known)
    if not isinstance(kept, BankAccount) or account.mandate_id not in (None, kept.mandate_id):
        return order
    link = registered.read_registration_link(order)
    is_later = order.sequence is Sequence.FIRST and not (link and link.begins_series)
    return msgspec.structs.replace(
        order,
        account=msgspec.structs.replace(account, mandate_id=kept.mandate_id, signed_on=kept.signed_on),
        sequence=Sequence.LATER if is_later else order.sequence,
    )


async def _open_kept(app: App, known: Registration) -> Instrument | None:
    found = await find_sealed_registration(app.database, known.merchant_id, known.id)
    if found is None or found[1] is None:
        return None
    return sealing.open_account(found[1], owner=make_registration_owner(known), keyring=app.keyring)


async def find_same(
    app: App, channel: Channel, account: Instrument, brand: str, card_summary: CardSummary | None
) -> Registration | None:
    """The registration that answers for this account already, on a channel that does not want a second one.

    A card with another expiry is another card to its issuer, and a registration made for the real world is none for a
    test, so neither is the same.
    """
    if not channel.reuses_registrations:
        return None
    print_of_account = signing.fingerprint_account(account, brand, channel.merchant_id, app.keyring)
    if print_of_account is None:
        return None
    for known in await list_same_accounts(app.database, channel.merchant_id, print_of_account, _SAME_MAX):
        is_same_card = known.card is None or (
            card_summary is not None and _get_expiry(known.card) == _get_expiry(card_summary)
        )
        if known.brand == brand and is_same_card and app.may_handle(known.test_mode):
            return known
    return None


def _get_expiry(card_summary: CardSummary) -> tuple[str, str]:
    return card_summary.expiry_year, card_summary.expiry_month


def sign_mandate(account: Instrument, registration_id: RegistrationId, now: Instant) -> Instrument:
    """All debits of a stored account go under one mandate; one that nobody named has the registration's id."""
    if not isinstance(account, BankAccount) or account.mandate_id is not None:
        return account
    signed_on = account.signed_on or to_datetime(now).date()
    return msgspec.structs.replace(account, mandate_id=registration_id, signed_on=signed_on)


def start_registration(
    app: App,
    order: Order | registrations.RegistrationOrder,
    call: Call,
    registration_id: RegistrationId,
) -> Registration:
    now = app.clock.now()
    return Registration(
        id=registration_id,
        merchant_id=call.channel.merchant_id,
        channel_id=call.channel.id,
        state=RegistrationState.PENDING,
        brand=order.brand,
        method=order.method,
        ndc=call.ndc,
        created_at=now,
        used_at=now,
        keep_until=app.retention.get_end(order.card_summary, now),
        test_mode=order.test_mode,
        card=order.card_summary,
        echo=registered.keep_for_registration(order.echo),
    )


def seal_registration(app: App, registration: Registration, account: Instrument) -> NewRegistration:
    print_of_account = signing.fingerprint_account(account, registration.brand, registration.merchant_id, app.keyring)
    if print_of_account is None:
        return NewRegistration(registration, None)
    sealed = sealing.seal_account(account, owner=make_registration_owner(registration), keyring=app.keyring)
    new = msgspec.structs.replace(registration, fingerprint=print_of_account)
    is_token_wanted = wants_token(app, new.channel_id, new.brand, new.test_mode)
    return NewRegistration(new, sealed, is_token_wanted)


def make_registration_owner(registration: Registration) -> str:
    return sealing.make_owner(REGISTRATION_NOUN, registration.merchant_id, registration.id)


# ---- opened to pay with ----


async def open_registration(app: App, merchant_id: MerchantId, registration_id: str) -> RegisteredAccount:
    """Refused with its own code where it cannot be paid with. Another merchant's is as unknown as none."""
    _check_id(registration_id)
    found = await find_sealed_registration(app.database, merchant_id, registration_id)
    if found is None:
        raise await _explain_unknown(app, merchant_id, registration_id)
    registration, sealed, _ = found
    refusal = UNUSABLE.get(registration.state)
    if refusal is not None:
        raise Refusal(get_result(refusal))
    if not app.may_handle(registration.test_mode):
        raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), "the registration belongs to another environment")
    if sealed is None:
        raise Refusal(get_result(codes.REGISTRATION_WITHOUT_ACCOUNT))
    account = sealing.open_account(sealed, owner=make_registration_owner(registration), keyring=app.keyring)
    await _note_use(app, registration)
    return RegisteredAccount(registration, account)


async def get_registration(
    app: App, merchant_id: MerchantId, registration_id: str, unknown: type[Refusal] = Refusal
) -> Registration:
    _check_id(registration_id)
    registration = await find_registration(app.database, merchant_id, registration_id)
    if registration is None:
        raise await _explain_unknown(app, merchant_id, registration_id, unknown)
    return registration


def _check_id(registration_id: str) -> None:
    """Before a database sees it: no store holds what cannot be an id, and some cannot even be asked for it."""
    if not is_id(registration_id):
        raise Refusal(get_result(codes.REGISTRATION_ID_MALFORMED))


async def _explain_unknown(
    app: App, merchant_id: MerchantId, registration_id: str, unknown: type[Refusal] = Refusal
) -> Refusal:
    if await payments.find_payment(app.database, merchant_id, registration_id) is not None:
        return Refusal(get_result(codes.NOT_A_REGISTRATION))
    return unknown(get_result(codes.REGISTRATION_UNKNOWN))


async def _note_use(app: App, registration: Registration) -> None:
    """Once a day is enough for what is counted in months, and spares busy tokens a write for every payment."""
    now = app.clock.now()
    if now - registration.used_at >= DAY:
        keep_until = max(registration.keep_until, app.retention.get_end(registration.card, now))
        await note_use(app.database, registration, now, keep_until)


# ---- told of a payment's end ----


def find_registration_change(app: App, completed: Payment) -> RegistrationChange | None:
    """What the end of a payment does to the registration that it names; None for most payments."""
    link = registered.read_registration_link(completed)
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
        wants_token=wants_token(app, completed.channel_id, completed.brand, completed.test_mode),
    )


def refuse_exposed(account: Instrument, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None) -> None:
    """Compares an opened account with `echo`, which is stored of the request, and with the key of `claim`."""
    texts = list_exposing(echo, idempotency_key.key if idempotency_key else "")
    exposed = sealing.list_exposed(account, texts) if texts else []
    if exposed:
        raise refuse_numbers(exposed)


def refuse_exposed_sealed(
    sealed: bytes | None, owner: str, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None, app: App
) -> None:
    """Compares a sealed account, which is opened only if some text has enough digits."""
    if sealed is not None and list_exposing(echo, idempotency_key.key if idempotency_key else ""):
        refuse_exposed(sealing.open_account(sealed, owner=owner, keyring=app.keyring), echo, idempotency_key)


async def refuse_exposed_payment(
    app: App, first: Payment, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None
) -> None:
    """Compares the account of `first`, the payment that a chain began with.

    The account is read and opened only if some text contains the known first digits of the number.
    """
    texts = list_exposing(echo, idempotency_key.key if idempotency_key else "")
    card = first.card
    if card is not None:
        texts = {name: text for name, text in texts.items() if card.bin in keep_digits(text)}
    if texts:
        sealed = await payments.get_sealed_account(app.database, first.merchant_id, first.id)
        owner = sealing.make_owner("payment", first.merchant_id, first.id)
        refuse_exposed_sealed(sealed, owner, echo, idempotency_key, app)


async def open_wallet(
    app: App, call: Call, wallet: str, token: Secret, *, echo: Mapping[str, str] = {}
) -> OpenedCard | str:
    """Returns the card of a wallet token, or the result code that says why there is none.

    `echo` is what is stored of the request in clear. The use is recorded after the token opened authentically, or
    anybody could use up a token by its name.
    """
    channel, idempotency_key = call.channel, call.idempotency_key
    keys = app.merchants.get_wallet_keys(channel.id, wallet)
    if not keys:
        return codes.NO_CONTRACT
    now = app.clock.now()
    try:
        opened = open_wallet_token(Wallet(wallet), token, keys, app.keyring, now)
    except WalletTokenError as failure:
        return codes.NETWORK_TOKEN_EXPIRED if failure.is_expired else codes.WALLET_TOKEN_UNREADABLE
    refuse_exposed(opened.card.account, echo, idempotency_key)
    use = signing.fingerprint("wallet", [wallet, opened.unique], app.keyring)
    request = None
    if idempotency_key is not None:
        request = signing.fingerprint(
            "wallet request",
            [idempotency_key.channel_id, idempotency_key.key, idempotency_key.fingerprint.hex()],
            app.keyring,
        )
    is_first = await merchants.record_wallet_use(app.database, channel.merchant_id, use, now, request)
    return opened.card if is_first else codes.DUPLICATE_REQUEST
