"""Payments that repeat, in the newer and in the older words: who began the series, and which payment it goes back to.

The two spellings meet here and nowhere else. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tollgate.payments import CardAccount, Instrument, Sequence, StandingInstruction, StoredAccount, TokenAccount

BY_MERCHANT = "MIT"
_FIRST, _LATER, _PICKED = "INITIAL", "REPEATED", "REGISTRATION_BASED"
_REFERENCE = "standingInstruction.initialTransactionId"
_UNSTORED = "100.150.300"

_OLDER_WORDS: Mapping[str, StandingInstruction] = {
    _FIRST: StandingInstruction(mode=_FIRST, source="CIT", type="RECURRING"),
    _LATER: StandingInstruction(mode=_LATER, source=BY_MERCHANT, type="RECURRING"),
    # The shopper is there and picks a stored card.
    _PICKED: StandingInstruction(mode=_LATER, source="CIT", type="UNSCHEDULED"),
}
"""What the older parameter means."""


def translate_older(sent: StandingInstruction | None, values: Mapping[str, str]) -> StandingInstruction | None:
    """What the newer words say counts; the older ones fill what they leave open."""
    older = _OLDER_WORDS.get(values.get("recurringType", ""))
    count = values.get("recurring.numberOfInstallments")
    if older is None and count is None:
        return sent
    filled = {name: value for name, value in _list_members(older) if value is not None}
    said = {name: value for name, value in _list_members(sent) if value is not None}
    if said.get("mode") not in (None, filled.get("mode")):
        # Who says in newer words that it is the first does not mean the older word's source.
        filled = {}
    if count is not None:
        # A series with a number of parts is one of instalments; the number alone is a plan of the acquirer's.
        counted = {"type": "INSTALLMENT"} if filled else {}
        filled |= {"number_of_installments": count, **counted}
    merged = {**filled, **said}
    return StandingInstruction(**merged) if merged else None


def _list_members(words: StandingInstruction | None) -> list[tuple[str, Any]]:
    return [] if words is None else list(msgspec.structs.asdict(words).items())


def is_by_merchant(values: Mapping[str, str]) -> bool:
    """Nobody is there who could prove anything."""
    source = values.get("standingInstruction.source")
    if source is not None:
        return source == BY_MERCHANT
    mode = values.get("standingInstruction.mode")
    return values.get("recurringType") == _LATER and mode in (None, _LATER)


def begins_series(values: Mapping[str, str]) -> bool:
    """Only who holds the account can agree that others follow, so what a merchant does alone begins nothing."""
    return _get_mode(values) == _FIRST and not is_by_merchant(values)


def _get_mode(values: Mapping[str, str]) -> str | None:
    return values.get("standingInstruction.mode") or values.get("recurringType")


def find_scheme_reference(details: Mapping[str, str]) -> str | None:
    """By which a scheme knows a payment that others may go back to."""
    return details.get("CardholderInitiatedTransactionID")


def choose_reference(values: Mapping[str, str], details: Mapping[str, str]) -> str | None:
    """By which payments after this one go back: to it, or to an earlier beginning that it goes back to itself."""
    named = None if begins_series(values) else values.get(_REFERENCE)
    return named or find_scheme_reference(details)


def tell_series_reference(values: Mapping[str, str], reference: str | None) -> Mapping[str, str]:
    """By which later payments go back to this one, where it begins a series. Of one field or of none."""
    return {_REFERENCE: reference} if reference and begins_series(values) else {}


def find_series_reference(values: Mapping[str, str], stored: StoredAccount | None) -> Mapping[str, str]:
    """What a repeat has to name: the scheme's reference of the first payment, where the merchant did not.

    Of one field or of none, to be stored and sent with the others.
    """
    if stored is None or stored.registration.initial is None or _REFERENCE in values:
        return {}
    reference = stored.registration.initial.reference
    is_repeat = is_by_merchant(values) or _get_mode(values) in (_LATER, _PICKED)
    return {_REFERENCE: reference} if reference and is_repeat else {}


def find_series_objection(
    standing: StandingInstruction | None, account: Instrument | None, stored: StoredAccount | None
) -> str | None:
    """A merchant alone may only charge a card that its holder left here, or whose first payment it can name."""
    if standing is None or standing.source != BY_MERCHANT or stored is not None:
        return None
    is_card = isinstance(account, CardAccount | TokenAccount)
    return _UNSTORED if is_card and standing.initial_transaction_id is None else None


def read_sequence(values: Mapping[str, str], *, is_stored: bool = False, is_registering: bool = False) -> Sequence:
    """Which debit under its mandate: one whose account is kept belongs to a series, although nobody said so."""
    mode = _get_mode(values)
    if mode == _FIRST or (is_registering and mode is None):
        return Sequence.FIRST
    if mode == _LATER or is_stored:
        return Sequence.LAST if values.get("sequence") == "FINAL" else Sequence.LATER
    return Sequence.ONCE
