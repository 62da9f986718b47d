"""Files of archived chains, written: new ones, and those in which some lines take the place of others.

How they are read is decided in `archive_files`.
"""

import os
import re
import zlib
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from tollgate.values import RandomBytes, system_random_bytes
from tollgate.vault import archive_files
from tollgate.vault.archive_files import ENTRY, ArchiveError, FileFacts, Manifest
from tollgate.vault.keyring import Keyring

_LEVEL = 6
_BUCKETS = 256
_BUCKET_BYTES = 64 * 1024
_LEFT_OVER = re.compile(r"chains-[0-9a-f]{16}\.(jsonl\.gz|index|bucket-[0-9]{1,3})|manifest\.json(\.draft)?")
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600

# ---- new files ----


def _open_new(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _FILE_MODE), "w+b")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    """Makes a folder that is still there after a power cut, with those above it."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        _sync_folder(folder.parent)


class _HashedFile:
    """A new file of which the length and the hash are known while it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.length = 0
        self._hash = sha256()
        self._file = _open_new(path)

    def write(self, content: bytes) -> None:
        self._file.write(content)
        self._hash.update(content)
        self.length += len(content)

    def close(self) -> FileFacts:
        """Returns the facts of the file once all of it is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return FileFacts(name=self.path.name, bytes=self.length, sha256=self._hash.hexdigest())

    def discard(self) -> None:
        # A buffer that no longer fits on the disk must not keep the file from being removed.
        with suppress(OSError):
            self._file.close()
        self.path.unlink(missing_ok=True)


class PartWriter:
    """Writes the lines of a part into new files; until `put_manifest` they are worth nothing."""

    def __init__(self, folder: Path, random_bytes: RandomBytes = system_random_bytes) -> None:
        _make_folder(folder)
        self._folder = folder
        self._name = f"chains-{random_bytes(8).hex()}"
        self._chains = _HashedFile(folder / f"{self._name}.jsonl.gz")
        self._buckets = [bytearray() for _ in range(_BUCKETS)]
        self._spilled: set[int] = set()
        self._lines: list[bytes] = []
        self._held = 0

    def add(self, line: bytes, payments: Sequence[tuple[str, str]]) -> None:
        """Adds a line, which is found by these payments: each is a merchant and an id."""
        if len(line) > archive_files.BLOCK_BYTES_MAX // 2:
            raise ArchiveError(f"a chain of {len(line)} bytes is too long for the archive")
        place = self._chains.length.to_bytes(6, "big")
        for payment in payments:
            hashed = archive_files.hash_payment(*payment)
            bucket = self._buckets[hashed[0]]
            bucket += hashed + place
            if len(bucket) >= _BUCKET_BYTES:
                self._spill(hashed[0])
        self._lines.append(line)
        self._held += len(line) + 1
        if self._held >= archive_files.BLOCK_BYTES:
            self._end_block()

    def _end_block(self) -> None:
        self._chains.write(_compress(self._lines))
        self._lines, self._held = [], 0

    def _bucket_path(self, number: int) -> Path:
        return self._folder / f"{self._name}.bucket-{number}"

    def _spill(self, number: int) -> None:
        """Puts a bucket on the disk, so that the index of a large month takes little memory."""
        with self._bucket_path(number).open("ab") as file:
            file.write(self._buckets[number])
        self._spilled.add(number)
        self._buckets[number].clear()

    def finish(self) -> tuple[FileFacts, FileFacts]:
        """Returns the facts of the lines and of the index, which are both on the disk."""
        if self._lines:
            self._end_block()
        with ExitStack() as undo:
            index = _HashedFile(self._folder / f"{self._name}.index")
            undo.callback(index.discard)
            for number in range(_BUCKETS):
                index.write(b"".join(sorted(self._list_entries(number))))
            written = self._chains.close(), index.close()
            undo.pop_all()
        return written

    def _list_entries(self, number: int) -> list[bytes]:
        entries = bytes(self._buckets[number])
        if number in self._spilled:
            path = self._bucket_path(number)
            entries += path.read_bytes()
            path.unlink()
        return [entries[at : at + ENTRY.size] for at in range(0, len(entries), ENTRY.size)]

    def discard(self) -> None:
        """Removes what was written, and the folder if nothing else is in it."""
        self._chains.discard()
        for number in self._spilled:
            self._bucket_path(number).unlink(missing_ok=True)
        (self._folder / f"{self._name}.index").unlink(missing_ok=True)
        with suppress(OSError):
            self._folder.rmdir()


def _compress(lines: Sequence[bytes]) -> bytes:
    """Returns a block: a whole gzip member, so that the file is also read by any program that reads gzip."""
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, archive_files.GZIP)
    return packing.compress(b"".join([line + b"\n" for line in lines])) + packing.flush()


def sign_manifest(manifest: Manifest, keyring: Keyring) -> Manifest:
    return msgspec.structs.replace(manifest, mac=archive_files.compute_mac(manifest, keyring).hex())


def put_manifest(folder: Path, manifest: Manifest) -> None:
    """Puts the manifest in the place of an older one in one step; its files are on the disk before."""
    draft = folder / f"{archive_files.MANIFEST}.draft"
    draft.unlink(missing_ok=True)
    with _open_new(draft) as file:
        file.write(archive_files.encode_manifest(manifest))
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(folder)
    draft.replace(folder / archive_files.MANIFEST)
    _sync_folder(folder)


def remove_left_overs(folder: Path, manifest: Manifest | None) -> None:
    """Removes files that this program wrote and that the manifest does not name; without one, all of them."""
    kept = set() if manifest is None else {archive_files.MANIFEST, manifest.chains.name, manifest.index.name}
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if _LEFT_OVER.fullmatch(path.name) and path.name not in kept:
            path.unlink(missing_ok=True)
    _sync_folder(folder)
    if manifest is None:
        with suppress(OSError):
            folder.rmdir()


# ---- rewriting ----


class Replaced(msgspec.Struct, frozen=True):
    """A line that takes the place of another, which is found by a payment."""

    merchant_id: str
    payment_id: str
    old: bytes
    new: bytes


def rewrite(
    folder: Path,
    manifest: Manifest,
    replaced: Sequence[Replaced],
    random_bytes: RandomBytes = system_random_bytes,
) -> tuple[FileFacts, FileFacts]:
    """Writes both files again under other names, with some lines replaced; blocks without them are copied as they are.

    Everything that was read is proved by the manifest first.
    """
    archive_files.check_files(folder, manifest)
    blocks: dict[int, dict[bytes, bytes]] = {}
    for each in replaced:
        at = archive_files.find_place(
            folder / manifest.index.name, manifest.index, archive_files.hash_payment(each.merchant_id, each.payment_id)
        )
        if at is None:
            raise ArchiveError(f"{folder / manifest.index.name} does not have payment {each.payment_id}")
        blocks.setdefault(at, {})[each.old] = each.new
    name = f"chains-{random_bytes(8).hex()}"
    with ExitStack() as undo:
        chains, index = _HashedFile(folder / f"{name}.jsonl.gz"), _HashedFile(folder / f"{name}.index")
        undo.callback(chains.discard)
        undo.callback(index.discard)
        shifts = _copy_chains(folder / manifest.chains.name, manifest.chains.bytes, blocks, chains)
        _copy_index(folder / manifest.index.name, shifts, index)
        written = chains.close(), index.close()
        undo.pop_all()
    return written


def _copy_chains(
    path: Path, length: int, blocks: dict[int, dict[bytes, bytes]], target: _HashedFile
) -> list[tuple[int, int]]:
    """Returns by how much blocks from a place on begin later than they did."""
    shifts = [(0, 0)]
    with archive_files.open_file(path) as descriptor:
        at = 0
        for begin in sorted(blocks):
            _copy_range(descriptor, at, begin, target)
            text, taken = archive_files.read_block(descriptor, begin, path)
            lines = [blocks[begin].pop(line, line) for line in text.splitlines()]
            if blocks[begin]:
                raise ArchiveError(f"{path} does not have a line that was read from it")
            target.write(_compress(lines))
            at = begin + taken
            shifts.append((at, target.length - at))
        _copy_range(descriptor, at, length, target)
    return shifts


def _copy_range(descriptor: int, at: int, end: int, target: _HashedFile) -> None:
    while at < end:
        piece = os.pread(descriptor, min(archive_files.PIECE_BYTES, end - at), at)
        if not piece:
            raise ArchiveError(f"{target.path.parent} has a file that was cut off while it was copied")
        target.write(piece)
        at += len(piece)


def _copy_index(path: Path, shifts: list[tuple[int, int]], target: _HashedFile) -> None:
    with archive_files.open_file(path) as descriptor:
        while piece := os.read(descriptor, ENTRY.size * 4096):
            moved = []
            for hashed, place in ENTRY.iter_unpack(piece):
                at = int.from_bytes(place, "big")
                shift = next(by for begin, by in reversed(shifts) if begin <= at)
                moved.append(ENTRY.pack(hashed, (at + shift).to_bytes(6, "big")))
            target.write(b"".join(moved))
