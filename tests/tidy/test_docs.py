"""Documents stay in step with the program, and no file names the machine it came from. Prose is not judged."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import tollgate.cli
from tidy.source_tree import ROOT, SOURCE, expect_none, name, packages, parse, read_text, source_files, tracked_files
from tollgate.config import SETTINGS

ROOM_DOCUMENTS = ("README.md", "ARCHITECTURE.md")
DOCUMENTS = tuple(path for path in tracked_files() if path.suffix == ".md")
MAKE_TARGET = re.compile(r"`make ([a-z]+)")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")

# Written in pieces, so that this file does not accuse itself.
STRAYS = {
    "a note to finish later": r"\b(?:TO" + r"DO|FIX" + r"ME)\b",
    "a path of somebody's machine": r"(?<![\w.:/-])/(?:wo" + r"rk\b|ho" + r"me/\w|ro" + r"ot/|Us" + r"ers/\w)",
    "a folder beside the project": r"\.\./sha" + r"red",
    "a document outside the project": r"\bDES" + r"IGN\.md|\bSTY" + r"LE\.md",
    "a package host": r"pypi\.o" + r"rg|pythonho" + r"sted|/sim" + r"ple\b",
}


def strays(text: str) -> list[str]:
    return [
        f"{number}: {kind}"
        for number, line in enumerate(text.splitlines(), 1)
        for kind, pattern in STRAYS.items()
        if re.search(pattern, line)
    ]


def mentions_package(text: str, package: str) -> bool:
    return re.search(rf"(?<![\w/.]){package}(?:/|\.py)?(?![\w.])", text) is not None


def test_the_architecture_names_every_package() -> None:
    texts = {document: (ROOT / document).read_text("utf-8") for document in ROOM_DOCUMENTS}
    # The way in through `python -m` has nothing of its own to describe.
    wanted = [package for package in packages() if package != "__main__"]
    missing = [
        f"{path}: {package}"
        for path, text in texts.items()
        for package in wanted
        if not mentions_package(text, package)
    ]
    expect_none(missing, "a guide to the program names every package")


def test_no_setting_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(r"\bTOLLGATE_[A-Z_]+", "".join(path.read_text("utf-8") for path in DOCUMENTS)))
    options = {str(option.envvar) for command in list_commands().values() for option in command.params if option.envvar}
    assert documented <= {setting.variable for setting in SETTINGS} | options


def list_commands() -> dict[str, click.Command]:
    """`tollgate serve`, `tollgate merchant add` and so on: everything that can be typed."""
    for module in pkgutil.iter_modules(tollgate.cli.__path__):
        importlib.import_module(f"tollgate.cli.{module.name}")  # commands join the program when their file is read
    return dict(walk_commands(importlib.import_module("tollgate.cli.program").program, "tollgate"))


def walk_commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    for title, command in group.commands.items():
        full = f"{prefix} {title}"
        if isinstance(command, click.Group):
            yield from walk_commands(command, full)
        else:
            yield full, command


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    found = list_commands()
    assert "tollgate serve" in found
    assert [command for command in found if f"`{command}`" not in text] == []


def test_no_tracked_file_holds_a_stray() -> None:
    paths = [path for path in tracked_files() if path.suffix != ".lock"]
    found = [f"{name(path)}:{stray}" for path in paths for stray in strays(read_text(path) or "")]
    expect_none(found, "no file tells of the machine it came from")


def says_too_little(path: Path) -> bool:
    sentences = re.findall(r"[.?!;](?=\s|$)", ast.get_docstring(parse(path)) or "")
    # A migration is named by its revision, and a face by its package: one sentence is enough there.
    is_brief = path.name == "__init__.py" or "versions" in path.relative_to(SOURCE).parts
    return len(sentences) < (1 if is_brief else 2)


def test_a_module_says_what_lives_in_it() -> None:
    silent = [f"{name(path)}:1" for path in source_files() if says_too_little(path)]
    expect_none(silent, "a docstring has two sentences: what lives here, and what must not")


def find_in_documents(pattern: re.Pattern[str]) -> Iterator[tuple[Path, int, str]]:
    for path in DOCUMENTS:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for found in pattern.findall(line):
                yield path, number, found


def test_links_between_documents_lead_somewhere() -> None:
    links = find_in_documents(LINK)
    dead = [f"{name(path)}:{line}: {target}" for path, line, target in links if not (path.parent / target).exists()]
    expect_none(dead, "a link leads to a file")


def test_make_targets_in_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    named = find_in_documents(MAKE_TARGET)
    unknown = [f"{name(path)}:{line}: make {target}" for path, line, target in named if target not in targets]
    expect_none(unknown, "the Makefile has every target that a document names")


@pytest.mark.parametrize(
    "line",
    [
        "# TO" + "DO later",
        "cat /wo" + "rk/main/x",
        "see ../sha" + "red/x",
        "https://pypi.o" + "rg/sim" + "ple",
        "in /ho" + "me/ann/tollgate",
    ],
)
def test_the_reader_sees_a_planted_stray(line: str) -> None:
    assert strays(line) != []


def test_the_reader_lets_ordinary_words_pass() -> None:
    assert strays("GET /workers and https://example.com/work/now, homework, a simple net/work of shared roots") == []
