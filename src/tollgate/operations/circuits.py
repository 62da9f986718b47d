"""The circuit of each acquirer account: it opens where charges fail technically too often, and closes after probes.

Each process has its own. A circuit steers among accounts; whether a payment is sent at all is not decided here.
"""

from collections import deque
from dataclasses import dataclass, field
from operator import itemgetter

from tollgate.values import MINUTE, SECOND, Instant

WINDOW = 5 * MINUTE
"""Charges that ended longer ago do not count."""
CHARGES_MIN = 10
"""A circuit does not open on fewer charges within the window."""
FAILURES_PERCENT = 50
"""A circuit opens where so many of them failed technically."""
PAUSE = 10 * SECOND
"""The time without charges after a circuit has opened; each probe that fails doubles it."""
PAUSE_MAX = 5 * MINUTE
PROBES = 3
"""A circuit closes after so many probes in a row that did not fail."""
_KEPT = 50
"""The number of charges of an account that are remembered; a busy account is judged by these alone."""
_HAS_FAILED = itemgetter(1)


@dataclass
class _Circuit:
    ended: deque[tuple[Instant, bool]] = field(default_factory=lambda: deque(maxlen=_KEPT))
    """The time of each charge of late, and whether it failed technically."""
    is_open: bool = False
    opened_at: Instant = 0
    pause: Instant = PAUSE
    probes_at: Instant = 0
    """The time from which an open circuit lets a probe through."""
    is_probing: bool = False
    passed: int = 0
    """The probes in a row that did not fail."""


class Circuits:
    """The circuits of one process, by the ids of acquirer accounts."""

    def __init__(self) -> None:
        self._known: dict[str, _Circuit] = {}

    def is_open(self, account_id: str, now: Instant) -> bool:
        """Tells whether an account gets only what no other can take; an account whose probe is due does not."""
        circuit = self._known.get(account_id)
        return circuit is not None and circuit.is_open and now < circuit.probes_at

    def begin_probe(self, account_id: str, now: Instant) -> None:
        """Takes a probe that is due, so that charges which come meanwhile wait for its end; else it does nothing."""
        circuit = self._known.get(account_id)
        if circuit is not None and circuit.is_open and now >= circuit.probes_at:
            circuit.is_probing, circuit.probes_at = True, now + circuit.pause

    def note(
        self, account_id: str, is_technical_failure: bool, now: Instant, *, began_at: Instant | None = None
    ) -> None:
        """Notes the end of a charge.

        began_at: before it, where the charge took time; one from before the circuit opened is no probe.
        """
        circuit = self._known.get(account_id)
        if circuit is None:
            circuit = self._known[account_id] = _Circuit()
        if circuit.is_open:
            if began_at is None or began_at >= circuit.opened_at:
                _take_result(circuit, is_technical_failure, now)
            return
        circuit.ended.append((now, is_technical_failure))
        while circuit.ended[0][0] <= now - WINDOW:
            circuit.ended.popleft()
        failed = sum(map(_HAS_FAILED, circuit.ended))
        if len(circuit.ended) >= CHARGES_MIN and failed * 100 >= len(circuit.ended) * FAILURES_PERCENT:
            self._known[account_id] = _Circuit(is_open=True, opened_at=now, probes_at=now + PAUSE)


def _take_result(circuit: _Circuit, is_technical_failure: bool, now: Instant) -> None:
    """Judges what began and ended while a circuit was open: a probe, or a charge that no other account could take."""
    was_probing, circuit.is_probing = circuit.is_probing, False
    if is_technical_failure:
        circuit.passed = 0
        if was_probing:
            circuit.pause = min(2 * circuit.pause, PAUSE_MAX)
            circuit.probes_at = now + circuit.pause
        return
    circuit.passed += 1
    circuit.probes_at = now
    if circuit.passed >= PROBES:
        circuit.is_open, circuit.pause, circuit.passed = False, PAUSE, 0
