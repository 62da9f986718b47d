"""Imports point one way: every import is held against the order of the packages. Style is checked elsewhere."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain

import pytest

from tidy.source_tree import (
    ORDER,
    RANKS,
    ROOT,
    SOURCE,
    Offence,
    expect_none,
    exported,
    imports,
    list_offenders,
    package_of,
    packages,
    parse,
    source_files,
    walk,
)

NEIGHBOURS = {
    ("sandbox", "office"): "the simulator is a page of the back office, and only a test host may have it",
    ("vault", "payments"): "the vault seals what payments describes, and its functions take and return those values",
}
"""Packages of one rank that may import each other all the same: (importer, imported) and the reason."""

SANDBOX_IMPORTERS = ("wiring",)

PURE_PACKAGES = ("values", "catalog", "payments", "contract", "connectors")
IMPURE_FILES = {
    "values.py": "time and random bytes enter here, as arguments for all others",
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
    "clock and random numbers": ("random", "secrets", "time", "uuid"),
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


def find_breaches(package: str, tree: ast.Module) -> Iterator[Offence]:
    """Finds imports of a module, placed in a package, that break the order or pass by a face."""
    for item in imports(tree):
        parts = item.module.split(".")
        if parts[0] != "tollgate":
            continue
        targets = [parts[1]] if len(parts) > 1 else [each for each in item.names if each in RANKS]
        yield from ((item.line, reason) for target in targets for reason in _refuse(package, target, item.is_lazy))
        if len(parts) > 1 and parts[1] != package:
            yield from ((item.line, reason) for reason in _behind_the_face(parts, item.names))


def _refuse(package: str, target: str, is_lazy: bool) -> list[str]:
    if target == package:
        return []
    if target not in RANKS:
        return [f"{target} is no package of the order"]
    if target == "sandbox" and not (package in SANDBOX_IMPORTERS and is_lazy):
        return [
            f"sandbox is imported by {', '.join(SANDBOX_IMPORTERS)} only, inside a function: live hosts never load it"
        ]
    if RANKS[target] < RANKS[package] or (package, target) in NEIGHBOURS:
        return []
    return [f"{package} may not import {target}"]


def _behind_the_face(parts: list[str], names: tuple[str, ...]) -> list[str]:
    module = ".".join(parts)
    face = SOURCE / parts[1] / "__init__.py"
    listed = exported(face) if face.exists() else None
    if listed is None:
        return [f"{module}.{each} is private" for each in names if each.startswith("_")]
    if len(parts) > 2:
        return [f"{module} lies behind the face of {parts[1]}"]
    return [f"{module} does not list {each}" for each in names if each not in listed]


def find_impurities(tree: ast.Module) -> Iterator[Offence]:
    """Modules and calls by which a pure package would reach for the disk, the network, the clock or random numbers."""
    for item in imports(tree):
        reached = {item.module, *(f"{item.module}.{each}" for each in item.names)}
        parents = {".".join(module.split(".")[:depth]) for module in reached for depth in (1, 2)}
        for module in sorted(parents & set(chain(*IMPURE_MODULES.values()))):
            yield item.line, f"imports {module}"
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=called)) if called in IMPURE_CALLS:
                yield node.lineno, f"calls {called}()"
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if (owner, attribute) in CLOCK_READS:
                yield node.lineno, f"reads the clock with {owner}.{attribute}"


def test_every_room_stands_in_the_order() -> None:
    assert set(packages()) <= set(RANKS), "a new package needs its line in ORDER and in ARCHITECTURE.md"


def test_no_room_stands_twice_in_the_order() -> None:
    assert sum(len(line) for line in ORDER) == len(RANKS)


def test_imports_point_down_and_meet_at_faces() -> None:
    found = [
        offender
        for package in packages()
        for offender in list_offenders(
            [path for path in source_files() if package_of(path) == package], partial(find_breaches, package)
        )
    ]
    expect_none(found, "a package imports packages below it, through their face")


def test_the_package_itself_imports_nothing() -> None:
    assert not list(imports(parse(SOURCE / "__init__.py"))), "so that it is free to import"


def test_pure_rooms_reach_for_nothing_outside() -> None:
    pure = [path for path in source_files() if package_of(path) in PURE_PACKAGES]
    judged = [path for path in pure if str(path.relative_to(SOURCE)) not in IMPURE_FILES]
    expect_none(
        list_offenders(judged, find_impurities), "time, random numbers, disk and network are arguments in pure packages"
    )


def test_listed_exceptions_are_still_used() -> None:
    for file in IMPURE_FILES:
        assert list(find_impurities(parse(SOURCE / file))), f"{file} no longer needs its exception"
    for importer, imported in NEIGHBOURS:
        paths = [path for path in source_files() if package_of(path) == importer]
        modules = {item.module for path in paths for item in imports(parse(path))}
        assert f"tollgate.{imported}" in modules, f"{importer} no longer imports {imported}"


def test_every_room_can_be_imported_without_loading_the_sandbox() -> None:
    wanted = [f"tollgate.{package}" for package in packages() if package not in ("sandbox", "__main__")]
    program = f"import {', '.join(wanted)}, sys; sys.exit('tollgate.sandbox' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr or "the sandbox was loaded by an import"


@pytest.mark.parametrize(
    ("package", "source", "complaint"),
    [
        ("payments", "from tollgate.web import Gateway", "may not import web"),
        ("payments", "from tollgate import vault", "may not import vault"),
        ("payments", "def late():\n    import tollgate.flows", "may not import flows"),
        ("store", "from tollgate.contract import render_payment", "may not import contract"),
        ("web", "from tollgate.wire.notifier import HttpNotifier", "behind the face of wire"),
        ("web", "from tollgate.wire import compare_digest", "does not list compare_digest"),
        ("vault", "from tollgate.values import _rendered", "is private"),
        ("cli", "from tollgate.cellar import wine", "no package of the order"),
        ("wiring", "from tollgate.sandbox import ROUTES", "inside a function"),
        ("cli", "def late():\n    from tollgate.sandbox import ROUTES", "by wiring only"),
    ],
)
def test_the_walker_sees_a_planted_wrong_import(package: str, source: str, complaint: str) -> None:
    assert any(complaint in reason for _, reason in find_breaches(package, ast.parse(source)))


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("vault", "from tollgate.values import Secret"),
        ("store", "from tollgate.store.schema import PAYMENTS"),
        ("web", "from tollgate import __version__"),
        ("wiring", "def build():\n    from tollgate.sandbox import ROUTES"),
    ],
)
def test_the_walker_lets_right_imports_pass(package: str, source: str) -> None:
    assert list(find_breaches(package, ast.parse(source))) == []


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
    assert len(list(find_impurities(ast.parse(source)))) == 1
