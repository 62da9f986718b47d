"""Builds the house from settings: opens the store, loads the keys, joins the routes of every door.

Decides nothing about payments.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tollgate.catalog.throttles import Throttle
from tollgate.config import Settings
from tollgate.contract.answers import Envelope
from tollgate.operations.app import App, MerchantCache
from tollgate.payments.checkout import Script
from tollgate.payments.registration import Retention
from tollgate.payments.schedule import RetryTerms
from tollgate.store.database import Database
from tollgate.store.merchants import list_merchants
from tollgate.store.opening import get_setting, open_database, put_setting
from tollgate.values import DAY, Clock, SystemClock
from tollgate.vault.keyring import Keyring, KeyringError, load_keyring, make_keyring, save_keyring
from tollgate.web.api import ROUTES
from tollgate.web.api.host import METRICS
from tollgate.web.callers import Proxies, Throttles, configure_throttles
from tollgate.web.request import RouteRow
from tollgate.web.server import Gateway
from tollgate.widget.routes import ROUTES as WIDGET_ROUTES
from tollgate.widget.serving import SCRIPT
from tollgate.wire import HttpNotifier, HttpWire, Wire, may_carry_cards
from tollgate.workers import CLOCK_OFFSET, WORKERS, Loop

_log = logging.getLogger("tollgate.wire")

BASE_URL = "base_url"


class Wires:
    """One wire per configured address, opened when it is first needed; and a notifier to all other addresses."""

    def __init__(self, *, is_live: bool, allows_plain_loopback: bool = False) -> None:
        self._wires: dict[str, HttpWire] = {}
        self._may_be_used = partial(may_carry_cards, is_live=is_live, allows_plain_loopback=allows_plain_loopback)
        self.notifier = HttpNotifier(is_live=is_live)

    def find(self, address: str) -> Wire:
        wire = self._wires.get(address)
        if wire is None:
            is_open = self._may_be_used(address)
            if not is_open:
                # Without the user and password that an address may carry.
                extra = {"address": address.rpartition("@")[2]}
                _log.error("acquirer address refused: a live host sends card data to https:// only", extra=extra)
            wire = self._wires[address] = HttpWire(address, is_open=is_open)
        return wire

    async def close(self) -> None:
        for wire in self._wires.values():
            await wire.close()
        await self.notifier.close()


class Greeting(msgspec.Struct, frozen=True):
    """What a test host tells a newcomer, for a person and for a script."""

    text: str
    json: str


class Host(msgspec.Struct, frozen=True):
    """A running gateway without its sockets."""

    app: App
    gateway: Gateway
    metrics: Gateway
    """Counters alone, for a port of their own."""
    loop: Loop
    wires: Wires

    async def close(self) -> None:
        await self.loop.stop()
        await self.wires.close()
        await self.app.database.close()


async def open_app(settings: Settings, *, exclusive: bool) -> tuple[App, Wires]:
    """What stories need, without anybody who calls; for commands that tell one.

    Only a server, which asks for the store exclusively, may make or migrate it.
    """
    keyring = load_keyring(settings.key_path)
    database = await open_database(settings.database_url, exclusive=exclusive, must_exist=not exclusive)
    clock = SystemClock(0 if settings.is_live else int(await get_setting(database, CLOCK_OFFSET, "0")))
    wires = Wires(is_live=settings.is_live, allows_plain_loopback=settings.allow_plain_loopback)
    throttles = _read_throttles(settings)
    app = App(
        database=database,
        merchants=MerchantCache(keyring),
        keyring=keyring,
        clock=clock,
        envelope=Envelope(get_build_number()),
        is_live=settings.is_live,
        acquirer_timeout_s=settings.acquirer_timeout_s,
        completion_margin_s=settings.completion_margin_s,
        authorization_lifetime=int(settings.authorization_days * DAY),
        retention=Retention(
            card_months=settings.registration_card_months,
            idle_months=settings.registration_idle_months,
            extension_months=settings.registration_extension_months,
            payment_days=settings.payment_account_days,
        ),
        retrying=RetryTerms(tries_max=settings.schedule_tries, window=int(settings.schedule_retry_days * DAY)),
        find_wire=wires.find,
        notifier=wires.notifier,
        status_reads=next(row for row in throttles if row.operation == "read_checkout"),
        simulator=None if settings.is_live else _make_simulator(database, keyring, settings.base_url, clock),
        base_url=settings.base_url,
        disturb=(lambda wire: wire) if settings.is_live else _choose_disturbance(),
        key_path=settings.key_path,
    )
    return app, wires


async def open_host(settings: Settings, *, exclusive: bool) -> Host:
    """`exclusive` keeps a second server off an embedded database."""
    app, wires = await open_app(settings, exclusive=exclusive)
    app = msgspec.structs.replace(app, script=Script(SCRIPT.version, SCRIPT.integrity, SCRIPT.body))
    database, clock = app.database, app.clock
    if not settings.is_live:
        await make_greeting(database, app.keyring, settings.base_url, clock)
        await put_setting(database, BASE_URL, settings.base_url)
    await app.merchants.refresh(database)
    throttles = Throttles(_read_throttles(settings), clock)
    proxies = Proxies(settings.trusted_proxy)
    gateway = Gateway(app, join_routes(settings), throttles, proxies, requires_tls=settings.is_live)
    loop = Loop(app, WORKERS)
    return Host(app, gateway, Gateway(app, (METRICS,), throttles), loop, wires)


def _read_throttles(settings: Settings) -> list[Throttle]:
    return configure_throttles(settings.throttles, is_live=settings.is_live)


def join_routes(settings: Settings) -> tuple[RouteRow, ...]:
    routes = (*ROUTES, *WIDGET_ROUTES)
    if settings.is_live:
        return routes
    from tollgate.sandbox.routes import ROUTES as SANDBOX_ROUTES

    return (*routes, *SANDBOX_ROUTES) if settings.metrics_port else (*routes, METRICS, *SANDBOX_ROUTES)


async def prepare_keyring(settings: Settings, database: Database) -> Keyring:
    """Loads the keys of the store; a test host whose store has no merchant yet makes them, a live host never does."""
    path = settings.key_path
    if not settings.is_live and not path.exists():
        if await list_merchants(database):
            raise KeyringError(
                f"there is no key file {path.resolve()}, and the store has merchants already, whose records other keys "
                "would not open: name the store's own key file with --key-file, or restore it from its backup"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        save_keyring(make_keyring(), path)
    return load_keyring(path)


_CODE = frozenset({".py", ".html", ".js", ".css", ".json", ".svg"})
"""What decides how this host behaves and looks."""


def get_build_number() -> str:
    """Forty hex digits that stand for this very code, and when it was put here."""
    folder = Path(__file__).parent
    digest, newest = hashlib.sha1(usedforsecurity=False), 0.0
    for path in sorted(each for each in folder.rglob("*") if each.suffix in _CODE):
        digest.update(path.read_bytes())
        newest = max(newest, path.stat().st_mtime)
    return f"{digest.hexdigest()}@{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(newest))} +0000"


def _make_simulator(database: Database, keyring: Keyring, base_url: str, clock: Clock) -> Wire:
    from tollgate.sandbox.simulator import make_simulator

    return make_simulator(database, keyring, base_url, clock)


def _choose_disturbance() -> Callable[[Wire], Wire]:
    from tollgate.sandbox.acquirer import Misbehaving

    return Misbehaving


async def make_greeting(database: Database, keyring: Keyring, base_url: str, clock: Clock) -> Greeting:
    """Makes the sandbox merchant where there is none yet."""
    from tollgate.sandbox.tenant import ensure_tenant, welcome

    tenant = await ensure_tenant(database, keyring, clock.now())
    shown = await welcome(database, keyring, tenant, base_url)
    return Greeting(shown.render(), msgspec.json.encode(shown).decode())


async def make_sandbox_token(database: Database, keyring: Keyring, entity_id: str | None, **wish: Any) -> str | None:
    """A wallet's token for a channel of a test host. None: the channel does not have the sandbox's wallet keys."""
    from tollgate.sandbox.tenant import ensure_tenant
    from tollgate.sandbox.wallets.issuing import TokenRequest, make_wallet_token

    wanted = TokenRequest(**wish)
    tenant = await ensure_tenant(database, keyring, wanted.made_at)
    return await make_wallet_token(database, keyring, entity_id or tenant.entity_id, wanted)
