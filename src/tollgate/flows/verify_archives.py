"""The audit of archived months: their files, the chains in them, and that the database knows each payment's place.

A month whose folder is not named is not checked; the sums that the database carries for it still count.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tollgate.flows import auditing, verify_chains
from tollgate.flows.archive_chains import make_sums
from tollgate.operations.archives import list_strange_parts, load_proved
from tollgate.payments.archiving import ArchivedMonth, MonthState
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.ledger import LedgerAccount
from tollgate.payments.payment import Payment
from tollgate.store import archive_rows, archives
from tollgate.store import audit as audited
from tollgate.store.codec import UNREADABLE
from tollgate.values import ChannelId, MerchantId
from tollgate.vault.archive_files import ArchiveError, Manifest, check_files, iterate_blocks, load_manifest

TABLE = "archived_months"


async def check_archives(audit: auditing.Audit, root: Path | None, before: Sequence[ArchivedMonth]) -> None:
    """before: the months as they were when the audit began."""
    known = await archives.list_archived_months(audit.database)
    written = [each for each in known if each.has_file]
    placed = await archives.count_places(audit.database) if written else {}
    for archived in written:
        if root is None:
            _carry(audit.report, archived)
            continue
        try:
            await _check_part(audit, root / archived.name, archived)
        except ArchiveError as fault:
            audit.report.add([_find(archived.name, str(fault))])
            _carry(audit.report, archived)
        count = placed.get((archived.month, archived.part), 0)
        if archived.state is MonthState.MOVED and count != archived.payments:
            text = f"it has {archived.payments} payments, and the database knows {count} of them"
            audit.report.add([_find(archived.name, text)])
    if root is None and written:
        payments = sum(each.payments for each in written)
        audit.report.unchecked.append(
            f"{payments} payments in {len(written)} archived months were not checked: name the folder with --archive"
        )
    is_halfway = root is None and any(each.state is MonthState.WRITTEN for each in known)
    if is_halfway or [(each.name, each.state) for each in known] != [(each.name, each.state) for each in before]:
        audit.report.unchecked.append("a month is being archived, so that sums may count payments twice")
    if root is not None:
        await _check_strange_parts(audit, root)


async def _check_strange_parts(audit: auditing.Audit, root: Path) -> None:
    """Finds months of which the database knows nothing, as after it was restored from a backup that is older."""
    try:
        names = await list_strange_parts(audit.database, root)
    except ArchiveError as fault:
        audit.report.add([_find(root.name, str(fault))])
        return
    for name in names:
        try:
            text = await _describe_strange(audit, root / name)
        except ArchiveError as fault:
            text = str(fault)
        audit.report.add([_find(name, f"the database does not know it: {text}")])


async def _describe_strange(audit: auditing.Audit, folder: Path) -> str:
    manifest = await asyncio.to_thread(load_manifest, folder, audit.keyring)
    await asyncio.to_thread(check_files, folder, manifest)
    blocks = _iterate_chains(folder, manifest)
    missing = 0
    while (chains := await asyncio.to_thread(next, blocks, None)) is not None:
        for chain, members in chains:
            placed = await archives.list_places(audit.database, chain.merchant_id, chain.list_ids("payments"))
            live = await archive_rows.list_live(audit.database, chain.merchant_id, members)
            missing += len({payment.id for payment in members} - live - {place.id for place in placed})
    return f"of its {manifest.rows['payments']} payments {missing} are nowhere else"


def _find(part_name: str, text: str) -> Finding:
    return Finding(proof=Proof.ARCHIVE, table=TABLE, merchant_id=MerchantId(""), row_id=part_name, text=text)


def _carry(report: auditing.AuditReport, archived: ArchivedMonth) -> None:
    """Adds the sums that the database has of a part."""
    for name, amount in archived.accounts.items():
        merchant_id, channel_id, currency, account = name.split("/")
        purse = auditing.Purse(MerchantId(merchant_id), ChannelId(channel_id), currency)
        report.accounts.setdefault(purse, dict.fromkeys(LedgerAccount, 0))[LedgerAccount(account)] += amount


async def _check_part(audit: auditing.Audit, folder: Path, archived: ArchivedMonth) -> None:
    manifest = await asyncio.to_thread(load_proved, folder, archived, audit.keyring)
    await asyncio.to_thread(check_files, folder, manifest)
    sums: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    blocks = _iterate_chains(folder, manifest)
    while (chains := await asyncio.to_thread(next, blocks, None)) is not None:
        by_merchant: dict[MerchantId, list[tuple[archives.ChainRows, list[Payment]]]] = {}
        for chain, members in chains:
            by_merchant.setdefault(chain.merchant_id, []).append((chain, members))
            sums.update({"/".join(key): amount for key, amount in make_sums(members).items()})
            rows["chains"] += 1
            for table in archives.ARCHIVED_TABLES:
                rows[table] += len(chain.list_rows(table))
        for merchant_id, its in by_merchant.items():
            await _check_chains(audit, archived, merchant_id, its)
        audit.count("archived_payments", sum(len(members) for _, members in chains))
    if sums != archived.accounts:
        audit.report.add(
            [_find(archived.name, "its chains do not add up to the sums that the database carries for it")]
        )
    if +rows != +Counter(manifest.rows):
        audit.report.add([_find(archived.name, "its files do not have as many rows as the manifest says")])


def _iterate_chains(folder: Path, manifest: Manifest) -> Iterator[list[tuple[archives.ChainRows, list[Payment]]]]:
    try:
        for lines in iterate_blocks(folder, manifest):
            chains = [archives.read_chain(line) for line in lines]
            yield [(chain, chain.read_payments()) for chain in chains]
    except UNREADABLE:
        raise ArchiveError(f"{folder / manifest.chains.name} has a line that cannot be read") from None


async def _check_chains(
    audit: auditing.Audit,
    archived: ArchivedMonth,
    merchant_id: MerchantId,
    chains: Sequence[tuple[archives.ChainRows, list[Payment]]],
) -> None:
    rules = await verify_chains.load_rules(audit)
    members = [payment for _, each in chains for payment in each]
    live = await archive_rows.list_live(audit.database, merchant_id, members)
    evidence = await verify_chains.gather_side_rows(audit.database, merchant_id, members)
    known = await archives.list_places(audit.database, merchant_id, [payment.id for payment in members])
    places = {each.id for each in known if (each.month, each.part) == (archived.month, archived.part)}
    for chain, its in chains:
        is_moving = archived.state is MonthState.WRITTEN
        if is_moving and chain.first_id in live and chain.first_id not in places:
            # Nothing of it was removed, and it was checked with the others.
            continue
        found = _list_findings(rules, chain, its, evidence)
        for payment in its:
            if payment.id in live and not is_moving:
                found.append(_find(archived.name, f"payment {payment.id} is in it and in the database"))
            if payment.id not in places:
                found.append(_find(archived.name, f"the database does not know that payment {payment.id} is in it"))
        audit.report.add(found)
        verify_chains.note_accounts(audit.report, _wrap(its))
        audit.report.chains_count += 1


def _wrap(members: Sequence[Payment]) -> list[audited.AuditedPayment]:
    return [audited.AuditedPayment(each.merchant_id, each.id, each.chain_id, each) for each in members]


def _list_findings(
    rules: verify_chains.Rules, chain: archives.ChainRows, members: Sequence[Payment], beside: verify_chains.SideRows
) -> list[Finding]:
    try:
        entries = {entry.id: entry for entry in chain.read_entries()}
        events = {event.id: event for event in chain.read_events()}
    except UNREADABLE:
        raise ArchiveError(f"the entries of chain {chain.first_id} cannot be read") from None
    evidence = verify_chains.Evidence(
        entries=entries, events=events, job_ids=set(), instructions=beside.instructions, reviews=beside.reviews
    )
    return verify_chains.list_findings(rules, (chain.merchant_id, chain.first_id), _wrap(members), evidence)
