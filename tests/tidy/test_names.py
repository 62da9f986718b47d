"""No file and no class has a name that says nothing. The interface's spellings are tested apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tidy.source_tree import ROOT, Offence, code_files, expect_none, list_offenders, name, walk

EMPTY_WORDS = frozenset(
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
    """`PaymentService` and `payment_service` both end in an empty word."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", title)[-1].lower() if title.strip("_") else ""


def find_empty_names(tree: ast.Module) -> Iterator[Offence]:
    for node in walk(tree):
        if isinstance(node, ast.ClassDef) and last_word(node.name) in EMPTY_WORDS:
            yield node.lineno, node.name


def test_no_file_or_folder_has_an_empty_name() -> None:
    found = [
        name(path)
        for path in code_files()
        if any(last_word(title) in EMPTY_WORDS for title in (*path.relative_to(ROOT).parts[1:-1], path.stem))
    ]
    expect_none(found, "a file is called after what lives in it")


def test_no_class_has_an_empty_name() -> None:
    expect_none(list_offenders(code_files(), find_empty_names), "a class is called after what it is")


@pytest.mark.parametrize("title", ["PaymentService", "payment_utils", "HTTPHandler", "base", "CardData"])
def test_an_empty_name_is_recognised(title: str) -> None:
    assert last_word(title) in EMPTY_WORDS
