"""The engine of an audit: it walks a table page by page and runs the table's check on every row.

The checks themselves live in the other `verify` modules.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from tollgate.payments.audit import Finding, Proof
from tollgate.payments.ledger import LedgerAccount
from tollgate.store.audit import AuditedPayment
from tollgate.store.database import Database
from tollgate.values import ChannelId, MerchantId
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed

PAUSES_S = (0.02, 0.1, 0.5)
"""Pauses before a chain is read again, because a running server may be changing it."""
EVENTS_KEPT_SINCE = "events_kept_since"
"""The setting in which whoever purges old events writes how far it went; older payments need no event."""
UNREADABLE = "it cannot be read: a word, a number or a text in it is none of ours"
UNOPENED = "what is sealed in it does not open there with the keys at hand"

AuditedPayments = Mapping[str, AuditedPayment]


class Owned(Protocol):
    @property
    def merchant_id(self) -> MerchantId: ...


_Owned = TypeVar("_Owned", bound=Owned)


class Purse(msgspec.Struct, frozen=True):
    """The owner of ledger accounts: a merchant's channel in one currency."""

    merchant_id: MerchantId
    channel_id: ChannelId
    currency: str


class AuditReport(msgspec.Struct, kw_only=True):
    findings_max: int
    findings: list[Finding] = []
    """The findings, up to `findings_max` of them."""
    findings_count: int = 0
    chains_count: int = 0
    rows: dict[str, int] = {}
    """The number of rows that were read, by table."""
    accounts: dict[Purse, dict[LedgerAccount, int]] = {}
    unchecked: list[str] = []
    """Names what was not checked, each with the reason."""

    def add(self, findings: Sequence[Finding]) -> None:
        self.findings_count += len(findings)
        self.findings += findings[: max(0, self.findings_max - len(self.findings))]


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    database: Database
    keyring: Keyring
    report: AuditReport
    report_progress: Callable[[str, int], None]
    """Takes the name of a table and how many more of its rows were read."""
    pauses_s: Sequence[float]

    def count(self, table: str, rows: int) -> None:
        self.report.rows[table] = self.report.rows.get(table, 0) + rows
        self.report_progress(table, rows)


Flaw = tuple[Proof, str]
"""A fault of a row: the proof that fails, and the text of the finding."""
Reader = Callable[[Audit, MerchantId, Sequence[Any]], Awaitable[Any]]
"""Reads what other tables have about some rows of one merchant."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    walk: Callable[[Database], AsyncIterator[Sequence[Any]]]
    reads: tuple[Reader, ...] = ()
    check: Callable[..., Iterable[Flaw]]
    """Takes the keyring, a row and the result of each reader."""
    check_further: Callable[[Audit, Any], Awaitable[Flaw | None]] | None = None
    """Checks a row that passed `check`, by reading more."""
    read_again: Callable[[Database, MerchantId, Sequence[str]], Awaitable[Sequence[Any]]] | None = None
    """Reads doubtful rows again, where a running server may have changed them between the reads.

    None where the row is written in the commit of what it is checked against, and is read first.
    """
    rereads_related: bool = True
    """Tells whether the readers run again after `read_again`; false where the row must be the younger one."""
    get_row_id: Callable[[Any], str] = lambda row: row.id


def read_by_ids(find: Callable[..., Awaitable[Any]], list_ids: Callable[[Any], Iterable[str | None]]) -> Reader:
    """Returns a reader of the rows that `list_ids` names; `find` returns them as a list, or by id."""

    async def read(audit: Audit, merchant_id: MerchantId, rows: Sequence[Any]) -> Any:
        ids = sorted({row_id for row in rows for row_id in list_ids(row) if row_id})
        found = await find(audit.database, merchant_id, ids)
        return {each.id: each for each in found} if isinstance(found, list) else found

    return read


def group_by_merchant(rows: Iterable[_Owned]) -> dict[MerchantId, list[_Owned]]:
    groups: dict[MerchantId, list[_Owned]] = {}
    for row in rows:
        groups.setdefault(row.merchant_id, []).append(row)
    return groups


def opens(sealed: bytes | None, owner: str, keyring: Keyring) -> bool:
    try:
        if sealed is not None:
            open_sealed(sealed, owner=owner, keyring=keyring)
    except (EnvelopeError, KeyringError):
        return False
    return True


async def check_table(audit: Audit, table: Table) -> None:
    async for page in table.walk(audit.database):
        for merchant_id, rows in group_by_merchant(page).items():
            related = [await read(audit, merchant_id, rows) for read in table.reads]
            findings = await _check_rows(audit, table, rows, related)
            if findings and table.read_again is not None:
                doubtful = [finding.row_id for finding in findings]
                again = await table.read_again(audit.database, merchant_id, doubtful)
                if table.rereads_related:
                    related = [await read(audit, merchant_id, again) for read in table.reads]
                findings = await _check_rows(audit, table, again, related)
            audit.report.add(findings)
        audit.count(table.name, len(page))


async def _check_rows(audit: Audit, table: Table, rows: Sequence[Any], related: Sequence[Any]) -> list[Finding]:
    findings: list[Finding] = []
    for row in rows:
        flaws = list(table.check(audit.keyring, row, *related))
        if not flaws and table.check_further is not None:
            flaw = await table.check_further(audit, row)
            flaws = [flaw] if flaw else []
        row_id = table.get_row_id(row)
        findings += [
            Finding(proof=proof, table=table.name, merchant_id=row.merchant_id, row_id=row_id, text=text)
            for proof, text in flaws
        ]
    return findings
