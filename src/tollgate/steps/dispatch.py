"""The one driver of connectors: carries their requests over a wire and turns transport faults into outcomes.

Nothing else does.
"""

from __future__ import annotations

from tollgate.catalog import LIMITS
from tollgate.connectors import Exchange, WireReply, WireRequest
from tollgate.payments import Outcome, Verdict
from tollgate.wire import Silent, Unsent, Wire

_UNSENT = Verdict(outcome=Outcome.UNSENT, code="900.100.600")
_SILENT = Verdict(outcome=Outcome.SILENT, code="900.100.300")


async def dispatch(exchange: Exchange, wire: Wire, *, timeout_s: float) -> Verdict:
    try:
        request = next(exchange)
        while True:
            request = exchange.send(await _send(request, wire, timeout_s))
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict
    except Unsent:
        return _UNSENT
    except Silent:
        return _SILENT
    finally:
        exchange.close()


async def _send(request: WireRequest, wire: Wire, timeout_s: float) -> WireReply:
    """What never left may be tried again; what left may not."""
    for _ in range(LIMITS.acquirer_sends_max - 1):
        try:
            return await wire.send(request, timeout_s)
        except Unsent:
            continue
    return await wire.send(request, timeout_s)
