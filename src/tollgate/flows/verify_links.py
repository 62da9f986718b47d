"""The seventh part of an audit: payment links. Each says what was written, and what it names is there.

Whether its checkout was paid is judged with the checkouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from hmac import compare_digest

from tollgate.flows.verify_report import Audit, group_by_merchant
from tollgate.operations import make_link_mac, name_link_owner
from tollgate.payments import Finding, PaymentLink, Proof
from tollgate.store import AuditedLink, find_audited_checkouts, find_audited_links, walk_links
from tollgate.values import MerchantId
from tollgate.vault import EnvelopeError, Keyring, KeyringError, open_sealed


async def check_links(audit: Audit) -> None:
    async for page in walk_links(audit.database):
        for merchant_id, rows in group_by_merchant(page).items():
            audit.report.add(await judge_links(audit, merchant_id, rows))
        audit.walk("payment_links", len(page))


async def judge_links(audit: Audit, merchant_id: MerchantId, rows: Sequence[AuditedLink]) -> list[Finding]:
    """Reads a suspect link again: one that was given a checkout or was purged in between looks right by now."""
    doubtful = await _list_doubtful(audit, merchant_id, rows)
    again = await find_audited_links(audit.database, merchant_id, [finding.row_id for finding in doubtful])
    return await _list_doubtful(audit, merchant_id, again)


async def _list_doubtful(audit: Audit, merchant_id: MerchantId, rows: Sequence[AuditedLink]) -> list[Finding]:
    named = sorted({row.link.checkout_id for row in rows if row.link and row.link.checkout_id})
    there = {row.id for row in await find_audited_checkouts(audit.database, merchant_id, named)}
    findings = [_judge(row, there, audit.keyring) for row in rows]
    return [finding for finding in findings if finding is not None]


def _judge(row: AuditedLink, checkouts: set[str], keyring: Keyring) -> Finding | None:
    if row.link is None:
        return _find(Proof.ROW, row, "it cannot be read: a word or a number in it is none of ours")
    if not compare_digest(row.link.mac, make_link_mac(row.link, keyring)):
        return _find(Proof.SEAL, row, "its seal does not fit")
    if row.link.checkout_id is not None and row.link.checkout_id not in checkouts:
        return _find(Proof.LINK, row, "there is no checkout of the name that it has")
    if not _opens(row.link, keyring):
        return _find(Proof.LINK, row, "what is sealed in it does not open there with the keys at hand")
    return None


def _opens(link: PaymentLink, keyring: Keyring) -> bool:
    if link.sealed_fields is None:
        return True
    try:
        open_sealed(link.sealed_fields, owner=name_link_owner(link.merchant_id, link.id), keyring=keyring)
    except (EnvelopeError, KeyringError):
        return False
    return True


def _find(proof: Proof, row: AuditedLink, text: str) -> Finding:
    return Finding(proof=proof, table="payment_links", merchant_id=row.merchant_id, row_id=row.id, text=text)
