"""Flows that a clock starts. The table says which and how often."""

from tollgate.workers.loop import Loop, Worker
from tollgate.workers.sightings import derive_recent
from tollgate.workers.table import WORKERS
from tollgate.workers.upkeep import CLOCK_OFFSET, follow_clock, move_clock

__all__ = ["CLOCK_OFFSET", "WORKERS", "Loop", "Worker", "derive_recent", "follow_clock", "move_clock"]
