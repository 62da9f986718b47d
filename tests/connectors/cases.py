"""The payments that are run through every connector, and the money that moves by them. Nothing is sent here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollgate.payments.following import INCREMENTAL_PRACTICE, choose_following

AMOUNT = 10_000
"""The amount of a first payment, in hundredths. Peers may decline amounts with other cents."""


@dataclass(frozen=True)
class Position:
    """The money that a peer holds and has taken, of all payments together, in minor units.

    What it gave back or paid out is subtracted.
    """

    held: int = 0
    taken: int = 0

    def __sub__(self, other: Position) -> Position:
        return Position(self.held - other.held, self.taken - other.taken)


@dataclass(frozen=True)
class Step:
    """A payment. All but the first follow the one before."""

    payment_type: str
    percent: int = 100
    """The amount, as a part of that of the first payment."""
    practice: str | None = None


@dataclass(frozen=True)
class Case:
    """Payments that follow each other, and the position of the peer, in percent, before and after the last of them."""

    steps: tuple[Step, ...]
    after: Position
    before: Position = Position()

    @property
    def name(self) -> str:
        return "-".join(step.practice or step.payment_type for step in self.steps)


def choose_word(step: Step, before: Step) -> str:
    following = choose_following(step.payment_type, before.payment_type, step.practice)
    assert following is not None
    assert following.wire_word is not None
    return following.wire_word


_PA, _DB, _CP = Step("PA"), Step("DB"), Step("CP")
_HELD, _TAKEN = Position(held=100), Position(taken=100)
_MORE = Step("PA", 40, INCREMENTAL_PRACTICE)
_AGAIN = Step("PA", 80, "REAUTHORIZATION")

CASES: Mapping[str, Case] = {
    case.name: case
    for case in (
        Case((_PA,), _HELD),
        Case((_DB,), _TAKEN),
        Case((Step("PA.CP"),), _TAKEN),
        Case((Step("CD"),), Position(taken=-100)),
        Case((_PA, _CP), _TAKEN, _HELD),
        Case((_PA, Step("RV")), Position(), _HELD),
        Case((_DB, Step("RV")), Position(), _TAKEN),
        Case((_DB, Step("RF", 40)), Position(taken=60), _TAKEN),
        Case((_PA, _CP, Step("RF", 40)), Position(taken=60), _TAKEN),
        Case((_PA, _CP, Step("RV")), Position(), _TAKEN),
        Case((_DB, Step("RB", 40)), Position(taken=140), _TAKEN),
        Case((_DB, Step("RB", 40), Step("RF", 40)), _TAKEN, Position(taken=140)),
        Case((_PA, _MORE), Position(held=140), _HELD),
        Case((_PA, _AGAIN), Position(held=180), _HELD),
    )
}
