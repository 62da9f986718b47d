"""Files and functions stay short enough to read in one sitting. Tables of rows are measured by other means."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidy.source_tree import (
    SOURCE,
    Offence,
    code_files,
    expect_none,
    list_offenders,
    name,
    parse,
    source_files,
    walk,
)

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 49
IMPORT_LINES_MAX = 25
IMPORT_SHARE_MAX = 0.07
ROW_SHARE_MIN = 0.8
"""The share of a file that has to be module-level values for it to count as a table."""


def row_share(tree: ast.Module) -> float:
    """Returns the share of lines that are values written down; imports and docstrings do not count."""
    weights = {True: 0, False: 0}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Expr):
            continue
        is_row = isinstance(node, ast.Assign | ast.AnnAssign)
        weights[is_row] += (node.end_lineno or node.lineno) - node.lineno + 1
    return weights[True] / (sum(weights.values()) or 1)


def is_row_table(path: Path) -> bool:
    return path.is_relative_to(SOURCE) and row_share(parse(path)) >= ROW_SHARE_MIN


def is_face(tree: ast.Module) -> bool:
    """A package's face says nothing but its names, one a line."""
    said = [node for node in tree.body if not isinstance(node, ast.ImportFrom | ast.Expr)]
    return len(said) == 1 and ast.unparse(said[0]).startswith("__all__ = ")


def count_import_lines(tree: ast.Module) -> int:
    """Counts the lines of imports and of `__all__`."""
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    ]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def find_long_functions(tree: ast.Module) -> Iterator[Offence]:
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield node.lineno, f"{node.name} has {lines} lines"


def list_long_files(paths: Iterable[Path]) -> list[str]:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in paths}
    return [f"{name(path)}: {lines} lines" for path, lines in lengths.items() if lines > FILE_LINES_MAX]


def test_files_are_short() -> None:
    judged = [path for path in code_files() if not (is_row_table(path) or is_face(parse(path)))]
    expect_none(list_long_files(judged), f"a file has at most {FILE_LINES_MAX} lines")


def test_functions_are_short() -> None:
    found = list_offenders(code_files(), find_long_functions)
    expect_none(found, f"a function has at most {FUNCTION_LINES_MAX} lines")


def test_imports_are_few() -> None:
    counts = {path: count_import_lines(parse(path)) for path in source_files()}
    found = [f"{name(path)}: {count} lines of imports" for path, count in counts.items() if count > IMPORT_LINES_MAX]
    expect_none(found, f"a file has at most {IMPORT_LINES_MAX} lines of imports: import modules instead of many names")
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in source_files())
    assert sum(counts.values()) <= IMPORT_SHARE_MAX * lines


def test_the_ruler_measures_imports() -> None:
    assert count_import_lines(ast.parse('import a\nfrom b import (\n    c,\n    d,\n)\n__all__ = ["c"]\nx = 1\n')) == 6


def test_parts_of_the_widget_are_short() -> None:
    parts = [path for ending in ("*.js", "*.d.ts", "*.css") for path in SOURCE.rglob(ending)]
    expect_none(list_long_files(parts), f"a file has at most {FILE_LINES_MAX} lines")


def test_the_ruler_measures_a_long_function() -> None:
    body = "    x = 1\n"
    assert list(find_long_functions(ast.parse("def f():\n" + body * FUNCTION_LINES_MAX))) == [(1, "f has 50 lines")]
    assert list(find_long_functions(ast.parse("def f():\n" + body * (FUNCTION_LINES_MAX - 1)))) == []


def test_the_rule_tells_a_face_from_code() -> None:
    assert is_face(ast.parse('"""A package."""\nfrom a import b\n__all__ = ["b"]\n'))
    assert not is_face(ast.parse('from a import b\n__all__ = ["b"]\nC = b()\n'))


def test_the_rule_tells_a_table_from_code() -> None:
    assert row_share(ast.parse("ROWS = (\n    1,\n    2,\n)\n")) == 1
    assert row_share(ast.parse("def f():\n    return 1\n")) == 0
