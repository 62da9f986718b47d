"""The wires of a host: one for each configured address, and a notifier to all others. They are opened when needed."""

import logging

from tollgate.config import Settings
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.payments.merchants import TlsTerms
from tollgate.wire.acquirer import HttpWire, Wire
from tollgate.wire.addresses import may_carry_cards
from tollgate.wire.guard import Guard
from tollgate.wire.notifier import HttpNotifier

_log = logging.getLogger("tollgate.wire")


class Wires:
    """One wire per configured address, opened when it is first needed; and a notifier to all other addresses."""

    def __init__(self, settings: Settings) -> None:
        self._wires: dict[tuple[str, TlsTerms], HttpWire] = {}
        self._terms = {"is_live": settings.is_live, "allows_plain_loopback": settings.allow_plain_loopback}
        guard = Guard(is_live=settings.is_live, ports=settings.outbound_port_numbers)
        self.notifier = HttpNotifier(guard, ca_file=settings.outbound_ca)

    def find(self, address: str, account: AcquirerAccount | None = None, /) -> Wire:
        # Channels with the same terms share the connections to one address.
        key = address, account.tls if account else TlsTerms()
        wire = self._wires.get(key)
        if wire is None:
            is_open = may_carry_cards(address, **self._terms)
            if not is_open:
                # Without the user and password that an address may carry.
                extra = {"address": address.rpartition("@")[2]}
                _log.error("acquirer address refused: a live host sends card data over TLS only", extra=extra)
            wire = self._wires[key] = HttpWire(address, is_open=is_open)
        return wire

    async def close(self) -> None:
        for wire in self._wires.values():
            await wire.close()
        await self.notifier.close()
