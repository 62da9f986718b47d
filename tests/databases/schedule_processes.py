"""Processes that run schedules on one store, with the same keys and the same acquirer."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.contract.answers import Envelope
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.store.database import Database
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.values import DAY, Instant, to_instant
from tollgate.vault.keyring import Keyring
from tollgate.workers.jobs import order_runs, pay_runs
from unit.app_fixture import APPROVED, CHANNEL, MERCHANT

BEGIN = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))


class MovedClock:
    """Business time is in the hand; leases run by the machine's clock, as they do between processes."""

    def __init__(self, at: Instant) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

    def wall(self) -> Instant:
        return time.time_ns() // 1000


class CountingWire:
    """An acquirer that approves, and writes down under which names it was asked for money."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        # One short line, appended in one go: several processes may write at once.
        with self._path.open("a") as asked:
            asked.write(f"{request.path} {request.key}\n")
        return WireReply(200, APPROVED)

    def list_charges(self) -> list[str]:
        if not self._path.exists():
            return []
        lines = [line.split() for line in self._path.read_text().splitlines()]
        return [key for path, key in lines if path == "/v1/charges"]


async def open_app(db: Database, wire: CountingWire, keyring: Keyring, *, is_first: bool) -> App:
    if is_first:
        await insert_merchant(db, MERCHANT)
        await insert_channel(db, CHANNEL)
    merchants = MerchantCache()
    await merchants.refresh(db)
    return App(
        database=db,
        merchants=merchants,
        keyring=keyring,
        clock=MovedClock(BEGIN),
        envelope=Envelope("build"),
        is_live=False,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=7 * DAY,
        find_wire=lambda _address, _account=None: wire,
        simulator=wire,
    )


def set_time(app: App, at: Instant) -> None:
    assert isinstance(app.clock, MovedClock)
    app.clock.at = at


async def keep_time(app: App, until: Instant, step: Instant) -> None:
    """A process that looks in now and then."""
    at = app.clock.now()
    while at < until:
        at = min(at + step, until)
        set_time(app, at)
        while await order_runs(app) + await pay_runs(app):
            pass
