"""A room has a face: its list of names is sorted and is exactly what it brings in. What they do is tested elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tidy.house import exported, faces, name, parse


def sort_key(word: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions, as the linter sorts them."""
    if word.isupper():
        return 0, word
    return (1 if word[0].isupper() else 2), word


def brought_in(tree: ast.Module) -> list[str]:
    return [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    ]


@pytest.mark.parametrize("face", faces(), ids=name)
def test_a_face_lists_exactly_what_it_brings_in(face: Path) -> None:
    listed = exported(face)
    assert listed is not None, "a room's __init__.py has an __all__"
    assert sorted(listed) == sorted(brought_in(parse(face)))


@pytest.mark.parametrize("face", faces(), ids=name)
def test_the_list_of_a_face_is_sorted_and_has_no_repeats(face: Path) -> None:
    listed = list(exported(face) or ())
    assert listed == sorted(set(listed), key=sort_key)


@pytest.mark.parametrize("face", faces(), ids=name)
def test_a_face_holds_nothing_but_imports_and_the_list(face: Path) -> None:
    kinds = [type(node) for node in parse(face).body if not isinstance(node, ast.ImportFrom)]
    assert kinds in ([ast.Expr, ast.Assign], [ast.Expr, ast.AnnAssign]), "a docstring, imports, __all__"
