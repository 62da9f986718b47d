"""Snapshots of a whole sandbox: saving one to a file, loading it again, and making a second store with its content.

A live host has none of this: nobody may take back real payments.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from tollgate.catalog import codes, results
from tollgate.operations.app import App
from tollgate.store import copying, database, hot, merchants, migrating
from tollgate.store.schema import credentials
from tollgate.values import Forbidden, Instant, Refusal
from tollgate.vault.keyring import Keyring
from tollgate.vault.snapshots import SnapshotError, SnapshotWriter, read_frames

_MODE = 0o600


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first frame of a file."""

    revision: str
    """The revision of the tables, which have other columns in another."""
    saved_at: Instant
    key_ids: list[str]
    """The keys under which rows may be sealed."""


_encode = msgspec.msgpack.Encoder().encode
_read_header = msgspec.msgpack.Decoder(Header).decode
_read_batch = msgspec.msgpack.Decoder(tuple[str, list[tuple[Any, ...]]]).decode


def refuse_live(app: App) -> None:
    if app.is_live:
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "only a test host can be saved, loaded or forked")


def refuse(text: str) -> Refusal:
    return Refusal(results.get_result(codes.INVALID_REQUEST), text)


async def save_snapshot(app: App, path: Path) -> int:
    """Writes the file in one step and returns its number of rows; a fault leaves no half file and the old one whole."""
    refuse_live(app)
    # A name of its own, because two may save under the same name at once.
    draft = path.with_name(f".{path.name}.{app.random_bytes(4).hex()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                rows = await _write(app, SnapshotWriter(file, app.keyring, app.random_bytes))
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as fault:
        raise refuse(f"cannot write {path}: {fault.strerror}") from None
    return rows


async def _write(app: App, writer: SnapshotWriter) -> int:
    key_ids = [key_id.hex() for key_id in app.keyring.key_ids]
    writer.add(_encode(Header(revision=migrating.HEAD, saved_at=app.clock.wall(), key_ids=key_ids)))
    count = 0
    async for batch in copying.read_tables(app.database):
        await asyncio.to_thread(writer.add, _encode(batch))
        count += len(batch[1])
    writer.finish()
    return count


async def load_snapshot(app: App, path: Path) -> int:
    """Replaces what is saved by the content of a file, in one step; returns the number of rows."""
    refuse_live(app)
    try:
        with path.open("rb") as file:
            return await load_file(app, file)
    except OSError as fault:
        raise refuse(f"cannot read {path}: {fault.strerror}") from None


async def load_file(app: App, file: BinaryIO) -> int:
    """Does the same with a file that is open."""
    refuse_live(app)
    try:
        frames = read_frames(file, app.keyring)
        # The first frame comes after the whole file was authenticated, which takes a while.
        header = await asyncio.to_thread(next, frames, b"")
        _check(_read_header(header), app.keyring)
        return await copying.replace_tables(app.database, _read_batches(frames))
    except SnapshotError as fault:
        raise refuse(str(fault)) from None


def _check(header: Header, keyring: Keyring) -> None:
    if header.revision != migrating.HEAD:
        raise refuse(
            f"the file has tables of revision {header.revision}, and this host those of {migrating.HEAD}: "
            "load it with the version of the program that saved it"
        )
    missing = set(header.key_ids) - {key_id.hex() for key_id in keyring.key_ids}
    if missing:
        raise refuse("the file was saved before keys were retired, so its records could not be opened")


async def _read_batches(frames: Iterator[bytes]) -> AsyncIterator[tuple[str, list[hot.Row]]]:
    while (frame := await asyncio.to_thread(next, frames, None)) is not None:
        yield _read_batch(frame)


async def fork_store(app: App, target: database.Database) -> int:
    """Fills an empty store with the same content and access tokens; users and the audit log begin anew there."""
    refuse_live(app)
    if await merchants.list_merchants(target):
        raise refuse("the new store has merchants already: name an empty place")
    tables = (*copying.SAVED, credentials)
    return await copying.replace_tables(target, copying.read_tables(app.database, tables), tables)
