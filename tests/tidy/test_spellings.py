"""The interface is spelled only where it is spoken, and every spelling is in its table. Prose is not judged."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tidy.answer_fields import ANSWER_FIELDS
from tidy.house import name, parse, room_of, source_files, strings
from tollgate.catalog import PARAMETERS, resolve
from tollgate.values import Fault

SPEAKING_ROOMS = ("catalog", "contract", "connectors", "sandbox", "widget")

CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]*)+")
SEGMENT = r"[a-z][A-Za-z0-9]*(?:\[[^\[\]]*\])?"
DOTTED = re.compile(rf"{SEGMENT}(?:\.[A-Za-z0-9]+(?:\[[^\[\]]*\])?)+")
ROOTS = frozenset(re.split(r"[.\[]", full_name)[0] for full_name in PARAMETERS)


def is_dotted_spelling(text: str) -> bool:
    return DOTTED.fullmatch(text) is not None and re.split(r"[.\[]", text)[0] in ROOTS


def is_known(text: str) -> bool:
    """A parameter, the beginning of some (a mount), or a field that only answers have."""
    found = resolve(text)
    if (found is not None and not isinstance(found, Fault)) or text in PARAMETERS or text in ANSWER_FIELDS:
        return True
    return any(full_name.startswith((text + ".", text + "[")) for full_name in PARAMETERS)


def spoken(tree: ast.Module) -> list[str]:
    """Spellings of the interface in a file that should know none."""
    texts = {node.value for node in strings(tree) if isinstance(node.value, str)}
    dotted = {text for text in texts if is_dotted_spelling(text) and (is_known(text) or not text.islower())}
    return sorted(dotted | {text for text in texts if CAMEL.fullmatch(text) and is_known(text)})


def misspelled(tree: ast.Module, *, with_single_words: bool) -> list[str]:
    texts = {node.value for node in strings(tree) if isinstance(node.value, str)}
    spellings = {text for text in texts if is_dotted_spelling(text)}
    if with_single_words:
        spellings |= {text for text in texts if CAMEL.fullmatch(text) and not is_segment(text)}
    return sorted(text for text in spellings if not is_known(text))


def is_segment(word: str) -> bool:
    """A part of a longer name, as in the members of a nested answer."""
    return any(word in re.split(r"[.\[\]]+", full_name) for full_name in PARAMETERS)


@pytest.mark.parametrize("path", [path for path in source_files() if room_of(path) not in SPEAKING_ROOMS], ids=name)
def test_the_interface_is_spelled_in_its_own_rooms_only(path: Path) -> None:
    assert spoken(parse(path)) == []


@pytest.mark.parametrize("path", [path for path in source_files() if room_of(path) in SPEAKING_ROOMS], ids=name)
def test_every_spelling_is_in_the_parameter_table(path: Path) -> None:
    # Connectors and the sandbox also speak the acquirer's language, whose single words are none of ours.
    assert misspelled(parse(path), with_single_words=room_of(path) == "contract") == []


def test_the_reader_sees_a_planted_spelling() -> None:
    tree = ast.parse("fields['card.expiryMonth'], fields['merchantTransactionId'], log('tollgate.web'), 'payment.made'")
    assert spoken(tree) == ["card.expiryMonth", "merchantTransactionId"]


def test_the_reader_sees_a_planted_misspelling() -> None:
    tree = ast.parse("fields['card.expiryMoon'], fields['merchantTransactionIdd'], fields['card.number']")
    assert misspelled(tree, with_single_words=True) == ["card.expiryMoon", "merchantTransactionIdd"]


def test_no_answer_field_is_a_parameter_as_well() -> None:
    assert [field for field in sorted(ANSWER_FIELDS) if field in PARAMETERS] == []


def test_every_answer_field_is_spelled_by_the_contract() -> None:
    contract = [parse(path) for path in source_files() if room_of(path) == "contract"]
    spelled = {node.value for tree in contract for node in strings(tree)}
    assert spelled >= ANSWER_FIELDS
