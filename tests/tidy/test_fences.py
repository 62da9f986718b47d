"""Blocks of code in the texts: each says its language, and those that need no server can be read. Others run them."""

from __future__ import annotations

import ast
import json
import re

import pytest

from fences import Fence, list_fences
from tidy.source_tree import expect_none
from tollgate.docs import texts

INDENTED = re.compile(r"(?<=\n\n)    (?:\$ )?(?:curl|tollgate|\w+=\$\()[^\n]*")
"""A command in a block that is only indented, which has no language and which no test runs."""


def find_indented(text: str) -> list[str]:
    return [found.strip() for found in INDENTED.findall(text)]


def test_every_block_says_its_language() -> None:
    expect_none([fence.place for fence in list_fences() if not fence.language], "a block of code has a language")


def test_no_command_is_only_indented() -> None:
    found = [
        f"{name}: {line}" for name in texts.FILES for line in find_indented((texts.ROOT / name).read_text("utf-8"))
    ]
    expect_none(found, "a command is in a block of sh, which is run, or of console, which has a reason not to be")


def test_a_planted_command_is_found() -> None:
    planted = "Send it:\n\n    curl $BASE/v1/payments\n\n- a list\n\n  tollgate is a word here\n"
    assert find_indented(planted) == ["curl $BASE/v1/payments"]


@pytest.mark.parametrize("fence", list_fences("json"), ids=lambda fence: fence.place)
def test_json_can_be_read(fence: Fence) -> None:
    json.loads(fence.block)


@pytest.mark.parametrize("fence", list_fences("python"), ids=lambda fence: fence.place)
def test_python_can_be_read(fence: Fence) -> None:
    ast.parse(fence.block)
