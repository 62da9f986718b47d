"""The audit of the audit log: every entry is what was written, none is missing, and the end is the recorded one.

How entries are linked is decided in `operations`.
"""

from tollgate.flows.auditing import UNREADABLE, Audit
from tollgate.operations.audit_log import find_head, is_genuine
from tollgate.payments.audit import Finding, Proof
from tollgate.store import audit as audited
from tollgate.store.audit_log import AUDIT_HEAD
from tollgate.store.opening import get_setting
from tollgate.values import MerchantId
from tollgate.vault.keyring import Keyring

_Head = tuple[int, bytes]
"""The number and the hash of the last entry."""


async def check_audit_log(audit: Audit) -> None:
    """Reports the first entry that is not what was written; those after it cannot be trusted by themselves."""
    # The end is read first: entries that are appended meanwhile continue the chain.
    written = await get_setting(audit.database, AUDIT_HEAD)
    head = find_head(written, audit.keyring) if written else (0, b"")
    last: _Head = (0, b"")
    async for page in audited.AUDIT_LOG.walk(audit.database):
        audit.count("audit_log", len(page))
        for row in page:
            flaw = _find_flaw(row, last, head, audit.keyring)
            if flaw is not None:
                _report(audit, *flaw, row.merchant_id)
                return
            last = row.number, row.hash
    if head is None or (last[0] and not written):
        _report(audit, last[0], f"the record of the last entry, setting {AUDIT_HEAD}, is not what was written")
    elif last[0] < head[0]:
        _report(audit, last[0] + 1, f"it is missing: there were {head[0]} entries")


def _find_flaw(row: audited.AuditedEntry, last: _Head, head: _Head | None, keyring: Keyring) -> tuple[int, str] | None:
    """Returns the number of an entry and what is wrong with it."""
    if row.number != last[0] + 1:
        return last[0] + 1, "it is missing"
    if row.value is None:
        return row.number, UNREADABLE
    is_end = head is not None and row.number == head[0]
    if not is_genuine(row.value, last[1], keyring) or (is_end and head != (row.number, row.value.hash)):
        return row.number, "it is not what was written"
    return None


def _report(audit: Audit, number: int, text: str, merchant_id: str = "") -> None:
    finding = Finding(
        proof=Proof.AUDIT_LOG, table="audit_log", merchant_id=MerchantId(merchant_id), row_id=str(number), text=text
    )
    audit.report.add([finding])
