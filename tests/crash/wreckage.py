"""One world per database in which gateways died at every seam, told as a table of seams and what each may leave behind.

The wrecks are made once and then looked at by many tests.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from acquirer import Fate, Manner
from crash.world import World, try_to_pay
from tollgate.connectors.card import CHARGES

APPROVED, SILENT, NOT_FOUND = "000.100.112", "900.100.300", "900.100.310"

Ending = tuple[str, Fate]
"""What the gateway says in the end, and what the acquirer did."""
UNHEARD = ("", Fate.BLOCKED)
"""Nothing was recorded, so nobody was ever asked for money."""
TAKEN = (APPROVED, Fate.APPROVED)
GIVEN_BACK = (SILENT, Fate.REVERSED)
NEVER_TAKEN = (SILENT, Fate.BLOCKED)
NEVER_PAID_OUT = (NOT_FOUND, Fate.BLOCKED)


@dataclass(frozen=True)
class Crash:
    """One payment during which the gateway dies, and then recoveries that die as well."""

    seam: str
    endings: tuple[Ending, ...]
    kind: str = "DB"
    manner: Manner = Manner.ANSWER
    recovery_seams: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " ".join([self.kind, self.seam or self.manner, *self.recovery_seams[:1]])

    @property
    def key(self) -> str:
        return f"crash-{CRASHES.index(self):04d}"

    @property
    def amount(self) -> str:
        """Each has its own, so that a double charge shows."""
        return f"{CRASHES.index(self) + 1}.00"


CRASHES = (
    Crash("before the first write", (UNHEARD,)),
    Crash("amid the first write", (UNHEARD, NEVER_TAKEN)),
    Crash("after the first write", (NEVER_TAKEN,)),
    Crash("amid the sending", (NEVER_TAKEN, GIVEN_BACK)),
    Crash("", (NEVER_TAKEN,), manner=Manner.HOLD),
    Crash("", (GIVEN_BACK,), manner=Manner.ACT_AND_HOLD),
    Crash("after the acquirer's answer", (GIVEN_BACK,)),
    Crash("amid the second write", (TAKEN, GIVEN_BACK)),
    Crash("after the second write", (TAKEN,)),
    Crash("after the first write", (NEVER_PAID_OUT,), kind="CD"),
    Crash(
        "after the acquirer's answer",
        (GIVEN_BACK,),
        kind="PA",
        # Each takes up where the one before it died, so one payment outlives four deaths.
        recovery_seams=(
            "after settling an overdue attempt",
            "before the errand is sent",
            "after the errand's answer",
            "after the errand",
        ),
    ),
    Crash(
        "after the acquirer's answer",
        (TAKEN,),
        kind="CD",
        recovery_seams=("amid settling an overdue attempt", "amid the errand"),
    ),
)


def wreck_everything(world: World) -> None:
    for crash in CRASHES:
        (_crash_while_held if crash.manner is not Manner.ANSWER else _crash_at_seam)(world, crash)
        for seam in crash.recovery_seams:
            recovery = world.make_gateway(seam)
            recovery.launch()
            recovery.wait_for_death()


def _crash_at_seam(world: World, crash: Crash) -> None:
    gateway = world.make_gateway(crash.seam)
    gateway.start()
    assert try_to_pay(world.make_client(gateway), crash.amount, crash.key, crash.kind) is None
    gateway.wait_for_death()


def _crash_while_held(world: World, crash: Crash) -> None:
    gateway = world.make_gateway()
    gateway.start()
    seen = world.acquirer.count_requests(CHARGES)
    world.acquirer.behave(CHARGES, crash.manner, times=1)
    client = world.make_client(gateway)
    with ThreadPoolExecutor(1) as shopper:
        answer = shopper.submit(try_to_pay, client, crash.amount, crash.key, crash.kind)
        world.acquirer.wait_for_requests(CHARGES, seen + 1)
        gateway.kill()
    assert answer.result() is None
