"""The fenced blocks of the texts, in the order of the menu: a new text joins by itself when it has a place there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tollgate.docs import texts

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Fence:
    text: str
    line: int
    language: str
    block: str

    @property
    def place(self) -> str:
        return f"{self.text}:{self.line}"


def list_fences(language: str = "") -> list[Fence]:
    """Returns the blocks of all texts, or those of one language."""
    return [fence for fence in _read_fences() if language in ("", fence.language)]


def _read_fences() -> Iterator[Fence]:
    for name in texts.FILES:
        content = (texts.ROOT / name).read_text("utf-8")
        for found in _FENCE.finditer(content):
            yield Fence(name, content.count("\n", 0, found.start()) + 1, found[1], found[2])
