"""Arrows point down: every import of the source is held against the order of the rooms. Style is checked elsewhere."""

from __future__ import annotations

import ast
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from tidy.house import ORDER, RANKS, ROOT, SOURCE, exported, imports, name, parse, room_of, rooms, source_files

NEIGHBOURS = {
    ("vault", "payments"): "the vault seals what payments describes, and its faces speak of those values",
}
"""Rooms of one rank that may import each other all the same: (importer, imported) and the reason."""

SANDBOX_IMPORTERS = ("wiring",)

PURE_ROOMS = ("values", "catalog", "payments", "contract", "connectors")
IMPURE_FILES = {
    "values/clock.py": "time enters the house here, as an argument for all others",
    "values/ids.py": "chance enters the house here, as an argument for all others",
}
IMPURE_MODULES = {
    "disk": (
        "apsw",
        "asyncpg",
        "fcntl",
        "io",
        "mmap",
        "os",
        "pathlib",
        "pickle",
        "shutil",
        "sqlalchemy",
        "sqlite3",
        "tempfile",
    ),
    "network": ("aiohttp", "ftplib", "http", "httptools", "smtplib", "socket", "ssl", "urllib.request"),
    "clock and chance": ("random", "secrets", "time", "uuid"),
    "threads, processes and the loop": (
        "asyncio",
        "concurrent",
        "logging",
        "multiprocessing",
        "queue",
        "select",
        "selectors",
        "signal",
        "subprocess",
        "sys",
        "threading",
        "uvloop",
    ),
}
IMPURE_CALLS = frozenset({"open", "print", "input", "breakpoint"})
CLOCK_READS = frozenset({("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")})


def breaches(source: str, room: str) -> list[str]:
    """What a piece of source, placed in a room, breaks of the order and of the faces."""
    found = []
    for item in imports(ast.parse(source)):
        parts = item.module.split(".")
        if parts[0] != "tollgate":
            continue
        targets = [parts[1]] if len(parts) > 1 else [each for each in item.names if each in RANKS]
        found += [f"line {item.line}: {reason}" for target in targets for reason in _refuse(room, target, item.is_lazy)]
        if len(parts) > 1 and parts[1] != room:
            found += [f"line {item.line}: {reason}" for reason in _behind_the_face(parts, item.names)]
    return found


def _refuse(room: str, target: str, is_lazy: bool) -> list[str]:
    if target == room:
        return []
    if target not in RANKS:
        return [f"{target} is no room of the order"]
    if target == "sandbox" and not (room in SANDBOX_IMPORTERS and is_lazy):
        return [
            f"sandbox is imported by {', '.join(SANDBOX_IMPORTERS)} only, inside a function: live hosts never load it"
        ]
    if RANKS[target] < RANKS[room] or (room, target) in NEIGHBOURS:
        return []
    return [f"{room} may not import {target}"]


def _behind_the_face(parts: list[str], names: tuple[str, ...]) -> list[str]:
    module = ".".join(parts)
    if len(parts) > 2:
        return [f"{module} lies behind the face of {parts[1]}"]
    face = SOURCE / parts[1] / "__init__.py"
    listed = exported(face) if face.exists() else None
    return [f"{module} does not list {each}" for each in names if listed is not None and each not in listed]


def impurities(source: str) -> list[str]:
    """Modules and calls by which a pure room would reach for the disk, the network, the clock or the dice."""
    tree = ast.parse(source)
    found = []
    for item in imports(tree):
        reached = {item.module, *(f"{item.module}.{each}" for each in item.names)}
        parents = {".".join(module.split(".")[:depth]) for module in reached for depth in (1, 2)}
        found += [
            f"line {item.line}: imports {module}" for module in sorted(parents & set(chain(*IMPURE_MODULES.values())))
        ]
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=called)) if called in IMPURE_CALLS:
                found.append(f"line {node.lineno}: calls {called}()")
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if (owner, attribute) in CLOCK_READS:
                found.append(f"line {node.lineno}: reads the clock with {owner}.{attribute}")
    return found


def test_every_room_stands_in_the_order() -> None:
    assert set(rooms()) <= set(RANKS), "a new room needs its line in ORDER and in ARCHITECTURE.md"


def test_no_room_stands_twice_in_the_order() -> None:
    assert sum(len(line) for line in ORDER) == len(RANKS)


@pytest.mark.parametrize("path", source_files(), ids=name)
def test_imports_point_down_and_meet_at_faces(path: Path) -> None:
    room = room_of(path)
    if room == "":
        assert not list(imports(parse(path))), "the package's own face imports nothing, so that it is free to import"
    else:
        assert breaches(path.read_text("utf-8"), room) == []


@pytest.mark.parametrize("path", [path for path in source_files() if room_of(path) in PURE_ROOMS], ids=name)
def test_pure_rooms_reach_for_nothing_outside(path: Path) -> None:
    if str(path.relative_to(SOURCE)) not in IMPURE_FILES:
        assert impurities(path.read_text("utf-8")) == []


def test_listed_exceptions_are_still_used() -> None:
    for file in IMPURE_FILES:
        assert impurities((SOURCE / file).read_text("utf-8")), f"{file} no longer needs its exception"
    for importer, imported in NEIGHBOURS:
        paths = [path for path in source_files() if room_of(path) == importer]
        modules = {item.module for path in paths for item in imports(parse(path))}
        assert f"tollgate.{imported}" in modules, f"{importer} no longer imports {imported}"


def test_every_room_can_be_imported_without_loading_the_sandbox() -> None:
    wanted = [f"tollgate.{room}" for room in rooms() if room not in ("sandbox", "__main__")]
    program = f"import {', '.join(wanted)}, sys; sys.exit('tollgate.sandbox' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr or "the sandbox was loaded by an import"


@pytest.mark.parametrize(
    ("room", "source", "complaint"),
    [
        ("payments", "from tollgate.web import Gateway", "may not import web"),
        ("payments", "from tollgate import vault", "may not import vault"),
        ("payments", "def late():\n    import tollgate.flows", "may not import flows"),
        ("store", "from tollgate.contract import render_payment", "may not import contract"),
        ("vault", "from tollgate.values.secret import Secret", "behind the face of values"),
        ("vault", "from tollgate.values import compare_digest", "does not list compare_digest"),
        ("cli", "from tollgate.cellar import wine", "no room of the order"),
        ("wiring", "from tollgate.sandbox import ROUTES", "inside a function"),
        ("cli", "def late():\n    from tollgate.sandbox import ROUTES", "by wiring only"),
    ],
)
def test_the_walker_sees_a_planted_wrong_import(room: str, source: str, complaint: str) -> None:
    assert any(complaint in breach for breach in breaches(source, room))


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("vault", "from tollgate.values import Secret"),
        ("store", "from tollgate.store.schema import PAYMENTS"),
        ("web", "from tollgate import __version__"),
        ("wiring", "def build():\n    from tollgate.sandbox import ROUTES"),
    ],
)
def test_the_walker_lets_right_imports_pass(room: str, source: str) -> None:
    assert breaches(source, room) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from os import path",
        "import urllib.request",
        "from urllib import request",
        "text = open('card.txt').read()",
        "from datetime import datetime\nnow = datetime.now()",
    ],
)
def test_the_walker_sees_a_planted_impurity(source: str) -> None:
    assert len(impurities(source)) == 1
