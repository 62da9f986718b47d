"""A docstring is a whole sentence that is understood without the name above it. The words are tested elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tidy.source_tree import Offence, code_files, expect_none, list_offenders, walk

OPENINGS = re.compile(
    r"(Also|As|At|By|False|From|How|In|None|Of|On|Only|Or|To|True|Under"
    r"|What|Where|Which|Who|Whoever|Whose|Why|With)\b"
)
"""A docstring that opens with one of these continues the name above it and has no subject."""


def find_fragments(tree: ast.Module) -> Iterator[Offence]:
    """Finds docstrings and the notes under members that open with one of the words."""
    for node in walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            text = node.value.value.strip()
            if OPENINGS.match(text):
                yield node.lineno, text.partition("\n")[0]


def test_a_docstring_is_a_sentence() -> None:
    expect_none(list_offenders(code_files(), find_fragments), "a docstring begins with its subject or with its verb")


def test_a_planted_fragment_is_found() -> None:
    planted = (
        '"""Whoever asks."""\nLIMIT = 3\n"""None: no limit."""\ndef ask():\n    """Asks with \'Of\' and None."""\n'
    )
    assert list(find_fragments(ast.parse(planted))) == [(1, "Whoever asks."), (3, "None: no limit.")]
