"""Orders of merchants: a payment or a follow-up, with its customer and addresses.

What becomes of an order is a payment.
"""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum

import msgspec

from tollgate.catalog.series import BY_MERCHANT
from tollgate.payments.accounts import CardSummary, Instrument
from tollgate.payments.authentication import AuthenticationRequest
from tollgate.payments.splits import Split
from tollgate.values import CheckoutId, Money, RegistrationId


class Address(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    street1: str | None = None
    street2: str | None = None
    house_number1: str | None = None
    house_number2: str | None = None
    city: str | None = None
    state: str | None = None
    postcode: str | None = None
    country: str | None = None


class Customer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    merchant_customer_id: str | None = None
    phone: str | None = None
    mobile: str | None = None
    email: str | None = None
    ip: str | None = None


class Acceptor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The merchant as the scheme shall see it."""

    name: str | None = None
    mcc: str | None = None
    country: str | None = None
    country_code: str | None = None
    url: str | None = None


class Authentication(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a 3-D Secure authentication made elsewhere; goes to the acquirer unchanged."""

    eci: str | None = None
    verification_id: str | None = None
    xid: str | None = None
    version: str | None = None
    ds_transaction_id: str | None = None
    acs_transaction_id: str | None = None
    authentication_status: str | None = None
    authentication_type: str | None = None
    transaction_status_reason: str | None = None
    challenge_mandated_indicator: str | None = None
    exemption_flag: str | None = None
    flow: str | None = None


class StandingInstruction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    mode: str | None = None
    source: str | None = None
    initial_transaction_id: str | None = None
    frequency: str | None = None
    expiry: date | None = None
    number_of_installments: str | None = None

    @property
    def is_by_merchant(self) -> bool:
        """Whether the shopper agreed earlier and is not present."""
        return self.source == BY_MERCHANT


class Details(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of an order that rules and authentications read beside its account; absent ones are None."""

    customer: Customer | None = None
    billing: Address | None = None
    shipping: Address | None = None
    acceptor: Acceptor | None = None
    authentication: Authentication | None = None
    standing_instruction: StandingInstruction | None = None


NO_DETAILS = Details()


class Partner(StrEnum):
    """The partners of a payment for which a test host simulates outcomes."""

    ACQUIRER = "acquirer"
    DIRECTORY_SERVER = "directory server"


class TestMode(StrEnum):
    """The test system to which a test host sends a request."""

    __test__ = False

    INTERNAL = "INTERNAL"
    EXTERNAL = "EXTERNAL"


class ProcessingCode(StrEnum):
    PURCHASE = "PURCHASE"
    FUNDING = "FUNDING"
    PAYMENT = "PAYMENT"


class Sequence(StrEnum):
    """The position of a debit among several under one mandate, in the banks' notation."""

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
    """The account; None if it could not be opened, and then there is an objection."""
    card_summary: CardSummary | None
    """The part of a card that may be stored in clear; that of other accounts is in the echo."""
    statement: str
    """The text on the shopper's statement: the merchant's name, or else the descriptor."""
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
    checkout_id: CheckoutId | None = None
    """The checkout that it pays for."""
    registration_id: RegistrationId | None = None
    """The registration that it uses, or makes."""
    return_url: str | None = None
    """The address to which the shopper returns after a challenge or a provider's page."""
    due_on: date | None = None
    """The day on which a direct debit is due; None means as soon as possible."""
    sequence: Sequence = Sequence.ONCE
    registers: bool = False
    """The account is to be registered."""
    authentication: AuthenticationRequest | None = None
    """The request to authenticate the shopper; None if there is to be no authentication."""
    details: Details = NO_DETAILS
    split: Split = ()
    """The shares of the sellers of a marketplace."""
    simulator_overrides: Mapping[str, str] = {}
    """Custom parameters that a simulator understands; real acquirers never see them."""
    objection: str | None = None
    """The result code of a check that failed before anything was sent; such an order is recorded as declined."""
    echo: Mapping[str, str] = {}
    """The fields as sent that may be stored and answered again; never a card number or a CVV."""
    hidden: Mapping[str, str] = {}
    """Fields beside the account that may be stored as the account is, and in clear nowhere."""


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A request about an earlier payment, understood."""

    payment_type: str
    amount: int | None
    """The amount in hundredths; None means all that is left."""
    currency: str | None
    practice: str | None
    """The reason why an authorization names an earlier one."""
    is_final: bool
    descriptor: str
    short_id: str
    test_mode: TestMode | None = None
    merchant_transaction_id: str | None = None
    lifecycle_id: str | None = None
    registration_id: RegistrationId | None = None
    """Answered again; the named payment has an account of its own."""
    brand: str | None = None
    """The named payment must have this brand."""
    split: Split = ()
    """The shares of the sellers; empty means in proportion to what each has left."""
    objection: str | None = None
    """The same as in an order."""
    simulator_overrides: Mapping[str, str] = {}
    echo: Mapping[str, str] = {}
