"""The distribution is called `tollgate-payments`, because the public index has a `tollgate` of somebody else."""

from __future__ import annotations

import re
import tomllib

import pytest

from tidy.source_tree import ROOT, expect_none, name, read_text, tracked_files
from tollgate import DISTRIBUTION, __version__

# The name by itself: no path, no longer name, no part of an address.
_NAME = r"(?<![\w./@:-])tollgate(?![\w./:-])"
_INSTALLERS = re.compile(
    r"\b(?:pip3?|pipx|uv|poetry|pdm|conda|easy_install)\s(?:[^\n`]*\s)?(?:install|add|run|download|inject)\s"
    rf"(?![^\n`]*--(?:from|spec|with-editable)\b)(?:[^\n`]*\s)?[\"']?{_NAME}"
    rf"|\buvx\s+(?!-)[\"']?{_NAME}|--(?:from|spec|with)[ =][\"']?{_NAME}|\b(?:pip3?|uv)[ \w-]*\[?[\"']tollgate\["
)


def find_installations(text: str) -> list[int]:
    """Lists the lines that fetch a package called `tollgate` from an index."""
    return [number for number, line in enumerate(text.splitlines(), 1) if _INSTALLERS.search(line)]


def test_nobody_is_told_to_install_the_package_of_somebody_else() -> None:
    paths = [path for path in tracked_files() if path.name != "test_distribution.py"]
    texts = [(path, text) for path in paths if (text := read_text(path)) is not None]
    found = [f"{name(path)}:{line}" for path, text in texts for line in find_installations(text)]
    expect_none(found, f"an index has another package called tollgate; ours is {DISTRIBUTION}")


def test_the_project_has_one_name_and_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert (project["name"], project["version"]) == (DISTRIBUTION, __version__)
    assert list(project["scripts"]) == ["tollgate"]


@pytest.mark.parametrize(
    "line",
    [
        "pip install tollgate",
        "$ python3 -m pip install --upgrade tollgate",
        "pip install 'tollgate[traces]'",
        "pipx install tollgate",
        "pipx run tollgate serve",
        "uv tool install tollgate",
        "uv add tollgate",
        "uvx tollgate serve",
        "uvx --from tollgate tollgate serve",
        "pip install tollgate==0.1.0",
    ],
)
def test_the_reader_sees_a_planted_installation(line: str) -> None:
    assert find_installations(line) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "uvx --from dist/tollgate_payments-0.1.0-py3-none-any.whl tollgate serve",
        "pip install 'tollgate-payments[traces]'",
        "pip install dist/tollgate_payments-0.1.0-py3-none-any.whl",
        "pip install cryptography, then tollgate.example.com",
        "make serve sets up and starts tollgate",
    ],
)
def test_the_reader_lets_other_lines_pass(line: str) -> None:
    assert find_installations(line) == []
