"""The audit of the whole store: what it reads, which checks run, and its report. It reads and changes nothing."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from tollgate.flows.verify_chains import check_chains
from tollgate.flows.verify_checkouts import check_checkouts, check_links
from tollgate.flows.verify_methods import check_methods
from tollgate.flows.verify_registrations import check_registrations
from tollgate.flows.verify_report import PAUSES_S, Audit, AuditReport, Tell
from tollgate.flows.verify_schedules import check_schedules
from tollgate.flows.verify_strays import check_strays
from tollgate.operations.signing import sign_payment
from tollgate.store.audit import SealedSample, sample_sealed
from tollgate.store.database import Database
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import sealing_key_id

SAMPLE = 50
FINDINGS_MAX = 100


async def verify(
    database: Database,
    keyring: Keyring,
    tell: Tell,
    findings_max: int = FINDINGS_MAX,
    pauses_s: Sequence[float] = PAUSES_S,
) -> AuditReport:
    await refuse_wrong_keys(database, keyring)
    report = AuditReport(findings_max=findings_max)
    audit = Audit(database=database, keyring=keyring, report=report, tell=tell, pauses_s=pauses_s)
    await check_chains(audit)
    await check_strays(audit)
    await check_methods(audit)
    await check_registrations(audit)
    await check_schedules(audit)
    await check_checkouts(audit)
    await check_links(audit)
    return report


async def refuse_wrong_keys(database: Database, keyring: Keyring) -> None:
    """Under another house's keys every seal would look broken, which is something else than being broken."""
    sample = await sample_sealed(database, SAMPLE)
    if sample and not any(_is_ours(each, keyring) for each in sample):
        raise KeyringError(f"the key file is not that of this store: none of {len(sample)} seals was made with it")


def _is_ours(sample: SealedSample, keyring: Keyring) -> bool:
    """Where seals were broken by hand, the account sealed beside them still names its key."""
    payment, sealed = sample.payment_row.payment, sample.sealed_account
    if payment is not None and payment.mac and hmac.compare_digest(payment.mac, sign_payment(payment, keyring)):
        return True
    return sealed is not None and sealing_key_id(sealed) in keyring.key_ids
