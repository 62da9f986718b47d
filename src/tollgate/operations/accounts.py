"""Registrations and wallets: opened to be paid with, made by a payment, and never exposed in an echo.

Changing and deleting one is done in the flows.
"""

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.card_numbers import keep_digits
from tollgate.catalog.results import get_result
from tollgate.catalog.wallets import Wallet
from tollgate.contract import account_numbers, orders, registered
from tollgate.contract.fields import Fields
from tollgate.contract.registrations import RegistrationOrder
from tollgate.operations.app import App, Call
from tollgate.operations.network_tokens import wants_token
from tollgate.payments.accounts import BankAccount, Instrument, OpenedCard
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order, Sequence
from tollgate.payments.payment import IdempotencyKey, Payment
from tollgate.payments.registration import UNUSABLE, NewRegistration, RegisteredAccount, Registration, RegistrationState
from tollgate.store import merchants, payments, registrations
from tollgate.values import DAY, MerchantId, PaymentId, Refusal, RegistrationId, Secret, is_id, make_id, make_short_id
from tollgate.vault import sealing, signing
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets.contents import WalletTokenError
from tollgate.vault.wallets.loading import open_wallet_token

REGISTRATION_NOUN = "registration"
"""Names the owner of what is sealed in a registration's row."""

_SAME_MAX = 20


async def prepare_registration(
    app: App, order: Order, call: Call, payment_id: PaymentId
) -> tuple[Order, NewRegistration | None]:
    """Returns the order as it is paid, and the registration to be written with it; None if the account has one."""
    if order.account is None:
        return order, None
    known = await find_same(app, call.channel, order)
    if known is not None:
        named = msgspec.structs.replace(order, registration_id=known.id, echo=registered.drop_wish(order.echo))
        return await _join_mandate(app, named, order.account, known), None
    registration_id = RegistrationId(make_id(app.random_bytes))
    account = sign_mandate(order.account, registration_id, app.today)
    order = msgspec.structs.replace(order, account=account, registration_id=registration_id)
    registration = msgspec.structs.replace(start_registration(app, order, call, registration_id), made_by=payment_id)
    return order, seal_registration(app, registration, account)


async def _join_mandate(app: App, order: Order, account: Instrument, known: Registration) -> Order:
    """Debits an account that has a registration under its mandate, unless the merchant brings another."""
    found = await registrations.find_sealed_registration(app.database, known.merchant_id, known.id)
    if not isinstance(account, BankAccount) or found is None or found[1] is None:
        return order
    registered_account = open_registered(known, found[1], app.keyring)
    if not isinstance(registered_account, BankAccount):
        return order
    mandate_id, signed_on = registered_account.mandate_id, registered_account.signed_on
    if account.mandate_id not in (None, mandate_id):
        return order
    link = registered.read_registration_link(order)
    is_later = order.sequence is Sequence.FIRST and not (link and link.begins_series)
    return msgspec.structs.replace(
        order,
        account=msgspec.structs.replace(account, mandate_id=mandate_id, signed_on=signed_on),
        sequence=Sequence.LATER if is_later else order.sequence,
    )


async def find_same(app: App, channel: Channel, order: Order | RegistrationOrder) -> Registration | None:
    """Finds the registration of the same account, on a channel that wants no second one.

    A card with another expiry is another card to its issuer, and a registration of a test is none for a real payment.
    """
    if not channel.reuses_registrations or order.account is None:
        return None
    print_of_account = signing.fingerprint_account(order.account, order.brand, channel.merchant_id, app.keyring)
    if print_of_account is None:
        return None
    rows = await registrations.list_same_accounts(app.database, channel.merchant_id, print_of_account, _SAME_MAX)
    for known in rows:
        is_same_card = known.card is None or (
            order.card_summary is not None and known.card.expiry == order.card_summary.expiry
        )
        if known.brand == order.brand and is_same_card and app.may_handle(known.test_mode):
            return known
    return None


def sign_mandate(account: Instrument, registration_id: RegistrationId, today: date) -> Instrument:
    """Puts all debits of a registered account under one mandate; one without a name has the registration's id."""
    if not isinstance(account, BankAccount) or account.mandate_id is not None:
        return account
    return msgspec.structs.replace(account, mandate_id=registration_id, signed_on=account.signed_on or today)


def start_registration(
    app: App,
    order: Order | RegistrationOrder,
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
    return NewRegistration(new, sealed, wants_token(app, new))


def make_registration_owner(registration: Registration) -> str:
    return sealing.make_owner(REGISTRATION_NOUN, registration.merchant_id, registration.id)


def open_registered(registration: Registration, sealed: bytes, keyring: Keyring) -> Instrument:
    return sealing.open_account(sealed, owner=make_registration_owner(registration), keyring=keyring)


async def open_registration(app: App, merchant_id: MerchantId, registration_id: str) -> RegisteredAccount:
    """Refuses a registration that cannot be paid with, by its own code. Another merchant's is unknown."""
    _check_id(registration_id)
    found = await registrations.find_sealed_registration(app.database, merchant_id, registration_id)
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
    now = app.clock.now()
    # One write a day is enough, because the lifetime is counted in months.
    if now - registration.used_at >= DAY:
        keep_until = max(registration.keep_until, app.retention.get_end(registration.card, now))
        await registrations.note_use(app.database, registration, now, keep_until)
    return RegisteredAccount(registration, open_registered(registration, sealed, app.keyring))


async def get_registration(
    app: App, merchant_id: MerchantId, registration_id: str, unknown: type[Refusal] = Refusal
) -> Registration:
    _check_id(registration_id)
    registration = await registrations.find_registration(app.database, merchant_id, registration_id)
    if registration is None:
        raise await _explain_unknown(app, merchant_id, registration_id, unknown)
    return registration


def _check_id(registration_id: str) -> None:
    """Keeps what cannot be an id from the database, which may not even be able to look for it."""
    if not is_id(registration_id):
        raise Refusal(get_result(codes.REGISTRATION_ID_MALFORMED))


async def _explain_unknown(
    app: App, merchant_id: MerchantId, registration_id: str, unknown: type[Refusal] = Refusal
) -> Refusal:
    if await payments.find_payment(app.database, merchant_id, registration_id) is not None:
        return Refusal(get_result(codes.NOT_A_REGISTRATION))
    return unknown(get_result(codes.REGISTRATION_UNKNOWN))


def _list_exposing(echo: Mapping[str, str], idempotency_key: IdempotencyKey | None) -> Mapping[str, str]:
    return account_numbers.list_exposing(echo, idempotency_key.key if idempotency_key else "")


def refuse_exposed(account: Instrument, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None) -> None:
    """Refuses a request that shows the number of its account in a text that is stored, or in its idempotency key."""
    texts = _list_exposing(echo, idempotency_key)
    exposed = sealing.list_exposed(account, texts) if texts else []
    if exposed:
        raise account_numbers.refuse_numbers(exposed)


def refuse_exposed_sealed(
    sealed: bytes | None, owner: str, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None, app: App
) -> None:
    """Does the same for a sealed account, which is opened only if some text has enough digits."""
    if sealed is not None and _list_exposing(echo, idempotency_key):
        refuse_exposed(sealing.open_account(sealed, owner=owner, keyring=app.keyring), echo, idempotency_key)


async def refuse_exposed_payment(
    app: App, first: Payment, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None
) -> None:
    """Does the same for the account of the first payment of a chain.

    The account is read and opened only if some text contains the known first digits of the number.
    """
    texts, card = _list_exposing(echo, idempotency_key), first.card
    if any(card is None or card.bin in keep_digits(text) for text in texts.values()):
        sealed = await payments.find_sealed_account(app.database, first.merchant_id, first.id)
        owner = sealing.make_owner("payment", first.merchant_id, first.id)
        refuse_exposed_sealed(sealed, owner, echo, idempotency_key, app)


def read_order(
    app: App,
    fields: Fields,
    channel: Channel,
    *,
    opened: OpenedCard | str | None = None,
    on_file: RegisteredAccount | None = None,
) -> Order:
    return orders.read_order(
        fields,
        channel,
        today=app.today,
        short_id=make_short_id(app.random_bytes),
        is_live=app.is_live,
        opened=opened,
        on_file=on_file,
    )


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
