"""Secrets are opened in two rooms and errors swallowed in two files. What sealing does is tested with the vault."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tidy.house import SOURCE, name, parse, room_of, source_files

REVEALING_ROOMS = ("vault", "connectors")
CATCH_ALL_FILES = ("web/guard.py", "workers/loop.py")
CATCH_ALLS = ("Exception", "BaseException")


def reveals(tree: ast.Module) -> list[int]:
    """Lines that ask a secret for its text, called on the spot or passed on as a function."""
    return sorted(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "reveal")


def catch_alls(tree: ast.Module) -> list[int]:
    """Lines that catch everything. Cleaning up and raising again catches nothing."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and _is_catch_all(node.type) and not _raises_again(node)
    ]


def _is_catch_all(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(part, ast.Name) and part.id in CATCH_ALLS for part in parts)


def _raises_again(node: ast.ExceptHandler) -> bool:
    last = node.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def raises_with_cause(tree: ast.Module) -> list[int]:
    """Lines inside an `except` that raise something new and keep the old error attached."""
    return [
        node.lineno
        for caught in ast.walk(tree)
        if isinstance(caught, ast.ExceptHandler)
        for node in ast.walk(caught)
        if isinstance(node, ast.Raise) and not (isinstance(node.cause, ast.Constant) and node.cause.value is None)
    ]


@pytest.mark.parametrize("path", [path for path in source_files() if room_of(path) not in REVEALING_ROOMS], ids=name)
def test_secrets_are_revealed_in_vault_and_connectors_only(path: Path) -> None:
    assert reveals(parse(path)) == []


@pytest.mark.parametrize("path", source_files(), ids=name)
def test_everything_is_caught_in_two_files_only(path: Path) -> None:
    if str(path.relative_to(SOURCE)) not in CATCH_ALL_FILES:
        assert catch_alls(parse(path)) == []


@pytest.mark.parametrize("path", [path for path in source_files() if room_of(path) == "vault"], ids=name)
def test_errors_of_the_vault_carry_no_cause(path: Path) -> None:
    assert raises_with_cause(parse(path)) == [], "causes in the vault may carry secrets: raise ... from None"


def test_the_reader_sees_what_it_looks_for() -> None:
    assert reveals(ast.parse("print(card.number.reveal())\nshow = cvv.reveal")) == [1, 2]
    assert catch_alls(ast.parse("try:\n    f()\nexcept Exception:\n    pass")) == [3]
    assert catch_alls(ast.parse("try:\n    f()\nexcept (OSError, BaseException):\n    pass")) == [3]
    assert catch_alls(ast.parse("try:\n    f()\nexcept:\n    pass")) == [3]
    assert catch_alls(ast.parse("try:\n    f()\nexcept BaseException:\n    undo()\n    raise")) == []
    assert raises_with_cause(ast.parse("try:\n    f()\nexcept OSError as e:\n    raise ValueError from e")) == [4]
    assert raises_with_cause(ast.parse("try:\n    f()\nexcept OSError:\n    raise ValueError from None")) == []
