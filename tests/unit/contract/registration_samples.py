"""Registrations for tests of the contract, made in one line. No test lives here."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tollgate.payments.accounts import CardAccount, CardSummary, Instrument
from tollgate.payments.registration import InitialPayment, RegisteredAccount, Registration, RegistrationState
from tollgate.values import ChannelId, MerchantId, RegistrationId

REGISTRATION_ID = RegistrationId("8a" + "7" * 30)


def make_registered(
    account: Instrument, *, reference: str | None = "SCHEME1", has_initial: bool = True, **changes: Any
) -> RegisteredAccount:
    card_summary = None
    if isinstance(account, CardAccount):
        card_summary = CardSummary(
            bin="420000",
            last_digits="0000",
            expiry_month=account.expiry_month,
            expiry_year=account.expiry_year,
            holder=account.holder,
        )
    registration = Registration(
        id=REGISTRATION_ID,
        merchant_id=MerchantId("8a02"),
        channel_id=ChannelId("8a01"),
        state=RegistrationState.ACTIVE,
        brand="VISA",
        method="CC",
        ndc="ndc",
        created_at=1,
        used_at=1,
        keep_until=2,
        card=card_summary,
        initial=InitialPayment(payment_type="DB", reference=reference) if has_initial else None,
    )
    return RegisteredAccount(replace(registration, **changes), account)
