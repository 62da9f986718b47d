"""No file and no class is a drawer for everything. The interface's spellings are tested apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tidy.house import ROOT, Offence, code_files, expect_none, list_offenders, name, walk

DRAWERS = frozenset(
    {
        "base",
        "common",
        "data",
        "handler",
        "helper",
        "helpers",
        "info",
        "manager",
        "misc",
        "processor",
        "service",
        "util",
        "utils",
    }
)


def last_word(title: str) -> str:
    """`PaymentService` and `payment_service` both end in a drawer."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", title)[-1].lower() if title.strip("_") else ""


def find_drawers(tree: ast.Module) -> Iterator[Offence]:
    for node in walk(tree):
        if isinstance(node, ast.ClassDef) and last_word(node.name) in DRAWERS:
            yield node.lineno, node.name


def test_no_file_or_folder_is_a_drawer() -> None:
    drawers = [
        name(path)
        for path in code_files()
        if any(last_word(title) in DRAWERS for title in (*path.relative_to(ROOT).parts[1:-1], path.stem))
    ]
    expect_none(drawers, "a file is called after what lives in it")


def test_no_class_is_a_drawer() -> None:
    expect_none(list_offenders(code_files(), find_drawers), "a class is called after what it is")


@pytest.mark.parametrize("title", ["PaymentService", "payment_utils", "HTTPHandler", "base", "CardData"])
def test_a_drawer_is_recognised(title: str) -> None:
    assert last_word(title) in DRAWERS
