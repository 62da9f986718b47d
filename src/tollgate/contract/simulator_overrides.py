"""The custom parameters by which a test asks the simulator for a particular answer.

On a live host they are ordinary data.
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import SIMULATOR_OVERRIDES, get_result
from tollgate.values import Fault, InvalidParameters


def read_simulator_overrides(values: Mapping[str, str]) -> dict[str, str]:
    """Levers by their key. A misspelled one would silently test nothing, so it is refused."""
    simulator_overrides: dict[str, str] = {}
    faults: list[Fault] = []
    for override in SIMULATOR_OVERRIDES:
        value = values.get(override.name)
        if value is None:
            continue
        if not override.shape.accepts(value):
            faults.append(Fault(override.name, override.shape.message, value))
        simulator_overrides[override.key] = value
    if faults:
        raise InvalidParameters(get_result("200.300.404"), faults)
    return simulator_overrides
