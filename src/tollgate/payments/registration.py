"""Registrations and the network tokens that replace their card numbers. Account data stays sealed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

import msgspec

from tollgate.catalog import codes
from tollgate.payments.accounts import CardSummary, Instrument
from tollgate.payments.order import TestMode
from tollgate.values import (
    ChannelId,
    Instant,
    MerchantId,
    Money,
    PaymentId,
    RegistrationId,
    add_months,
    get_month_end,
    make_timed_id,
)


class RegistrationState(IntEnum):
    """The state of a registration. The numbers are stored, so a number is never reused."""

    PENDING = 0
    """The payment that made it is not decided yet, or somebody has to confirm it."""
    ACTIVE = 1
    REJECTED = 2
    """The payment or request that made it failed, and nothing of the account was stored."""
    DELETED = 3
    """Removed by its merchant; the account is wiped, the row stays as a trace."""
    ERASED = 4
    """It was wiped because its time was over."""


class RegistrationEvent(StrEnum):
    """The events of which a merchant is notified."""

    CREATED = "registration.created"
    UPDATED = "registration.updated"
    DELETED = "registration.deleted"


class InitialPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The payment to which its holder agreed that others follow, as later ones have to name it."""

    reference: str | None = None
    """The reference that the card scheme gave it."""
    payment_type: str
    amount: Money | None = None
    made_at: Instant | None = None
    payment_id: PaymentId | None = None
    """The payment; None if it was made elsewhere and migrated."""
    connector_ids: tuple[str | None, ...] = ()
    """The acquirer's three ids by their positions, None where it gave none there; empty where it gave none at all."""


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    id: RegistrationId
    merchant_id: MerchantId
    channel_id: ChannelId
    """The channel that made it; every channel of the merchant may use it."""
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
    """A registration that is written together with the payment that makes it."""

    registration: Registration
    sealed_account: bytes | None
    wants_token: bool = False
    """The network is asked for a token once it is active."""


class RegistrationChange(msgspec.Struct, frozen=True, kw_only=True):
    """The change to a registration when a payment that names it is completed."""

    id: RegistrationId
    merchant_id: MerchantId
    state: RegistrationState | None
    """The new state, if this payment made the registration."""
    result_code: str
    initial: InitialPayment | None
    at: Instant
    wants_token: bool = False
    """The same as in a new registration."""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """The periods for which accounts are stored."""

    card_months: int = 14
    """The period after the card's expiry."""
    idle_months: int = 14
    """The period after the last use of an account without expiry."""
    extension_months: int = 24
    """The period from the day on which an extension is asked for."""
    payment_days: int = 430
    """The period after a payment and its follow-ups; a debit can be given back to its account for up to 13 months."""

    def get_end(self, card: CardSummary | None, used_at: Instant) -> Instant:
        if card is None:
            return add_months(used_at, self.idle_months)
        return add_months(get_month_end(int(card.expiry_year), int(card.expiry_month)), self.card_months)

    def extend(self, registration: Registration, now: Instant) -> Instant:
        """Returns the extended time, which is never shorter than before."""
        return max(registration.keep_until, add_months(now, self.extension_months))


def wipe(registration: Registration, ended: RegistrationState) -> Registration:
    """Returns the trace that remains of a wiped account: the type of instrument and the times, without its holder.

    The caller also clears the sealed account and the sealed token, in the same write.
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
"""The states in which nothing is left of the account but a trace."""

UNUSABLE: Mapping[RegistrationState, str] = {
    RegistrationState.PENDING: codes.REGISTRATION_UNCONFIRMED,
    RegistrationState.REJECTED: codes.REGISTRATION_NEVER_VALID,
    RegistrationState.DELETED: codes.REGISTRATION_DELETED,
    RegistrationState.ERASED: codes.REGISTRATION_ERASED,
}
"""The reasons why a registration cannot be paid with."""


class TokenState(StrEnum):
    """The state of a network token. The values are stored."""

    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    """The network pauses it and may let it go on."""
    DELETED = "DELETED"
    REFUSED = "REFUSED"
    """The network issued no token, and asking again would not help."""


TOKEN_TOPIC = "network-token"
"""The topic of jobs that bring a registered card and its token in step; they name the registration."""


class NetworkToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    state: TokenState
    updated_at: Instant
    reference: str = ""
    """The token's id at the network's token vault; empty if none was issued."""
    last_digits: str = ""
    expiry_month: str = ""
    expiry_year: str = ""
    code: str = ""
    """The result code of why it was refused."""


class CardNews(msgspec.Struct, frozen=True, kw_only=True):
    """The card behind a token, as its network describes it."""

    last_digits: str
    expiry_month: str
    expiry_year: str


TOKEN_OBSTACLES: Mapping[TokenState, str] = {
    TokenState.SUSPENDED: codes.NETWORK_TOKEN_PAUSED,
    TokenState.DELETED: codes.NETWORK_TOKEN_UNKNOWN,
    TokenState.REFUSED: codes.NO_NETWORK_TOKEN,
}
"""The reasons why a token in such a state cannot be paid with, unless the vault gave one."""


def find_token_obstacle(token: NetworkToken | None) -> str | None:
    """The result code of why a card is charged by its own number; None where its token can be used."""
    if token is None:
        return codes.NETWORK_TOKEN_PENDING
    if token.state is TokenState.ACTIVE:
        return None
    return token.code or TOKEN_OBSTACLES[token.state]


def renew_card_summary(card_summary: CardSummary | None, news: CardNews | None) -> CardSummary | None:
    """Returns the summary of a renewed card; its first digits stay, because a network names only the last ones.

    An expiry before the known one is outdated.
    """
    if card_summary is None or news is None:
        return card_summary
    if (news.expiry_year, news.expiry_month) < (card_summary.expiry_year, card_summary.expiry_month):
        return card_summary
    return msgspec.structs.replace(
        card_summary,
        last_digits=news.last_digits,
        expiry_month=news.expiry_month,
        expiry_year=news.expiry_year,
    )


def end_token(token: NetworkToken | None) -> NetworkToken | None:
    """Returns the token as it remains when its registration is wiped; the network is asked to delete it."""
    if token is None or not token.reference:
        return token
    return msgspec.structs.replace(token, state=TokenState.DELETED)


def make_event_id(at: Instant, registration_id: str, revision: int) -> str:
    """Returns the id of the event by which a revision is announced; the payment that makes a registration ends in 1."""
    return make_timed_id(at, f"{registration_id}.{revision}")


def make_token_job_id(registration_id: str, occasion: str = "") -> str:
    """Equal for what is owed once; every event is an occasion of its own, lest one is missed while another is run."""
    return f"{TOKEN_TOPIC}.{registration_id}" + (f".{occasion}" if occasion else "")
