"""Erases a person from archived months: finds the payments in the files, and writes the files again without the person.

What of a payment names a person is decided in `erase_rows`.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from tollgate.catalog import codes, results
from tollgate.flows.archive_lease import Run, hold_archive
from tollgate.flows.erase_rows import TAMPERED, erase_payment
from tollgate.operations.app import App
from tollgate.operations.archives import load_proved
from tollgate.operations.signing import has_signature, sign
from tollgate.payments.archiving import ArchivedMonth, MonthState
from tollgate.payments.payment import Payment
from tollgate.store import archives
from tollgate.store.codec import UNREADABLE
from tollgate.store.reviews import wipe_note_writes
from tollgate.values import MerchantId, Refusal
from tollgate.vault import archive_writing
from tollgate.vault.archive_files import ArchiveError, Manifest, check_files, iterate_blocks, list_lines

_EMPTY_ANSWER = ""


async def list_parts(app: App) -> list[ArchivedMonth]:
    """Lists the parts that a person may be in; raises if their folder is not named."""
    known = await archives.list_archived_months(app.database)
    written = [each for each in known if each.has_file]
    if written and app.archive is None:
        raise _refuse("months were archived, so the folder of archived months is needed: give --archive")
    return written


def _refuse(text: str) -> Refusal:
    return Refusal(results.get_result(codes.INVALID_REQUEST), text)


async def search_part(
    app: App, merchant_id: MerchantId, archived: ArchivedMonth, is_about: Callable[[Payment], bool]
) -> list[Payment]:
    """Lists the payments of a merchant in a part that are about a person."""
    try:
        return await asyncio.to_thread(_search, app, _get_folder(app, archived), merchant_id, archived, is_about)
    except ArchiveError as fault:
        raise _refuse(str(fault)) from None


def _get_folder(app: App, archived: ArchivedMonth) -> Path:
    if app.archive is None:
        raise ArchiveError("the folder of archived months is not named: give --archive")
    return app.archive / archived.name


def _search(
    app: App,
    folder: Path,
    merchant_id: MerchantId,
    archived: ArchivedMonth,
    is_about: Callable[[Payment], bool],
) -> list[Payment]:
    manifest = load_proved(folder, archived, app.keyring)
    check_files(folder, manifest)
    return [payment for payment in _iterate_payments(folder, manifest, merchant_id) if is_about(payment)]


def _iterate_payments(folder: Path, manifest: Manifest, merchant_id: MerchantId) -> Iterator[Payment]:
    for lines in iterate_blocks(folder, manifest):
        for line in lines:
            if merchant_id.encode() not in line:
                continue
            try:
                chain = archives.read_chain(line)
                if chain.merchant_id == merchant_id:
                    yield from chain.read_payments()
            except UNREADABLE:
                # `tollgate verify` names the part; nobody else can be looked for in this line.
                continue


# ---- erasing ----


async def erase_chains(app: App, merchant_id: MerchantId, ids: Sequence[str]) -> dict[str, str | None]:
    """Erases those chains that were archived; returns for each of them the reason if it has to be postponed."""
    places = await archives.list_places(app.database, merchant_id, ids)
    if not places:
        return {}
    reasons: dict[str, str | None] = {}
    try:
        async with hold_archive(app, app.archive or Path(), lambda _: None) as run:
            await settle_erasures(run)
            for archived in await list_parts(app):
                its = [each.id for each in places if (each.month, each.part) == (archived.month, archived.part)]
                if archived.state is MonthState.WRITTEN:
                    reasons |= dict.fromkeys(its, "it is being archived: run `tollgate archive` again, and then erase")
                elif its:
                    reasons |= await _erase_in(run, archived, merchant_id, its)
    except (ArchiveError, OSError) as fault:
        text = str(fault) if isinstance(fault, ArchiveError) else f"its file cannot be written: {fault.strerror}"
        reasons |= {each.id: text for each in places if each.id not in reasons}
    return reasons


async def settle_erasures(run: Run) -> None:
    """Ends what a killed process began: the manifest on the disk says whether the new files are in place."""
    for archived in await archives.list_archived_months(run.app.database):
        if archived.next_proof is None:
            continue
        folder = run.get_folder(archived)
        manifest = await asyncio.to_thread(load_proved, folder, archived, run.app.keyring)
        settled = msgspec.structs.replace(archived, proof=manifest.proof, next_proof=None)
        await run.write(archives.change_month_writes(archived, settled), "archive rewritten")
        await asyncio.to_thread(archive_writing.remove_left_overs, folder, manifest)


async def _erase_in(
    run: Run, archived: ArchivedMonth, merchant_id: MerchantId, ids: Sequence[str]
) -> dict[str, str | None]:
    """Writes a part again without what names the person; the database knows both proofs meanwhile."""
    app, folder = run.app, run.get_folder(archived)
    manifest = await asyncio.to_thread(load_proved, folder, archived, app.keyring)
    reasons: dict[str, str | None] = {}
    replaced, members = [], []
    for payment_id in ids:
        line, chain = await asyncio.to_thread(_get_line, folder, manifest, merchant_id, payment_id)
        payments = chain.read_payments()
        is_sound = all(has_signature(payment, app.keyring) for payment in payments)
        reasons[payment_id] = None if is_sound else TAMPERED
        if is_sound:
            new = archives.render_chain(_erase_chain(app, chain, payments))
            replaced.append(archive_writing.Replaced(merchant_id, payment_id, line, new))
            members += payments
    if not replaced:
        return reasons
    chains, index = await asyncio.to_thread(archive_writing.rewrite, folder, manifest, replaced, app.random_bytes)
    new_manifest = archive_writing.sign_manifest(
        msgspec.structs.replace(manifest, chains=chains, index=index, replaces=[*manifest.replaces, manifest.mac]),
        app.keyring,
    )
    begun = msgspec.structs.replace(archived, next_proof=new_manifest.proof)
    await run.write(archives.change_month_writes(archived, begun), "archive rewriting")
    await asyncio.to_thread(archive_writing.put_manifest, folder, new_manifest)
    done = msgspec.structs.replace(archived, proof=new_manifest.proof)
    notes = [write for payment in members for write in wipe_note_writes(payment, rows=None)]
    await run.write([*archives.change_month_writes(begun, done), *notes], "archive rewritten")
    await asyncio.to_thread(archive_writing.remove_left_overs, folder, new_manifest)
    return reasons


def _get_line(
    folder: Path, manifest: Manifest, merchant_id: MerchantId, payment_id: str
) -> tuple[bytes, archives.ChainRows]:
    for line in list_lines(folder, manifest, merchant_id, payment_id):
        if payment_id.encode() in line:
            chain = archives.read_chain(line)
            if chain.merchant_id == merchant_id and payment_id in chain.list_ids("payments"):
                return line, chain
    raise ArchiveError(f"{folder / manifest.index.name} does not lead to payment {payment_id}")


def _erase_chain(app: App, chain: archives.ChainRows, members: Sequence[Payment]) -> archives.ChainRows:
    rows = [
        archives.replace_payment(row, sign(app, erase_payment(payment)))
        for row, payment in zip(chain.payments, members, strict=True)
    ]
    attempts = [{**row, "answer": _EMPTY_ANSWER} for row in chain.delivery_attempts]
    return msgspec.structs.replace(chain, payments=rows, delivery_attempts=attempts)
