"""A store in which bank accounts and authenticated cards have lived: filed, taken back, blocked, asked, walked away.

The rows are made by the flows themselves; nothing is written by hand here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from databases.banking import CHANNEL, open_bank
from databases.banking import Bank as BankTeller
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.flows.recover import run_recovery_task
from tollgate.flows.sepa_files import collect
from tollgate.operations.app import App
from tollgate.store.bank_files import list_bank_files
from tollgate.store.database import Database
from tollgate.values import SECOND
from tollgate.vault.keyring import Keyring
from tollgate.wire import Silent, Wire
from unit.app_fixture import ScriptedWire
from unit.flows import shopping


class DeafWire:
    """Nothing that is sent arrives, and the sender cannot know."""

    def __init__(self, _wire: Wire) -> None:
        pass

    async def send(self, _request: WireRequest, _timeout_s: float) -> WireReply:
        raise Silent


@dataclass
class MethodLives:
    """MethodLives holds the rows that came about, each with a name."""

    teller: BankTeller
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def app(self) -> App:
        return self.teller.app

    @property
    def keyring(self) -> Keyring:
        return self.app.keyring

    async def pay(self, name: str, payment_type: str = "DB", amount: int = 9200) -> str:
        self._tick()
        self.ids[name] = await self.teller.pay(payment_type, amount)
        return self.ids[name]

    async def follow(self, name: str, payment_type: str, named: str, amount: int | None = None) -> None:
        self._tick()
        self.ids[name], _ = await self.teller.follow(payment_type, self.ids[named], amount)

    async def shop(self, name: str) -> shopping.Shopper:
        """Pays with a card whose issuer wants to ask the shopper."""
        self._tick()
        app, bank = shopping.open_bank(self.app, ScriptedWire())
        shopper = await shopping.go_shopping(app, bank, channel=CHANNEL)
        self.ids[name] = shopper.body["id"]
        return shopper

    def _tick(self) -> None:
        """No two things happen at the same moment."""
        self.teller.clock.at += SECOND


async def live_through_methods(db: Database) -> MethodLives:
    lives = MethodLives(await open_bank(db))
    await _file(lives)
    await _leave_open(lives)
    await _fall_silent(lives)
    await _ask_shoppers(lives)
    return lives


async def _file(lives: MethodLives) -> None:
    """One file of debits, one of credits."""
    await lives.pay("db filed")
    await lives.pay("db beside it", amount=100)
    await lives.pay("cd filed", "CD", 300)
    lives.teller.wait()
    assert await collect(lives.app) == 2
    for file in await list_bank_files(lives.app.database):
        lives.ids[f"file {file.scheme}"] = file.id


async def _leave_open(lives: MethodLives) -> None:
    await lives.pay("db open")
    await lives.pay("db taken back")
    await lives.follow("rv", "RV", "db taken back")
    await lives.pay("pa", "PA")
    await lives.follow("cp", "CP", "pa", 4000)
    await lives.follow("rf", "RF", "db filed", 500)


async def _fall_silent(lives: MethodLives) -> None:
    deaf = msgspec.structs.replace(lives.app, disturb=DeafWire)
    hearing, lives.teller.app = lives.app, deaf
    await lives.pay("db blocked")
    lives.teller.app = hearing
    for job in await shopping.lease_now(hearing):
        assert await run_recovery_task(hearing, job)


async def _ask_shoppers(lives: MethodLives) -> None:
    await lives.shop("challenged")
    walked = await lives.shop("walked")
    await walked.walk()
    refused = await lives.shop("refused")
    await refused.walk(status="N")
