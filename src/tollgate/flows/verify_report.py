"""What an audit of the store tells: how much was walked, what is wrong, what the accounts hold. Judges nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from tollgate.payments import Account, Finding
from tollgate.values import ChannelId, MerchantId

Tell = Callable[[str, int], None]
"""Hears of which table how many more rows were walked."""

PAUSES_S = (0.02, 0.1, 0.5)
"""Between two looks at the same thing: beside a running server it may have been on its way."""


class Purse(msgspec.Struct, frozen=True):
    """Whose accounts."""

    merchant_id: MerchantId
    channel_id: ChannelId
    currency: str


class AuditReport(msgspec.Struct, kw_only=True):
    findings_max: int
    findings: list[Finding] = []
    """The first ones."""
    findings_count: int = 0
    chains_count: int = 0
    rows: dict[str, int] = {}
    """Walked, by table."""
    accounts: dict[Purse, dict[Account, int]] = {}

    def add(self, findings: Sequence[Finding]) -> None:
        self.findings_count += len(findings)
        self.findings += findings[: max(0, self.findings_max - len(self.findings))]

    def count(self, table: str, rows: int) -> None:
        self.rows[table] = self.rows.get(table, 0) + rows

    def book(self, purse: Purse, sums: Mapping[Account, int]) -> None:
        held = self.accounts.setdefault(purse, dict.fromkeys(Account, 0))
        for account, amount in sums.items():
            held[account] += amount


async def find_lasting(look: Callable[[], Awaitable[list[Finding]]]) -> list[Finding]:
    """What is still wrong after a few looks."""
    findings = await look()
    for pause_s in PAUSES_S:
        if not findings:
            break
        await asyncio.sleep(pause_s)
        findings = await look()
    return findings
