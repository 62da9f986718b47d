"""Builds the app and the host from settings: opens the store, loads the keys, joins the routes.

It decides nothing about payments.
"""

import logging
from typing import Any

import msgspec

from tollgate.config import Settings
from tollgate.contract.answers import Envelope
from tollgate.docs import routes as docs
from tollgate.office import routes as office
from tollgate.operations import approvals, build_number, caches, card_testing, journal
from tollgate.operations.app import App
from tollgate.payments import checkout, registration, schedule
from tollgate.store import merchants, notices, opening, replicas, shared_counts
from tollgate.store.database import Database
from tollgate.values import DAY, Clock, SystemClock
from tollgate.vault.keyring import Keyring, KeyringError, load_keyring, make_keyring, save_keyring
from tollgate.web import callers, instruments, request, server, throttling
from tollgate.web.api import ROUTES, host
from tollgate.widget import routes, serving
from tollgate.wire import Wires
from tollgate.workers import CLOCK_OFFSET, WORKERS, Loop, derive_recent

_LOGS = "tollgate"
BASE_URL = "base_url"


class Greeting(msgspec.Struct, frozen=True):
    """The credentials of a test host, for a person and for a script."""

    text: str
    json: str


class Host(msgspec.Struct, frozen=True):
    """A running gateway without its sockets."""

    app: App
    gateway: server.Gateway
    metrics: server.Gateway
    """The gateway of the port that serves metrics alone."""
    loop: Loop
    wires: Wires
    lines: journal.JournalLines
    traces: instruments.Instruments | None = None

    async def close(self) -> None:
        logging.getLogger(_LOGS).removeHandler(self.lines)
        await self.loop.stop()
        await self.wires.close()
        for each in (self.app.shared, self.app.replica):
            if each is not None:
                await each.close()
        await self.app.database.close()
        if self.traces is not None:
            await self.traces.close()


async def open_app(settings: Settings, *, exclusive: bool) -> tuple[App, Wires]:
    """Opens what flows need, without routes and workers.

    Only a server, which asks for the store exclusively, may make or migrate it.
    """
    keyring = load_keyring(settings.key_path)
    database = await opening.open_database(settings.database_url, exclusive=exclusive, must_exist=not exclusive)
    clock = SystemClock(0 if settings.is_live else int(await opening.get_setting(database, CLOCK_OFFSET, "0")))
    wires = Wires(settings)
    throttles = throttling.configure_throttles(settings.throttles, is_live=settings.is_live)
    app = App(
        database=database,
        merchants=caches.MerchantCache(keyring),
        keyring=keyring,
        clock=clock,
        envelope=Envelope(build_number.get_build_number()),
        is_live=settings.is_live,
        acquirer_timeout_s=settings.acquirer_timeout_s,
        completion_margin_s=settings.completion_margin_s,
        authorization_lifetime=int(settings.authorization_days * DAY),
        retention=registration.Retention(
            card_months=settings.registration_card_months,
            idle_months=settings.registration_idle_months,
            extension_months=settings.registration_extension_months,
            payment_days=settings.payment_account_days,
        ),
        retrying=schedule.RetryTerms(tries_max=settings.schedule_tries, window=int(settings.schedule_retry_days * DAY)),
        find_wire=wires.find,
        notifier=wires.notifier,
        status_reads=next(row for row in throttles if row.operation == "read_checkout"),
        base_url=settings.base_url,
        key_path=settings.key_path,
        allows_plain_loopback=settings.allow_plain_loopback,
        data_folder=settings.data_folder,
        archive=settings.archive_folder,
        four_eyes=approvals.read_four_eyes(settings.four_eyes, is_live=settings.is_live),
        card_testing=card_testing.CardTesting(keyring, clock) if settings.stops_card_testing else None,
    )
    if settings.is_live:
        return app, wires
    from tollgate.sandbox import acquirer, planning, simulator

    simulated = simulator.make_simulator(database, keyring, settings.base_url, clock)
    planned = planning.PlannedOutcomes()
    return msgspec.structs.replace(app, simulator=simulated, disturb=acquirer.Misbehaving, planning=planned), wires


def make_replica(settings: Settings, database: Database) -> replicas.Replica | None:
    if not settings.read_database or settings.uses_sqlite:
        return None
    return replicas.Replica(settings.read_database, database, settings.read_lag_max_s)


async def open_host(settings: Settings, *, exclusive: bool) -> Host:
    """exclusive: keeps a second server off an embedded database."""
    app, wires = await open_app(settings, exclusive=exclusive)
    script = serving.SCRIPT
    shared = await shared_counts.open_shared_counts(settings.shared, app.clock) if settings.shared else None
    app = msgspec.structs.replace(
        app,
        script=checkout.Script(script.version, script.integrity, script.body),
        shared=shared,
        replica=make_replica(settings, app.database),
    )
    traces = instruments.open_instruments(settings, app)
    app = app if traces is None else traces.trace_app(app)
    database, clock = app.database, app.clock
    if settings.is_live:
        wires.load()
    else:
        await make_greeting(database, app.keyring, settings.base_url, clock)
        await opening.put_setting(database, BASE_URL, settings.base_url)
    await app.merchants.refresh(database)
    await derive_recent(app)
    rows = throttling.configure_throttles(settings.throttles, is_live=settings.is_live)
    throttles = throttling.Throttles(rows, clock, app.keyring, app.shared)
    proxies = callers.Proxies(settings.trusted_proxy)
    make_gateway = server.Gateway if traces is None else traces.make_gateway
    gateway = make_gateway(app, join_routes(settings), throttles, proxies, requires_tls=settings.is_live)
    loop = Loop(app, WORKERS, notices.make_listen(settings.database_url))
    lines = journal.JournalLines(app.journal, clock.now)
    logging.getLogger(_LOGS).addHandler(lines)
    return Host(app, gateway, server.Gateway(app, (host.METRICS,), throttles), loop, wires, lines, traces)


def join_routes(settings: Settings) -> tuple[request.RouteRow, ...]:
    rows = (*ROUTES, *routes.ROUTES, *office.ROUTES, *docs.ROUTES)
    if settings.is_live:
        return (*rows, host.NAME)
    from tollgate.sandbox.routes import ROUTES as SANDBOX_ROUTES

    return (*rows, *SANDBOX_ROUTES) if settings.metrics_port else (*rows, host.METRICS, *SANDBOX_ROUTES)


async def prepare_keyring(settings: Settings, database: Database) -> Keyring:
    """Loads the keys of the store; a test host whose store has no merchant yet makes them, a live host never does."""
    path = settings.key_path
    if not settings.is_live and not path.exists():
        if await merchants.list_merchants(database):
            raise KeyringError(
                f"there is no key file {path.resolve()}, and the store has merchants already, whose records other keys "
                "would not open: name the store's own key file with --key-file, or restore it from its backup"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        save_keyring(make_keyring(), path)
    return load_keyring(path)


async def make_greeting(database: Database, keyring: Keyring, base_url: str, clock: Clock) -> Greeting:
    """Makes the sandbox merchant where there is none yet."""
    from tollgate.sandbox import tenant

    shown = await tenant.welcome(
        database, keyring, await tenant.ensure_tenant(database, keyring, clock.now()), base_url
    )
    return Greeting(shown.render(), msgspec.json.encode(shown).decode())


async def make_sandbox_token(database: Database, keyring: Keyring, entity_id: str | None, **wanted: Any) -> str | None:
    """Makes a wallet token for a channel of a test host; None if the channel lacks the sandbox's wallet keys."""
    from tollgate.sandbox import tenant

    return await tenant.make_token(database, keyring, entity_id, **wanted)


async def trigger_event(app: App, name: str, entity_id: str | None, send: Any) -> list[str]:
    """Makes an event happen on a running test host, by requests with the credentials of its sandbox merchant.

    send: a `Send` of the triggers, which the command provides.
    """
    from tollgate.sandbox import tenant, triggers

    base_url = await opening.get_setting(app.database, BASE_URL) or app.base_url
    owner = await tenant.ensure_tenant(app.database, app.keyring, app.clock.now())
    credentials = await tenant.welcome(app.database, app.keyring, owner, base_url)
    return await triggers.run_trigger(app, name, credentials, entity_id, send)


def run_acquirer_host(address: str, port: int, show: Any, **files: str) -> None:
    """Runs a simulated ISO 8583 host until a signal; a ValueError says which of its files cannot be used.

    show: a function that prints a line.
    """
    from tollgate.sandbox.iso8583_host import running

    running.run_host(address, port, running.HostFiles(**files), show)
