"""The conformance suite finds errors that are planted in a connector which keeps its rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from connectors.cases import CASES
from connectors.driving import PeerRow
from connectors.faults import Fault
from connectors.peers import PEERS
from connectors.test_conformance import meets_fault
from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors import card
from tollgate.connectors.acquiring import SILENT
from tollgate.connectors.exchange import Exchange, Original
from tollgate.payments.payment import Outcome, Payment, Verdict
from tollgate.store.database import Database
from tollgate.values import PaymentId

pytestmark = pytest.mark.anyio

APPROVED, DECLINED = (Verdict(outcome=each, code="", details={}) for each in (Outcome.APPROVED, Outcome.DECLINED))
Function = Callable[..., Exchange]


def take_silence_for(function: Function, verdict: Verdict) -> Function:
    """Plants another verdict in place of silence."""

    def run(*arguments: Any, **keywords: Any) -> Exchange:
        found = yield from function(*arguments, **keywords)
        return verdict if found == SILENT else found

    return run


def send_under_new_key(attempt: Payment, action: str, approved_code: str, *, original: Original, **_: Any) -> Exchange:
    renamed = replace(attempt, id=PaymentId(attempt.id[::-1]))
    return card.follow_up(renamed, action, approved_code, original=original)


def confirm_at_once(*_arguments: Any, **_: Any) -> Exchange:
    yield from ()
    return APPROVED


def decline_at_once(*_arguments: Any, **_: Any) -> Exchange:
    yield from ()
    return DECLINED


PLANTED: Mapping[str, tuple[str, Function, str, Fault]] = {
    "noise is a decline": ("charge", take_silence_for(card.charge, DECLINED), "DB", Fault.NOISE),
    "noise is an approval": ("charge", take_silence_for(card.charge, APPROVED), "DB", Fault.NOISE),
    "another amount is an approval": ("charge", take_silence_for(card.charge, APPROVED), "DB", Fault.AMOUNT),
    "a failed follow-up is a decline": ("follow_up", take_silence_for(card.follow_up, DECLINED), "DB-RF", Fault.FAILED),
    "a reversal that nobody confirmed": ("reverse", confirm_at_once, "PA", Fault.UNANSWERED),
    "a reversal that a late charge survives": ("reverse", confirm_at_once, "DB", Fault.LATE),
    "a repeat under another key": ("repeat", send_under_new_key, "DB-RF", Fault.UNANSWERED),
    "a repeat that is never sent": ("repeat", decline_at_once, "DB-RF", Fault.LOST),
    "a question that does not stop a late payout": ("inquire", decline_at_once, "CD", Fault.LATE),
}


@pytest.mark.parametrize("error", PLANTED)
async def test_a_planted_error_is_found(store: Database, error: str) -> None:
    name, function, case, fault = PLANTED[error]
    parts = {each: getattr(card, each) for each in ("charge", "follow_up", "repeat", "reverse", "inquire")}
    row = PEERS[ConnectorName.JSON]
    assert await meets_fault(store, row, CASES[case], fault, 0)

    with pytest.raises(AssertionError):
        await meets_fault(store, plant(row, SimpleNamespace(**{**parts, name: function})), CASES[case], fault, 0)


def plant(row: PeerRow, connector: Any) -> PeerRow:
    return dataclasses.replace(row, connector=dataclasses.replace(row.connector, make=lambda _account: connector))
