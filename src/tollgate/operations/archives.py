"""Reads of archived payments: which part has one, and its chain from the files of the part.

A folder that is missing or damaged is said so, and never taken for a payment that does not exist.
"""

import asyncio
import logging
from pathlib import Path

from tollgate.catalog import codes, results
from tollgate.operations.app import App
from tollgate.payments.archiving import ArchivedMonth, MonthState
from tollgate.payments.payment import Payment
from tollgate.store import archives
from tollgate.store.codec import UNREADABLE
from tollgate.store.database import Database
from tollgate.values import MerchantId, TemporarilyUnavailable
from tollgate.vault.archive_files import ArchiveError, Manifest, list_lines, list_part_names, load_manifest
from tollgate.vault.keyring import Keyring

_RETRY_AFTER_S = 60

_log = logging.getLogger("tollgate.archive")


async def find_payment(app: App, merchant_id: MerchantId, payment_id: str) -> Payment | None:
    """Finds an archived payment; None if it was never archived."""
    return next((each for each in await list_chain(app, merchant_id, payment_id) if each.id == payment_id), None)


async def list_chain(app: App, merchant_id: MerchantId, payment_id: str) -> list[Payment]:
    """Lists the chain of an archived payment, in the order its payments came; none if it was never archived."""
    rows = await find_rows(app, merchant_id, payment_id)
    return [] if rows is None else rows.read_payments()


async def find_rows(app: App, merchant_id: MerchantId, payment_id: str) -> archives.ChainRows | None:
    """Finds the chain of an archived payment with everything that was archived with it.

    Raises where it is archived and cannot be read.
    """
    place = await archives.find_archived(app.database, merchant_id, payment_id)
    if place is None:
        return None
    archived = await archives.MONTHS.find(app.database, place.month, place.part)
    try:
        if app.archive is None or archived is None:
            raise ArchiveError("the folder of archived months is not named: give --archive")
        return await asyncio.to_thread(_read_chain, app.archive, archived, app.keyring, merchant_id, payment_id)
    except ArchiveError as fault:
        _log.error("archived payment cannot be read", extra={"payment": payment_id, "reason": str(fault)})
        detail = f"the payment was archived with {place.month}, and the archive cannot be read at present"
        raise TemporarilyUnavailable(results.get_result(codes.UNAVAILABLE), _RETRY_AFTER_S, detail) from None


def _read_chain(
    root: Path, archived: ArchivedMonth, keyring: Keyring, merchant_id: MerchantId, payment_id: str
) -> archives.ChainRows:
    folder = root / archived.name
    manifest = load_proved(folder, archived, keyring)
    try:
        for line in list_lines(folder, manifest, merchant_id, payment_id):
            # Most lines are about others, and need not be read.
            if payment_id.encode() in line:
                chain = archives.read_chain(line)
                if chain.merchant_id == merchant_id and payment_id in chain.list_ids("payments"):
                    chain.read_payments()
                    return chain
    except UNREADABLE:
        raise ArchiveError(f"{folder / manifest.chains.name} has a line that cannot be read") from None
    raise ArchiveError(f"{folder / manifest.index.name} does not lead to payment {payment_id}")


async def list_strange_parts(database: Database, root: Path) -> list[str]:
    """Lists the parts in the folder that the database does not know, because it is older or another one."""
    known = await archives.list_archived_months(database)
    names = {each.name for each in known if each.state is not MonthState.GIVEN_UP}
    return [name for name in await asyncio.to_thread(list_part_names, root) if name not in names]


def load_proved(folder: Path, archived: ArchivedMonth, keyring: Keyring) -> Manifest:
    """Loads the manifest that the database knows, or one that took its place after the database was backed up.

    An older one would bring back what was erased.
    """
    manifest = load_manifest(folder, keyring)
    known = {archived.proof, archived.next_proof}
    if known.isdisjoint({manifest.proof, *map(bytes.fromhex, manifest.replaces)}):
        raise ArchiveError(f"{folder} has another manifest than the database knows: it was put back from elsewhere")
    return manifest
