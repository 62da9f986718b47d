"""Every parameter row against values drawn for it: the longest legal one, one character more, a wrong character.
The longest values are written down by hand, so that a slip in a shape has something to disagree with.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.parameter_values import is_free_text, legal_values, longest_value
from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.parameters.names import HOLES, PARAMETERS, Resolved, resolve
from tollgate.catalog.parameters.row import Parameter
from tollgate.catalog.shape import Shape
from tollgate.values import Fault

CASES = [
    (row, shape)
    for row in PARAMETERS.values()
    for shape in dict.fromkeys((row.shape, row.lenient))
    if shape is not None
]
SHAPES = {shape: row.name for row in PARAMETERS.values() for shape in (row.shape, row.lenient) if shape is not None}
CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
BREAKS = ("\t", "\r", "\n")


def name_case(value: Parameter | Shape) -> str:
    return value.name if isinstance(value, Parameter) else value.notation


@pytest.mark.parametrize(("row", "shape"), CASES, ids=name_case)
def test_the_longest_legal_value_is_accepted_and_one_character_more_is_not(row: Parameter, shape: Shape) -> None:
    value = longest_value(shape)
    is_lenient = shape is row.lenient

    assert len(value) == shape.length_max
    assert row.check_value(row.name, value, is_lenient=is_lenient) is None
    assert row.check_value(row.name, value + value[-1], is_lenient=is_lenient) is not None


@pytest.mark.parametrize(("row", "shape"), [case for case in CASES if not is_free_text(case[1])], ids=name_case)
def test_a_value_with_a_character_that_does_not_belong_is_refused(row: Parameter, shape: Shape) -> None:
    value = longest_value(shape)
    stranger = "<" if "URL" in shape.notation else "§"

    fault = row.check_value(row.name, value[:-1] + stranger, is_lenient=shape is row.lenient)

    assert fault is not None
    assert fault.message == shape.message


@pytest.mark.parametrize(("row", "shape"), CASES, ids=name_case)
def test_control_characters_are_refused_wherever_they_stand(row: Parameter, shape: Shape) -> None:
    value = longest_value(shape)
    refused = [control for control in CONTROLS if not (is_free_text(shape) and control in BREAKS)]

    for control in refused:
        assert not shape.accepts(value[:-1] + control), row.name
        assert not shape.accepts(control + value[1:]), row.name
        assert not shape.accepts(value + control), row.name


@pytest.mark.parametrize("shape", SHAPES, ids=SHAPES.get)
def test_what_a_shape_describes_it_accepts(shape: Shape) -> None:
    @settings(max_examples=20)
    @given(legal_values(shape))
    def every_drawn_value_is_accepted(value: str) -> None:
        assert shape.accepts(value)

    every_drawn_value_is_accepted()


@given(st.sampled_from(sorted(SHAPES, key=SHAPES.__getitem__)), st.text(max_size=300))
def test_no_text_at_all_breaks_a_shape(shape: Shape, value: str) -> None:
    accepted = shape.accepts(value)

    assert not accepted or shape.length_min <= len(value) <= shape.length_max


@pytest.mark.parametrize("shape", SHAPES, ids=SHAPES.get)
def test_the_quick_test_of_a_shape_answers_as_the_shape_does(shape: Shape) -> None:
    passes = shape.make_test()
    edges = [longest_value(shape), longest_value(shape) + "0", "", "\n", "0" * 5000]

    @settings(max_examples=50)
    @given(legal_values(shape) | st.text(max_size=300) | st.sampled_from(edges), st.sampled_from(["", "\n", "\0", " "]))
    def any_text_is_accepted_by_both_or_neither(value: str, tail: str) -> None:
        assert bool(passes(value + tail)) == shape.accepts(value + tail)

    any_text_is_accepted_by_both_or_neither()


@given(st.sampled_from(sorted(CURRENCIES)), st.sampled_from(sorted(COUNTRIES)))
def test_every_iso_code_is_accepted(currency: str, country: str) -> None:
    assert PARAMETERS["currency"].shape.accepts(currency)
    assert PARAMETERS["billing.country"].shape.accepts(country)
    assert PARAMETERS["sender.country"].shape.accepts(COUNTRIES[country].alpha3)
    assert PARAMETERS["merchant.countryCode"].shape.accepts(COUNTRIES[country].numeric)


@given(st.integers(min_value=0, max_value=20_000))
def test_an_index_is_good_up_to_its_limit_and_no_further(index: int) -> None:
    limit = HOLES["cart.items"].index_max
    assert limit is not None

    found = resolve(f"cart.items[{index}].name")

    assert isinstance(found, Resolved if index <= limit else Fault)


@given(st.text(max_size=256))
def test_any_name_at_all_resolves_to_something(name: str) -> None:
    found = resolve(name)

    assert found is None or isinstance(found, Resolved | Fault)


@given(st.from_regex("[a-zA-Z0-9._]{3,64}", fullmatch=True))
def test_any_legal_key_resolves_and_keeps_its_spelling(key: str) -> None:
    for sent in (f"customParameters[{key}]", f'customParameters["{key}"]'):
        found = resolve(sent)
        assert isinstance(found, Resolved)
        assert found.canonical_name == f"customParameters[{key}]"
