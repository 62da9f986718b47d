"""Renders Markdown as HTML for pages with a strict policy, and finds headings and rows. Texts are read in `texts`.

It is imported where a text is rendered, because no text is rendered at the start of a host.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from tollgate.docs.headings import Heading, Rendered, Row, make_anchor

_COMMENT = re.compile(r"\A<!--.*?-->\n", re.DOTALL)
"""Generated texts begin with one."""
_SPACES = re.compile(r"\s+")
_NOTES = ("note", "meaning", "means", "says", "when", "effect", "name")
"""The titles of columns that describe a row, best first."""
_TERMS = "word"
"""The title of a first column whose rows have anchors although it holds no code."""


class Places(msgspec.Struct, frozen=True):
    """The addresses and sizes of what a text names."""

    lead_to: Callable[[str], str]
    """Turns the target of a link or a picture into an address of this host."""
    find_page: Callable[[str], str | None]
    """Finds the page of what a text writes as code, such as a result code."""
    measure: Callable[[str], tuple[int, int]]
    """Returns width and height of a picture."""


_reader = MarkdownIt("commonmark", {"html": False}).enable("table")


def render(text: str, places: Places) -> Rendered:
    tokens = _reader.parse(_COMMENT.sub("", text))
    headings = _mark_headings(tokens)
    rows = _mark_rows(tokens, {heading.anchor for heading in headings})
    for token in tokens:
        for child in token.children or ():
            _lead(child, places)
    _link_codes(tokens, places.find_page)
    html = _reader.renderer.render(list(_frame(tokens)), _reader.options, {})
    return Rendered(html, headings, rows)


def render_inline(text: str, find_page: Callable[[str], str | None]) -> str:
    """Renders the words of a row, which may contain code."""
    tokens = _reader.parseInline(text)
    for token in tokens:
        token.children = list(_link_inside(token.children or (), find_page))
    return str(_reader.renderer.render(tokens, _reader.options, {}))


# ---- what a text contains ----


def _mark_headings(tokens: Sequence[Token]) -> tuple[Heading, ...]:
    """Gives every heading its anchor, and a link to itself."""
    found: list[Heading] = []
    for place, (token, inside) in enumerate(pairwise(tokens)):
        if token.type != "heading_open":
            continue
        text = _get_text(inside)
        wanted = make_anchor(text)
        taken = {heading.anchor for heading in found}
        anchor = next(each for each in (wanted, *(f"{wanted}-{n}" for n in range(1, 1000))) if each not in taken)
        level = int(token.tag[1])
        token.attrSet("id", anchor)
        if level > 1:
            link = f' <a class="anchor" href="#{escapeHtml(anchor)}" aria-label="Link to this section"></a>'
            inside.children = [*(inside.children or ()), Token("html_inline", "", 0, content=link)]
        found.append(Heading(level, text, anchor, _get_words(tokens[place + 3 :])))
    return tuple(found)


def _get_words(tokens: Sequence[Token]) -> str:
    """Returns the first paragraph before the next heading."""
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            break
        if token.type == "paragraph_open" and token.level == 0 and (text := _get_text(inside)):
            return text
    return ""


def _get_text(inline: Token) -> str:
    parts = (" " if each.type == "softbreak" else each.content for each in inline.children or () if _is_text(each))
    return _SPACES.sub(" ", "".join(parts)).strip()


def _is_text(token: Token) -> bool:
    return token.type in ("text", "code_inline", "softbreak")


def _mark_rows(tokens: Sequence[Token], taken: set[str]) -> tuple[Row, ...]:
    """Gives every row that names something by its first cell an anchor, so that links and the search lead to it."""
    found: list[Row] = []
    head: list[str] = []
    for opened, is_head, cells in _list_rows(tokens):
        texts = [_get_text(cell) for cell in cells]
        if is_head:
            head = texts
            continue
        is_code = [child.type for child in cells[0].children or ()] == ["code_inline"]
        anchor = _SPACES.sub("-", texts[0])
        if not (is_code or head[0] == _TERMS) or anchor in ("", *taken):
            continue
        taken.add(anchor)
        opened.attrSet("id", anchor)
        titled = dict(zip(head, texts, strict=True))
        found.append(Row(anchor, texts[0], next((titled[title] for title in _NOTES if titled.get(title)), "")))
    return tuple(found)


def _list_rows(tokens: Sequence[Token]) -> Iterator[tuple[Token, bool, list[Token]]]:
    """Yields the opening of each row, whether it is the head, and its cells."""
    opened, is_head, cells = tokens[0], False, list[Token]()
    for token, inside in pairwise(tokens):
        if token.type == "tr_open":
            opened, cells = token, []
        elif token.type in ("th_open", "td_open"):
            is_head = token.tag == "th"
            cells.append(inside)
        elif token.type == "tr_close":
            yield opened, is_head, cells


# ---- how it is shown ----


def _link_codes(tokens: Sequence[Token], find_page: Callable[[str], str | None]) -> None:
    """Makes links of what is written as code and has a page, but not in headings."""
    for token, inside in pairwise(tokens):
        if token.type != "heading_open" and inside.children:
            inside.children = list(_link_inside(inside.children, find_page))


def _link_inside(tokens: Sequence[Token], find_page: Callable[[str], str | None]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type.startswith("link_") else 0
        page = find_page(token.content) if token.type == "code_inline" and depth == 0 else None
        if page is None:
            yield token
        else:
            yield from (Token("link_open", "a", 1, attrs={"href": page}), token, Token("link_close", "a", -1))


def _lead(token: Token, places: Places) -> None:
    if token.type == "link_open":
        token.attrSet("href", places.lead_to(str(token.attrGet("href"))))
    elif token.type == "image":
        source = str(token.attrGet("src"))
        width, height = places.measure(source)
        # A browser that knows the size leaves room for the picture, so nothing moves when it arrives.
        token.attrs |= {"src": places.lead_to(source), "loading": "lazy", "width": width, "height": height}


def _frame(tokens: Sequence[Token]) -> Iterator[Token]:
    """Puts tables and code into regions that scroll by themselves, so that the page never does.

    A region is named by its section, and by a number from the second on, because no two may have the same name.
    """
    section = ""
    counted: Counter[str] = Counter()

    def make_name(what: str) -> str:
        name = f"{section}: {what}"
        counted[name] += 1
        return name if counted[name] == 1 else f"{name} {counted[name]}"

    is_empty = False
    for token, following in pairwise([*tokens, Token("", "", 0)]):
        if token.type == "heading_open":
            section = _get_text(following)
        if token.type == "th_open":
            is_empty = not following.content
        if token.type == "th_open" and is_empty:
            # An empty head names nothing, and readers of screens would look for its name.
            yield Token("td_open", "td", 1)
        elif token.type == "th_close" and is_empty:
            yield Token("td_close", "td", -1)
        elif token.type == "table_open":
            region = {"class": "scroll", "role": "region", "tabindex": "0", "aria-label": make_name("table")}
            token.attrSet("class", "sortable")
            yield from (Token("scroll_open", "div", 1, attrs=dict(region)), token)
        elif token.type == "table_close":
            yield from (token, Token("scroll_close", "div", -1))
        elif token.type in ("fence", "code_block"):
            yield Token("html_block", "", 0, content=_render_code(token, make_name("code")))
        else:
            yield token


_LANGUAGES = {
    "": "",
    "console": "Console",
    "css": "CSS",
    "csv": "CSV",
    "diff": "Changes",
    "html": "HTML",
    "http": "HTTP",
    "java": "Java",
    "javascript": "JavaScript",
    "js": "JavaScript",
    "json": "JSON",
    "jsx": "JavaScript with JSX",
    "kotlin": "Kotlin",
    "mermaid": "Diagram in Mermaid",
    "php": "PHP",
    "python": "Python",
    "sh": "Shell",
    "swift": "Swift",
    "text": "Text",
    "ts": "TypeScript",
    "vue": "Vue",
}


def _render_code(token: Token, name: str) -> str:
    language = token.info.split()[0] if token.info.strip() else ""
    label = _LANGUAGES.get(language, language)
    caption = f'<p class="language">{escapeHtml(label)}</p>' if label else ""
    region = f'<pre tabindex="0" role="region" aria-label="{escapeHtml(name)}">'
    return f'<div class="code">{caption}{region}<code>{escapeHtml(token.content)}</code></pre></div>\n'
