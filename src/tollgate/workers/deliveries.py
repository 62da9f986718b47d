"""Delivers events: one lane for each endpoint, so that a dead or slow one delays no other.

What is sent, and what an answer means, is decided in the flows.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from tollgate.catalog.limits import LIMITS
from tollgate.flows.deliver import deliver, pass_on_announcements, postpone
from tollgate.operations.app import Activity, App
from tollgate.payments.webhooks import Delivery, Webhook, WebhookState
from tollgate.store import deliveries
from tollgate.store.events import EventPayload, list_payloads
from tollgate.values import SECOND, Instant, MerchantId, make_id
from tollgate.workers.loop import run_guarded
from tollgate.workers.metrics import count_delivery

_log = logging.getLogger("tollgate.webhooks")

_LOOK_EVERY_S = 0.2
_GATHER_S = 0.02
"""A lane leases again so long after a delivery has ended, so that it does not lease each one alone."""
_BEAT_EVERY_S = 1.0
_ALIVE = 5 * SECOND
"""A worker that has not been heard of for so long is dead, and others take over what it has leased."""
_GRACE_S = 8.0
"""The time that a stopped worker waits for the deliveries under way; the process has 10 seconds."""
_FAILURES_MAX = 5
"""After so many failures in a row an endpoint gets single deliveries only, as probes."""
_PROBE_EVERY = 30 * SECOND
"""The time between probes; it is shorter than the first pause before a retry, so that it delays no single event."""


_BUSY_RATE, _BUSY_TURN_S, _CALM_TURN_S, _TURNS = 100.0, 0.001, 0.0003, 4
_ALLOWED = 5
"""The number of events that are passed on and delivered in each look under pressure."""


class Breaker:
    """Counts the failures of an endpoint in a row; while it is open, single deliveries probe the endpoint."""

    def __init__(self) -> None:
        self._failures = 0
        self._probes_at: Instant = 0

    @property
    def is_open(self) -> bool:
        return self._failures >= _FAILURES_MAX

    def choose_width(self, now: Instant, width: int) -> int:
        """Returns how many deliveries may be under way at once."""
        if not self.is_open:
            return width
        return 1 if now >= self._probes_at else 0

    def note(self, now: Instant, *, is_success: bool) -> bool:
        """Notes the result of a delivery; returns true when the breaker opens or closes."""
        was_open = self.is_open
        self._failures = 0 if is_success else self._failures + 1
        self._probes_at = now + _PROBE_EVERY
        return self.is_open is not was_open


class Pressure:
    """Tells whether payments need the whole process, so that deliveries step back for the moment.

    The loop is then busy with payments: many are completed, and one turn of it takes long. Without the first,
    deliveries would step back for each other.
    """

    def __init__(self, activity: Activity, now: Callable[[], float] = time.monotonic) -> None:
        self._activity, self._now = activity, now
        self._completions, self._measured_at, self._turn_s = activity.completions, now(), 0.0
        self.is_high = False

    async def measure(self) -> None:
        begun = self._now()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        now, completions = self._now(), self._activity.completions
        self._turn_s = (self._turn_s + (now - begun) / _TURNS) / 2
        rate = (completions - self._completions) / (now - self._measured_at)
        self._completions, self._measured_at = completions, now
        # Once high, it stays so until the loop is much faster, or every quick turn would let in a burst of deliveries.
        self.is_high = rate >= _BUSY_RATE and self._turn_s >= (_CALM_TURN_S if self.is_high else _BUSY_TURN_S)


class Lanes:
    """The lanes of one process: one for each endpoint that has something due, and for each merchant's notifications."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._owner = make_id(app.random_bytes)
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._breakers: dict[str, Breaker] = {}
        self._broken: list[tuple[Delivery, Webhook | None]] = []
        """Deliveries that ended by an exception, as in an outage of the database, and are still leased."""
        self._is_stopping = False
        self._is_behind = False
        """Whether more announcements may be waiting than one look has passed on."""
        self._pressure = Pressure(app.activity)
        self._allowed = 0
        """The number of deliveries that may still be leased before the next look, under pressure."""

    async def run(self) -> int:
        """Passes announcements on and opens lanes, until it is cancelled."""
        # Before anything is leased, or others would take it for a dead worker's.
        await run_guarded(self._owner, self._keep_alive)
        beating = asyncio.create_task(self._beat())
        try:
            while True:
                self._is_behind = False
                await run_guarded(self._owner, self._look)
                if not self._is_behind:
                    await asyncio.sleep(_LOOK_EVERY_S)
        finally:
            await self._stop()
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
            await deliveries.stop_worker(self._app.database, self._owner)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_EVERY_S)
            await run_guarded(self._owner, self._keep_alive)
            for broken in [*self._broken]:
                await run_guarded(broken, self._postpone)

    async def _keep_alive(self, owner: str) -> None:
        wall_now = self._app.clock.wall()
        await deliveries.keep_alive(self._app.database, owner, wall_now, wall_now + _ALIVE)

    async def _postpone(self, broken: tuple[Delivery, Webhook | None]) -> None:
        await postpone(self._app, *broken)
        self._broken.remove(broken)

    async def _look(self, _owner: str) -> None:
        app = self._app
        await self._pressure.measure()
        self._allowed = _ALLOWED
        limit = _ALLOWED if self._pressure.is_high else LIMITS.announcements_batch
        self._is_behind = await pass_on_announcements(app, limit) >= LIMITS.announcements_batch
        for merchant_id, webhook_id in await deliveries.list_busy(app.database, app.clock.now(), app.clock.wall()):
            self._open_lane(merchant_id, webhook_id)

    def _open_lane(self, merchant_id: MerchantId, webhook_id: str) -> None:
        if webhook_id in self._lanes or len(self._lanes) >= LIMITS.lanes_max:
            return
        lane = asyncio.create_task(run_guarded(webhook_id, partial(self._run_lane, merchant_id)))
        self._lanes[webhook_id] = lane
        lane.add_done_callback(lambda _: self._lanes.pop(webhook_id, None))

    async def _run_lane(self, merchant_id: MerchantId, webhook_id: str) -> None:
        """Delivers until nothing is due. A slow answer holds up one place of the lane."""
        breaker = self._breakers.setdefault(webhook_id, Breaker())
        under_way: set[asyncio.Task[None]] = set()

        async def fill(webhook_id: str) -> None:
            # Looked up each time, because the endpoint may be paused or changed meanwhile.
            webhook = self._app.merchants.find_webhook(merchant_id, webhook_id)
            leased = await self._lease(merchant_id, webhook_id, webhook, breaker, len(under_way))
            found = await self._read_events(webhook, leased)
            for delivery in leased:
                send = partial(self._deliver, webhook, breaker, found.get(delivery.event_id))
                under_way.add(asyncio.create_task(run_guarded(delivery, send)))

        try:
            while True:
                await run_guarded(webhook_id, fill)
                if not under_way:
                    return
                # More may be due while one hangs.
                done, _ = await asyncio.wait(under_way, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
                under_way -= done
                await asyncio.sleep(_GATHER_S)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _lease(
        self, merchant_id: MerchantId, webhook_id: str, webhook: Webhook | None, breaker: Breaker, busy: int
    ) -> Sequence[Delivery]:
        app, width = self._app, LIMITS.lane_width
        if webhook_id != merchant_id:
            is_active = webhook is not None and webhook.state is WebhookState.ACTIVE
            width = breaker.choose_width(app.clock.now(), width) if is_active else 0
        room = 0 if self._is_stopping else width - busy
        if self._pressure.is_high:
            room = min(room, self._allowed)
            self._allowed -= max(room, 0)
        if room <= 0:
            return ()
        return await deliveries.lease_deliveries(
            app.database,
            webhook_id,
            now=app.clock.now(),
            wall_now=app.clock.wall(),
            owner=self._owner,
            limit=room,
            is_ordered=webhook is not None and webhook.is_ordered,
        )

    async def _read_events(self, webhook: Webhook | None, leased: Sequence[Delivery]) -> dict[str, EventPayload]:
        if webhook is None or not leased:
            return {}
        ids = [delivery.event_id for delivery in leased]
        return await list_payloads(self._app.database, webhook.merchant_id, ids)

    async def _deliver(
        self, webhook: Webhook | None, breaker: Breaker, found: EventPayload | None, delivery: Delivery
    ) -> None:
        attempted = None
        try:
            attempted = await deliver(self._app, delivery, webhook, found)
        finally:
            # A worker that stops gives back all that it has leased.
            if attempted is None and not self._is_stopping:
                self._broken.append((delivery, webhook))
        count_delivery(is_success=attempted.is_success)
        if webhook is not None and breaker.note(self._app.clock.now(), is_success=attempted.is_success):
            facts = {"webhook": webhook.id, "failure": attempted.failure}
            _log.warning("webhook breaker opened" if breaker.is_open else "webhook breaker closed", extra=facts)

    async def _stop(self) -> None:
        """Lets the deliveries under way end for a while; the others are taken over by another process."""
        self._is_stopping = True
        if self._lanes:
            await asyncio.wait([*self._lanes.values()], timeout=_GRACE_S)
        left = [*self._lanes.values()]
        for lane in left:
            lane.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def deliver_webhooks(app: App) -> int:
    return await Lanes(app).run()
