"""The wires of a host: one for each configured address, and a notifier to all others. They are opened when needed."""

import asyncio
import logging
import random
from collections.abc import Callable
from importlib import import_module

from tollgate.catalog.connectors import ConnectorName
from tollgate.config import Settings
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.payments.merchants import TlsTerms
from tollgate.values import Instant, SystemClock
from tollgate.wire.acquirer import HttpWire, Wire
from tollgate.wire.addresses import may_carry_cards
from tollgate.wire.guard import Guard
from tollgate.wire.iso8583 import Iso8583Wire
from tollgate.wire.notifier import HttpNotifier
from tollgate.wire.tls import ClientTls

_log = logging.getLogger("tollgate.wire")

_now = SystemClock().wall

_SENDERS = ("tollgate.wire.names", "encodings.idna")
"""The modules that load the HTTP client, and the encoding of host names, which Python loads when it looks one up."""


class Wires:
    """One wire per configured address, opened when it is first needed; and a notifier to all other addresses."""

    def __init__(
        self, settings: Settings, *, now: Callable[[], Instant] = _now, roll: Callable[[], float] = random.random
    ) -> None:
        self._web: dict[tuple[str, TlsTerms], HttpWire] = {}
        self._iso8583: dict[tuple[str, TlsTerms, str, str, str], Iso8583Wire] = {}
        self._settings = settings
        self._now = now
        self._roll = roll
        guard = Guard(is_live=settings.is_live, ports=settings.outbound_port_numbers)
        self.notifier = HttpNotifier(guard, ca_file=settings.outbound_ca)

    def load(self) -> None:
        """Loads what sends over HTTP, so that no payment of a live host waits for it or finds a broken disk.

        Other hosts, most of which send nothing, load it with their first message: it reads the certificates of all
        authorities, and takes an eighth of the time of a start.
        """
        for name in _SENDERS:
            import_module(name)

    def find(self, address: str, account: AcquirerAccount | None = None, /) -> Wire:
        if account is not None and account.connector is ConnectorName.ISO8583:
            return self._get_iso8583(address, account)
        # Channels with the same terms share the connections to one address.
        terms = account.tls if account else TlsTerms()
        found = self._web.get((address, terms))
        if found is None:
            tls = ClientTls(terms, self._settings.certificate_folder)
            found = HttpWire(address, is_open=self._is_open(address), get_tls=tls.get_context)
            self._web[address, terms] = found
        return found

    def _get_iso8583(self, address: str, account: AcquirerAccount) -> Wire:
        # A connection is signed on for one terminal, so another needs another.
        key = address, account.tls, account.id, account.terminal_id, account.acquirer_number
        found = self._iso8583.get(key)
        if found is None:
            tls = ClientTls(account.tls, self._settings.certificate_folder)
            found = self._iso8583[key] = Iso8583Wire(
                address, account, tls, is_open=self._is_open(address), now=self._now, roll=self._roll
            )
        found.account = account
        return found

    def _is_open(self, address: str) -> bool:
        is_live, allows_plain_loopback = self._settings.is_live, self._settings.allow_plain_loopback
        is_open = may_carry_cards(address, is_live=is_live, allows_plain_loopback=allows_plain_loopback)
        if not is_open:
            # Without the user and password that an address may carry.
            extra = {"address": address.rpartition("@")[2]}
            _log.error("acquirer address refused: a live host sends card data over TLS only", extra=extra)
        return is_open

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self._web.values()))
        await asyncio.gather(*(each.close() for each in self._iso8583.values()))
        await self.notifier.close()
