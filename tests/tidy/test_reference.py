"""The reference pages say what the rows say: writing them again changes nothing. `make docs` writes them."""

from __future__ import annotations

import re
import runpy

import pytest

from tidy.source_tree import ROOT
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.events import EVENT_ROWS
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.permissions import Permission
from tollgate.catalog.results import RESULTS
from tollgate.catalog.rules import RULES
from tollgate.catalog.test_cards import TEST_CARDS
from tollgate.config import Settings

GENERATOR = runpy.run_path(str(ROOT / "tools" / "make_reference.py"))
PAGES = sorted(GENERATOR["PAGES"])


def read(page: str) -> str:
    return (ROOT / "docs" / "reference" / page).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_in_step_with_its_rows(page: str) -> None:
    assert read(page) == GENERATOR["PAGES"][page](), "run make docs"


def test_what_each_brand_needs_is_in_step_with_the_rows() -> None:
    text = (ROOT / "docs" / "payment-methods.md").read_text("utf-8")

    assert text == GENERATOR["write_conditions"](text), "run make docs"
    assert "| `TWINT` |   |   | CHF |   |" in text


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_in_its_first_line_that_it_is_generated(page: str) -> None:
    assert read(page).startswith("<!-- Written by tools/make_reference.py ")


@pytest.mark.parametrize(
    ("page", "keys"),
    [
        ("parameters.md", list(PARAMETERS)),
        ("rules.md", [rule.name for rule in RULES]),
        ("result-codes.md", list(RESULTS)),
        ("brands.md", list(BRANDS)),
        ("test-data.md", list(TEST_CARDS)),
        ("events.md", list(EVENT_ROWS)),
        ("permissions.md", [*Permission, *[row.path for row in GENERATOR["list_page_rows"]()]]),
        ("settings.md", [f"--{member.replace('_', '-')}" for member in Settings.__struct_fields__]),
    ],
)
def test_every_row_has_its_line(page: str, keys: list[str]) -> None:
    first_cells = re.findall(r"^\| `([^`]+)` \|", read(page), re.MULTILINE)

    assert set(keys) - set(first_cells) == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_line_of_a_table_has_as_many_cells_as_its_head(page: str) -> None:
    width = 0
    for line in read(page).splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        width = width or cells
        assert cells == width, line
