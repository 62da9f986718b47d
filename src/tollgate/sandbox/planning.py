"""Chooses what a message to a simulated partner meets, by what was planned for it in the back office.

What is planned is stored, and the partners carry it out.
"""

from collections.abc import Mapping

from tollgate.connectors import acquiring
from tollgate.operations.app import App
from tollgate.payments.order import Partner
from tollgate.payments.payment import Payment
from tollgate.sandbox.acquirer import Misbehaving
from tollgate.sandbox.simulator import Simulator
from tollgate.store import planned_outcomes
from tollgate.wire import Wire

EXPLICIT: Mapping[Partner, frozenset[str]] = {
    Partner.ACQUIRER: frozenset(
        {acquiring.FORCED_CODE, "simulatorDelay", "simulatorFault", "simulatorAvs", "simulatorCvv"}
    ),
    Partner.DIRECTORY_SERVER: frozenset({"3DS2_flow", "3DS2_enrolled"}),
}
"""A request that has one of these overrides says itself what its messages meet, and uses up nothing that is planned."""


class PlannedOutcomes:
    """Knows which channels have planned outcomes; every process looks again when the version of merchants changes."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._channels: frozenset[str] = frozenset()

    async def choose_overrides(
        self, app: App, partner: Partner, wire: Wire, payment: Payment, sent: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Returns the overrides of a message; most payments ask for nothing planned, so they wait for no database."""
        version = app.merchants.version
        if self._version != version:
            # Noted after reading, so that messages at once all wait for it.
            self._channels = await planned_outcomes.list_planned_channels(app.database)
            self._version = version
        if payment.channel_id not in self._channels or not isinstance(wire, (Simulator, Misbehaving)):
            return sent
        if not EXPLICIT[partner].isdisjoint(sent):
            return sent
        taken = await planned_outcomes.take_outcome(
            app.database, payment.merchant_id, payment.channel_id, partner, payment.payment_type
        )
        return sent if taken is None else {**sent, **taken.overrides}
