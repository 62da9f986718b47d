"""`tollgate verify`: checks the whole store against its own rules. It only reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tollgate.flows import verify_checkouts, verify_methods, verify_registrations, verify_strays
from tollgate.flows.verify_chains import check_chains
from tollgate.flows.verify_tables import PAUSES_S, Audit, AuditReport, check_table
from tollgate.operations.signing import has_signature
from tollgate.store.audit import SealedSample, sample_sealed
from tollgate.store.database import Database
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import sealing_key_id

SAMPLE = 50
FINDINGS_MAX = 100
TABLES = (*verify_strays.TABLES, *verify_methods.TABLES, *verify_registrations.TABLES, *verify_checkouts.TABLES)


async def verify(
    database: Database,
    keyring: Keyring,
    report_progress: Callable[[str, int], None],
    findings_max: int = FINDINGS_MAX,
    pauses_s: Sequence[float] = PAUSES_S,
) -> AuditReport:
    await refuse_wrong_keys(database, keyring)
    report = AuditReport(findings_max=findings_max)
    audit = Audit(database=database, keyring=keyring, report=report, report_progress=report_progress, pauses_s=pauses_s)
    await check_chains(audit)
    for table in TABLES:
        await check_table(audit, table)
    return report


async def refuse_wrong_keys(database: Database, keyring: Keyring) -> None:
    """Refuses the key file of another store, with which every signature would look broken."""
    sample = await sample_sealed(database, SAMPLE)
    if sample and not any(_is_ours(each, keyring) for each in sample):
        raise KeyringError(f"the key file is not that of this store: none of {len(sample)} seals was made with it")


def _is_ours(sample: SealedSample, keyring: Keyring) -> bool:
    payment, sealed = sample.payment_row.payment, sample.sealed_account
    if payment is not None and payment.mac and has_signature(payment, keyring):
        return True
    # Where signatures were broken by hand, the account sealed beside them still names its key.
    return sealed is not None and sealing_key_id(sealed) in keyring.key_ids
