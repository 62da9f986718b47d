"""The page of a payment link: its words in every language, and a merchant's colours as far as they can be read."""

from __future__ import annotations

import itertools
import re

import pytest

from tollgate.widget.languages import LANGUAGES
from tollgate.widget.link_pages.page import TEXTS, choose_ink, choose_language, measure_contrast, render_colours

HOLE = re.compile(r"\{[a-z]+\}")


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_every_text_with_its_holes(code: str) -> None:
    expected = {key: sorted(HOLE.findall(text)) for key, text in TEXTS["en"].items()}

    assert {key: sorted(HOLE.findall(text)) for key, text in TEXTS[code].items()} == expected
    assert list(TEXTS[code]) == list(TEXTS["en"])
    assert all(text.strip() == text and text for text in TEXTS[code].values())


def test_no_two_languages_say_the_same() -> None:
    """A text that was copied and never translated would be the same as the English one."""
    shared = {"dir", "tag"}
    for code in set(TEXTS) - {"en"}:
        same = [key for key, text in TEXTS[code].items() if text == TEXTS["en"][key] and key not in shared]
        assert set(same) <= {"receiptDate", "reference"}, code


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        (("de-AT,de;q=0.9,en;q=0.8",), "de"),
        (("en;q=0.5, fr;q=0.9",), "fr"),
        (("zh-Hans-CN",), "cn"),
        (("da",), "dk"),
        (("cs-CZ",), "cz"),
        (("sv_SE",), "se"),
        (("nb",), "no"),
        (("xx, yy;q=0.3, it;q=0.1",), "it"),
        (("de;q=0, en",), "en"),
        (("de;q=soon",), "en"),
        (("", "", "fr"), "fr"),
        (("tr", "de"), "tr"),
        (("*",), "en"),
        ((",;,;q=",), "en"),
        (("x" * 5000,), "en"),
        (("-" * 500,), "en"),
        ((), "en"),
    ],
)
def test_the_language_is_the_first_requested_one_that_is_known(requested: tuple[str, ...], expected: str) -> None:
    assert choose_language(*requested) == expected


def test_no_header_makes_the_choice_slow_or_fail() -> None:
    for letters in itertools.product(",;q=-_. 1", repeat=4):
        assert choose_language("".join(letters)) == "en"


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#fff", "#ffffff", 1.0), ("#777777", "#fff", 4.48), ("#1f5fbf", "#ffffff", 6.06)],
)
def test_contrast_is_measured_as_the_guidelines_say(one: str, other: str, ratio: float) -> None:
    assert measure_contrast(one, other) == pytest.approx(ratio, abs=0.05)
    assert measure_contrast(other, one) == measure_contrast(one, other)


@pytest.mark.parametrize(("ground", "ink"), [("#ffee00", "#000000"), ("#0b7a53", "#ffffff"), ("#000", "#ffffff")])
def test_ink_is_black_or_white_whichever_is_read_better(ground: str, ink: str) -> None:
    assert choose_ink(ground) == ink


def test_without_colours_there_is_no_style() -> None:
    assert render_colours({}) == ""


def test_a_text_that_can_be_read_by_day_alone_keeps_its_colour_by_day() -> None:
    style = render_colours({"amount": "#003366"})

    assert style == ":root{--amount:#003366}"


def test_a_text_that_cannot_be_read_is_left_out() -> None:
    assert render_colours({"merchant": "#fffffe"}) == "@media (prefers-color-scheme: dark) {:root{--merchant:#fffffe}}"


def test_a_button_keeps_its_ground_and_gets_ink_that_can_be_read() -> None:
    style = render_colours({"button": "#ffee00", "button_text": "#ffff00"})

    assert style.count("background:#ffee00;color:#000000") == 2


def test_a_button_that_can_hardly_be_seen_gets_an_edge() -> None:
    assert "border:1px solid #000000" in render_colours({"button": "#fefefe"})


def test_a_text_alone_is_used_where_the_forms_own_button_lets_it_be_read() -> None:
    style = render_colours({"button_text": "#ffffff"})

    assert style.startswith(".link .wpwl-button-pay{background:#1f5fbf;color:#ffffff")
    assert "@media" not in style


EXTREMES = ("#000", "#fff", "#808080", "#ff0000", "#00ff00", "#0000ff", "#ffee00", "#1a212c")


@pytest.mark.parametrize("button", EXTREMES)
@pytest.mark.parametrize("text", EXTREMES)
def test_no_pair_of_colours_makes_a_button_that_cannot_be_read(button: str, text: str) -> None:
    style = render_colours({"button": button, "button_text": text})

    pairs = re.findall(r"background:(#\w+);color:(#\w+)", style)
    assert len(pairs) == 2
    assert all(measure_contrast(*pair) >= 4.5 for pair in pairs)
