"""Every brand has a mark that can be read, is small, and can do nothing. Whether it is pretty is for eyes to judge."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tollgate.catalog.brands import BRANDS
from tollgate.widget import marks
from tollgate.widget.marks import (
    HEIGHT,
    MARK_ROWS,
    MARK_STYLE,
    MARKS,
    NEUTRAL_INK,
    NEUTRAL_PANEL,
    TEXT_WIDTH_MAX,
    WIDTH,
    Mark,
    render_mark,
    split_label,
)
from unit.widget.contrast import contrast

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "rect", "circle", "path", "g", "text"}
BYTES_MAX = 2000
FONT_SIZE_MIN = 4.9


def read(name: str) -> ElementTree.Element:
    return ElementTree.fromstring(MARKS[name].decode())


def test_every_brand_has_a_mark() -> None:
    assert set(MARKS) == {f"{code}.svg" for code in BRANDS}


@pytest.mark.parametrize("name", sorted(MARKS))
def test_a_mark_says_its_brand_s_name_and_holds_drawings_only(name: str) -> None:
    root = read(name)
    elements = list(root.iter())

    assert root.findtext(f"{SVG}title") == BRANDS[name.removesuffix(".svg")].label
    assert root.get("role") == "img"
    assert {element.tag.removeprefix(SVG) for element in elements} <= ELEMENTS
    assert [key for element in elements for key in element.attrib if key.startswith("on") or key.endswith("href")] == []
    assert b"url(" not in MARKS[name]
    assert len(MARKS[name]) <= BYTES_MAX


@pytest.mark.parametrize("name", sorted(MARKS))
def test_letters_stay_within_the_plate(name: str) -> None:
    for text in read(name).iter(f"{SVG}text"):
        middle, baseline, length = (float(text.attrib[key]) for key in ("x", "y", "textLength"))
        size = float(text.attrib["font-size"])

        assert 0 < length <= TEXT_WIDTH_MAX
        assert middle - length / 2 >= 1.5
        assert middle + length / 2 <= WIDTH - 1.5
        assert baseline - size * 0.8 >= 1
        assert baseline + size * 0.25 <= HEIGHT - 0.5
        assert size >= FONT_SIZE_MIN


def test_the_longest_label_one_could_think_of_fits_too() -> None:
    label = "Incomprehensibilities & misunderstandings"
    mark = render_mark(Mark("X", marks.draw_plain, label, "#ffffff", "#000000"), label)
    texts = list(ElementTree.fromstring(mark.decode()).iter(f"{SVG}text"))

    assert [text.text for text in texts] == ["Incomprehensibilities", "& misunderstandings"]
    assert all(float(text.attrib["textLength"]) <= TEXT_WIDTH_MAX for text in texts)


def test_a_long_label_breaks_where_both_lines_are_about_the_same() -> None:
    assert split_label("Visa") == ("Visa",)
    assert split_label("paysafecard") == ("paysafecard",)
    assert split_label("Payolution direct debit") == ("Payolution", "direct debit")
    assert split_label("H-E-B Gift Card") == ("H-E-B", "Gift Card")


def test_rows_name_brands_that_exist_and_shapes_that_are_drawn() -> None:
    codes = [row.code for row in MARK_ROWS]

    assert len(set(codes)) == len(codes) >= 20
    assert [code for code in codes if code not in BRANDS] == []
    assert {row.draw.__name__ for row in MARK_ROWS} == {name for name in vars(marks) if name.startswith("draw_")}


def test_letters_can_be_read_on_their_plate() -> None:
    # On columns and slats the letters stand on the shape's own colours.
    grounds = {
        row: row.colours if row.draw in (marks.draw_columns, marks.draw_slats) else (row.panel,) for row in MARK_ROWS
    }
    faint = [
        row.code
        for row, colours in grounds.items()
        if row.text and any(contrast(row.ink, colour) < 4.5 for colour in colours)
    ]

    assert faint == []
    assert contrast(NEUTRAL_INK, NEUTRAL_PANEL) >= 7


def test_every_brand_is_painted_by_one_class() -> None:
    rules = re.findall(
        r"^\.wpwl-brand-(\w+) \{ background-image: url\(\"(\w+\.svg)\"\); \}$", MARK_STYLE.decode(), re.MULTILINE
    )

    assert rules == [(code, f"{code}.svg") for code in BRANDS]
    assert {name for _, name in rules} == set(MARKS)
