"""Files of archived chains: what is written is read again, and what anybody changed is refused."""

from __future__ import annotations

import gzip
import shutil
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tollgate.vault import archive_files, archive_writing
from tollgate.vault.archive_files import (
    ArchiveError,
    FileFacts,
    Manifest,
    check_files,
    iterate_blocks,
    list_lines,
    load_manifest,
)
from tollgate.vault.archive_writing import (
    PartWriter,
    Replaced,
    put_manifest,
    remove_left_overs,
    rewrite,
    sign_manifest,
)
from tollgate.vault.keyring import Keyring, make_keyring

MERCHANT = "8a" + "1" * 30
KEYRING = make_keyring()


def make_lines(count: int) -> dict[str, bytes]:
    """Returns lines by the payment that each is found by; together they are several blocks."""
    return {f"{number:032x}": f"{number:032x} {'x' * (number % 700)}".encode() for number in range(count)}


def write(folder: Path, lines: dict[str, bytes], keyring: Keyring = KEYRING, **changes: object) -> Manifest:
    writer = PartWriter(folder)
    for payment_id, line in lines.items():
        writer.add(line, [(MERCHANT, payment_id)])
    chains, index = writer.finish()
    manifest = Manifest(
        format=archive_files.FORMAT,
        month="2026-11",
        part=1,
        written_at=0,
        rows={"chains": len(lines)},
        accounts=[],
        chains=chains,
        index=index,
    )
    signed = sign_manifest(msgspec.structs.replace(manifest, **changes), keyring)
    put_manifest(folder, signed)
    return signed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "2026-11.1"


def test_every_line_is_found_and_read_in_order(folder: Path) -> None:
    lines = make_lines(2000)
    manifest = write(folder, lines)
    blocks = list(iterate_blocks(folder, load_manifest(folder, KEYRING)))

    assert [line for block in blocks for line in block] == [*lines.values()]
    assert len(blocks) > 3
    check_files(folder, manifest)
    for payment_id, line in lines.items():
        assert line in list_lines(folder, manifest, MERCHANT, payment_id)
    assert list_lines(folder, manifest, MERCHANT, "f" * 32) == []
    assert list_lines(folder, manifest, "8a" + "2" * 30, f"{7:032x}") == []


def test_any_program_that_reads_gzip_reads_the_lines(folder: Path) -> None:
    lines = make_lines(1000)
    manifest = write(folder, lines)

    assert gzip.decompress((folder / manifest.chains.name).read_bytes()).splitlines() == [*lines.values()]


def test_a_large_index_goes_by_way_of_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_writing, "_BUCKET_BYTES", 100)
    lines = make_lines(3000)
    manifest = write(folder, lines)

    assert {path.name for path in folder.iterdir()} == {"manifest.json", manifest.chains.name, manifest.index.name}
    assert all(line in list_lines(folder, manifest, MERCHANT, payment_id) for payment_id, line in lines.items())


def test_what_was_written_and_given_up_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_writing, "_BUCKET_BYTES", 100)
    writer = PartWriter(folder)
    for payment_id, line in make_lines(2000).items():
        writer.add(line, [(MERCHANT, payment_id)])
    writer.discard()

    assert not folder.exists()


def test_left_overs_go_and_files_of_others_stay(folder: Path) -> None:
    manifest = write(folder, make_lines(3))
    for name in ("chains-0123456789abcdef.jsonl.gz", "chains-0123456789abcdef.bucket-17", "notes.txt"):
        (folder / name).write_text("x")
    remove_left_overs(folder, manifest)

    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        "notes.txt",
        manifest.chains.name,
        manifest.index.name,
    }


@pytest.mark.parametrize("changed", [{0}, {1499}, {0, 1, 2}, {3, 700, 701, 1200, 1499}, {*range(1500)}])
@pytest.mark.parametrize("length", [0, 50_000])
def test_lines_are_replaced_and_all_others_stay(folder: Path, changed: set[int], length: int) -> None:
    lines = make_lines(1500)
    manifest = write(folder, lines)
    ids = [f"{number:032x}" for number in changed]
    new = {payment_id: payment_id.encode() + b"y" * (length if changed != {*range(1500)} else 1) for payment_id in ids}
    replaced = [Replaced(MERCHANT, payment_id, lines[payment_id], new[payment_id]) for payment_id in ids]
    chains, index = rewrite(folder, manifest, replaced)
    after = sign_manifest(msgspec.structs.replace(manifest, chains=chains, index=index), KEYRING)

    check_files(folder, after)
    expected = {**lines, **new}
    assert [line for block in iterate_blocks(folder, after) for line in block] == [*expected.values()]
    for payment_id, line in expected.items():
        assert line in list_lines(folder, after, MERCHANT, payment_id)


# ---- what others did to the files ----


def change_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def link_elsewhere(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


CHANGES: list[Callable[[Path], None]] = [change_byte, cut, lengthen, link_elsewhere, Path.unlink]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("file", ["chains", "index"])
def test_a_changed_file_is_found(folder: Path, change: Callable[[Path], None], file: str) -> None:
    manifest = write(folder, make_lines(500))
    facts: FileFacts = getattr(manifest, file)
    change(folder / facts.name)

    with pytest.raises(ArchiveError, match=facts.name):
        check_files(folder, manifest)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_manifest_is_refused(folder: Path, change: Callable[[Path], None]) -> None:
    write(folder, make_lines(5))
    change(folder / "manifest.json")

    with pytest.raises(ArchiveError, match=r"manifest\.json"):
        load_manifest(folder, KEYRING)


def test_a_manifest_of_another_key_month_or_version_is_refused(folder: Path, tmp_path: Path) -> None:
    write(folder, make_lines(5))
    with pytest.raises(ArchiveError, match="another key"):
        load_manifest(folder, make_keyring())
    shutil.copytree(folder, tmp_path / "2026-12.1")
    with pytest.raises(ArchiveError, match="belongs to another folder"):
        load_manifest(tmp_path / "2026-12.1", KEYRING)
    write(tmp_path / "2026-11.2", make_lines(5), part=2, format="tollgate archive 2")
    with pytest.raises(ArchiveError, match="another version"):
        load_manifest(tmp_path / "2026-11.2", KEYRING)


def test_a_manifest_that_names_a_file_elsewhere_is_refused(folder: Path) -> None:
    facts = FileFacts(name="../../etc/passwd", bytes=1, sha256="")
    write(folder, make_lines(5), chains=facts)

    with pytest.raises(ArchiveError, match="belongs to another folder"):
        load_manifest(folder, KEYRING)


def test_a_block_that_unpacks_to_too_much_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = write(folder, make_lines(5))
    monkeypatch.setattr(archive_files, "BLOCK_BYTES_MAX", 1_000_000)
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packing.compress(bytes(100_000_000)) + packing.flush()
    (folder / manifest.chains.name).write_bytes(bomb)

    with pytest.raises(ArchiveError, match="longer than any"):
        list(
            iterate_blocks(
                folder,
                msgspec.structs.replace(
                    manifest, chains=FileFacts(name=manifest.chains.name, bytes=len(bomb), sha256="")
                ),
            )
        )


def test_a_block_that_is_no_gzip_is_refused(folder: Path) -> None:
    manifest = write(folder, make_lines(5))
    (folder / manifest.chains.name).write_bytes(b"x" * manifest.chains.bytes)

    with pytest.raises(ArchiveError, match="cannot be unpacked"):
        list_lines(folder, manifest, MERCHANT, f"{1:032x}")


def test_the_index_has_each_payment_once(folder: Path) -> None:
    lines = make_lines(300)
    manifest = write(folder, lines)
    content = (folder / manifest.index.name).read_bytes()
    hashes = [content[at : at + 16] for at in range(0, len(content), archive_files.ENTRY.size)]

    assert hashes == sorted(hashes)
    assert max(Counter(hashes).values()) == 1
    assert len(hashes) == len(lines)
