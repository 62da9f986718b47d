"""Collects what a server leaves at rest, file by file, and the spellings in which a secret might hide in it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

ID = re.compile(rb"8a[0-9a-f]{30}")


@dataclass(frozen=True)
class Traces:
    files: dict[str, bytes]

    def find(self, needle: bytes) -> list[str]:
        return [name for name, content in self.files.items() if needle in content]

    def search(self, pattern: re.Pattern[bytes]) -> list[bytes]:
        return [match[0] for content in self.files.values() for match in pattern.finditer(content)]

    def count(self, needle: bytes) -> int:
        return sum(content.count(needle) for content in self.files.values())

    def count_outside_ids(self, needle: bytes) -> int:
        """An id is chance that is written again and again, and some of them contain any four digits."""
        return sum(ID.sub(b"|", content).count(needle) for content in self.files.values())


def collect(folders: Iterable[Path], *, without: str) -> Traces:
    """Returns every byte below the folders; a running server may remove a file while it is being looked at."""
    files = {}
    for folder in folders:
        for path in folder.rglob("*"):
            if path.name != without and path.is_file():
                try:
                    files[str(path)] = path.read_bytes()
                except FileNotFoundError:
                    continue
    return Traces(files)


def spell_number(number: str) -> Iterator[bytes]:
    """Returns a card number as text, grouped, escaped, encoded and as a number."""
    text = number.encode()
    groups = [number[at : at + 4] for at in range(0, len(number), 4)]
    yield from (text, text[::-1], " ".join(groups).encode(), "-".join(groups).encode(), "+".join(groups).encode())
    yield from (text.hex().encode(), text.hex().upper().encode(), number.encode("utf-16-le"))
    yield from _spell_base64(text)
    yield bytes.fromhex(number.ljust(len(number) + len(number) % 2, "0"))
    yield from (int(number).to_bytes(8, "big"), int(number).to_bytes(8, "little"))


def spell_account(account: str) -> Iterator[bytes]:
    """Returns an account with letters in it, such as an IBAN, as text, grouped, escaped and encoded."""
    groups = [account[at : at + 4] for at in range(0, len(account), 4)]
    for text in (account, account.lower(), " ".join(groups), "+".join(groups), "%20".join(groups), account[::-1]):
        yield from (text.encode(), text.encode().hex().encode(), text.encode("utf-16-le"))
        yield from _spell_base64(text.encode())


def _spell_base64(text: bytes) -> Iterator[bytes]:
    """Base64 of a text depends on where it begins in a longer one, so there are three spellings."""
    for lead in range(3):
        encoded = base64.b64encode(b"\0" * lead + text)
        yield encoded[4 if lead else 0 : -4]


def spell_keys(key_file: Path) -> Iterator[bytes]:
    written = msgspec.json.decode(key_file.read_bytes())
    for encoded in (*written["keys"].values(), written["fingerprint_key"]):
        key = base64.b64decode(encoded)
        yield from (key, encoded.encode(), key.hex().encode())
