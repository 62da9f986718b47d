"""The verbs of functions mean what CONTRIBUTING.md says. Other rules about names are in test_names.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tidy.source_tree import Offence, expect_none, list_offenders, source_files, walk

RETIRED = frozenset({"doubt", "hear", "judge", "say", "tell"})
"""Verbs that say too little about what a function returns."""

COLLECTIONS = re.compile(r"(list|tuple|set|frozenset|dict|Sequence|Series|Page|Mapping|Iterable|(Async)?Iterator)\b")


def find_misnamed(tree: ast.Module) -> Iterator[Offence]:
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            verb, _, rest = node.name.lstrip("_").partition("_")
            returned = ast.unparse(node.returns)
            may_be_none = re.search(r"\bNone\b", returned) is not None
            if (
                verb in RETIRED
                or (verb == "name" and rest)
                or (verb == "find" and rest and not may_be_none and not returned.startswith("Iterator"))
                or (verb == "get" and rest and may_be_none)
                or (verb == "list" and rest and COLLECTIONS.match(returned) is None)
                or (verb in ("is", "has", "can") and returned not in ("bool", "sa.ColumnElement[bool]"))
            ):
                yield node.lineno, f"{node.name} -> {returned}"


def test_a_verb_has_one_meaning() -> None:
    expect_none(
        list_offenders(source_files(), find_misnamed),
        "find_ may return None, get_ may not, list_ returns several; CONTRIBUTING.md has the verbs",
    )


@pytest.mark.parametrize(
    "head",
    [
        "def find_row() -> Row",
        "def get_row() -> Row | None",
        "def list_rows() -> Row",
        "async def _tell_brand() -> str",
        "def name_owner() -> str",
        "def judge() -> bool",
        "def is_open() -> str",
    ],
)
def test_a_misnamed_function_is_found(head: str) -> None:
    assert len(list(find_misnamed(ast.parse(f"{head}: ...")))) == 1


@pytest.mark.parametrize("head", ["def find_row() -> Row | None", "def name() -> str", "def get_row() -> Row"])
def test_a_well_named_function_passes(head: str) -> None:
    assert list(find_misnamed(ast.parse(f"{head}: ..."))) == []
