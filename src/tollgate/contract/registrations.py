"""Requests and answers about registrations. Nothing is stored here."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import Brand, Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.results import get_result, make_invalid
from tollgate.contract.answers import Answer, Envelope, Json, encode_answer, finish_answer, render_rest
from tollgate.contract.fields import Fields, is_never_stored, merge_echo
from tollgate.contract.objections import find_content_objection, find_fraction_objection
from tollgate.contract.orders import check_terms, read_simulator_overrides, read_test_mode, take_source
from tollgate.contract.registered import check_brand, find_registration_objection, keep_for_registration
from tollgate.contract.standing import read_migrated
from tollgate.payments import accounts
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.payments.registration import InitialPayment, Registration
from tollgate.values import Fault, Instant, Refusal, RegistrationId, to_datetime

_FORCED_CODE = "customParameters[forceResultCode]"
_SERIES_PROTOCOLS = frozenset({Protocol.CARD, Protocol.SEPA})


class RegistrationOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order to store an account without a payment."""

    brand: str
    method: str
    account: accounts.Instrument | None
    """An account that could not be opened is None, and has an objection."""
    card_summary: accounts.CardSummary | None
    test_mode: TestMode | None
    objection: str | None
    """The result code of a check that failed; such an order is recorded as rejected."""
    forced_code: str | None
    """The result that a test asks for."""
    echo: Mapping[str, str]
    initial: InitialPayment | None
    """The first payment of a series that began at another provider."""


# ---- storing ----


def check_alone(fields: Fields) -> None:
    """Refuses a new registration that refers to a payment or to another registration."""
    if "referenceUuid" in fields.values or "registrationId" in fields.values:
        raise Refusal(get_result(codes.REGISTRATION_HAS_REFERENCE))


def read_registration_order(
    fields: Fields, channel: Channel, *, today: date, is_live: bool, opened: accounts.OpenedCard | str | None = None
) -> RegistrationOrder:
    """`opened` is the card inside a wallet's token, or the code that says why it did not open."""
    values = fields.values
    simulator_overrides = (
        read_simulator_overrides(values) if "customParameters" in fields.groups and not is_live else {}
    )
    source = take_source(fields, channel, today=today, opened=opened)
    brand = source.brand
    check_terms(brand, values, None)
    initial = read_migrated(values, values.get("currency")) if "recurringMigration" in fields.groups else None
    return RegistrationOrder(
        brand=brand.code,
        method=brand.method,
        account=source.account,
        card_summary=source.card_summary,
        test_mode=read_test_mode(values.get("testMode"), is_live) or (None if is_live else TestMode.INTERNAL),
        objection=source.objection
        or _find_objection(source.account, brand, initial)
        or find_content_objection(fields, channel, today, brand),
        forced_code=values.get(_FORCED_CODE) if simulator_overrides else None,
        echo=source.echo,
        initial=initial,
    )


def _find_objection(account: accounts.Instrument | None, brand: Brand, initial: InitialPayment | None) -> str | None:
    match account:
        case None | accounts.VirtualAccount(account_id=None) | accounts.BankAccount(iban=None, number=None):
            return codes.ACCOUNT_MISSING
    if initial is None:
        return None
    may_go_on = brand.protocol in _SERIES_PROTOCOLS and initial.payment_type in brand.payment_types
    if not may_go_on:
        return codes.MIGRATION_NOT_SUPPORTED
    return None if initial.amount is None else find_fraction_objection([initial.amount])


# ---- changing ----

_CHANGEABLE: Mapping[type[accounts.Instrument], Mapping[str, str]] = {
    accounts.CardAccount: {
        "card.holder": "holder",
        "card.expiryMonth": "expiry_month",
        "card.expiryYear": "expiry_year",
    },
    accounts.TokenAccount: {"tokenAccount.expiryMonth": "expiry_month", "tokenAccount.expiryYear": "expiry_year"},
    accounts.BankAccount: {
        "bankAccount.holder": "holder",
        "bankAccount.bankName": "bank_name",
        "bankAccount.mandate.id": "mandate_id",
        "bankAccount.mandate.dateOfSignature": "signed_on",
    },
    accounts.VirtualAccount: {},
}
"""The parameters that may change a stored account, and the member that each changes."""
_READERS: Mapping[str, Callable[[str], Any]] = {"signed_on": date.fromisoformat}
_FACE = frozenset({"holder", "expiry_month", "expiry_year"})


def is_confirmation(fields: Fields) -> bool:
    return fields.get("paymentType") == "CF"


def apply_update(
    fields: Fields, registration: Registration, account: accounts.Instrument | None, channel: Channel, *, today: date
) -> tuple[Registration, accounts.Instrument | None]:
    """Returns the registration and its account with the sent changes."""
    brand = BRANDS[registration.brand]
    check_brand(fields, brand, is_lenient=channel.is_lenient)
    changes = _read_changes(fields, account)
    card_summary, objection = registration.card, None
    if account is not None and changes:
        account = msgspec.structs.replace(account, **changes)
        objection = find_registration_objection(fields, account, brand, cvv_required=False, today=today)
    objection = objection or find_content_objection(fields, channel, today, brand)
    if objection:
        raise Refusal(get_result(objection))
    if card_summary is not None:
        card_summary = msgspec.structs.replace(
            card_summary, **{name: text for name, text in changes.items() if name in _FACE}
        )
    echo = merge_echo(registration.echo, keep_for_registration(fields.echo))
    return msgspec.structs.replace(registration, card=card_summary, echo=echo), account


def _read_changes(fields: Fields, account: accounts.Instrument | None) -> dict[str, Any]:
    members = {} if account is None else _CHANGEABLE[type(account)]
    if fields.groups.isdisjoint(WORDS[Use.ACCOUNT]):
        return {}
    sent = [name for name in fields.values if first_word(name) in WORDS[Use.ACCOUNT] and not is_never_stored(name)]
    unknown = [Fault(name, "is not part of the account stored here") for name in sent if name not in members]
    if unknown:
        raise make_invalid(*unknown)
    return {members[name]: _READERS.get(members[name], str)(fields.values[name]) for name in sent}


def find_mode(fields: Fields, registration: Registration, *, is_live: bool) -> TestMode | None:
    """Finds the mode of the answer: the requested one, or else that of the registration."""
    return read_test_mode(fields.get("testMode"), is_live) or registration.test_mode


# ---- answering ----


def answer_registration(
    registration: Registration, envelope: Envelope, *, ndc: str | None = None, at: Instant | None = None, **more: Any
) -> Answer:
    """Answers with the registration. A change has its own trace id and time, a read those of the creation."""
    body = {"id": registration.id, "paymentBrand": registration.brand}
    body |= render_rest(registration.result_code, registration.card, registration.echo)
    return finish_answer(body, envelope, at or registration.created_at, ndc or registration.ndc, **more)


def render_keep_until(registration: Registration) -> Json:
    return {"keptUntil": to_datetime(registration.keep_until).date().isoformat()}


def answer_removal(registration_id: RegistrationId, code: str, envelope: Envelope, ndc: str, now: Instant) -> Answer:
    result = get_result(code)
    return encode_answer(result.http_status, {"id": registration_id, **envelope.wrap(result, ndc, now)})
