"""A stored account: what is known of it in clear, how it may be used, how long it is kept.

What is sealed travels beside it and is not a member; nothing is read, written or sent here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

import msgspec

from tollgate.payments.account import CardSummary, Instrument
from tollgate.payments.network_token import NetworkToken, end_token
from tollgate.payments.order import TestMode
from tollgate.values import ChannelId, Instant, MerchantId, Money, PaymentId, RegistrationId, add_months, get_month_end


class RegistrationState(IntEnum):
    """Where a stored account stands; the numbers are stored, so a number is never used again for something else."""

    PENDING = 0
    """The payment that made it is not decided yet, or somebody has to confirm it."""
    ACTIVE = 1
    REJECTED = 2
    """What made it failed: nothing of the account was kept."""
    DELETED = 3
    """Removed by its merchant; the account is wiped, the row stays as a trace."""
    ERASED = 4
    """Wiped because its time was over."""


class RegistrationEvent(StrEnum):
    """What its merchant is told of."""

    CREATED = "registration.created"
    UPDATED = "registration.updated"
    DELETED = "registration.deleted"


class InitialPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The payment to which its holder agreed that others follow, as later ones have to name it."""

    reference: str | None = None
    """The scheme's."""
    payment_type: str
    amount: Money | None = None
    made_at: Instant | None = None
    payment_id: PaymentId | None = None
    """None where it was made elsewhere and migrated."""
    connector_ids: tuple[str | None, ...] = ()
    """The acquirer's three ids by their positions, None where it gave none there; empty where it gave none at all."""


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    id: RegistrationId
    merchant_id: MerchantId
    channel_id: ChannelId
    """Where it was made; every channel of the merchant may use it."""
    state: RegistrationState
    brand: str
    method: str
    ndc: str
    created_at: Instant
    used_at: Instant
    """Rounded down to whole days of use: it decides about months."""
    keep_until: Instant
    test_mode: TestMode | None = None
    result_code: str = ""
    card: CardSummary | None = None
    echo: Mapping[str, str] = {}
    """The fields as sent that may be stored and answered again; never an account's number."""
    initial: InitialPayment | None = None
    network_token: NetworkToken | None = None
    fingerprint: bytes | None = None
    """Equal for equal accounts of one merchant; None where no account is kept."""
    made_by: PaymentId | None = None
    """The payment that it was made with."""
    revision: int = 0
    """Counts changes, so that nobody overwrites what he has not seen."""


class RegisteredAccount(msgspec.Struct, frozen=True):
    """A registration that may be paid with, opened."""

    registration: Registration
    account: Instrument


class NewRegistration(msgspec.Struct, frozen=True):
    """To be written together with the payment that makes it."""

    registration: Registration
    sealed_account: bytes | None
    wants_token: bool = False
    """Whether its network shall be asked for a token once it is active."""


class RegistrationChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a payment's end does to the registration it names."""

    id: RegistrationId
    merchant_id: MerchantId
    state: RegistrationState | None
    """Of one that this payment made; None where it was there before."""
    result_code: str
    initial: InitialPayment | None
    at: Instant
    wants_token: bool = False
    """As in a new registration."""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long accounts are kept."""

    card_months: int = 14
    """After the card's expiry."""
    idle_months: int = 14
    """After the last use of what has no expiry."""
    extension_months: int = 24
    """From the day on which an extension is asked for."""
    payment_days: int = 430
    """After a payment and all that followed it: a debit is given back for up to 13 months, to where it came from."""

    def find_end(self, card: CardSummary | None, used_at: Instant) -> Instant:
        if card is None:
            return add_months(used_at, self.idle_months)
        return add_months(get_month_end(int(card.expiry_year), int(card.expiry_month)), self.card_months)

    def extend(self, registration: Registration, now: Instant) -> Instant:
        """Never shorter than it was."""
        return max(registration.keep_until, add_months(now, self.extension_months))


def wipe(registration: Registration, ended: RegistrationState) -> Registration:
    """What stays as a trace when an account's time here is over: which instrument it was, and when; of nobody.

    Whoever writes it writes the sealed account and the sealed token empty in the same unit.
    """
    if ended not in WIPED:
        raise ValueError(f"nothing that is {ended.name} has been wiped")
    card = registration.card
    return msgspec.structs.replace(
        registration,
        state=ended,
        card=None if card is None else msgspec.structs.replace(card, holder=None),
        echo={},
        network_token=end_token(registration.network_token),
        fingerprint=None,
    )


WIPED = frozenset({RegistrationState.DELETED, RegistrationState.ERASED})
"""Ended with nothing left of the account but a trace."""

UNUSABLE: Mapping[RegistrationState, str] = {
    RegistrationState.PENDING: "100.150.201",
    RegistrationState.REJECTED: "100.150.203",
    RegistrationState.DELETED: "100.150.202",
    RegistrationState.ERASED: "100.150.206",
}
"""Why a registration cannot be paid with."""
