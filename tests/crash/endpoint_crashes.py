"""The crash points of endpoints and of replays to them, as rows. No engine here."""

from __future__ import annotations

from crash.crashes import Crash, Ending, Kill
from crash.endpoint_cases import FAILED, Action, EndpointRequest

TESTING = EndpointRequest("DB", title="test of an endpoint")
REFUSED = EndpointRequest("DB", title="test that is answered with 500", status=FAILED)
REMOVING = EndpointRequest("DB", title="removal of an endpoint", action=Action.REMOVE)
REPLAYING = EndpointRequest("DB", title="replay of two events", action=Action.REPLAY)

INACTIVE, TESTED, ACTIVE = "endpoint inactive", "endpoint inactive, test recorded", "endpoint active, test recorded"
UNKNOWN, UNUSED, USED = (
    Ending(f"{held.replace(',', ';')}; heard once", "endpoint active") for held in (INACTIVE, TESTED, ACTIVE)
)
STILL_UNKNOWN, STILL_UNUSED = (Ending(each.rows, "endpoint inactive") for each in (UNKNOWN, UNUSED))

KEPT, REMOVED = "endpoint active, delivery pending", "endpoint removed"
DELIVERED, GONE = Ending("endpoint active; delivery delivered", "removed"), Ending(REMOVED, "not found")

NO_REPLAY, QUEUED = "endpoint active", "endpoint active, replay recorded, every event queued"
NOT_REPLAYED = Ending("endpoint active; no event heard again", "2 events queued")
REPLAYED = Ending("endpoint active; replay recorded; every event heard again", "2 events queued")

ENDPOINT_CRASHES = (
    Crash(411, TESTING, Kill("before webhook tested"), (UNKNOWN,)),
    Crash(412, TESTING, Kill("during webhook tested", (INACTIVE, TESTED)), (UNKNOWN, UNUSED)),
    Crash(413, TESTING, Kill("after webhook tested"), (UNUSED,)),
    Crash(414, TESTING, Kill("during merchant configuration", (TESTED, ACTIVE)), (UNUSED, USED)),
    Crash(415, TESTING, Kill("after merchant configuration"), (USED,)),
    Crash(416, REFUSED, Kill("during webhook tested", (INACTIVE, TESTED)), (STILL_UNKNOWN, STILL_UNUSED)),
    Crash(417, REMOVING, Kill("before merchant configuration"), (DELIVERED,)),
    Crash(418, REMOVING, Kill("during merchant configuration", (KEPT, REMOVED)), (DELIVERED, GONE)),
    Crash(419, REMOVING, Kill("after merchant configuration"), (GONE,)),
    Crash(420, REPLAYING, Kill("before events replayed"), (NOT_REPLAYED,)),
    Crash(421, REPLAYING, Kill("during events replayed", (NO_REPLAY, QUEUED)), (NOT_REPLAYED, REPLAYED)),
    Crash(422, REPLAYING, Kill("after events replayed"), (REPLAYED,)),
)
