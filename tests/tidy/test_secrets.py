"""Secrets are opened in two packages and errors swallowed in two files. What sealing does is tested with the vault."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tidy.source_tree import SOURCE, Offence, expect_none, list_offenders, package_of, source_files, walk

REVEALING_ROOMS = ("vault", "connectors")
CATCH_ALL_FILES = ("web/server.py", "workers/loop.py")
CATCH_ALLS = ("Exception", "BaseException")


def reveals(tree: ast.Module) -> list[Offence]:
    """Finds lines that ask a secret for its text, called on the spot or passed on as a function."""
    named = [node for node in walk(tree) if isinstance(node, ast.Attribute) and node.attr == "reveal"]
    return sorted((node.lineno, ast.unparse(node)) for node in named)


def catch_alls(tree: ast.Module) -> list[Offence]:
    """Finds lines that catch everything. Cleaning up and raising again catches nothing."""
    return [
        (node.lineno, "catches everything")
        for node in walk(tree)
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


def raises_with_cause(tree: ast.Module) -> list[Offence]:
    """Finds lines inside an `except` that raise something new and keep the old error attached."""
    return [
        (node.lineno, ast.unparse(node))
        for caught in walk(tree)
        if isinstance(caught, ast.ExceptHandler)
        for node in ast.walk(caught)
        if isinstance(node, ast.Raise) and not (isinstance(node.cause, ast.Constant) and node.cause.value is None)
    ]


def test_secrets_are_revealed_in_vault_and_connectors_only() -> None:
    others = [path for path in source_files() if package_of(path) not in REVEALING_ROOMS]
    expect_none(list_offenders(others, reveals), f"reveal() is called in {' and '.join(REVEALING_ROOMS)} only")


def test_everything_is_caught_in_two_files_only() -> None:
    others = [path for path in source_files() if str(path.relative_to(SOURCE)) not in CATCH_ALL_FILES]
    expect_none(list_offenders(others, catch_alls), f"everything is caught in {' and '.join(CATCH_ALL_FILES)} only")


def test_errors_of_the_vault_carry_no_cause() -> None:
    vault = [path for path in source_files() if package_of(path) == "vault"]
    found = list_offenders(vault, raises_with_cause)
    expect_none(found, "causes in the vault may carry secrets: raise ... from None")


def find_lines(find: Callable[[ast.Module], list[Offence]], source: str) -> list[int]:
    return [line for line, _ in find(ast.parse(source))]


def test_the_reader_sees_what_it_looks_for() -> None:
    assert find_lines(reveals, "print(card.number.reveal())\nshow = cvv.reveal") == [1, 2]
    assert find_lines(catch_alls, "try:\n    f()\nexcept Exception:\n    pass") == [3]
    assert find_lines(catch_alls, "try:\n    f()\nexcept (OSError, BaseException):\n    pass") == [3]
    assert find_lines(catch_alls, "try:\n    f()\nexcept:\n    pass") == [3]
    assert find_lines(catch_alls, "try:\n    f()\nexcept BaseException:\n    undo()\n    raise") == []
    assert find_lines(raises_with_cause, "try:\n    f()\nexcept OSError as e:\n    raise ValueError from e") == [4]
    assert find_lines(raises_with_cause, "try:\n    f()\nexcept OSError:\n    raise ValueError from None") == []
