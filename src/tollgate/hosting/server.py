"""Runs a host in one process or several, until a signal ends it.

It decides nothing about payments.
"""

import asyncio
import gc
import logging
import multiprocessing
import os
import resource
import signal
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import uvloop

from tollgate.config import Settings
from tollgate.hosting import log, notifying
from tollgate.hosting.listener import Listener, Port, Redirector, Sockets
from tollgate.values import SystemClock
from tollgate.web.callers import Proxies
from tollgate.web.connections import Connections
from tollgate.wiring import Host, open_host

_process_log = logging.getLogger("tollgate.processes")

Work = Callable[[Settings, Sockets, notifying.Pulse], None]

TLS_MINIMUM = ssl.TLSVersion.TLSv1_2
_LOOK_EVERY_S = 0.5
_QUICK_DEATH_S = 5.0
_QUICK_DEATHS_MAX = 5
"""A process that dies young again and again has a reason that another start will not mend."""


class WorkerProcesses:
    def __init__(self, work: Work, settings: Settings, sockets: Sockets, supervisor: notifying.Supervisor) -> None:
        # Spawned, not forked: a child must not inherit the parent's threads, loops or database files.
        self._context = multiprocessing.get_context("spawn")
        self._work = work
        self._settings = settings
        self._sockets = sockets
        self._members: dict[multiprocessing.process.BaseProcess, float] = {}
        self._supervisor = supervisor
        self._watch = notifying.MemberWatch(supervisor)
        self._stopping = threading.Event()
        self._signal = signal.SIGTERM
        self._quick_deaths = 0

    def run(self) -> bool:
        """Runs the members until a signal; returns False if they would not stay alive."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        while not self._stopping.wait(_LOOK_EVERY_S if self._members else 0):
            self._replace_dead()
            self._kill_hanging()
            if self._quick_deaths > _QUICK_DEATHS_MAX:
                self._stopping.set()
        self._supervisor.end()
        # The system takes connections for as long as any process has the socket open, and nobody would answer them.
        for _, listening in self._sockets:
            listening.close()
        self._pass_on()
        for member in self._members:
            while member.is_alive():
                member.join(_LOOK_EVERY_S)
                self._watch.look(time.monotonic())
        return self._quick_deaths <= _QUICK_DEATHS_MAX

    def _replace_dead(self) -> None:
        for member in [each for each in self._members if not each.is_alive()]:
            lived_s = time.monotonic() - self._members.pop(member)
            self._watch.remove(member)
            self._quick_deaths = self._quick_deaths + 1 if lived_s < _QUICK_DEATH_S else 0
            _process_log.warning("worker process died", extra={"pid": member.pid, "exit_code": member.exitcode})
        while len(self._members) < self._settings.workers:
            pipe, pulse = self._watch.open()
            member = self._context.Process(target=self._work, args=(self._settings, self._sockets, pulse))
            member.start()
            self._members[member] = time.monotonic()
            self._watch.add(member, pipe)

    def _kill_hanging(self) -> None:
        """Kills processes whose loop has stood still for longer than the service manager allows."""
        for member in self._watch.look(time.monotonic()):
            _process_log.error("worker process hangs", extra={"pid": member.pid})
            member.kill()
            member.join()

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._signal = signal.Signals(number)
        if self._stopping.is_set():
            self._pass_on()
        self._stopping.set()

    def _pass_on(self) -> None:
        for member in self._members:
            if member.pid is not None and member.is_alive():
                os.kill(member.pid, self._signal)


_log = logging.getLogger("tollgate.server")

_SHUTDOWN_S = 35.0
"""Longer than an acquirer may take, so that a restart cuts no payment off."""
_CHECK_EVERY_S = 1.0
"""Seconds between two checks for connections whose time is over."""

_GARBAGE_MIN = 20_000
"""New objects before the youngest are searched: as many as some hundred requests in flight hold at once."""

_OWN_FILES = 256
"""Files that a process needs besides its clients' connections: the store, acquirers, logs."""
_METRICS_CONNECTIONS_MAX = 64


def run(settings: Settings, sockets: Sockets) -> None:
    """Serve on these sockets until a signal says stop."""
    supervisor = notifying.Supervisor(os.environ)
    if settings.workers == 1:
        run_worker(settings, sockets, supervisor)
        return
    with TemporaryDirectory(prefix="tollgate-metrics-") as folder:
        # The counters of all workers meet in this folder, so that any of them can tell the host's.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        log.set_up_logs(settings.log_level, settings.log_format)
        if not WorkerProcesses(run_worker, settings, sockets, supervisor).run():
            sys.exit("tollgate: the workers would not stay alive; their log says why")


def run_worker(settings: Settings, sockets: Sockets, pulse: notifying.Pulse) -> None:
    log.set_up_logs(settings.log_level, settings.log_format)
    uvloop.run(serve(settings, sockets, pulse))


async def serve(settings: Settings, sockets: Sockets, pulse: notifying.Pulse) -> None:
    host = await open_host(settings, exclusive=True)
    try:
        await _serve_host(settings, host, sockets, pulse)
    finally:
        await host.close()


class Stopping:
    """Hears the signals that end a host: SIGTERM asks it to stop, SIGINT to stop without waiting for load balancers."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._asked = asyncio.Event()
        self._urgent = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, self._asked.set)
        loop.add_signal_handler(signal.SIGINT, self._hurry)

    @property
    def is_urgent(self) -> bool:
        return self._urgent.is_set()

    async def wait(self) -> None:
        await self._asked.wait()

    async def wait_until_urgent(self, timeout_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._urgent.wait()

    def _hurry(self) -> None:
        self._urgent.set()
        self._asked.set()


async def _serve_host(settings: Settings, host: Host, sockets: Sockets, pulse: notifying.Pulse) -> None:
    stopping = Stopping(asyncio.get_running_loop())
    files = raise_file_limit()
    public = Connections(max(files - _OWN_FILES, files // 2), Proxies(settings.trusted_proxy))
    monitoring = Connections(_METRICS_CONNECTIONS_MAX, Proxies())
    tls = _make_tls(settings)
    listeners = []
    for port, listening in sockets:
        match port:
            case Port.API:
                listeners.append(Listener(listening, host.gateway, public, tls))
            case Port.REDIRECT:
                listeners.append(Listener(listening, Redirector(settings.base_url), public))
            case Port.METRICS:
                listeners.append(Listener(listening, host.metrics, monitoring))
    host.loop.start()
    # What is here stays, so it is never searched for garbage; and a payment leaves next to no cycles behind.
    gc.freeze()
    gc.set_threshold(_GARBAGE_MIN, *gc.get_threshold()[1:])
    for listener in listeners:
        listener.open()
    _log.info("serving", extra={"base_url": settings.base_url, "environment": settings.environment})
    sweeping = asyncio.create_task(_sweep([public, monitoring], pulse))
    await stopping.wait()
    if settings.drain_s and not stopping.is_urgent:
        _log.info("draining", extra={"seconds": settings.drain_s})
        host.app.activity.is_draining = True
        public.drain()
        await stopping.wait_until_urgent(settings.drain_s)
    pulse.end()
    for listener in listeners:
        listener.close()
    # Together, because a receiver that hangs and a payment in flight may each take seconds.
    await asyncio.gather(_finish([public, monitoring]), host.loop.stop())
    sweeping.cancel()


async def _sweep(all_connections: list[Connections], pulse: notifying.Pulse) -> None:
    loop = asyncio.get_running_loop()
    while True:
        pulse.beat()
        await asyncio.sleep(_CHECK_EVERY_S)
        for connections in all_connections:
            connections.check(loop.time())


async def _finish(all_connections: list[Connections]) -> None:
    """Answer what is in flight; whatever takes longer than a payment may take is cut off."""
    for connections in all_connections:
        connections.stop()
    try:
        async with asyncio.timeout(_SHUTDOWN_S):
            for connections in all_connections:
                await connections.wait_until_empty()
    except TimeoutError:
        _log.warning("requests aborted at shutdown", extra={"open": sum(len(each.open) for each in all_connections)})
        for connections in all_connections:
            connections.abort()


def raise_file_limit() -> int:
    """Let this process open as many files as the system allows it, and return how many these are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else sys.maxsize


def _make_tls(settings: Settings) -> ssl.SSLContext | None:
    certificate, key = _find_certificate(settings)
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = TLS_MINIMUM
    context.load_cert_chain(certificate, key)
    return context


def _find_certificate(settings: Settings) -> tuple[Path | None, Path | None]:
    if settings.tls_cert:
        return Path(settings.tls_cert), Path(settings.tls_key)
    if settings.tls_self_signed:
        from tollgate.hosting.certificate import get_local_certificate

        return get_local_certificate(settings.data_folder, SystemClock().wall())
    return None, None
