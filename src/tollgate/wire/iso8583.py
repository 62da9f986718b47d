"""Carries messages to an ISO 8583 host over one long-lived connection per acquirer account.

It connects when it is first needed, signs on, keeps the connection alive and connects again. What an answer means is
decided by the connector.
"""

import asyncio
import logging
from collections.abc import Callable

from yarl import URL

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import AcquirerAccount, WireReply, WireRequest
from tollgate.connectors.iso8583 import codec, network
from tollgate.connectors.iso8583.network import NetworkCode
from tollgate.values import Instant
from tollgate.wire.acquirer import Forbidden, Silent, Unsent
from tollgate.wire.framed import FramedConnection
from tollgate.wire.tls import ClientTls

_log = logging.getLogger("tollgate.wire")

_ANSWERED = 200
"""The status of every answer: the protocol has its own codes within."""
_TLS_SCHEME = "tls"


class Iso8583Wire:
    """One connection to one host, signed on for one acquirer account.

    `is_open` is False for an address that card data must not go to; everything is then refused before it is sent.
    """

    def __init__(
        self,
        address: str,
        account: AcquirerAccount,
        tls: ClientTls,
        *,
        is_open: bool,
        now: Callable[[], Instant],
        roll: Callable[[], float],
    ) -> None:
        """now: the time for network messages; roll: a random number from 0 to 1, for the pauses between tries."""
        self._address = _read_address(address)
        self.account = account
        """The account as it is now: its secrets may change, and the next connection uses the new ones."""
        self._tls = tls if self._address.scheme == _TLS_SCHEME else None
        self._is_open = is_open
        self._now = now
        self._roll = roll
        self._stan = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forget()

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        if not self._is_open or not self._address.host:
            raise Forbidden
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + timeout_s
        # Half of the time at most, because a message that never left is sent a second time.
        patience_s = timeout_s / 2
        queued_until = loop.time() + patience_s
        try:
            async with asyncio.timeout(min(patience_s, LIMITS.acquirer_connect_timeout_s)):
                connection = await self._get_connection()
        except TimeoutError:
            raise Unsent("no connection to the acquirer") from None
        self._used_at = loop.time()
        # No answer is waited for beyond the time: another process may by then reverse what this one sends.
        body = await connection.send(
            request.body, queue_s=queued_until - self._used_at, timeout_s=ends_at - self._used_at
        )
        self._failures = 0
        return WireReply(_ANSWERED, body, request.content_type)

    async def close(self) -> None:
        """Waits a while for messages in flight, signs off and closes; a later message connects again."""
        connection, tasks = self._connection, (self._opening, self._keeping)
        is_ours = self._loop is asyncio.get_running_loop()
        self._forget()
        if not is_ours:
            return
        for task in tasks:
            if task is not None:
                task.cancel()
        if connection is not None:
            await self._sign_off(connection)

    async def _sign_off(self, connection: FramedConnection) -> None:
        """Ends a connection that new messages no longer find."""
        await connection.drain(LIMITS.iso8583_drain_s)
        if connection.is_open:
            await self._manage(connection, NetworkCode.SIGN_OFF)
        connection.close("this host signed off")

    def _forget(self) -> None:
        self._connection: FramedConnection | None = None
        self._opening: asyncio.Task[FramedConnection] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._failures = 0
        self._tried_at = 0.0
        self._used_at = 0.0

    async def _get_connection(self) -> FramedConnection:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # A connection belongs to its loop; another loop has ended with it.
            self._forget()
            self._loop = loop
        if self._connection is not None and self._connection.is_open:
            return self._connection
        if self._opening is None:
            self._opening = loop.create_task(self._open())
            self._opening.add_done_callback(self._note_opened)
        opening = self._opening
        try:
            # All that wait share one try, which goes on if they give up.
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            if not opening.cancelled():
                raise
            raise Unsent("this host ends its connections") from None

    def _note_opened(self, opening: asyncio.Task[FramedConnection]) -> None:
        connection = None if opening.cancelled() or opening.exception() else opening.result()
        if self._opening is opening:
            self._opening = None
            self._connection = connection
            if connection is not None:
                self._keeping = asyncio.get_running_loop().create_task(self._keep_alive(connection))
        elif connection is not None:
            connection.close("the wire was closed while it connected")

    async def _open(self) -> FramedConnection:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._tried_at + self._choose_pause_s() - loop.time())
        self._failures += 1
        try:
            async with asyncio.timeout(LIMITS.acquirer_connect_timeout_s):
                return await self._connect()
        except (OSError, ValueError) as fault:
            _log.warning("acquirer connection failed", extra=self._describe(str(fault) or "time-out"))
            raise Unsent("no connection to the acquirer") from None
        finally:
            self._tried_at = loop.time()

    def _choose_pause_s(self) -> float:
        """Grows with every try since the last answer, and is random in part, so that hosts do not try in step."""
        if not self._failures:
            return 0.0
        longest_s = LIMITS.iso8583_pause_s * 2.0 ** (self._failures - 1)
        return min(longest_s, LIMITS.iso8583_pause_s_max) * (1 + self._roll()) / 2

    async def _connect(self) -> FramedConnection:
        tls = None if self._tls is None else self._tls.get_context()
        reader, writer = await asyncio.open_connection(self._address.host, self._address.port, ssl=tls)
        connection = FramedConnection(reader, writer)
        is_signed_on = False
        try:
            await self._sign_on(connection)
            is_signed_on = True
        finally:
            if not is_signed_on:
                connection.close("the acquirer did not accept the sign-on")
        _log.info("acquirer connected", extra=self._describe())
        return connection

    async def _sign_on(self, connection: FramedConnection) -> None:
        """Signs on, and gets a working key if the account has the key that opens it; raises Unsent where that fails."""
        if await self._manage(connection, NetworkCode.SIGN_ON) is None:
            raise self._refuse("acquirer did not accept the sign-on")
        try:
            wrapping_key = network.find_wrapping_key(self.account.secrets)
        except ValueError as fault:
            raise self._refuse("acquirer secret unusable", str(fault)) from None
        if wrapping_key is None:
            return
        answer = await self._manage(connection, NetworkCode.KEY_EXCHANGE)
        if answer is not None:
            connection.working_key = network.find_working_key(wrapping_key, answer)
        if connection.working_key is None:
            raise self._refuse("acquirer gave no working key")

    def _refuse(self, event: str, reason: str = "") -> Unsent:
        _log.error(event, extra=self._describe(reason))
        return Unsent("the acquirer did not accept the sign-on")

    async def _manage(self, connection: FramedConnection, code: NetworkCode) -> codec.Message | None:
        """Sends a request of network management; returns the answer if the host has accepted it."""
        self._stan = self._stan % codec.STAN_MAX + 1
        account = self.account
        request = network.make_request(
            code, stan=self._stan, at=self._now(), terminal=account.terminal_id, acquirer=account.acquirer_number
        )
        within_s = LIMITS.iso8583_network_timeout_s
        try:
            body = await connection.send(codec.encode(request), queue_s=within_s, timeout_s=within_s)
        except (Unsent, Silent):
            return None
        answer = codec.decode(body)
        return answer if network.is_accepted(request, answer) else None

    async def _keep_alive(self, connection: FramedConnection) -> None:
        """Sends an echo when nothing was heard for a while; a host that does not answer it is no longer there.

        A connection that nobody uses any more is ended, because the channel may have another acquirer by now.
        """
        loop = asyncio.get_running_loop()
        while connection.is_open:
            idle_s = loop.time() - connection.heard_at
            if idle_s < LIMITS.iso8583_echo_after_s:
                await asyncio.sleep(LIMITS.iso8583_echo_after_s - idle_s)
            elif loop.time() - self._used_at > LIMITS.iso8583_unused_s:
                self._connection = None
                await self._sign_off(connection)
            elif await self._manage(connection, NetworkCode.ECHO) is None:
                connection.close("the acquirer does not answer an echo")
                _log.warning("acquirer does not answer an echo", extra=self._describe())

    def _describe(self, reason: str = "") -> dict[str, str]:
        """Names the host without the user and password that an address may carry."""
        shown = {"address": f"{self._address.host}:{self._address.port}", "terminal": self.account.terminal_id}
        return {**shown, "reason": reason} if reason else shown


def _read_address(address: str) -> URL:
    """Returns an address without a host for what is none."""
    try:
        return URL(address)
    except ValueError:
        return URL()
