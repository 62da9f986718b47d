"""Headings and rows of a rendered text, to which links lead. Rendering is not done here."""

import re

import msgspec

_NO_WORD = re.compile(r"[^\w\- ]")
_LISTED_LEVELS = (2, 3)


class Heading(msgspec.Struct, frozen=True):
    level: int
    text: str
    anchor: str
    words: str = ""
    """The first paragraph below it as plain text."""


class Row(msgspec.Struct, frozen=True):
    """A row of a table that a link can lead to."""

    anchor: str
    key: str
    """Its first cell."""
    note: str


class Rendered(msgspec.Struct, frozen=True):
    html: str
    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]

    @property
    def lead(self) -> str:
        """The first paragraph as plain text, which says what the page is about."""
        return self.headings[0].words

    @property
    def listed(self) -> tuple[Heading, ...]:
        """The headings that the list of a page's sections shows."""
        return tuple(heading for heading in self.headings if heading.level in _LISTED_LEVELS)


def make_anchor(text: str) -> str:
    """Makes the anchor of a heading as GitHub does, because links between the texts use that."""
    return _NO_WORD.sub("", text.lower()).replace(" ", "-")
