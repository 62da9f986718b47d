"""The Markdown of the reference pages: tables, sections, whole pages. What they say is not decided here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

FIRST_LINE = "<!-- Written by tools/make_reference.py from the tables in the code: do not edit. -->"


def cell(text: str) -> str:
    # A pipe ends a cell even inside code.
    return text.replace("|", "\\|") or " "


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell(text) for text in row) + " |"
    yield ""


def page(title: str, *parts: Iterable[str]) -> str:
    lines = [FIRST_LINE, f"# {title}", ""]
    for part in parts:
        lines.extend(part)
    return "\n".join(lines).rstrip("\n") + "\n"


def section(title: str, *paragraphs: str) -> list[str]:
    return [f"## {title}", "", *(line for paragraph in paragraphs for line in (paragraph, ""))]
