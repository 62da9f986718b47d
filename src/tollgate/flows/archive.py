"""Moves old months from the database to files: chooses chains at rest, writes them, reads them back, removes the rows.

Whoever is killed between two steps leaves a store in which the next run goes on. Files are read in `operations`.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tollgate.catalog import codes, results
from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.limits import LIMITS
from tollgate.flows.archive_chains import choose_chains, choose_unchanged, join_chains, make_sums
from tollgate.flows.archive_lease import Run, Tell, hold_archive
from tollgate.flows.erase_archived import settle_erasures
from tollgate.flows.index_payments import index_payments, make_terms
from tollgate.operations import audit_log
from tollgate.operations.app import App
from tollgate.operations.archives import list_strange_parts, load_proved
from tollgate.operations.audit_log import Actor
from tollgate.payments import archiving
from tollgate.payments.archiving import ArchivedMonth, MonthState
from tollgate.store import archive_rows, archives, detaching, merchants, search_index
from tollgate.store.statements import Write
from tollgate.values import DAY, MerchantId, Refusal
from tollgate.vault import archive_files, archive_writing
from tollgate.vault.archive_files import ArchiveError


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run for one month."""

    month: str
    part: int
    chains: int
    payments: int
    bytes: int
    kept: dict[str, int]
    """The chains that stay in the database, counted by the reason."""


def refuse(text: str) -> Refusal:
    return Refusal(results.get_result(codes.INVALID_REQUEST), text)


async def archive_months(app: App, root: Path, month: str, actor: Actor, tell: Tell = lambda _: None) -> list[Moved]:
    """Moves all months before this one, oldest first, and finishes what an earlier run began."""
    before = archiving.read_month(month)
    if before is None:
        raise refuse("--before must be a month, written yyyy-MM")
    bound = app.clock.now() - LIMITS.archive_days_min * DAY
    if before > bound:
        newest = archiving.render_month(bound)
        raise refuse(
            f"--before may be {newest} at the latest: payments stay in the database for {LIMITS.archive_days_min} days"
        )
    async with hold_archive(app, root, tell) as run:
        await _refuse_strange(run)
        await settle_erasures(run)
        await _finish_earlier(run)
        moved = []
        channels = await merchants.list_channels(app.database)
        for each in await merchants.list_merchants(app.database):
            while await index_payments(app, each.id):
                pass
        oldest = await archive_rows.find_oldest(app.database, channels)
        for name in archiving.list_months(before if oldest is None else oldest, before):
            done = await _archive_month(run, name, actor)
            if done.payments or done.kept:
                moved.append(done)
        return moved


async def _refuse_strange(run: Run) -> None:
    """Raises if the folder has months of which this database knows nothing: it may be the only place of some payments.

    The database is then older than the folder, or another database uses it.
    """
    strange = await list_strange_parts(run.app.database, run.root)
    if strange:
        raise ArchiveError(
            f"the database does not know {', '.join(strange)} in {run.root}: run `tollgate verify`, "
            "and keep these folders at another place"
        )


async def _finish_earlier(run: Run) -> None:
    """Goes on where a run was killed: a file that was not finished is written again, rows of a finished one go."""
    for archived in await archives.list_archived_months(run.app.database):
        if archived.state is MonthState.WRITING:
            await _give_up(run, archived)
        elif archived.state is MonthState.WRITTEN:
            run.tell(f"{archived.name}: going on")
            await _remove(run, archived)


async def _give_up(run: Run, archived: ArchivedMonth) -> None:
    """Opens the chains of a part again that is not written, and removes its files.

    Each write is undone if the part is known to be written after all, as when only the answer of that commit was lost.
    """
    database, still = run.app.database, archives.keep_month_writes(archived)
    await run.write(still, "archive given up")
    for channel in await merchants.list_channels(database):
        async for first_ids in archive_rows.walk_firsts(database, channel, archiving.get_end(archived.month)):
            opened = archive_rows.open_writes(channel.merchant_id, first_ids)
            await run.write([*still, *opened], "archive given up")
    await asyncio.to_thread(archive_writing.remove_left_overs, run.get_folder(archived), None)
    given_up = msgspec.structs.replace(archived, state=MonthState.GIVEN_UP)
    await run.write(archives.change_month_writes(archived, given_up), "archive given up")


# ---- one month ----


async def _archive_month(run: Run, month: str, actor: Actor) -> Moved:
    app = run.app
    known = await archives.list_archived_months(app.database)
    part = 1 + max((each.part for each in known if each.month == month), default=0)
    begun = ArchivedMonth(month=month, part=part, archived_at=app.clock.now())
    await run.write(archives.insert_month_writes(begun), "archive begun")
    try:
        written, kept = await _write_part(run, begun)
    except BaseException:
        # Nothing was removed; the next run does the same if this does not succeed.
        with suppress(Exception):
            await _give_up(run, begun)
        raise
    if written is None:
        await run.write(archives.delete_month_writes(begun), "archive given up")
        return Moved(month=month, part=part, chains=0, payments=0, bytes=0, kept=kept)
    await audit_log.record(
        app.database,
        app.keyring,
        app.clock,
        actor,
        AuditAction.MONTH_ARCHIVED,
        subject=written.name,
        details={"payments": str(written.payments), "chains": str(written.chains)},
    )
    await _remove(run, written)
    size = archive_files.load_manifest(run.get_folder(written), app.keyring)
    return Moved(
        month=month,
        part=part,
        chains=written.chains,
        payments=written.payments,
        bytes=size.chains.bytes + size.index.bytes,
        kept=kept,
    )


async def _write_part(run: Run, begun: ArchivedMonth) -> tuple[ArchivedMonth | None, dict[str, int]]:
    """Writes the files of a part and reads them back; None if no chain belongs to it."""
    app, folder = run.app, run.get_folder(begun)
    writer = await asyncio.to_thread(archive_writing.PartWriter, folder, app.random_bytes)
    rows: Counter[str] = Counter()
    sums: Counter[tuple[str, str, str, str]] = Counter()
    kept: Counter[str] = Counter()
    try:
        async for page in _choose(run, begun.month):
            kept.update(page.kept)
            await asyncio.to_thread(_add_chains, writer, page.chains, rows)
            for chain in page.chains:
                sums.update(make_sums(chain.read_payments()))
            run.tell(f"{begun.name}: {rows['payments']} payments written")
        if not rows["chains"]:
            writer.discard()
            return None, dict(kept)
        chains, index = await asyncio.to_thread(writer.finish)
        manifest = archive_writing.sign_manifest(
            archive_files.Manifest(
                format=archive_files.FORMAT,
                month=begun.month,
                part=begun.part,
                written_at=app.clock.now(),
                rows=dict(rows),
                accounts=_list_sums(sums),
                chains=chains,
                index=index,
            ),
            app.keyring,
        )
        await asyncio.to_thread(archive_writing.put_manifest, folder, manifest)
    except BaseException:
        await asyncio.to_thread(writer.discard)
        raise
    await asyncio.to_thread(_read_back, folder, app, manifest)
    written = msgspec.structs.replace(
        begun,
        state=MonthState.WRITTEN,
        chains=rows["chains"],
        payments=rows["payments"],
        accounts={"/".join(key): amount for key, amount in sums.items()},
        proof=manifest.proof,
    )
    await run.write(archives.change_month_writes(begun, written), "archive written")
    await asyncio.to_thread(archive_writing.remove_left_overs, folder, manifest)
    return written, dict(kept)


class _Page(msgspec.Struct, frozen=True):
    chains: list[archives.ChainRows]
    kept: list[str]
    """The reason of each chain that stays."""


async def _choose(run: Run, month: str) -> AsyncIterator[_Page]:
    """Yields the chains that belong to a month; from then on nothing changes them any more."""
    app, end = run.app, archiving.get_end(month)
    undelivered = await archive_rows.list_undelivered(app.database, end)
    for channel in await merchants.list_channels(app.database):
        merchant_id = channel.merchant_id
        async for first_ids in archive_rows.walk_firsts(app.database, channel, end):
            seen = await choose_chains(app, merchant_id, first_ids, end, undelivered)
            leaving = [*seen.leaving]
            if not leaving:
                yield _Page([], [*seen.kept.values()])
                continue
            await run.write(archive_rows.close_writes(merchant_id, leaving), "chains closed")
            # What was reserved or erased between reading and closing is seen now, and nothing more comes.
            closed = await choose_unchanged(app, merchant_id, seen.leaving, end)
            if closed.kept:
                await run.write(archive_rows.open_writes(merchant_id, [*closed.kept]), "chains opened again")
            chains = await join_chains(app, merchant_id, closed.leaving)
            yield _Page(chains, [*seen.kept.values(), *closed.kept.values()])


def _add_chains(writer: archive_writing.PartWriter, chains: Sequence[archives.ChainRows], rows: Counter[str]) -> None:
    for chain in chains:
        writer.add(archives.render_chain(chain), [(chain.merchant_id, row["id"]) for row in chain.payments])
        rows["chains"] += 1
        for table in archives.ARCHIVED_TABLES:
            rows[table] += len(chain.list_rows(table))


def _list_sums(sums: Counter[tuple[str, str, str, str]]) -> list[archive_files.AccountSums]:
    grouped: dict[tuple[str, str, str], dict[str, int]] = {}
    for (merchant_id, channel_id, currency, account), amount in sorted(sums.items()):
        grouped.setdefault((merchant_id, channel_id, currency), {})[account] = amount
    return [
        archive_files.AccountSums(merchant_id=each[0], channel_id=each[1], currency=each[2], accounts=accounts)
        for each, accounts in grouped.items()
    ]


def _read_back(folder: Path, app: App, written: archive_files.Manifest) -> None:
    """Raises unless the files that are found on the disk are what was written."""
    manifest = archive_files.load_manifest(folder, app.keyring)
    if manifest != written:
        raise ArchiveError(f"{folder} has another manifest than the one that was written")
    archive_files.check_files(folder, manifest)
    rows: Counter[str] = Counter()
    for chains in iterate_chains(folder, manifest):
        rows["chains"] += len(chains)
        for table in archives.ARCHIVED_TABLES:
            rows[table] += sum(len(chain.list_rows(table)) for chain in chains)
    if dict(rows) != manifest.rows:
        raise ArchiveError(f"{folder} does not have the rows that were written")


def iterate_chains(folder: Path, manifest: archive_files.Manifest) -> Iterator[list[archives.ChainRows]]:
    """Yields the chains of each block."""
    for lines in archive_files.iterate_blocks(folder, manifest):
        yield [archives.read_chain(line) for line in lines]


# ---- removing ----


async def _remove(run: Run, written: ArchivedMonth) -> None:
    """Removes the rows that are in the file of a part, and only those: they are taken from the file itself.

    On PostgreSQL whole partitions go, where little else is in them, once the places of all their payments are noted.
    """
    folder, database = run.get_folder(written), run.app.database
    manifest = await asyncio.to_thread(load_proved, folder, written, run.app.keyring)
    await asyncio.to_thread(archive_files.check_files, folder, manifest)
    counter = await detaching.make_counter(database)
    is_removed = False
    if counter is not None:
        async for merchant_id, chains in _walk(run, written, manifest, "placed"):
            counter.add(chains)
            await run.write(_place_writes(written, merchant_id, chains), "archived payments placed")
        is_removed = await detaching.drop_archived(database, written, counter.counts, run.owner)
    if not is_removed:
        async for merchant_id, chains in _walk(run, written, manifest, "removed"):
            placed = _place_writes(written, merchant_id, chains)
            await run.write([*placed, *archive_rows.remove_writes(chains)], "archived rows removed")
    done = msgspec.structs.replace(written, state=MonthState.MOVED)
    await run.write(archives.change_month_writes(written, done), "archive finished")


async def _walk(
    run: Run, written: ArchivedMonth, manifest: archive_files.Manifest, done: str
) -> AsyncIterator[tuple[MerchantId, list[archives.ChainRows]]]:
    """Yields the chains of each block by merchant, and says how far it has come."""
    blocks, count = iterate_chains(run.get_folder(written), manifest), 0
    while (chains := await asyncio.to_thread(next, blocks, None)) is not None:
        for merchant_id, its in _group(chains).items():
            yield merchant_id, its
        count += sum(len(chain.payments) for chain in chains)
        run.tell(f"{written.name}: {count} of {written.payments} payments {done}")


def _group(chains: Sequence[archives.ChainRows]) -> dict[MerchantId, list[archives.ChainRows]]:
    grouped: dict[MerchantId, list[archives.ChainRows]] = {}
    for chain in chains:
        grouped.setdefault(chain.merchant_id, []).append(chain)
    return grouped


def _place_writes(written: ArchivedMonth, merchant_id: MerchantId, chains: Sequence[archives.ChainRows]) -> list[Write]:
    terms = [term for chain in chains for payment in chain.read_payments() for term in make_terms(payment)]
    return [
        *search_index.count_removal_writes(merchant_id),
        *archive_rows.place_writes(written, chains),
        *search_index.delete_terms_writes(sorted(set(terms))),
    ]
