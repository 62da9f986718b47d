"""Files of archived chains, read: blocks that were compressed one by one, an index of payments, a manifest with a MAC.

They are written in `archive_writing`. What a chain consists of is decided by the caller: here it is a line of text.
"""

import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b, sha256
from hmac import compare_digest
from pathlib import Path

import msgspec

from tollgate.values import Instant
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

FORMAT = "tollgate archive 1"
MANIFEST = "manifest.json"
BLOCK_BYTES = 128 * 1024
"""A block ends with the line that reaches this length. A read takes one block."""
BLOCK_BYTES_MAX = 64 * 1024 * 1024
"""No block has more, so one that says more was not written by this program."""
_MANIFEST_BYTES_MAX = 64 * 1024 * 1024
GZIP = 16 + zlib.MAX_WBITS
PIECE_BYTES = 1 << 20
_HASH_BYTES = 16
ENTRY = struct.Struct(f">{_HASH_BYTES}s6s")
"""An entry of the index: the hash of a payment, and where its block begins."""
_PART_NAME = re.compile(r"[0-9]{4}-[0-9]{2}\.[0-9]{1,9}")
_FILE_NAME = re.compile(r"chains-[0-9a-f]{16}\.(jsonl\.gz|index)")
_PURPOSE = "archive"


class ArchiveError(Exception):
    """A file of the archive is missing, damaged or not ours; the message names it and never what it holds."""


class FileFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    bytes: int
    sha256: str


class AccountSums(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sums that the ledger accounts of a channel got from archived chains, less what they gave."""

    merchant_id: str
    channel_id: str
    currency: str
    accounts: dict[str, int]


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The facts of one part of a month, by which every byte of its files is proved."""

    format: str
    month: str
    part: int
    written_at: Instant
    rows: dict[str, int]
    """The number of chains, and of the rows of each table."""
    accounts: list[AccountSums]
    chains: FileFacts
    index: FileFacts
    replaces: list[str] = []
    """The MACs of the manifests whose place it took, by which an older database knows it."""
    mac: str = ""

    @property
    def proof(self) -> bytes:
        return bytes.fromhex(self.mac)


encode_manifest = msgspec.json.Encoder(order="deterministic").encode
_read_manifest = msgspec.json.Decoder(Manifest).decode


def make_part_name(month: str, part: int) -> str:
    """Returns the name of the folder of a part."""
    return f"{month}.{part}"


def list_part_names(root: Path) -> list[str]:
    """Lists the parts that have a manifest in the folder of the archive, without a look at what it says."""
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise ArchiveError(f"cannot read {root}: {fault.strerror}") from None
    return sorted(name for name in names if _PART_NAME.fullmatch(name) and (root / name / MANIFEST).exists())


def hash_payment(merchant_id: str, payment_id: str) -> bytes:
    return blake2b(f"{merchant_id}/{payment_id}".encode(), digest_size=_HASH_BYTES).digest()


def compute_mac(manifest: Manifest, keyring: Keyring) -> bytes:
    return make_mac(_PURPOSE, [encode_manifest(msgspec.structs.replace(manifest, mac="")).decode()], keyring)


# ---- reading ----


@contextmanager
def open_file(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as fault:
        raise ArchiveError(f"cannot open {path}: {fault.strerror}") from None
    try:
        yield descriptor
    except OSError as fault:
        raise ArchiveError(f"cannot read {path}: {fault.strerror}") from None
    finally:
        os.close(descriptor)


def load_manifest(folder: Path, keyring: Keyring) -> Manifest:
    """Reads the manifest of a part; one that was not written with this host's key is refused."""
    path = folder / MANIFEST
    with open_file(path) as descriptor:
        if os.fstat(descriptor).st_size > _MANIFEST_BYTES_MAX:
            raise ArchiveError(f"{path} is too long for a manifest")
        content = os.read(descriptor, _MANIFEST_BYTES_MAX)
    try:
        manifest = _read_manifest(content)
        proof = manifest.proof
    except (msgspec.MsgspecError, ValueError):
        raise ArchiveError(f"{path} is no manifest of an archive") from None
    if not compare_digest(proof, compute_mac(manifest, keyring)):
        raise ArchiveError(f"{path} was changed, or written with another key")
    if manifest.format != FORMAT:
        raise ArchiveError(f"{path} was written by another version of the program")
    names = (manifest.chains.name, manifest.index.name)
    if folder.name != make_part_name(manifest.month, manifest.part) or not all(map(_FILE_NAME.fullmatch, names)):
        raise ArchiveError(f"{path} belongs to another folder")
    return manifest


def check_files(folder: Path, manifest: Manifest) -> None:
    """Raises unless both files are, byte by byte, those of the manifest."""
    for facts in (manifest.chains, manifest.index):
        path = folder / facts.name
        with open_file(path) as descriptor:
            hashed, length = sha256(), 0
            while piece := os.read(descriptor, PIECE_BYTES):
                hashed.update(piece)
                length += len(piece)
        if length != facts.bytes or hashed.hexdigest() != facts.sha256:
            raise ArchiveError(f"{path} is not the file that was written: it was changed or cut off")


def iterate_blocks(folder: Path, manifest: Manifest) -> Iterator[list[bytes]]:
    """Yields the lines of each block of a part."""
    path = folder / manifest.chains.name
    with open_file(path) as descriptor:
        at = 0
        while at < manifest.chains.bytes:
            content, length = read_block(descriptor, at, path)
            at += length
            yield content.splitlines()


def list_lines(folder: Path, manifest: Manifest, merchant_id: str, payment_id: str) -> list[bytes]:
    """Returns the lines of the block that has a payment, or none where no block has it."""
    at = find_place(folder / manifest.index.name, manifest.index, hash_payment(merchant_id, payment_id))
    if at is None:
        return []
    path = folder / manifest.chains.name
    with open_file(path) as descriptor:
        return read_block(descriptor, at, path)[0].splitlines()


def find_place(path: Path, facts: FileFacts, hashed: bytes) -> int | None:
    with open_file(path) as descriptor:
        if os.fstat(descriptor).st_size != facts.bytes:
            raise ArchiveError(f"{path} is not the file that was written: it was cut off or grew")
        low, high = 0, facts.bytes // ENTRY.size
        while low < high:
            middle = (low + high) // 2
            found, place = ENTRY.unpack(os.pread(descriptor, ENTRY.size, middle * ENTRY.size))
            if found == hashed:
                return int.from_bytes(place, "big")
            low, high = (middle + 1, high) if found < hashed else (low, middle)
    return None


def read_block(descriptor: int, at: int, path: Path) -> tuple[bytes, int]:
    """Returns the text of the block that begins there, and how long it is in the file."""
    unpacking = zlib.decompressobj(GZIP)
    pieces, held, taken = [], 0, 0
    try:
        while not unpacking.eof:
            piece = unpacking.unconsumed_tail or os.pread(descriptor, BLOCK_BYTES, at + taken)
            if not piece:
                raise ArchiveError(f"{path} was cut off")
            taken += 0 if unpacking.unconsumed_tail else len(piece)
            text = unpacking.decompress(piece, BLOCK_BYTES_MAX + 1 - held)
            pieces.append(text)
            held += len(text)
            if held > BLOCK_BYTES_MAX:
                raise ArchiveError(f"{path} has a block that is longer than any that was written")
    except zlib.error:
        raise ArchiveError(f"{path} was changed: a block of it cannot be unpacked") from None
    return b"".join(pieces), taken - len(unpacking.unused_data)
