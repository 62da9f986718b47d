"""What an audit reads with, and what it reports. The checks live in the other `verify` modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from tollgate.payments.audit import Finding
from tollgate.payments.ledger import LedgerAccount
from tollgate.store.database import Database
from tollgate.values import ChannelId, MerchantId
from tollgate.vault.keyring import Keyring

Tell = Callable[[str, int], None]
"""Hears of which table how many more rows were walked."""


PAUSES_S = (0.02, 0.1, 0.5)
"""Between two looks at the same thing: beside a running server it may have been on its way."""


class Owned(Protocol):
    @property
    def merchant_id(self) -> MerchantId: ...


_Owned = TypeVar("_Owned", bound=Owned)


def group_by_merchant(rows: Iterable[_Owned]) -> dict[MerchantId, list[_Owned]]:
    groups: dict[MerchantId, list[_Owned]] = {}
    for row in rows:
        groups.setdefault(row.merchant_id, []).append(row)
    return groups


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
    accounts: dict[Purse, dict[LedgerAccount, int]] = {}

    def add(self, findings: Sequence[Finding]) -> None:
        self.findings_count += len(findings)
        self.findings += findings[: max(0, self.findings_max - len(self.findings))]

    def ledger(self, purse: Purse, sums: Mapping[LedgerAccount, int]) -> None:
        held = self.accounts.setdefault(purse, dict.fromkeys(LedgerAccount, 0))
        for account, amount in sums.items():
            held[account] += amount


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    database: Database
    keyring: Keyring
    report: AuditReport
    tell: Tell
    pauses_s: Sequence[float]

    def walk(self, table: str, rows: int) -> None:
        self.report.rows[table] = self.report.rows.get(table, 0) + rows
        self.tell(table, rows)
