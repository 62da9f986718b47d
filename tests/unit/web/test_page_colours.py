"""The colours of the pages, measured as WCAG 2 measures contrast: all that is read reaches AA, by day and by night."""

from __future__ import annotations

import re

import pytest

from tollgate.web.pages.rendering import STATIC_FILES

STYLE = STATIC_FILES.assets["page.css"].body.decode()
LIGHT, DARK = (
    dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", part)) for part in STYLE.split("prefers-color-scheme: dark")
)

TEXT_MIN, EDGE_MIN = 4.5, 3.0
TEXTS = [
    ("ink", "paper"),
    ("soft", "paper"),
    ("accent", "paper"),
    ("danger", "paper"),
    ("on-accent", "accent"),
    ("on-notice", "notice"),
]
EDGES = [("edge", "paper"), ("accent", "paper"), ("danger", "paper")]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back"), TEXTS)
def test_what_is_read_stands_out_from_its_ground(scheme: dict[str, str], front: str, back: str) -> None:
    assert contrast(scheme[front], scheme[back]) >= TEXT_MIN


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back"), EDGES)
def test_the_edge_of_what_can_be_pressed_is_seen(scheme: dict[str, str], front: str, back: str) -> None:
    assert contrast(scheme[front], scheme[back]) >= EDGE_MIN


def test_both_schemes_colour_the_same_things() -> None:
    assert set(LIGHT) == set(DARK)
    assert set(re.findall(r"var\(--([a-z-]+)\)", STYLE)) == set(LIGHT)


def test_the_measure_is_the_known_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
