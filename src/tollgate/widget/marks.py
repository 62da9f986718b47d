"""The marks of brands: small pictures in SVG, and the style that shows them.

Which brands exist is said in the catalogue.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from math import cos, pi, sin
from types import MappingProxyType

from tollgate.catalog.brands import BRANDS

WHITE = "#ffffff"
NEUTRAL_PANEL = "#f5f7fa"
NEUTRAL_INK = "#22304a"


@dataclass(frozen=True, slots=True)
class Mark:
    code: str
    draw: Callable[["Mark"], str]
    text: str
    """Letters on the mark; an empty one has none, as its shape says enough."""
    panel: str
    ink: str
    colours: tuple[str, ...] = ()
    """The colours of the shape besides panel and letters, in the order of drawing."""


WIDTH, HEIGHT = 40, 26

TEXT_WIDTH_MAX = 34.0
"""Leaves the rounded corners free."""

_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif"
_FONT_SIZE_MAX = 11.0
_FONT_SIZE_MIN = 5.0
_LINE_HEIGHT = 1.15
_NARROW, _WIDE = frozenset("fijlrtI.'()- 1/"), frozenset("mwMW")


def estimate_width(text: str, font_size: float) -> float:
    """Estimates the width of bold letters."""
    ems = sum(_estimate_letter(letter) for letter in text)
    return ems * font_size


def _estimate_letter(letter: str) -> float:
    if letter in _NARROW:
        return 0.36
    if letter in _WIDE:
        return 0.92
    return 0.72 if letter.isupper() else 0.6


def split_label(text: str) -> tuple[str, ...]:
    """Splits a long label into two lines of about the same length."""
    words = text.split(" ")
    if len(text) <= 9 or len(words) == 1:
        return (text,)
    cuts = ((" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words)))
    return min(cuts, key=lambda lines: max(map(len, lines)))


def _letters(
    text: str,
    ink: str,
    *,
    middle_x: float = WIDTH / 2,
    middle_y: float = HEIGHT / 2,
    width_max: float = TEXT_WIDTH_MAX,
    size_max: float = _FONT_SIZE_MAX,
) -> str:
    """Renders lines around a middle, with a length for the browser, so that no font runs over the edge."""
    lines = split_label(text)
    size = min(size_max, min(width_max / estimate_width(line, 1) for line in lines))
    if len(lines) > 1:
        size = min(size, 8.5)
    size = max(size, _FONT_SIZE_MIN)
    top = middle_y - (len(lines) - 1) * size * _LINE_HEIGHT / 2 + size * 0.35
    drawn = []
    for number, line in enumerate(lines):
        length = min(width_max, estimate_width(line, size))
        drawn.append(
            f'<text x="{middle_x:g}" y="{top + number * size * _LINE_HEIGHT:.2f}" font-size="{size:.2f}"'
            f' textLength="{length:.2f}" lengthAdjust="spacingAndGlyphs" fill="{ink}">{escape(line)}</text>'
        )
    return f'<g font-family="{_FONT}" font-weight="700" text-anchor="middle">{"".join(drawn)}</g>'


def draw_plain(row: Mark) -> str:
    return _letters(row.text, row.ink)


def draw_underlined(row: Mark) -> str:
    return (
        f'{_letters(row.text, row.ink, middle_y=12)}<path d="M8 20.5h24" stroke="{row.colours[0]}" stroke-width="2.5"/>'
    )


def draw_discs(row: Mark) -> str:
    left, right, shared = row.colours
    return (
        f'<circle cx="15.5" cy="13" r="7.5" fill="{left}"/><circle cx="24.5" cy="13" r="7.5" fill="{right}"/>'
        f'<path d="M20 7a7.5 7.5 0 0 1 0 12a7.5 7.5 0 0 1 0-12z" fill="{shared}"/>'
    )


def draw_halves(row: Mark) -> str:
    disc, field = row.colours
    return (
        f'<circle cx="20" cy="13" r="9" fill="{disc}"/><circle cx="20" cy="13" r="6.6" fill="{field}"/>'
        f'<path d="M18.6 8.2v9.6a5 5 0 0 1 0-9.6zM21.4 8.2v9.6a5 5 0 0 0 0-9.6z" fill="{disc}"/>'
    )


def draw_sunrise(row: Mark) -> str:
    return (
        f'<path d="M39.5 14v8.5a3 3 0 0 1-3 3H14q18-2 25.5-11.5z" fill="{row.colours[0]}"/>'
        f"{_letters(row.text, row.ink, middle_y=10)}"
    )


def draw_columns(row: Mark) -> str:
    drawn = []
    for number, (colour, letter) in enumerate(zip(row.colours, row.text, strict=True)):
        x = 6.5 + number * 9.25
        drawn.append(f'<path d="M{x + 3} 4h5.5v15a3 3 0 0 1-3 3h-5.5v-15a3 3 0 0 1 3-3z" fill="{colour}"/>')
        drawn.append(_letters(letter, row.ink, middle_x=x + 4.25, width_max=7, size_max=8))
    return "".join(drawn)


def draw_slats(row: Mark) -> str:
    slats = (
        f'<path d="M{8 + number * 8} 4h9.5l-3.5 18h-9.5z" fill="{colour}"/>'
        for number, colour in enumerate(row.colours)
    )
    return "".join(slats) + _letters(row.text, row.ink, size_max=10)


def draw_stacked(row: Mark) -> str:
    upper, lower = row.colours
    return (
        f'<path d="M5 6h13" stroke="{upper}" stroke-width="3"/><path d="M5 20h13" stroke="{lower}" stroke-width="3"/>'
        f"{_letters(row.text, row.ink, size_max=9)}"
    )


def draw_ribbons(row: Mark) -> str:
    upper, lower = row.colours
    return (
        f'<path d="M6 12h8q4 0 7-3t7-3h6v5q0 2-2 2h-9z" fill="{lower}"/>'
        f'<path d="M34 14h-8q-4 0-7 3t-7 3h-6v-5q0-2 2-2h9z" fill="{upper}"/>'
    )


def draw_dots(row: Mark) -> str:
    first = WIDTH / 2 - (len(row.colours) - 1) * 2.5
    dots = (
        f'<circle cx="{first + number * 5:g}" cy="20.5" r="1.7" fill="{colour}"/>'
        for number, colour in enumerate(row.colours)
    )
    return _letters(row.text, row.ink, middle_y=10.5) + "".join(dots)


def draw_chevrons(row: Mark) -> str:
    return (
        f'<g fill="none" stroke="{row.colours[0]}" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round">'
        '<path d="M11 7.5h4l6 5.5-6 5.5h-4"/><path d="M22 7.5l6.5 5.5-6.5 5.5"/></g>'
    )


def draw_circle_of_dots(row: Mark) -> str:
    angles = (2 * pi * number / 12 for number in range(12))
    dots = (
        f'<circle cx="{20 + 15 * sin(angle):.2f}" cy="{13 - 9.5 * cos(angle):.2f}" r="1" fill="{row.colours[0]}"/>'
        for angle in angles
    )
    return "".join(dots) + _letters(row.text, row.ink, width_max=24, size_max=9)


def draw_doorway(row: Mark) -> str:
    return (
        f'<path d="M5 5h5a8 8 0 0 1 0 16h-5z" fill="{row.colours[0]}"/>'
        f'<circle cx="9" cy="10" r="2" fill="{row.panel}"/><path d="M7.2 13.5h3.6v5h-3.6z" fill="{row.panel}"/>'
        f"{_letters(row.text, row.ink, middle_x=28.5, width_max=18)}"
    )


def draw_twin_letters(row: Mark) -> str:
    behind = _letters(row.text[1], row.colours[0], middle_x=23, middle_y=14.5, size_max=17)
    return behind + _letters(row.text[0], row.ink, middle_x=18.5, middle_y=12, size_max=17)


MARK_ROWS: tuple[Mark, ...] = (
    Mark("VISA", draw_underlined, "VISA", WHITE, "#1d2f86", ("#e9a41c",)),
    Mark("VISADEBIT", draw_underlined, "VISA", WHITE, "#1d2f86", ("#3c7dd9",)),
    Mark("VISAELECTRON", draw_underlined, "VISA", WHITE, "#1d2f86", ("#8a94a6",)),
    Mark("VPAY", draw_underlined, "V PAY", WHITE, "#1d2f86", ("#e9a41c",)),
    Mark("MASTER", draw_discs, "", WHITE, "#2a2a2a", ("#dd2a3b", "#f3a32b", "#ee6a2f")),
    Mark("MASTERDEBIT", draw_discs, "", "#23262d", WHITE, ("#dd2a3b", "#f3a32b", "#ee6a2f")),
    Mark("MAESTRO", draw_discs, "", WHITE, "#2a2a2a", ("#2b72c9", "#dd2a3b", "#6f5aa8")),
    Mark("AMEX", draw_plain, "AMEX", "#1f67b1", WHITE),
    Mark("AXP", draw_plain, "AMEX", "#1f67b1", WHITE),
    Mark("DINERS", draw_halves, "", WHITE, "#17518f", ("#17518f", WHITE)),
    Mark("DISCOVER", draw_sunrise, "Discover", WHITE, "#23262d", ("#ea7a25",)),
    Mark("JCB", draw_columns, "JCB", WHITE, WHITE, ("#1f5ea8", "#c42a45", "#1f7d3c")),
    Mark("UNIONPAY", draw_slats, "UP", WHITE, WHITE, ("#c9293f", "#1f4f8f", "#0f7579")),
    Mark("DANKORT", draw_plain, "Dankort", "#b3203a", WHITE),
    Mark("MADA", draw_stacked, "mada", WHITE, "#23262d", ("#2f86c8", "#79b03a")),
    Mark("CARTEBANCAIRE", draw_plain, "CB", "#17567d", WHITE),
    Mark("BCMC", draw_ribbons, "", WHITE, "#1b4f9c", ("#1b4f9c", "#f2c230")),
    Mark("ELO", draw_dots, "elo", "#23262d", WHITE, ("#f2c230", "#e0402f", "#3aa0dc")),
    Mark("APPLEPAY", draw_plain, "Apple Pay", "#111214", WHITE),
    Mark("GOOGLEPAY", draw_dots, "G Pay", WHITE, "#3c4043", ("#3f7ee8", "#db4335", "#f2b61f", "#2f9c4f")),
    Mark("SAMSUNGPAY", draw_plain, "Samsung Pay", "#1a2a80", WHITE),
    Mark("CLICK_TO_PAY", draw_chevrons, "", WHITE, "#23262d", ("#23262d",)),
    Mark("DIRECTDEBIT_SEPA", draw_circle_of_dots, "SEPA", "#1d4596", WHITE, ("#f5cf3f",)),
    Mark("SEPA", draw_circle_of_dots, "SEPA", "#1d4596", WHITE, ("#f5cf3f",)),
    Mark("IDEAL", draw_doorway, "iDEAL", WHITE, "#23262d", ("#c8136c",)),
    Mark("SOFORTUEBERWEISUNG", draw_plain, "SOFORT", "#3a3f4d", WHITE),
    Mark("GIROPAY", draw_stacked, "giropay", WHITE, "#14347c", ("#14347c", "#cf2a35")),
    Mark("EPS", draw_plain, "eps", "#8d1f5f", WHITE),
    Mark("PAYPAL", draw_twin_letters, "PP", WHITE, "#1c3f8f", ("#3a9be0",)),
    Mark("KLARNA_PAYMENTS_ONE", draw_plain, "Klarna.", "#f9c4d2", "#17120f"),
    Mark("KLARNA_PAYMENTS_PAYLATER", draw_plain, "Klarna. later", "#f9c4d2", "#17120f"),
    Mark("KLARNA_PAYMENTS_PAYNOW", draw_plain, "Klarna. now", "#f9c4d2", "#17120f"),
    Mark("KLARNA_PAYMENTS_SLICEIT", draw_plain, "Klarna. slice it", "#f9c4d2", "#17120f"),
    Mark("ALIPAY", draw_plain, "Alipay", "#1769c9", WHITE),
    Mark("WECHAT_PAY", draw_plain, "WeChat Pay", "#187a3c", WHITE),
    Mark("TWINT", draw_dots, "TWINT", "#23262d", WHITE, ("#f0523d", "#f2b61f", "#3aa0dc", "#36a566")),
    Mark("PRZELEWY", draw_plain, "P24", "#b81f33", WHITE),
    Mark("VIPPS", draw_plain, "vipps", "#b8481a", WHITE),
)


def render_mark(row: Mark, label: str) -> bytes:
    plate = 'x=".5" y=".5" width="39" height="25" rx="3.5"'
    # The rim keeps a white panel in sight on white and a black one on black.
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' role="img"><title>{escape(label)}</title>'
        f'<rect {plate} fill="{row.panel}"/>{row.draw(row)}'
        f'<rect {plate} fill="none" stroke="#8a96a8" stroke-opacity=".55"/></svg>\n'
    ).encode()


_DRAWN: Mapping[str, Mark] = {row.code: row for row in MARK_ROWS}


MARKS: Mapping[str, bytes] = MappingProxyType(
    {
        f"{code}.svg": render_mark(
            _DRAWN.get(code) or Mark(code, draw_plain, brand.label, NEUTRAL_PANEL, NEUTRAL_INK), brand.label
        )
        for code, brand in BRANDS.items()
    }
)

_PAINTED = f"""\
.wpwl-brand,
.wpwl-brand-card,
.wpwl-brand-custom {{
  width: {WIDTH}px;
  height: {HEIGHT}px;
  background: center / contain no-repeat;
}}
.wpwl-brand-custom {{
  display: inline-block;
  margin: 0.25rem 0.125rem;
}}
"""

MARK_STYLE = (
    _PAINTED + "".join(f'.wpwl-brand-{code} {{ background-image: url("{code}.svg"); }}\n' for code in BRANDS)
).encode()
"""Paints any element of a page that has the class of a brand, such as one that the page has made itself."""
