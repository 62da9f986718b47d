"""The source tree as the tidy tests see it: its packages, their order, its files. The rules are in the tests."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tollgate"

ORDER: tuple[tuple[str, ...], ...] = (
    ("values",),
    ("catalog", "config"),
    ("payments", "vault"),
    ("contract", "connectors", "store"),
    ("wire",),
    ("operations",),
    ("flows",),
    ("workers", "web"),
    ("widget", "office", "docs", "sandbox"),
    ("wiring",),
    ("hosting",),
    ("cli",),
    ("__main__",),
)
"""A package may import the packages of the lines above its own."""

RANKS = {package: rank for rank, packages in enumerate(ORDER) for package in packages}

CODE_FOLDERS = ("src", "tests", "tools")
MADE_FOLDERS = frozenset({".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__"})


@dataclass(frozen=True)
class Import:
    """One imported module, and the names taken from it where it says `from`."""

    module: str
    names: tuple[str, ...]
    line: int
    is_lazy: bool
    """Inside a function, hence only when that function is called."""


def package_of(path: Path) -> str:
    """Returns the package a source file belongs to; empty for the package's own face."""
    first = path.relative_to(SOURCE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


@cache
def source_files() -> tuple[Path, ...]:
    return tuple(sorted(SOURCE.rglob("*.py")))


@cache
def code_files() -> tuple[Path, ...]:
    return tuple(sorted(path for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*.py")))


@cache
def packages() -> tuple[str, ...]:
    """Returns the packages that exist, packages and single files alike."""
    return tuple(sorted({package_of(path) for path in source_files()} - {""}))


@cache
def faces() -> tuple[Path, ...]:
    return tuple(sorted(SOURCE.glob("*/__init__.py")))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def walk(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Lists every node of a module, once for all rules that look at it."""
    return tuple(ast.walk(tree))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


Offence = tuple[int, str]
"""The line that breaks a rule, and how."""


def list_offenders(paths: Iterable[Path], find: Callable[[ast.Module], Iterable[Offence]]) -> list[str]:
    """Lists what a rule finds in these files, each as `file:line: how`."""
    return [f"{name(path)}:{line}: {how}" for path in paths for line, how in find(parse(path))]


def expect_none(offenders: Iterable[str], rule: str) -> None:
    """Fails with the rule and with every offender on a line of its own."""
    listed = sorted(set(offenders))
    assert not listed, "\n".join([rule, *listed])


def imports(tree: ast.Module) -> Iterator[Import]:
    """Finds every import statement, also those under `if TYPE_CHECKING` and inside functions."""
    lazy = {
        id(inner)
        for outer in walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
    }
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, (), node.lineno, id(node) in lazy)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            yield Import(node.module or "", names, node.lineno, id(node) in lazy)


def exported(face: Path) -> tuple[str, ...] | None:
    """Returns the names in the `__all__` of a face, in their order; None where it has none."""
    for node in parse(face).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(node, ast.Assign | ast.AnnAssign):
            assert node.value is not None
            return tuple(ast.literal_eval(node.value))
    return None


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """String literals that the program uses; docstrings and the notes under a member are prose and left out."""
    prose = {id(node.value) for node in walk(tree) if isinstance(node, ast.Expr)}
    for node in walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


@cache
def tracked_files() -> tuple[Path, ...]:
    """Lists the files of the project; a copy without git history is walked instead."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        listed = subprocess.run(
            [git, "-c", f"safe.directory={ROOT}", "ls-files", "-z"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        found = [ROOT / line for line in listed.split("\0") if line]
    else:
        found = [path for path in ROOT.rglob("*") if not MADE_FOLDERS & set(path.relative_to(ROOT).parts)]
    return tuple(sorted(path for path in found if path.is_file()))


def read_text(path: Path) -> str | None:
    """Returns the text of a file, or None for pictures and other bytes."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return None
