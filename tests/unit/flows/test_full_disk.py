"""A database that refuses a write in the middle of a payment: what may be tried again, and what must not be."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.flows.pay import pay
from tollgate.operations.app import App, Call
from tollgate.operations.charging import FateUnknown
from tollgate.payments.payment import State
from tollgate.store.database import Damaged, Database
from tollgate.store.statements import Write
from unit.app_fixture import CHANNEL, ORDER, ScriptedWire
from unit.flows.chains import begin, follow, read_chain

pytestmark = pytest.mark.anyio


class FullDisk:
    """A database that takes so many more writes; all else is the real one's."""

    def __init__(self, database: Database, writes_left: int) -> None:
        self._database = database
        self.writes_left = writes_left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, steps: Sequence[Write], *, label: str) -> bool:
        self._count()
        return await self._database.write(steps, label=label)

    def submit(self, *arguments: Any, label: str) -> Awaitable[bool]:
        self._count()
        return self._database.submit(*arguments, label=label)

    def _count(self) -> None:
        if self.writes_left == 0:
            raise Damaged("the disk is full")
        self.writes_left -= 1


def fill(app: App, writes_left: int) -> App:
    disk: Any = FullDisk(app.database, writes_left)
    return replace(app, database=disk)


async def test_a_payment_that_could_not_be_started_was_not_sent_and_may_be_tried_again(
    app: App, wire: ScriptedWire
) -> None:
    with pytest.raises(Damaged):
        await pay(fill(app, 0), ORDER, Call(CHANNEL, "ndc"))

    assert wire.sent == []


async def test_a_payment_whose_result_could_not_be_written_has_an_unknown_fate(app: App, wire: ScriptedWire) -> None:
    with pytest.raises(FateUnknown, match="recovery worker"):
        await pay(fill(app, 1), ORDER, Call(CHANNEL, "ndc"))

    assert len(wire.sent) == 1


async def test_a_refund_whose_result_could_not_be_written_has_an_unknown_fate(app: App, wire: ScriptedWire) -> None:
    """It is sent again under the same key until the acquirer says what became of it: a second one would pay twice."""
    debit = await begin(app)
    with pytest.raises(FateUnknown):
        await follow(fill(app, 1), debit, "RF", 100)
    sent = len(wire.sent)

    with pytest.raises(Damaged):
        await follow(fill(app, 0), debit, "RF", 100)

    assert len(wire.sent) == sent
    _, refund = await read_chain(app, debit)
    assert refund.state is State.STARTED
