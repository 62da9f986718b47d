"""A merchant that collects direct debits: its app on a store, a clock that tests move, payments in one line."""

from __future__ import annotations

from datetime import UTC, date, datetime

import msgspec
import orjson

from tollgate.contract.answers import Envelope
from tollgate.flows.follow_up import follow_up
from tollgate.flows.pay import pay
from tollgate.operations.app import App, Call
from tollgate.operations.caches import MerchantCache
from tollgate.payments.accounts import BankAccount
from tollgate.payments.merchants import Channel, Creditor, Merchant
from tollgate.payments.order import FollowUp, Order, TestMode
from tollgate.store.database import Database
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.values import DAY, ChannelId, FixedClock, MerchantId, Money, Secret, to_instant
from tollgate.vault.keyring import Keyring, make_keyring
from unit.app_fixture import ScriptedWire

MONDAY = to_instant(datetime(2026, 11, 16, 12, 0, tzinfo=UTC))
WEDNESDAY = date(2026, 11, 18)
IBAN = "DE89370400440532013000"

CREDITOR = Creditor(name="Shop", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999")
MERCHANT = Merchant(id=MerchantId("8a" + "1" * 30), name="Merchant", created_at=MONDAY)
CHANNEL = Channel(
    id=ChannelId("8a" + "2" * 30), merchant_id=MERCHANT.id, name="Shop", created_at=MONDAY, creditor=CREDITOR
)
ACCOUNT = BankAccount(holder="Jane Jones", iban=Secret(IBAN), bic="COBADEFFXXX", country="DE")
ORDER = Order(
    payment_type="DB",
    money=Money(9200, "EUR"),
    brand="DIRECTDEBIT_SEPA",
    network="DIRECTDEBIT_SEPA",
    method="DD",
    account=ACCOUNT,
    card_summary=None,
    statement="Order 7",
    descriptor="Order 7",
    short_id="1234.5678.9012",
    test_mode=TestMode.INTERNAL,
)


class Bank:
    """The app with the operations of these tests."""

    def __init__(self, app: App, clock: FixedClock) -> None:
        self.app = app
        self.clock = clock

    async def pay(self, payment_type: str = "DB", amount: int = 9200, **changes: object) -> str:
        order: Order = msgspec.structs.replace(ORDER, payment_type=payment_type, money=Money(amount, "EUR"), **changes)
        return _read_id((await pay(self.app, order, Call(CHANNEL, "ndc"))).body)

    async def follow(self, payment_type: str, named_id: str, amount: int | None = None) -> tuple[str, str]:
        """Returns the id and the result code."""
        request = FollowUp(
            payment_type=payment_type,
            amount=amount,
            currency="EUR",
            practice=None,
            is_final=False,
            descriptor="Order 7 later",
            short_id="1234.5678.9013",
        )
        body = (await follow_up(self.app, request, named_id, Call(CHANNEL, "ndc"))).body
        return _read_id(body), orjson.loads(body)["result"]["code"]

    def wait(self, days: int = 1) -> None:
        self.clock.at += days * DAY


async def open_bank(db: Database, *, keyring: Keyring | None = None, is_first: bool = True) -> Bank:
    """A second one on the same store is another process with the same keys."""
    if is_first:
        await insert_merchant(db, MERCHANT)
        await insert_channel(db, CHANNEL)
    merchants = MerchantCache()
    await merchants.refresh(db)
    clock = FixedClock(MONDAY)
    app = App(
        database=db,
        merchants=merchants,
        keyring=keyring or make_keyring(),
        clock=clock,
        envelope=Envelope("build"),
        is_live=False,
        acquirer_timeout_s=5.0,
        completion_margin_s=5.0,
        authorization_lifetime=7 * DAY,
        find_wire=lambda _address, _account=None: ScriptedWire(),
        simulator=ScriptedWire(),
    )
    return Bank(app, clock)


def _read_id(body: bytes) -> str:
    payment_id: str = orjson.loads(body)["id"]
    return payment_id


def change_account(**changes: object) -> BankAccount:
    return msgspec.structs.replace(ACCOUNT, **changes)
