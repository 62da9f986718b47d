"""Orders of merchants: a payment or a follow-up, with its customer, cart and parties.

What becomes of an order is a payment.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from enum import StrEnum
from functools import cache, partial
from typing import Any, get_args

import msgspec

from tollgate.payments.accounts import CardSummary, Instrument
from tollgate.payments.authentication import AuthenticationRequest
from tollgate.values import CheckoutId, Money, RegistrationId


class Party(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The payer (`sender`) or the payee (`recipient`) of a money transfer."""

    name: str | None = None
    given_name: str | None = None
    middle_name: str | None = None
    surname: str | None = None
    birth_date: date | None = None
    phone: str | None = None
    account_number: str | None = None
    account_number_type: str | None = None
    source_of_funds: str | None = None
    street: str | None = None
    city: str | None = None
    state: str | None = None
    country: str | None = None
    postcode: str | None = None


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
    given_name: str | None = None
    middle_name: str | None = None
    surname: str | None = None
    birth_date: date | None = None
    phone: str | None = None
    mobile: str | None = None
    email: str | None = None
    company_name: str | None = None
    ip: str | None = None


class Acceptor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The merchant as the statement and the scheme shall see it."""

    name: str | None = None
    mcc: str | None = None
    street: str | None = None
    city: str | None = None
    state: str | None = None
    country: str | None = None
    country_code: str | None = None
    postcode: str | None = None
    phone: str | None = None
    url: str | None = None
    submerchant_id: str | None = None
    pay_fac_id: str | None = None
    pay_fac_name: str | None = None
    marketplace_id: str | None = None
    legal_name: str | None = None
    tax_id: str | None = None


class CartItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One level-3 line of an invoice."""

    name: str | None = None
    merchant_item_id: str | None = None
    description: str | None = None
    quantity: str | None = None
    quantity_unit: str | None = None
    price: Money | None = None
    total_amount: Money | None = None
    tax: str | None = None
    tax_amount: Money | None = None
    total_tax_amount: Money | None = None
    tax_category: str | None = None
    discount: Money | None = None
    total_discount_amount: Money | None = None
    commodity_code: str | None = None
    commodity_description: str | None = None
    product_code: str | None = None
    part_number: str | None = None
    item_number: str | None = None
    sku: str | None = None


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
    type: str | None = None
    recurring_type: str | None = None
    initial_transaction_id: str | None = None
    frequency: str | None = None
    expiry: date | None = None
    number_of_installments: str | None = None
    industry_practice: str | None = None


class InitialDetails(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A repeat carries what is known of the first payment of its series, made here or at another provider."""

    amount: Money | None = None
    request_timestamp: str | None = None
    connector_tx_id1: str | None = None
    connector_tx_id2: str | None = None
    connector_tx_id3: str | None = None


class Details(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that travels with the money; absent parts are None or empty."""

    tax_amount: Money | None = None
    discount_amount: Money | None = None
    shipping_cost: Money | None = None
    forex: Money | None = None
    customer: Customer | None = None
    billing: Address | None = None
    shipping: Address | None = None
    sender: Party | None = None
    recipient: Party | None = None
    acceptor: Acceptor | None = None
    authentication: Authentication | None = None
    standing_instruction: StandingInstruction | None = None
    initial_payment: InitialDetails | None = None
    cart: tuple[CartItem, ...] = ()
    purpose_code: str | None = None
    business_application_id: str | None = None
    transaction_type_id: str | None = None


NO_DETAILS = Details()


@cache
def _list_amount_members(structure: type[msgspec.Struct]) -> tuple[str, ...]:
    """Most parts can hold none, and those need not be walked through."""
    return tuple(member.name for member in msgspec.structs.fields(structure) if _can_hold_amount(member.type))


def _can_hold_amount(kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return bool(_list_amount_members(kind))
    return kind is Money or any(_can_hold_amount(each) for each in get_args(kind))


def list_amounts(part: msgspec.Struct) -> Iterator[Money]:
    """Every amount among the details, however deep."""
    for value in filter(None, map(partial(getattr, part), _list_amount_members(type(part)))):
        if isinstance(value, Money):
            yield value
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, msgspec.Struct):
                yield from list_amounts(inner)


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
    objection: str | None = None
    """The same as in an order."""
    simulator_overrides: Mapping[str, str] = {}
    echo: Mapping[str, str] = {}
