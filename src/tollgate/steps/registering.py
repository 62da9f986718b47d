"""Stored accounts as several stories need them: made with a payment, opened to pay with, told of a payment's end.

Which requests about a registration there are is told in the flows.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import get_result
from tollgate.contract import (
    RegistrationOrder,
    describe_initial,
    keep_for_registration,
    name_registration,
    tell_registration,
)
from tollgate.payments import (
    NATURES,
    UNUSABLE,
    BankAccount,
    CardFace,
    Channel,
    Instrument,
    Nature,
    NewRegistration,
    Order,
    Payment,
    Registration,
    RegistrationChange,
    RegistrationState,
    Sequence,
    State,
    StoredAccount,
)
from tollgate.steps.house import House
from tollgate.steps.network_tokens import wants_token
from tollgate.store import (
    find_payment,
    find_registration,
    find_sealed_registration,
    list_same_accounts,
    note_use,
)
from tollgate.values import DAY, Instant, MerchantId, PaymentId, Refusal, RegistrationId, is_id, make_id, to_datetime
from tollgate.vault import fingerprint_account, name_owner, open_account, seal_account

REGISTRATION_NOUN = "registration"
"""Of what is sealed in a registration's row."""

_SAME_MAX = 20


class Registering(msgspec.Struct, frozen=True):
    """An order that shall leave a registration behind, ready to be paid."""

    order: Order
    new: NewRegistration | None
    """None where nothing is stored, or the account is stored already."""


# ---- made with a payment ----


async def prepare_registering(
    house: House, order: Order, channel: Channel, ndc: str, payment_id: PaymentId
) -> Registering:
    if not order.registers or order.account is None:
        return Registering(order, None)
    known = await find_same(house, channel, order.account, order.brand, order.face)
    if known is not None:
        echo = name_registration(order.echo, known.id, is_new=False)
        joined = await _join_mandate(house, msgspec.structs.replace(order, echo=echo), order.account, known)
        return Registering(joined, None)
    registration_id = RegistrationId(make_id(house.chance))
    account = sign_mandate(order.account, registration_id, house.clock.now())
    echo = name_registration(order.echo, registration_id, is_new=True)
    order = msgspec.structs.replace(order, account=account, echo=echo)
    bare = start_registration(house, order, channel, ndc, registration_id)
    registration = msgspec.structs.replace(bare, made_by=payment_id)
    return Registering(order, seal_registration(house, registration, account))


async def _join_mandate(house: House, order: Order, account: Instrument, known: Registration) -> Order:
    """A debit of an account that is stored already goes under its mandate, unless the merchant brings another."""
    if not isinstance(account, BankAccount):
        return order
    kept = await _open_kept(house, known)
    if not isinstance(kept, BankAccount) or account.mandate_id not in (None, kept.mandate_id):
        return order
    link = tell_registration(order.echo)
    is_later = order.sequence is Sequence.FIRST and not (link and link.begins_series)
    return msgspec.structs.replace(
        order,
        account=msgspec.structs.replace(account, mandate_id=kept.mandate_id, signed_on=kept.signed_on),
        sequence=Sequence.LATER if is_later else order.sequence,
    )


async def _open_kept(house: House, known: Registration) -> Instrument | None:
    found = await find_sealed_registration(house.database, known.merchant_id, known.id)
    if found is None or found[1] is None:
        return None
    return open_account(found[1], owner=name_registration_owner(known), keyring=house.keyring)


async def find_same(
    house: House, channel: Channel, account: Instrument, brand: str, face: CardFace | None
) -> Registration | None:
    """The registration that answers for this account already, on a channel that does not want a second one.

    A card with another expiry is another card to its issuer, and a registration made for the real world is none for a
    test, so neither is the same.
    """
    if not channel.reuses_registrations:
        return None
    print_of_account = fingerprint_account(account, brand, channel.merchant_id, house.keyring)
    if print_of_account is None:
        return None
    for known in await list_same_accounts(house.database, channel.merchant_id, print_of_account, _SAME_MAX):
        is_same_card = known.card is None or (face is not None and _get_expiry(known.card) == _get_expiry(face))
        if known.brand == brand and is_same_card and house.is_live is (known.test_mode is None):
            return known
    return None


def _get_expiry(face: CardFace) -> tuple[str, str]:
    return face.expiry_year, face.expiry_month


def sign_mandate(account: Instrument, registration_id: RegistrationId, now: Instant) -> Instrument:
    """All debits of a stored account go under one mandate; one that nobody named has the registration's id."""
    if not isinstance(account, BankAccount) or account.mandate_id is not None:
        return account
    signed_on = account.signed_on or to_datetime(now).date()
    return msgspec.structs.replace(account, mandate_id=registration_id, signed_on=signed_on)


def start_registration(
    house: House, order: Order | RegistrationOrder, channel: Channel, ndc: str, registration_id: RegistrationId
) -> Registration:
    now = house.clock.now()
    return Registration(
        id=registration_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        state=RegistrationState.PENDING,
        brand=order.brand,
        method=order.method,
        ndc=ndc,
        created_at=now,
        used_at=now,
        keep_until=house.retention.find_end(order.face, now),
        test_mode=order.test_mode,
        card=order.face,
        echo=keep_for_registration(order.echo),
    )


def seal_registration(house: House, registration: Registration, account: Instrument) -> NewRegistration:
    print_of_account = fingerprint_account(account, registration.brand, registration.merchant_id, house.keyring)
    if print_of_account is None:
        return NewRegistration(registration, None)
    sealed = seal_account(account, owner=name_registration_owner(registration), keyring=house.keyring)
    new = msgspec.structs.replace(registration, fingerprint=print_of_account)
    is_token_wanted = wants_token(house, new.channel_id, new.brand, new.test_mode)
    return NewRegistration(new, sealed, is_token_wanted)


def name_registration_owner(registration: Registration) -> str:
    return name_owner(REGISTRATION_NOUN, registration.merchant_id, registration.id)


# ---- opened to pay with ----


async def open_stored(house: House, merchant_id: MerchantId, registration_id: str) -> StoredAccount:
    """Refused with its own code where it cannot be paid with. Another merchant's is as unknown as none."""
    _check_id(registration_id)
    found = await find_sealed_registration(house.database, merchant_id, registration_id)
    if found is None:
        raise await _explain_unknown(house, merchant_id, registration_id)
    registration, sealed, _ = found
    refusal = UNUSABLE.get(registration.state)
    if refusal is not None:
        raise Refusal(get_result(refusal))
    if house.is_live is not (registration.test_mode is None):
        # Stores get copied: no real account may be charged from a test host, nor a test account from a live one.
        raise Refusal(get_result("600.200.700"), "the registration belongs to another environment")
    if sealed is None:
        raise Refusal(get_result("100.150.205"))
    account = open_account(sealed, owner=name_registration_owner(registration), keyring=house.keyring)
    await _note_use(house, registration)
    return StoredAccount(registration, account)


async def get_registration(
    house: House, merchant_id: MerchantId, registration_id: str, unknown: type[Refusal] = Refusal
) -> Registration:
    _check_id(registration_id)
    registration = await find_registration(house.database, merchant_id, registration_id)
    if registration is None:
        raise await _explain_unknown(house, merchant_id, registration_id, unknown)
    return registration


def _check_id(registration_id: str) -> None:
    """Before a database sees it: no store holds what cannot be an id, and some cannot even be asked for it."""
    if not is_id(registration_id):
        raise Refusal(get_result("100.150.101"))


async def _explain_unknown(
    house: House, merchant_id: MerchantId, registration_id: str, unknown: type[Refusal] = Refusal
) -> Refusal:
    if await find_payment(house.database, merchant_id, registration_id) is not None:
        return Refusal(get_result("100.150.204"))
    return unknown(get_result("100.150.200"))


async def _note_use(house: House, registration: Registration) -> None:
    """Once a day is enough for what is counted in months, and spares busy tokens a write for every payment."""
    now = house.clock.now()
    if now - registration.used_at >= DAY:
        keep_until = max(registration.keep_until, house.retention.find_end(registration.card, now))
        await note_use(house.database, registration, now, keep_until)


# ---- told of a payment's end ----


def find_registration_change(house: House, settled: Payment) -> RegistrationChange | None:
    """What the end of a payment does to the registration that it names; None for most payments."""
    link = tell_registration(settled.echo)
    if link is None or settled.chain_id is not None or NATURES[settled.kind] is Nature.CHECKS:
        return None
    if settled.state not in (State.APPROVED, State.DECLINED):
        return None
    is_approved = settled.state is State.APPROVED
    if not link.is_new and not (is_approved and link.begins_series):
        return None
    ended = RegistrationState.ACTIVE if is_approved else RegistrationState.REJECTED
    return RegistrationChange(
        id=RegistrationId(link.id),
        merchant_id=settled.merchant_id,
        state=ended if link.is_new else None,
        result_code=settled.result_code,
        initial=describe_initial(settled) if is_approved else None,
        at=settled.settled_at or settled.created_at,
        wants_token=wants_token(house, settled.channel_id, settled.brand, settled.test_mode),
    )
