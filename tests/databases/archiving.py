"""Stores whose months are archived: runs, what is compared before and after, and processes that are killed. No test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from databases.lives import Lives, open_lives
from tollgate.flows.archive import Moved, archive_months
from tollgate.flows.archive_lease import LEASE
from tollgate.flows.auditing import AuditReport
from tollgate.flows.pay import look_up
from tollgate.flows.verify import verify
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.archiving import open_again
from tollgate.payments.payment import Payment
from tollgate.store.database import Database, When
from tollgate.store.payments import PAYMENTS
from tollgate.store.schema import payments
from tollgate.store.statements import Statement
from tollgate.values import DAY, FixedClock

ACTOR = Actor(name="test")
LATER = 300 * DAY
"""After so long, the month of the tests' clock may be archived."""
MONTH, NEXT = "2026-11", "2026-12"
_ALL = Statement(PAYMENTS.select().order_by(payments.c.merchant_id, payments.c.id))


@dataclass
class Shelf:
    """A store that has lived, the folder for its archive, and the payments that it had before."""

    lives: Lives
    app: App
    folder: Path
    before: list[Payment]

    @property
    def clock(self) -> FixedClock:
        return self.lives.clock

    async def archive(self, month: str = NEXT) -> list[Moved]:
        return await archive_months(self.app, self.folder, month, ACTOR)

    async def verify(self, *, with_folder: bool = True) -> AuditReport:
        return await verify(
            self.app.database,
            self.app.keyring,
            lambda _table, _rows: None,
            pauses_s=(0.0,),
            archive=self.folder if with_folder else None,
        )

    async def list_findings(self) -> list[str]:
        return [finding.render() for finding in (await self.verify()).findings]

    async def list_live(self) -> list[Payment]:
        return await list_live(self.app.database)

    def outlive_lease(self) -> None:
        """Lets the lease of a killed process end."""
        self.clock.at += 2 * LEASE

    async def expect_whole(self) -> None:
        """Checks that every payment is there once and unchanged, and that the audit is content."""
        assert await self.list_findings() == []
        for payment in self.before:
            found = await look_up(self.app, payment.merchant_id, payment.id)
            assert found is not None
            assert open_again(found) == payment


async def list_live(database: Database) -> list[Payment]:
    return await PAYMENTS.fetch(database, _ALL, {})


async def open_shelf(lives: Lives, folder: Path) -> Shelf:
    """Moves the clock until the month of these lives may be archived."""
    before = await list_live(lives.app.database)
    lives.clock.at += LATER
    lives.app = msgspec.structs.replace(lives.app, archive=folder)
    return Shelf(lives, lives.app, folder, before)


async def open_paid(database: Database, folder: Path, payments: int = 3) -> Shelf:
    """Opens a store with some payments, of which the first was refunded."""
    lives = await open_lives(database)
    for number in range(payments):
        await lives.pay(f"db {number}")
    await lives.follow("rf", "RF", "db 0", 200)
    return await open_shelf(lives, folder)


class Killed(BaseException):
    """The end of a process at a step; nothing that comes later is carried out."""


class Killer:
    """A killer ends the process at a moment of a labelled step, and from then on lets it write nothing."""

    def __init__(self, label: str, when: When) -> None:
        self._step, self._is_dead = (label, when), False

    def __call__(self, label: str, when: When) -> None:
        self._is_dead = self._is_dead or (label, when) == self._step
        if self._is_dead:
            raise Killed
