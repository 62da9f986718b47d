"""Files with the rows of a store: encrypted under the host's key, written in one step, checked before they are read.

Which rows are in a file, and who may read it, is decided by others.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from tollgate import __version__
from tollgate.catalog import codes, results
from tollgate.store import copying, hot, migrating
from tollgate.values import Instant, RandomBytes, Refusal, system_random_bytes
from tollgate.vault.keyring import Keyring, flush_folder
from tollgate.vault.sealed_files import RETIRED_HINT, FileKind, SealedFileError, SealedWriter, read_frames

_MODE = 0o600


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first frame of a file."""

    revision: str
    """The revision of the tables, which have other columns in another."""
    release: str = ""
    saved_at: Instant
    key_ids: list[str]
    """The keys under which rows may be sealed."""


_encode = msgspec.msgpack.Encoder().encode
_read_header = msgspec.msgpack.Decoder(Header).decode
_read_batch = msgspec.msgpack.Decoder(tuple[str, list[tuple[Any, ...]]]).decode


def refuse(text: str) -> Refusal:
    return Refusal(results.get_result(codes.INVALID_REQUEST), text)


async def write_rows(
    path: Path,
    batches: AsyncGenerator[copying.Batch, None],
    kind: FileKind,
    keyring: Keyring,
    now: Instant,
    random_bytes: RandomBytes = system_random_bytes,
) -> int:
    """Writes the file in one step and returns its number of rows; a fault leaves no half file and the old one whole."""
    header = Header(
        revision=migrating.HEAD,
        release=__version__,
        saved_at=now,
        key_ids=[key_id.hex() for key_id in keyring.key_ids],
    )
    # A name of its own, because two may save under the same name at once.
    draft = path.with_name(f".{path.name}.{random_bytes(4).hex()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                rows = await _write(SealedWriter(file, keyring, kind, random_bytes), header, batches)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        flush_folder(path)
    except OSError as fault:
        raise refuse(f"cannot write {path}: {fault.strerror}") from None
    return rows


async def _write(writer: SealedWriter, header: Header, batches: AsyncGenerator[copying.Batch, None]) -> int:
    writer.add(_encode(header))
    count = 0
    async with aclosing(batches):
        async for batch in batches:
            await asyncio.to_thread(writer.add, _encode(batch))
            count += len(batch[1])
    writer.finish()
    return count


async def read_rows(file: BinaryIO, kind: FileKind, keyring: Keyring) -> AsyncIterator[copying.Batch]:
    """Returns the rows of a file that this host wrote, whole and for these tables; anything else is refused."""
    try:
        frames = read_frames(file, keyring, kind)
        # The first frame comes after the whole file was authenticated, which takes a while.
        header = _read_header(await asyncio.to_thread(next, frames, b""))
    except SealedFileError as fault:
        raise refuse(str(fault)) from None
    if header.revision != migrating.HEAD:
        raise refuse(
            f"the file has tables of revision {header.revision}, and this host those of {migrating.HEAD}: "
            f"load it with the version of the program that saved it{f' ({header.release})' if header.release else ''}"
        )
    missing = set(header.key_ids) - {key_id.hex() for key_id in keyring.key_ids}
    if missing:
        raise refuse(
            f"records of the file may be sealed under the key {min(missing)}, which the key file does not have: "
            f"{RETIRED_HINT}"
        )
    return _read_batches(frames)


async def _read_batches(frames: Iterator[bytes]) -> AsyncIterator[tuple[str, list[hot.Row]]]:
    try:
        while (frame := await asyncio.to_thread(next, frames, None)) is not None:
            yield _read_batch(frame)
    except SealedFileError as fault:
        raise refuse(str(fault)) from None
