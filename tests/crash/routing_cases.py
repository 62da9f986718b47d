"""A channel with two acquirer accounts, of which the first cannot be reached until every gateway has died.

Both lead to one acquirer, so that its ledger shows what was charged at either of them.
"""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import msgspec

from crash.crashes import Crash, CrashCase, run_payment_crashes
from crash.world import PATIENCE_S, World
from ports import find_free_port
from tollgate.payments.merchants import AcquirerTerms, FurtherAccount
from tollgate.store.merchants import insert_account, list_channels, update_channel
from tollgate.store.opening import open_database
from tollgate.values import SystemClock, make_id


def run_routing_crashes(world: World, stack: ExitStack, share: Sequence[Crash]) -> list[CrashCase]:
    port = find_free_port()
    asyncio.run(_add_account(world, f"http://127.0.0.1:{port}"))
    return run_payment_crashes(world, share, lambda: stack.enter_context(pass_on(port, world.acquirer.url)))


@contextmanager
def pass_on(port: int, url: str) -> Iterator[None]:
    """Passes on what comes to a port to an address, from now on."""
    host = urlsplit(url).netloc

    class Passage(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
            connection.request("POST", self.path, self.rfile.read(int(self.headers["Content-Length"])))
            reply = connection.getresponse()
            body = reply.read()
            connection.close()
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Passage)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


async def _add_account(world: World, unreachable: str) -> None:
    """Gives the channel an address where nobody listens, and a second account behind it."""
    database = await open_database(world.database)
    try:
        channel = next(row for row in await list_channels(database) if row.id == world.entity_id)
        second = FurtherAccount(
            id=make_id(),
            merchant_id=channel.merchant_id,
            channel_id=channel.id,
            name="Second",
            created_at=SystemClock().now(),
            test_url=channel.test_url,
            terms=AcquirerTerms(priority=2),
        )
        await insert_account(database, second)
        await update_channel(database, msgspec.structs.replace(channel, test_url=unreachable))
    finally:
        await database.close()
