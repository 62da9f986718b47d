"""What a merchant asks for, understood: one typed order. How it was spelled on the wire is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from tollgate.payments.account import CardAccount, CardFace
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


class Order(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    money: Money
    brand: str
    method: str
    account: CardAccount
    face: CardFace
    """What of the account may be stored in clear."""
    statement: str
    """What the shopper shall read on the statement: the merchant's name, or else the descriptor."""
    descriptor: str
    """Answered to the merchant."""
    short_id: str
    processing_code: ProcessingCode = ProcessingCode.PURCHASE
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    details: Details = NO_DETAILS
    levers: Mapping[str, str] = {}
    """Custom parameters that a simulator understands; real acquirers never see them."""
    objection: str | None = None
    """The result code of a check that failed before anything was sent; such an order is recorded as declined."""
    echo: Mapping[str, str] = {}
    """The fields as sent that may be stored and answered again; never a card number or a CVV."""

    @property
    def has_details(self) -> bool:
        return self.details is not NO_DETAILS


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A request about an earlier payment, understood."""

    kind: str
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
    objection: str | None = None
    """As in an order."""
    levers: Mapping[str, str] = {}
    echo: Mapping[str, str] = {}
