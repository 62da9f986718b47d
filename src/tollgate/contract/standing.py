"""Payments of a series, in the newer and in the older parameters, which meet nowhere else. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.series import BY_MERCHANT, FIRST, REPEATED
from tollgate.payments.accounts import CardAccount, Instrument, TokenAccount
from tollgate.payments.order import Sequence, StandingInstruction
from tollgate.payments.payment import Payment
from tollgate.payments.registration import InitialPayment, RegisteredAccount
from tollgate.values import Money, read_hundredths, to_datetime, to_instant

# Bound once, because looking a member up in its enumeration takes as long as a call.
_SINGLE_DEBIT, _FIRST_DEBIT, _LATER_DEBIT, _LAST_DEBIT = Sequence.ONCE, Sequence.FIRST, Sequence.LATER, Sequence.LAST
_PICKED = "REGISTRATION_BASED"
_REFERENCE = "standingInstruction.initialTransactionId"
_MIGRATED_TYPE = "recurringMigration.paymentType"
_MIGRATED_AMOUNT, _MIGRATED_TIME = "recurringMigration.amount", "recurringMigration.requestTimestamp"
_MIGRATED_IDS = (
    "recurringMigration.connectorTxId1",
    "recurringMigration.connectorTxId2",
    "recurringMigration.connectorTxId3",
)
_ANSWERED_IDS = ("ConnectorTxID1", "ConnectorTxID2", "ConnectorTxID3")
"""The names by which the same three ids of an acquirer are sent with a migrated series and answered by us."""


def is_by_merchant(values: Mapping[str, str]) -> bool:
    """Returns True if the merchant charges without the shopper, who cannot be authenticated then."""
    source = values.get("standingInstruction.source")
    if source is not None:
        return source == BY_MERCHANT
    mode = values.get("standingInstruction.mode")
    return values.get("recurringType") == REPEATED and mode in (None, REPEATED)


def begins_series(values: Mapping[str, str]) -> bool:
    """Returns True for the first payment of a series; only a shopper can agree to one, not the merchant alone."""
    return _find_mode(values) == FIRST and not is_by_merchant(values)


def _find_mode(values: Mapping[str, str]) -> str | None:
    return values.get("standingInstruction.mode") or values.get("recurringType")


def find_scheme_reference(details: Mapping[str, str]) -> str | None:
    """Finds the id by which a scheme recognizes the first payment of a series."""
    return details.get("CardholderInitiatedTransactionID")


def read_migrated(values: Mapping[str, str], currency: str | None) -> InitialPayment:
    """Reads the first payment of a series that began at another provider."""
    amount, made = values.get(_MIGRATED_AMOUNT), values.get(_MIGRATED_TIME)
    ids = _list_ids(values, _MIGRATED_IDS)
    return InitialPayment(
        # Our own answers have the scheme's reference in the last of them.
        reference=next((each for each in reversed(ids) if each), None),
        payment_type=values[_MIGRATED_TYPE],
        amount=Money(read_hundredths(amount), currency) if amount and currency else None,
        made_at=to_instant(datetime.fromisoformat(made).replace(tzinfo=UTC)) if made else None,
        connector_ids=ids,
    )


def describe_initial(completed: Payment) -> InitialPayment:
    """Describes the payment that later ones refer to: this one, or the earlier one that it refers to itself."""
    echo, details = completed.echo, completed.details
    named = None if begins_series(echo) else echo.get(_REFERENCE)
    if named:
        # Amount, time and ids of this payment are not those of the one that the reference names.
        fields = {_MIGRATED_TYPE: completed.payment_type, **echo}
        migrated = read_migrated(fields, completed.money.currency)
        return msgspec.structs.replace(migrated, reference=named, payment_id=completed.id)
    return InitialPayment(
        reference=find_scheme_reference(details),
        payment_type=completed.payment_type,
        amount=completed.money,
        made_at=completed.completed_at,
        payment_id=completed.id,
        connector_ids=_list_ids(details, _ANSWERED_IDS),
    )


def _list_ids(values: Mapping[str, str], names: tuple[str, ...]) -> tuple[str | None, ...]:
    ids = tuple(values.get(name) for name in names)
    return ids if any(ids) else ()


def render_series_reference(values: Mapping[str, str], reference: str | None) -> Mapping[str, str]:
    """Returns the field by which later payments refer to this one, or none if it begins no series."""
    return {_REFERENCE: reference} if reference and begins_series(values) else {}


def select_series_fields(values: Mapping[str, str], on_file: RegisteredAccount | None) -> Mapping[str, str]:
    """Returns the fields that refer to the first payment of the series, where the merchant did not send them.

    They are stored with the others, so that a repeat that waits for its shopper still has them.
    """
    if on_file is None or on_file.registration.initial is None or _REFERENCE in values:
        return {}
    if not is_by_merchant(values) and _find_mode(values) not in (REPEATED, _PICKED):
        return {}
    initial = on_file.registration.initial
    known = {_REFERENCE: initial.reference}
    if _MIGRATED_TYPE not in values:
        known |= _render_initial(initial, values.get("currency"))
    return {name: text for name, text in known.items() if text}


def _render_initial(initial: InitialPayment, currency: str | None) -> dict[str, str | None]:
    amount, made_at = initial.amount, initial.made_at
    return {
        # The field has no currency of its own, so an amount in another one is left out.
        _MIGRATED_AMOUNT: amount.render() if amount and amount.currency == currency else None,
        _MIGRATED_TIME: None if made_at is None else to_datetime(made_at).replace(tzinfo=None).isoformat(" "),
        **dict(zip(_MIGRATED_IDS, initial.connector_ids, strict=False)),
    }


def find_series_objection(
    standing: StandingInstruction | None, account: Instrument | None, on_file: RegisteredAccount | None
) -> str | None:
    """Refuses a charge by the merchant alone, unless the card is registered or its first payment is named."""
    if standing is None or not standing.is_by_merchant or on_file is not None:
        return None
    is_card = isinstance(account, CardAccount | TokenAccount)
    return codes.REGISTRATION_NEEDED if is_card and standing.initial_transaction_id is None else None


def read_sequence(
    values: Mapping[str, str], *, is_registered: bool = False, makes_registration: bool = False
) -> Sequence:
    """Returns the place of a debit under its mandate; a debit of a registered account belongs to a series."""
    mode = _find_mode(values)
    if mode == FIRST or (makes_registration and mode is None):
        return _FIRST_DEBIT
    if mode == REPEATED or is_registered:
        return _LAST_DEBIT if values.get("sequence") == "FINAL" else _LATER_DEBIT
    return _SINGLE_DEBIT
