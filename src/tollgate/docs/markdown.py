"""Renders Markdown as HTML for pages with a strict policy, and finds the headings. The texts are read in `texts`."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
_NO_WORD = re.compile(r"[^\w\- ]")


class Heading(msgspec.Struct, frozen=True):
    level: int
    text: str
    anchor: str


class Rendered(msgspec.Struct, frozen=True):
    html: str
    headings: tuple[Heading, ...]
    lead: str
    """The first paragraph as plain text, which says what the page is about."""


_reader = MarkdownIt("commonmark", {"html": False}).enable("table")


def make_anchor(text: str) -> str:
    """Makes the anchor of a heading as GitHub does, because links between the texts use that."""
    return _NO_WORD.sub("", text.lower()).replace(" ", "-")


def render(text: str, lead_to: Callable[[str], str]) -> Rendered:
    """lead_to: turns the target of a link or a picture into an address of this host."""
    tokens = _reader.parse(_COMMENT.sub("", text))
    headings = _mark_headings(tokens)
    for token in tokens:
        for child in token.children or ():
            _lead(child, lead_to)
    html = _reader.renderer.render(_frame_tables(tokens), _reader.options, {})
    return Rendered(html, headings, _get_lead(tokens))


def _mark_headings(tokens: Sequence[Token]) -> tuple[Heading, ...]:
    found: list[Heading] = []
    for token, inside in pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = _get_text(inside)
        wanted = make_anchor(text)
        taken = {heading.anchor for heading in found}
        anchor = next(each for each in (wanted, *(f"{wanted}-{n}" for n in range(1, 1000))) if each not in taken)
        token.attrSet("id", anchor)
        found.append(Heading(int(token.tag[1]), text, anchor))
    return tuple(found)


def _get_text(inline: Token) -> str:
    texts = {"text": None, "code_inline": None, "softbreak": " "}
    return "".join(texts[each.type] or each.content for each in inline.children or () if each.type in texts)


def _lead(token: Token, lead_to: Callable[[str], str]) -> None:
    for token_type, name in (("link_open", "href"), ("image", "src")):
        if token.type == token_type:
            token.attrSet(name, lead_to(str(token.attrGet(name))))
            if name == "src":
                token.attrSet("loading", "lazy")


def _frame_tables(tokens: Sequence[Token]) -> list[Token]:
    """Puts every table into a region that scrolls by itself, so that the page never does."""
    framed: list[Token] = []
    for token in tokens:
        if token.type == "table_open":
            token.attrSet("class", "sortable")
            region = Token("scroll_open", "div", 1, attrs={"class": "scroll", "role": "region", "tabindex": "0"})
            region.attrSet("aria-label", "Table")
            framed += [region, token]
        elif token.type == "table_close":
            framed += [token, Token("scroll_close", "div", -1)]
        elif token.type in ("fence", "code_block"):
            # A block that is wider than a phone scrolls, and who uses a keyboard must reach it.
            token.attrSet("tabindex", "0")
            framed.append(token)
        else:
            framed.append(token)
    return framed


def _get_lead(tokens: Sequence[Token]) -> str:
    for token, inside in pairwise(tokens):
        if token.type == "paragraph_open" and token.level == 0:
            return " ".join(_get_text(inside).split())
    return ""
