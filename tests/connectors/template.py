"""The connector of the guide, put together from the blocks of its text. What it does is said there."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import PurePath
from types import ModuleType

from connectors.driving import PeerRow
from fences import list_fences

TEXT = "docs/connectors.md"
TEMPLATE = "acme"
_ROOTS = {"src", "tests"}


def list_files() -> dict[str, str]:
    """Returns the files of the template; several blocks of one file follow each other."""
    files: dict[str, str] = defaultdict(str)
    for fence in list_fences("python"):
        if fence.text == TEXT:
            place, _, code = fence.block.partition("\n")
            files[place.removeprefix("# ")] += f"{code}\n\n"
    return files


def load_template() -> PeerRow:
    """Loads the modules of the template, and returns the row of the last."""
    module = ModuleType("")
    for place, code in list_files().items():
        root, *words = PurePath(place).with_suffix("").parts
        assert root in _ROOTS, f"a block of {TEXT} begins with the name of its file"
        module = sys.modules[".".join(words)] = ModuleType(".".join(words))
        if root == "src":
            # An import of a name from a package looks among its members.
            setattr(sys.modules[".".join(words[:-1])], words[-1], module)
        exec(compile(code, place, "exec"), module.__dict__)
    row = module.__dict__["PEER_ROW"]
    assert isinstance(row, PeerRow)
    return row
