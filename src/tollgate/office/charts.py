"""Geometry of charts: numbers become bars and lines with whole coordinates, which a template draws as SVG.

Colours and texts around a chart are not decided here.
"""

from collections.abc import Callable, Sequence

import msgspec

WIDTH, HEIGHT = 440, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 4, 8, 24
_GAP_SHARE = 0.25
_LABELS_MAX = 7
_STEPS = (1, 2, 5, 10)


class Part(msgspec.Struct, frozen=True):
    """A part of a column, stacked upon the part before it."""

    value: int
    tone: str
    """The class of its colour: good, bad, or none."""


class Column(msgspec.Struct, frozen=True):
    label: str
    title: str
    """The numbers in words, which a pointer over the bar shows."""
    parts: tuple[Part, ...]

    @property
    def total(self) -> int:
        return sum(part.value for part in self.parts)


class Bar(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float
    tone: str
    title: str


class Mark(msgspec.Struct, frozen=True):
    """A text at an axis."""

    at: float
    text: str


class Chart(msgspec.Struct, frozen=True):
    bars: list[Bar]
    levels: list[Mark]
    """The lines of the vertical axis, from the bottom up."""
    labels: list[Mark]
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def choose_top(highest: int) -> int:
    """Returns the round number at which the vertical axis ends: the next 1, 2 or 5 times a power of ten."""
    power = 1
    while power * 10 <= highest:
        power *= 10
    return next((step * power for step in _STEPS if step * power >= highest), power)


def draw_columns(columns: Sequence[Column], render_level: Callable[[int], str]) -> Chart:
    """Draws stacked columns beside each other. The axis begins at zero, so that heights can be compared."""
    top = choose_top(max([column.total for column in columns], default=0))
    span, height = (WIDTH - _LEFT - _RIGHT) / max(len(columns), 1), HEIGHT - _TOP - _BOTTOM
    bars = []
    for place, column in enumerate(columns):
        reached = 0
        for part in column.parts:
            reached += part.value
            if part.value:
                bars.append(
                    Bar(
                        x=round(_LEFT + (place + _GAP_SHARE / 2) * span, 1),
                        y=round(_TOP + height * (1 - reached / top), 1),
                        width=round(span * (1 - _GAP_SHARE), 1),
                        height=round(height * part.value / top, 1),
                        tone=part.tone,
                        title=column.title,
                    )
                )
    halves = (0, top // 2, top) if top > 1 else (0, top)
    levels = [Mark(round(_TOP + height * (1 - level / top), 1), render_level(level)) for level in halves]
    every = -(-len(columns) // _LABELS_MAX) or 1
    labels = [
        Mark(round(_LEFT + (place + 0.5) * span, 1), column.label)
        for place, column in enumerate(columns)
        if place % every == 0
    ]
    return Chart(bars, levels, labels)
