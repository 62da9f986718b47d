"""The names of events are rows of the catalogue, wherever the program writes one, and every row is used."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tidy.source_tree import Offence, expect_none, list_offenders, parse, source_files, strings
from tollgate.catalog.events import EVENT_ROWS
from tollgate.catalog.parameters.names import PARAMETERS

_OBJECTS = "|".join(sorted({name.split(".")[0] for name in EVENT_ROWS} | {"risk"}))
EVENT_NAME = re.compile(rf"(?:{_OBJECTS})\.[a-z_]+")
_GROUPS = frozenset(re.split(r"\[", name)[0] for name in PARAMETERS)
"""Parameters such as `risk.parameters[key]` look the same."""


def list_names(tree: ast.Module) -> Iterator[Offence]:
    for node in strings(tree):
        text = str(node.value)
        if EVENT_NAME.fullmatch(text) and text not in _GROUPS:
            yield node.lineno, text


def find_unknown(tree: ast.Module) -> Iterator[Offence]:
    return ((line, text) for line, text in list_names(tree) if text not in EVENT_ROWS)


def test_every_event_that_is_named_is_in_the_catalogue() -> None:
    expect_none(list_offenders(source_files(), find_unknown), "an event is a row of catalog/events.py")


def test_every_row_is_used() -> None:
    counted = Counter(text for path in source_files() for _, text in list_names(parse(path)))

    # Once in its row, and again where it is announced.
    assert [name for name in EVENT_ROWS if counted[name] < 2] == []


def test_an_unknown_event_is_noticed() -> None:
    tree = ast.parse('TOPIC = "payment.vanished"\nWORD = "payment.failed"\nNAME = "risk.parameters"\n')

    assert list(find_unknown(tree)) == [(1, "payment.vanished")]
