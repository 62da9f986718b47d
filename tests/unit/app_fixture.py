"""An app for tests of flows: a real embedded store, a clock that tests move, and a wire that follows a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from empty_store import open_empty_store
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.contract.answers import Envelope
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.payments.accounts import CardAccount, make_card_summary
from tollgate.payments.merchants import Channel, Merchant
from tollgate.payments.order import Order, TestMode
from tollgate.store.database import Database
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.values import DAY, ChannelId, FixedClock, MerchantId, Money, Secret, to_instant
from tollgate.vault.keyring import make_keyring
from tollgate.wire import Guard, HttpNotifier

NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
APPROVED = b'{"status":"approved","response_code":"00","message":"Fine"}'

MERCHANT = Merchant(id=MerchantId("8a" + "1" * 30), name="Merchant", created_at=NOW)
CHANNEL = Channel(id=ChannelId("8a" + "2" * 30), merchant_id=MERCHANT.id, name="Shop", created_at=NOW)
CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034", cvv=Secret("731"))
ORDER = Order(
    payment_type="DB",
    money=Money(9200, "EUR"),
    brand="VISA",
    method="CC",
    account=CARD,
    card_summary=make_card_summary("4200000000000000", CARD),
    statement="Shop",
    descriptor="Shop",
    short_id="1234.5678.9012",
    test_mode=TestMode.INTERNAL,
    merchant_transaction_id="order-0001",
)


@dataclass
class ScriptedWire:
    """The wire plays its script from the front: an answer or a fault. At the end it approves."""

    script: list[bytes | Exception] = field(default_factory=list)
    sent: list[WireRequest] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """This runs after a request came and before it is answered."""

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        self.sent.append(request)
        if self.meanwhile is not None:
            await self.meanwhile()
        next_line = self.script.pop(0) if self.script else APPROVED
        if isinstance(next_line, Exception):
            raise next_line
        return WireReply(200, next_line)


async def open_app(folder: Path, wire: ScriptedWire, *, is_live: bool = False) -> App:
    return await furnish_app(await open_empty_store(folder / "store.db"), wire, is_live=is_live)


async def furnish_app(database: Database, wire: ScriptedWire, *, is_live: bool = False) -> App:
    """Builds an app on a store that is open already."""
    await insert_merchant(database, MERCHANT)
    await insert_channel(database, CHANNEL)
    merchants = MerchantCache()
    await merchants.refresh(database)
    return App(
        database=database,
        merchants=merchants,
        keyring=make_keyring(),
        clock=FixedClock(NOW),
        envelope=Envelope("build"),
        is_live=is_live,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=7 * DAY,
        find_wire=lambda _address, _account=None: wire,
        notifier=HttpNotifier(Guard(is_live, frozenset({443, 8443}))),
        simulator=None if is_live else wire,
    )
