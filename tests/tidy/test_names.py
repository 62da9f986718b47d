"""No file and no class is a drawer for everything. The interface's spellings are tested apart."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tidy.house import ROOT, code_files, name, parse

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


@pytest.mark.parametrize("path", code_files(), ids=name)
def test_no_file_or_folder_is_a_drawer(path: Path) -> None:
    titles = [*path.relative_to(ROOT).parts[1:-1], path.stem]
    assert [title for title in titles if last_word(title) in DRAWERS] == []


@pytest.mark.parametrize("path", code_files(), ids=name)
def test_no_class_is_a_drawer(path: Path) -> None:
    classes = [node.name for node in ast.walk(parse(path)) if isinstance(node, ast.ClassDef)]
    assert [title for title in classes if last_word(title) in DRAWERS] == []


@pytest.mark.parametrize("title", ["PaymentService", "payment_utils", "HTTPHandler", "base", "CardData"])
def test_a_drawer_is_recognised(title: str) -> None:
    assert last_word(title) in DRAWERS
