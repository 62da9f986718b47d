"""The page about PCI DSS names code, settings and tests that exist, for every requirement of the standard."""

from __future__ import annotations

import re

import pytest

from tidy.source_tree import ROOT
from tollgate.config import SETTINGS

PAGE = (ROOT / "docs" / "pci.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if re.match(r"\| \d", line)]
PARTS = {1: 5, 2: 3, 3: 7, 4: 2, 5: 4, 6: 5, 7: 3, 8: 6, 9: 5, 10: 7, 11: 6, 12: 10}
"""The number of sub-requirements of each of the twelve requirements."""


def list_codes(place: int) -> list[str]:
    return [code for row in ROWS for code in re.findall(r"`([^`]+)`", row[place])]


def test_every_requirement_has_a_row() -> None:
    expected = [f"{first}.{second}" for first, count in PARTS.items() for second in range(1, count + 1)]
    assert [row[0] for row in ROWS] == expected


def test_everybody_knows_who_is_responsible() -> None:
    assert {row[2] for row in ROWS} == {"Tollgate", "operator", "shared"}
    assert [row[0] for row in ROWS if row[2] != "operator" and not row[3]] == []


def test_every_path_of_code_exists() -> None:
    paths = [code for code in list_codes(3) if "/" in code and not code.startswith("/")]
    assert len(paths) > 30
    assert [path for path in paths if not (ROOT / "src" / "tollgate" / path).exists()] == []


def test_every_setting_exists() -> None:
    assert set(list_codes(4)) - {row.flag for row in SETTINGS} == set()


@pytest.mark.parametrize("named", sorted(set(list_codes(5))))
def test_every_test_exists(named: str) -> None:
    path, _, name = named.partition("::")
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


def test_every_link_of_the_page_leads_somewhere() -> None:
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", PAGE) if "://" not in target]
    assert [target for target in targets if not (ROOT / "docs" / target).exists()] == []
