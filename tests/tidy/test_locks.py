"""Lock files pin every package by version and hash and name no host. Which versions they choose is not judged."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tidy.source_tree import ROOT

LOCKS = {
    "requirements.lock": (),
    "requirements-dev.lock": ("dev",),
    "requirements-bench.lock": ("bench",),
    "requirements-build.lock": ("build",),
}
WITH_PROJECT = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"([a-z0-9][a-z0-9._-]*)==([^\s;]+)(?: ;.*)? \\")
HASH = re.compile(r" +--hash=sha256:[0-9a-f]{64}(?: \\)?")
NOTE = re.compile(r" +# .*")


def strange_lines(text: str) -> list[str]:
    """Lists lines that are neither a pin, a hash nor a note on who asked for it, such as a loose version."""
    return [line for line in text.splitlines() if not any(kind.fullmatch(line) for kind in (PIN, HASH, NOTE))]


def pins(path: Path) -> dict[str, str]:
    return {match[1]: match[2] for line in path.read_text().splitlines() if (match := PIN.fullmatch(line))}


def wanted(lock: str) -> set[str]:
    """Returns the packages that pyproject.toml asks for directly, by their bare names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = list(project["project"]["dependencies"]) if lock in WITH_PROJECT else []
    if lock == "requirements-dev.lock":
        asked += project["project"]["optional-dependencies"]["traces"]
    for group in LOCKS[lock]:
        asked += project["dependency-groups"][group]
    return {re.split(r"[<>=!~\[; ]", line)[0].lower() for line in asked}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(lock: str) -> None:
    assert strange_lines((ROOT / lock).read_text()) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_of_a_lock_is_followed_by_a_hash(lock: str) -> None:
    lines = (ROOT / lock).read_text().splitlines()
    bare = [
        line
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if PIN.fullmatch(line) and not HASH.fullmatch(following)
    ]
    assert bare == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_what_the_project_asks_for(lock: str) -> None:
    assert wanted(lock) <= set(pins(ROOT / lock)), "pyproject.toml changed: run make lock"


def test_every_lock_of_the_project_is_checked() -> None:
    assert {path.name for path in ROOT.glob("requirements*.lock")} == set(LOCKS)


def test_locks_agree_on_versions() -> None:
    """All are installed into one environment, so two versions of a package would take turns."""
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for package, version in pins(ROOT / lock).items():
            versions.setdefault(package, set()).add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("place", ["tests/browser/npm", "tools/javascript"])
def test_a_lock_of_npm_holds_hashes_and_names_no_host(place: str) -> None:
    folder = ROOT / place
    text = (folder / "package-lock.json").read_text()
    packages = json.loads(text)["packages"]
    own = packages.pop("")

    assert "://" not in text, "leave out the fields resolved and funding"
    assert [name for name, package in packages.items() if "integrity" not in package] == []
    assert own["dependencies"] == json.loads((folder / "package.json").read_text())["dependencies"]


@pytest.mark.parametrize(
    "line", ["--index-url https://packages.example", "click>=8", "click @ file:///wheels/click.whl", "-e ."]
)
def test_the_reader_sees_a_planted_strange_line(line: str) -> None:
    assert strange_lines(line) == [line]
