"""Fields of payments that use a registration or create one. Nothing is stored here."""

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import Brand, Need
from tollgate.catalog.brand_terms import fault_need, is_met_by_account, list_missing
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.results import make_invalid
from tollgate.catalog.shape import is_true
from tollgate.contract.accounts import hide_proof
from tollgate.contract.fields import Fields
from tollgate.contract.objections import find_token_expiry
from tollgate.contract.standing import begins_series
from tollgate.payments import accounts
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment
from tollgate.payments.registration import RegisteredAccount
from tollgate.values import Fault, RegistrationId, Secret

_ID, _CREATE, _OVERRIDE = "registrationId", "createRegistration", "overrideHolder"


class RegistrationLink(msgspec.Struct, frozen=True):
    """The registration that a stored payment names."""

    id: RegistrationId
    is_new: bool
    """The payment created it."""
    begins_series: bool


def find_registration_id(fields: Fields) -> RegistrationId | None:
    """Returns the id of the stored account to pay with, or None where no id was sent."""
    found = fields.values.get(_ID)
    return None if found is None else RegistrationId(found)


def asks_to_register(values: Mapping[str, str]) -> bool:
    return _CREATE in values and is_true(values[_CREATE]) and _ID not in values


def drop_wish(echo: Mapping[str, str]) -> dict[str, str]:
    """Returns the echo of a payment that uses a registration and makes none, whatever its request asked for."""
    return {name: text for name, text in echo.items() if name != _CREATE}


def keep_for_registration(echo: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in echo.items() if first_word(name) in WORDS[Use.REGISTRATION]}


def read_registration_link(subject: Order | Payment) -> RegistrationLink | None:
    if subject.registration_id is None:
        return None
    return RegistrationLink(subject.registration_id, is_true(subject.echo.get(_CREATE)), begins_series(subject.echo))


def check_brand(fields: Fields, brand: Brand, *, is_lenient: bool) -> None:
    """Refuses another brand than that of the registration; a lenient channel ignores it."""
    named = fields.values.get("paymentBrand")
    if named not in (None, brand.code) and not is_lenient:
        message = f"the registration is of {brand.code}"
        raise make_invalid(Fault("paymentBrand", message, named))


def list_missing_beside(known: Mapping[str, str], brand: Brand, *, is_lenient: bool) -> list[Need]:
    """Lists what a payment with a stored account lacks. The account's own fields were checked when it was stored."""
    missing = list_missing(brand, known, is_lenient=is_lenient)
    return [need for need in missing if not is_met_by_account(need)]


def check_needs(fields: Fields, brand: Brand, *, is_lenient: bool) -> None:
    missing = list_missing_beside(fields.values, brand, is_lenient=is_lenient)
    if missing:
        raise make_invalid(*map(fault_need, missing))


def take_registered(
    fields: Fields, on_file: RegisteredAccount
) -> tuple[accounts.Instrument, accounts.CardSummary | None]:
    """Returns the account for this payment, with the sent security code, and the sent holder where none is stored."""
    values, account, card_summary = fields.values, on_file.account, on_file.registration.card
    may_override = is_true(values.get(_OVERRIDE))
    if isinstance(account, accounts.CardAccount):
        cvv, holder = values.get("card.cvv"), values.get("card.holder")
        account = msgspec.structs.replace(account, cvv=Secret(cvv) if cvv else None)
        if may_override and holder and not account.holder:
            account = msgspec.structs.replace(account, holder=holder)
            card_summary = None if card_summary is None else msgspec.structs.replace(card_summary, holder=holder)
    elif isinstance(account, accounts.BankAccount):
        holder = values.get("bankAccount.holder")
        if may_override and holder and not account.holder:
            account = msgspec.structs.replace(account, holder=holder)
    return account, card_summary


def find_registration_objection(
    fields: Fields, account: accounts.Instrument, brand: Brand, *, cvv_required: bool, today: date
) -> str | None:
    """Checks what may have changed since the account was stored, and the security code."""
    if isinstance(account, accounts.TokenAccount):
        return find_token_expiry(account, today)
    if not isinstance(account, accounts.CardAccount):
        return None
    if (int(account.expiry_year), int(account.expiry_month)) < (today.year, today.month):
        return codes.CARD_EXPIRED
    cvv = fields.values.get("card.cvv")
    if cvv is None:
        return codes.CVV_MISSING if cvv_required and account.wallet is None else None
    return None if len(cvv) == brand.cvv_length else codes.CVV_WRONG_LENGTH


def show_registered(fields: Fields, on_file: RegisteredAccount, account: accounts.Instrument | None) -> dict[str, str]:
    """Returns the echo of a payment with a registration: the sent fields, with those of the stored account."""
    sent = hide_proof(fields.echo, account)
    kept = {name: text for name, text in sent.items() if first_word(name) not in WORDS[Use.ACCOUNT]}
    registration = on_file.registration
    shown = {name: text for name, text in registration.echo.items() if first_word(name) in WORDS[Use.ACCOUNT]}
    if isinstance(account, accounts.BankAccount) and account.holder:
        shown["bankAccount.holder"] = account.holder
    return drop_wish(kept | shown)
