"""A package's `__init__.py` is a docstring, or a short list of public names. What they do is tested elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

from tidy.source_tree import expect_none, exported, name, parse
from tidy.source_tree import faces as all_faces

NAMES_MAX = 40
"""A package with more public names is imported by module."""


def faces() -> list[Path]:
    """Returns the `__init__.py` files that import anything."""
    return [face for face in all_faces() if len(parse(face).body) > 1]


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


def test_a_face_lists_exactly_what_it_brings_in() -> None:
    differing = []
    for face in faces():
        listed, brought = exported(face), brought_in(parse(face))
        if listed is None or sorted(listed) != sorted(brought):
            differing.append(f"{name(face)}: {sorted(set(listed or ()) ^ set(brought))}")
    expect_none(differing, "a package's __init__.py has an __all__ with exactly the names that it imports")


def test_the_list_of_a_face_is_sorted_and_has_no_repeats() -> None:
    lists = {name(face): list(exported(face) or ()) for face in faces()}
    unsorted = [face for face, listed in lists.items() if listed != sorted(set(listed), key=sort_key)]
    expect_none(unsorted, "an __all__ is sorted: CONSTANTS, Classes, functions")


def test_a_face_holds_nothing_but_imports_and_the_list() -> None:
    usual = ([ast.Expr, ast.Assign], [ast.Expr, ast.AnnAssign])
    bodies = {face: [node for node in parse(face).body if not isinstance(node, ast.ImportFrom)] for face in faces()}
    odd = [name(face) for face, body in bodies.items() if [type(node) for node in body] not in usual]
    expect_none(odd, "a package's __init__.py has a docstring, imports and __all__")


def test_a_face_is_short() -> None:
    long = [
        f"{name(face)}: {len(exported(face) or ())} names" for face in faces() if len(exported(face) or ()) > NAMES_MAX
    ]
    expect_none(long, f"a face lists at most {NAMES_MAX} names; otherwise modules are imported")
