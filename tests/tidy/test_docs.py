"""Documents stay in step with the house, and no file tells of the machine it came from. Prose is not judged."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import click
import msgspec
import pytest

import tollgate.cli
from tidy.house import ROOT, SOURCE, name, parse, read_text, rooms, source_files, tracked_files
from tollgate.config import SETTINGS, Setting, Settings

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
        f"line {number}: {kind}"
        for number, line in enumerate(text.splitlines(), 1)
        for kind, pattern in STRAYS.items()
        if re.search(pattern, line)
    ]


def mentions_room(text: str, room: str) -> bool:
    return re.search(rf"(?<![\w/.]){room}(?:/|\.py)?(?![\w.])", text) is not None


@pytest.mark.parametrize("document", ROOM_DOCUMENTS)
def test_a_guide_to_the_house_names_every_room(document: str) -> None:
    # The way in through `python -m` is a door plate, no room.
    text = (ROOT / document).read_text("utf-8")
    assert [room for room in rooms() if room != "__main__" and not mentions_room(text, room)] == []


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.member)
def test_every_setting_is_documented_with_flag_variable_and_default(setting: Setting) -> None:
    default = msgspec.to_builtins(getattr(Settings(), setting.member))
    shown = f"`{default}`" if default else "none"
    row = f"| `{setting.flag}` | `{setting.variable}` | {shown} | {setting.text} |"
    assert row in (ROOT / "docs" / "configuration.md").read_text("utf-8").splitlines()


def test_no_setting_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(r"\bTOLLGATE_[A-Z_]+", "".join(path.read_text("utf-8") for path in DOCUMENTS)))
    assert documented <= {setting.variable for setting in SETTINGS}


def command_names(group: click.Group, prefix: str) -> list[str]:
    """`tollgate serve`, `tollgate merchant add` and so on: everything that can be typed."""
    names: list[str] = []
    for title, command in group.commands.items():
        full = f"{prefix} {title}"
        names += command_names(command, full) if isinstance(command, click.Group) else [full]
    return names


def test_every_command_is_documented() -> None:
    for module in pkgutil.iter_modules(tollgate.cli.__path__):
        importlib.import_module(f"tollgate.cli.{module.name}")  # commands join the program when their file is read
    program = importlib.import_module("tollgate.cli.program").program
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    found = command_names(program, "tollgate")
    assert "tollgate serve" in found
    assert [command for command in found if f"`{command}`" not in text] == []


def test_every_member_of_the_settings_has_its_row() -> None:
    assert [setting.member for setting in SETTINGS] == list(Settings.__struct_fields__)


@pytest.mark.parametrize("path", [path for path in tracked_files() if path.suffix != ".lock"], ids=name)
def test_no_tracked_file_holds_a_stray(path: Path) -> None:
    assert strays(read_text(path) or "") == []


@pytest.mark.parametrize("path", source_files(), ids=name)
def test_a_module_says_what_lives_in_it(path: Path) -> None:
    docstring = ast.get_docstring(parse(path)) or ""
    sentences = re.findall(r"[.?!;](?=\s|$)", docstring)
    # A migration is named by its revision, and a face by its room: one sentence is enough there.
    is_brief = path.name == "__init__.py" or "versions" in path.relative_to(SOURCE).parts
    assert len(sentences) >= (1 if is_brief else 2), "two sentences: what lives here, and what must not"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    targets = LINK.findall(document.read_text("utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_make_targets_in_documents_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(MAKE_TARGET.findall(document.read_text("utf-8"))) <= targets


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
