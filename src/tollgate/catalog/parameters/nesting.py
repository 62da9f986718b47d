"""Names with dots and brackets as nested objects and lists, for answers and for messages. No name is looked up here."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tollgate.catalog.parameters.names import NAMES_KEPT

_STEP = re.compile(r"\[(?P<index>[0-9]+)\](?=\.)|\[(?P<key>[^\]]*)\]|(?P<word>[^.\[\]]+)")


def nest_fields(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Turns `cart.items[0].name` and `customParameters[key]` into nested objects and lists without gaps."""
    tree: dict[str, Any] = {}
    has_lists = False
    for name, text in fields:
        place: Any = tree
        path, last, is_in_list = _split_name(name)
        for step in path:
            place = place.setdefault(step, {})
        place[last] = text
        has_lists = has_lists or is_in_list
    return {key: _close(value) for key, value in tree.items()} if has_lists else tree


@lru_cache(NAMES_KEPT)
def _split_name(name: str) -> tuple[tuple[str | int, ...], str | int, bool]:
    """Returns the path to a value, its last step, and True if a list is on the path.

    Brackets before a dot hold the index of a list, those at the end a key.
    """
    *path, last = (
        int(match["index"]) if match["index"] else match["word"] or match["key"] for match in _STEP.finditer(name)
    )
    return tuple(path), last, any(isinstance(step, int) for step in path)


def _close(value: Any) -> Any:
    """Turns objects keyed by numbers into lists; no object mixes numbers and words."""
    if not isinstance(value, dict):
        return value
    if isinstance(next(iter(value)), int):
        return [_close(value[key]) for key in sorted(value)]
    return {key: _close(member) for key, member in value.items()}
