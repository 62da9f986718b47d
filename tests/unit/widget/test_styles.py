"""The form's styles can be read, stay at home, and give way to the shop's own. How they look is judged by eyes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tollgate.widget
from unit.widget.contrast import contrast

FOLDER = Path(tollgate.widget.__file__).parent / "styles"
FILES = sorted(FOLDER.glob("*.css"))
TEXT_CONTRAST = 4.5
EDGE_CONTRAST = 3.0

# What is written or drawn in the first colour on a ground of the second.
PAIRS = (
    ("ink", "paper", TEXT_CONTRAST),
    ("ink", "field", TEXT_CONTRAST),
    ("ink", "tint", TEXT_CONTRAST),
    ("soft", "paper", TEXT_CONTRAST),
    ("soft", "field", TEXT_CONTRAST),
    ("soft", "tint", TEXT_CONTRAST),
    ("danger", "paper", TEXT_CONTRAST),
    ("danger", "tint", TEXT_CONTRAST),
    ("danger", "danger-tint", TEXT_CONTRAST),
    ("accent", "paper", TEXT_CONTRAST),
    ("accent", "tint", TEXT_CONTRAST),
    ("on-accent", "accent", TEXT_CONTRAST),
    ("on-accent", "accent-strong", TEXT_CONTRAST),
    ("edge", "paper", EDGE_CONTRAST),
    ("edge", "field", EDGE_CONTRAST),
    ("accent", "field", EDGE_CONTRAST),
)
SCHEMES = {"light": 0, "dark": 1}


def read(path: Path) -> str:
    """Reads a style sheet without its comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)


def drop_where(selector: str) -> str:
    """Drops `:where()` and its contents, which have no specificity."""
    while ":where(" in selector:
        start = end = selector.index(":where(")
        depth = 0
        for place in range(start, len(selector)):
            depth += {"(": 1, ")": -1}.get(selector[place], 0)
            if depth == 0 and selector[place] == ")":
                end = place + 1
                break
        selector = selector[:start] + selector[end:]
    return selector


def balance_effects(selector: str) -> tuple[int, int]:
    """Ids and classes; attributes and states count as classes."""
    bare = drop_where(selector)
    return bare.count("#"), len(re.findall(r"\.|\[|(?<!:):(?!:)", bare))


def list_selectors(css: str) -> list[str]:
    heads = re.findall(r"([^{}]+)\{", css)
    rules = [head.strip() for head in heads if not head.strip().startswith("@") and head.strip() not in ("to", "0%")]
    return [part.strip() for rule in rules for part in re.split(r",(?![^(]*\))", rule)]


def read_palette(css: str, scheme: int) -> dict[str, str]:
    rows = re.findall(r"--wpwl-([\w-]+)-used: var\(--wpwl-\1, light-dark\((#\w{6}), (#\w{6})\)\)", css)
    return {row[0]: row[1 + scheme] for row in rows}


def test_there_is_a_file_for_every_style() -> None:
    names = ["accordion.css", "dialog.css", "logos.css", "plain.css", "wallets.css", "widget.css"]
    assert [path.name for path in FILES] == names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_style_loads_nothing_and_forces_nothing(path: Path) -> None:
    css = read(path)

    assert [word for word in ("@import", "url(", "!important", "expression(", "@font-face") if word in css] == []
    assert css.count("{") == css.count("}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_rule_weighs_more_than_one_class(path: Path) -> None:
    selectors = list_selectors(read(path))

    assert selectors
    assert [selector for selector in selectors if balance_effects(selector) > (0, 1)] == []


def test_only_rules_for_what_a_shop_puts_into_the_form_weigh_nothing() -> None:
    """Rules for our own elements must outweigh the one that reverts what a page says about elements of their kind."""
    weightless = {
        selector
        for path in FILES
        if path.name != "plain.css"
        for selector in list_selectors(read(path))
        if balance_effects(selector) == (0, 0)
    }
    containers = ":where(.wpwl-container, .wpwl-registrations-block, .wpwl-accordion, .wpwl-dialog)"
    assert weightless == {
        f"{containers} :where(*)",
        ":where(.wpwl-form) > :where(:not(.wpwl-group))",
        ":where(.wpwl-form) > :where(label:not([hidden]))",
        ":where(.wpwl-control-brand) > :where(option)",
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_rule_reaches_beyond_the_form(path: Path) -> None:
    assert [selector for selector in list_selectors(read(path)) if "wpwl-" not in selector] == []


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_everything_can_be_read_and_every_edge_can_be_seen(scheme: str) -> None:
    palette = read_palette(read(FOLDER / "widget.css"), SCHEMES[scheme])
    ratios = {(one, other): contrast(palette[one], palette[other]) for one, other, _ in PAIRS}

    assert [(one, other, ratios[one, other]) for one, other, least in PAIRS if ratios[one, other] < least] == []


def test_every_colour_of_the_palette_is_used_and_has_been_judged() -> None:
    css = read(FOLDER / "widget.css")
    palette = read_palette(css, 0)
    judged = {name for one, other, _ in PAIRS for name in (one, other)}

    assert [name for name in palette if f"var(--wpwl-{name}-used)" not in css] == []
    # Lines only part what is apart anyway.
    assert set(palette) - judged == {"line"}


def test_the_scales_weigh_what_a_browser_weighs() -> None:
    assert balance_effects(".a") == (0, 1)
    assert balance_effects(":where(.a > .b:not(.c)) .d:where(:focus, .e)::placeholder") == (0, 1)
    assert balance_effects("#a .b:hover") == (1, 2)
    assert balance_effects('.a[dir="rtl"]') == (0, 2)
    assert list_selectors(".a, .b:where(.c, .d) { x: y }") == [".a", ".b:where(.c, .d)"]
    assert round(contrast("#000000", "#ffffff"), 2) == 21
