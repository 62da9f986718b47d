"""Words that were retired stay away. What took their place stands in docs/glossary.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidy.source_tree import ROOT, code_files, expect_none, name

GLOSSARY = ROOT / "docs" / "glossary.md"


def list_retired_words() -> list[str]:
    """Returns the words in backticks in the first column of the table under `Retired words`."""
    table = GLOSSARY.read_text("utf-8").partition("## Retired words")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [word for row in rows for word in re.findall("`([^`]+)`", row)]


def find_words(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """A word that ends in an underscore is the beginning of names."""
    spelled = [rf"{word}\w*" if word.endswith("_") else rf"{word}(?!\w)" for word in words]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})")
    for number, line in enumerate(text.splitlines(), 1):
        yield from ((number, found) for found in pattern.findall(line))


def test_no_retired_word_stands_in_the_code() -> None:
    words = list_retired_words()
    paths = [path for path in code_files() if path.name != "test_words.py"]
    found = [
        f"{name(path)}:{line}: {word}" for path in paths for line, word in find_words(path.read_text("utf-8"), words)
    ]
    expect_none(found, "docs/glossary.md retired these words and says what to write instead")


def test_a_planted_word_is_found() -> None:
    planted = "the House\n    steps_pay()\nhouses are fine"
    assert list(find_words(planted, ["House", "steps_"])) == [(1, "House"), (2, "steps_pay")]


def test_the_glossary_names_a_word_once() -> None:
    words = list_retired_words()
    assert len(words) > 20
    assert sorted(words) == sorted(set(words))


def test_the_architecture_leads_to_the_glossary() -> None:
    assert "docs/glossary.md" in (ROOT / "ARCHITECTURE.md").read_text("utf-8")
