"""The custom parameters by which a test asks the simulator for a particular answer.

On a live host they are ordinary data.
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import LEVERS, get_result
from tollgate.values import Fault, InvalidParameters


def read_levers(values: Mapping[str, str]) -> dict[str, str]:
    """Levers by their key. A misspelled one would silently test nothing, so it is refused."""
    levers: dict[str, str] = {}
    faults: list[Fault] = []
    for lever in LEVERS:
        value = values.get(lever.name)
        if value is None:
            continue
        if not lever.shape.accepts(value):
            faults.append(Fault(lever.name, lever.shape.message, value))
        levers[lever.key] = value
    if faults:
        raise InvalidParameters(get_result("200.300.404"), faults)
    return levers
