"""Sockets and signals: runs a host under uvicorn, in one process or several, with or without TLS. Knows no payment."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Coroutine, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
import uvloop

from tollgate.catalog import LIMITS, get_result
from tollgate.config import Settings
from tollgate.contract import answer_refusal
from tollgate.hosting.certificate import get_local_certificate
from tollgate.hosting.crew import Crew
from tollgate.hosting.log import set_up_logs
from tollgate.hosting.redirect import serve_redirects
from tollgate.steps import House
from tollgate.values import Refusal, SystemClock
from tollgate.web import BoundedHttp, Gateway
from tollgate.wiring import Host, open_host

_log = logging.getLogger("tollgate.server")

_BACKLOG = 2048
_KEEP_ALIVE_S = 30
_SHUTDOWN_S = 35
"""Longer than an acquirer may take, so that a restart cuts no payment off."""

_GARBAGE_MIN = 20_000
"""New objects before the youngest are searched: as many as some hundred requests in flight hold at once."""


class _Server(uvicorn.Server):
    """Signals only ask it to stop; the store is closed after the last answer, not before."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def run(settings: Settings) -> None:
    """Serve until a signal says stop."""
    if settings.workers == 1:
        run_worker(settings, [bind(settings.host, settings.port)])
        return
    with TemporaryDirectory(prefix="tollgate-metrics-") as folder:
        # The counters of all workers meet in this folder, so that any of them can tell the host's.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        set_up_logs(settings.log_level)
        if not Crew(run_worker, settings, [bind(settings.host, settings.port)]).run():
            sys.exit("tollgate: the workers would not stay alive; their log says why")


def run_worker(settings: Settings, sockets: list[socket.socket]) -> None:
    set_up_logs(settings.log_level)
    uvloop.run(serve(settings, sockets))


async def serve(settings: Settings, sockets: list[socket.socket]) -> None:
    host = await open_host(settings, exclusive=True)
    try:
        BoundedHttp.render_refusal = staticmethod(partial(_render_refusal, host.house))
        server = _Server(_configure(settings, host.gateway))
        host.loop.start()
        beside = [asyncio.create_task(work) for work in _serve_beside(settings, host)]
        _tame_garbage_collector()
        _log.info("serving", extra={"base_url": settings.base_url, "environment": settings.environment})
        await server.serve(sockets)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
    finally:
        await host.close()


def _tame_garbage_collector() -> None:
    """The tables are here to stay, so they are not searched again; and a payment leaves next to no cycles behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE_MIN, *gc.get_threshold()[1:])


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        sys.exit(f"tollgate: cannot listen on {host} port {port}: {error.strerror}")
    listener.set_inheritable(True)
    return listener


def _configure(settings: Settings, gateway: Gateway) -> uvicorn.Config:
    certificate, key = _find_certificate(settings)
    return uvicorn.Config(
        gateway,
        http=BoundedHttp,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxy),
        forwarded_allow_ips=settings.trusted_proxy or None,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_SHUTDOWN_S,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


def _find_certificate(settings: Settings) -> tuple[Path | None, Path | None]:
    if settings.tls_cert:
        return Path(settings.tls_cert), Path(settings.tls_key)
    if settings.tls_self_signed:
        return get_local_certificate(settings.data_folder, SystemClock().wall())
    return None, None


def _serve_beside(settings: Settings, host: Host) -> Iterator[Coroutine[None, None, None]]:
    if settings.http_port:
        yield serve_redirects(settings.host, settings.http_port, settings.base_url)
    if settings.metrics_port:
        config = uvicorn.Config(host.metrics, ws="none", lifespan="off", log_config=None, access_log=False)
        metrics = _Beside(config)
        yield metrics.serve([bind(settings.host, settings.metrics_port, shared=True)])


class _Beside(uvicorn.Server):
    """A second server in the same loop, which leaves the signals to the first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _render_refusal(house: House, too_large: bool) -> bytes:
    detail = f"the head has more than {LIMITS.header_bytes_max} bytes" if too_large else "this is not HTTP"
    refusal = Refusal(get_result("200.100.103"), detail)
    return answer_refusal(refusal, house.envelope, house.chance(16).hex(), house.clock.now()).body
