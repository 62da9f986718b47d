"""The interface is spelled only where it is spoken, and every spelling is in its table. Prose is not judged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, partial

from tidy.answer_fields import ANSWER_FIELDS
from tidy.source_tree import Offence, expect_none, list_offenders, package_of, parse, source_files, strings
from tollgate.catalog.parameters.names import PARAMETERS, resolve
from tollgate.values import Fault

SPEAKING_PACKAGES = ("catalog", "contract", "connectors", "sandbox", "widget")

CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]*)+")
SEGMENT = r"[a-z][A-Za-z0-9]*(?:\[[^\[\]]*\])?"
DOTTED = re.compile(rf"{SEGMENT}(?:\.[A-Za-z0-9]+(?:\[[^\[\]]*\])?)+")
ROOTS = frozenset(re.split(r"[.\[]", full_name)[0] for full_name in PARAMETERS)
SEGMENTS = frozenset(word for full_name in PARAMETERS for word in re.split(r"[.\[\]]+", full_name))
"""These are parts of longer names, the members of a nested answer."""

PLACES = frozenset(place for row in PARAMETERS.values() for place in row.to.values())


def is_dotted_spelling(text: str) -> bool:
    return DOTTED.fullmatch(text) is not None and re.split(r"[.\[]", text)[0] in ROOTS


@cache
def is_known(text: str) -> bool:
    """A parameter, the beginning of some (a mount), a field that only answers have, or a place in a message."""
    found = resolve(text)
    if (found is not None and not isinstance(found, Fault)) or text in PARAMETERS or text in ANSWER_FIELDS:
        return True
    return any(full_name.startswith((text + ".", text + "[")) for full_name in (*PARAMETERS, *PLACES))


def find_spoken(tree: ast.Module) -> Iterator[Offence]:
    """Spellings of the interface in a file that should know none."""
    for node in strings(tree):
        text = str(node.value)
        is_dotted = is_dotted_spelling(text) and (is_known(text) or not text.islower())
        if is_dotted or (CAMEL.fullmatch(text) and is_known(text)):
            yield node.lineno, text


def find_misspelled(tree: ast.Module, *, with_single_words: bool) -> Iterator[Offence]:
    for node in strings(tree):
        text = str(node.value)
        is_single_word = with_single_words and CAMEL.fullmatch(text) and text not in SEGMENTS
        if (is_dotted_spelling(text) or is_single_word) and not is_known(text):
            yield node.lineno, text


def test_the_interface_is_spelled_in_its_own_rooms_only() -> None:
    others = [path for path in source_files() if package_of(path) not in SPEAKING_PACKAGES]
    expect_none(list_offenders(others, find_spoken), f"the interface is spelled in {', '.join(SPEAKING_PACKAGES)} only")


def test_every_spelling_is_in_the_parameter_table() -> None:
    # Connectors and the sandbox also speak the acquirer's language, whose single words are none of ours.
    found = [
        offender
        for package in SPEAKING_PACKAGES
        for offender in list_offenders(
            [path for path in source_files() if package_of(path) == package],
            partial(find_misspelled, with_single_words=package == "contract"),
        )
    ]
    expect_none(found, "a spelling of the interface is in its table")


def test_the_reader_sees_a_planted_spelling() -> None:
    tree = ast.parse("fields['card.expiryMonth'], fields['merchantTransactionId'], log('tollgate.web'), 'payment.made'")
    assert [text for _, text in find_spoken(tree)] == ["card.expiryMonth", "merchantTransactionId"]


def test_the_reader_sees_a_planted_misspelling() -> None:
    tree = ast.parse("fields['card.expiryMoon'], fields['merchantTransactionIdd'], fields['card.number']")
    found = [text for _, text in find_misspelled(tree, with_single_words=True)]
    assert found == ["card.expiryMoon", "merchantTransactionIdd"]


def test_no_answer_field_is_a_parameter_as_well() -> None:
    assert [field for field in sorted(ANSWER_FIELDS) if field in PARAMETERS] == []


def test_every_answer_field_is_spelled_by_the_contract() -> None:
    contract = [parse(path) for path in source_files() if package_of(path) == "contract"]
    spelled = {node.value for tree in contract for node in strings(tree)}
    assert spelled >= ANSWER_FIELDS
