"""What a merchant asks for, understood: one typed order. How it was spelled on the wire is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum

import msgspec

from tollgate.payments.account import CardSummary, Instrument
from tollgate.payments.authentication import AuthenticationRequest
from tollgate.payments.details import NO_DETAILS, Details
from tollgate.values import Money


class TestMode(StrEnum):
    """Which wire a request of a test host takes."""

    __test__ = False

    INTERNAL = "INTERNAL"
    EXTERNAL = "EXTERNAL"


class ProcessingCode(StrEnum):
    PURCHASE = "PURCHASE"
    FUNDING = "FUNDING"
    PAYMENT = "PAYMENT"


class Sequence(StrEnum):
    """Which of several debits under one mandate it is, in the words of the banks."""

    ONCE = "OOFF"
    FIRST = "FRST"
    LATER = "RCUR"
    LAST = "FNAL"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    payment_type: str
    money: Money
    brand: str
    method: str
    account: Instrument | None
    """None where it could not be opened, and then there is an objection."""
    card_summary: CardSummary | None
    """What of a card may be stored in clear; what of other accounts may be is in the echo."""
    statement: str
    """What the shopper shall read on the statement: the merchant's name, or else the descriptor."""
    descriptor: str
    """Answered to the merchant."""
    short_id: str
    merchant_name: str = ""
    """The shopper knows the merchant by this name on pages of banks and providers."""
    network: str | None = None
    """The card network behind a wallet's brand."""
    processing_code: ProcessingCode = ProcessingCode.PURCHASE
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    lifecycle_id: str | None = None
    return_url: str | None = None
    """Where the shopper comes back to after a challenge or a provider's page."""
    due_on: date | None = None
    """When a direct debit falls due; None: as soon as may be."""
    sequence: Sequence = Sequence.ONCE
    registers: bool = False
    """Whether its account shall be stored."""
    authentication: AuthenticationRequest | None = None
    """What the merchant said about authenticating the shopper; None where it shall not happen."""
    details: Details = NO_DETAILS
    simulator_overrides: Mapping[str, str] = {}
    """Custom parameters that a simulator understands; real acquirers never see them."""
    objection: str | None = None
    """The result code of a check that failed before anything was sent; such an order is recorded as declined."""
    echo: Mapping[str, str] = {}
    """The fields as sent that may be stored and answered again; never a card number or a CVV."""
    hidden: Mapping[str, str] = {}
    """Fields beside the account that may be stored as the account is, and in clear nowhere."""

    @property
    def has_details(self) -> bool:
        return self.details is not NO_DETAILS


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A request about an earlier payment, understood."""

    payment_type: str
    amount: int | None
    """In hundredths; None where all that is left is meant."""
    currency: str | None
    practice: str | None
    """Why an authorisation names an earlier one."""
    is_final: bool
    descriptor: str
    short_id: str
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    lifecycle_id: str | None = None
    brand: str | None = None
    """The named payment must have this brand."""
    objection: str | None = None
    """As in an order."""
    simulator_overrides: Mapping[str, str] = {}
    echo: Mapping[str, str] = {}
