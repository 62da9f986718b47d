"""Errands by the clock: what is not done comes again later, each time after a longer pause."""

from __future__ import annotations

from pathlib import Path

import pytest

from tollgate.values import SECOND, FixedClock
from tollgate.wire import Silent
from tollgate.workers.reconcile import run_errands
from unit.flows.telling import begin, follow
from unit.premises import CHANNEL, ScriptedWire, open_house

pytestmark = pytest.mark.anyio


async def test_an_errand_that_breaks_waits_longer_each_time_and_is_done_once_it_can_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wire = ScriptedWire()
    house = await open_house(tmp_path, wire)
    debit = await begin(house)
    wire.script = [Silent()]
    await follow(house, debit, "RF", 100)
    house.directory.fill([], [])
    assert isinstance(house.clock, FixedClock)

    house.clock.at += 1
    rounds = [await run_errands(house), await run_errands(house)]
    house.clock.at += SECOND
    rounds += [await run_errands(house)]
    house.clock.at += SECOND
    rounds += [await run_errands(house)]
    house.directory.fill([CHANNEL], [])
    house.clock.at += SECOND
    rounds += [await run_errands(house)]
    house.clock.at += 3600 * SECOND
    rounds += [await run_errands(house)]

    assert rounds == [1, 0, 1, 0, 1, 0]
    assert [record.message for record in caplog.records].count("an item failed") == 2
    await house.database.close()
