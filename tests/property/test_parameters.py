"""Every parameter row against values drawn for it: the longest legal one, one character more, a wrong character.
The longest values are written down by hand, so that a slip in a shape has something to disagree with.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollgate.catalog import COUNTRIES, CURRENCIES, PARAMETERS, Parameter, Resolved, Shape, resolve
from tollgate.catalog.parameters.names import HOLES
from tollgate.catalog.shape import Between
from tollgate.values import Fault

LONGEST = {
    "AN32, [a-f0-9]{32}": "f" * 32,
    "N10.N2": "9999999999.99",
    "N12.N2": "999999999999.99",
    "N9.N2": "999999999.99",
    "N8.N2": "99999999.99",
    r"N13, [0-9]{1,10}\.[0-9]{2}": "9999999999.99",
    "A3, ISO 4217": "EUR",
    "AN32, [a-zA-Z0-9_]{1,32}": "A_z9" * 8,
    "AN32, [A-Za-z0-9_]{1,32}": "A_z9" * 8,
    "AN32, [a-zA-Z0-9]{0,32}": "Az09" * 8,
    "AN15, [A-Za-z0-9]{0,15}": "Az0" * 5,
    "AN10, yyyy-MM-dd": "2028-02-29",
    "AN10, yyyy-MM-dd, year 19xx or 20xx": "2099-12-31",
    "AN19, yyyy-MM-dd HH:mm:ss": "2026-12-31 23:59:59",
    "AN19, yyyy-MM-dd or yyyy-MM-dd HH:mm:ss": "2026-12-31 23:59:59",
    "N32, 8-32": "4" * 32,
    "N2, 01-12": "12",
    "N4, 19xx or 20xx": "2099",
    "N4, 3-4": "1234",
    "N4": "9999",
    "N6": "999999",
    "N2": "32",
    "N2, exactly 2": "05",
    "N8": "12345678",
    "N25": "1" * 25,
    "N19, 12-19": "4" * 19,
    "AN64, [a-zA-Z0-9]{3,64}": "aZ09" * 16,
    "AN31, [a-zA-Z]{2}[0-9]{2}[a-zA-Z0-9]{11,27}": "MT84MALT011000012345MTLCAST001S",
    "AN12, [a-zA-Z0-9]{1,12}": "aZ0" * 4,
    "AN11, [a-zA-Z0-9]{8}([a-zA-Z0-9]{3})?": "COBADEFFXXX",
    "A2, ISO 3166-1 alpha-2": "DE",
    "A3, ISO 3166-1 alpha-3": "DEU",
    "N3, ISO 3166-1 numeric": "276",
    "A2 or N3, ISO 3166-1": "276",
    "AN256, [a-zA-Z-]{0,256}": "aZ-z" * 64,
    "AN32, [A-Za-z0-9+/]{26,32}={0,2}": "+/aZ09" * 5 + "==",
    "AN25, [+0-9][0-9 .()/-]{0,24}": "+" + "1 .()/-2" * 3,
    "AN26, [+0-9][0-9 .()/-]{5,25}": "+" + "1 .()/-2" * 3 + "3",
    "AN26, [+0-9][0-9 .()/-]{7,25}": "+" + "1 .()/-2" * 3 + "3",
    "AN2, [A-Z]{2}": "DE",
    "AN5, [+-]?[0-9]{1,4}": "-1440",
    "AN50, [a-zA-Z0-9.]{1,50}": "aZ09." * 10,
    "AN16, [A-Za-z0-9]{1,16}": "aZ09" * 4,
    "AN16, [A-Za-z0-9-]{1,16}": "aZ0-" * 4,
    "AN80, letters, blanks, hyphens, apostrophes": "Åé '-\u2019xy" * 10,
    "AN100, letters, digits, blanks": "Åé x9" * 20,
    "AN50, letters, digits, blanks": "Åé x9" * 10,
    "AN48, letters, digits, blanks": "Åé9 " * 12,
    "NS20, latitude,longitude": "-12.345678,-98.76543",
    r"AN16, [0-9]{1,12}(\.[0-9]{1,3})?": "999999999999.999",
    "AN6, 0-100 with up to 2 decimals": "100.00",
    "AN2048, http or https URL": "https://shop.example/" + "a" * 2027,
    r"AN263, https?://[a-zA-Z0-9.\-\[\]:]{1,255}": "https://" + "a" * 255,
    "AN2048, absolute URL": "app.shop+x://" + "a" * 2035,
    "AN48, [a-zA-Z0-9-]{1,48}": "aZ0-" * 12,
    r"AN8, [0-9]{1,2}(\.[0-9]{1,2}){0,2}": "12.34.56",
    "AN2, [0-9A-Za-z]{1,2}": "0Z",
    "AN2, 0?[1-9]": "04",
    "AN64, DB, PA, CD": "DB~x" * 16,
    "AN64, cron, 0-59": "0,*/" * 16,
    "AN64, cron, 0-23": "0,*/" * 16,
    "AN64, cron, 1-31, L, W, ?": "1,L?" * 16,
    "AN64, cron, 1-12 or JAN-DEC": "1-Fe" * 16,
    "AN64, cron, 1-7 or SUN-SAT, L, #, ?": "6#3," * 16,
    "AN64, cron, 1970-2099": "2099" * 16,
    "AN256, cron, 6 or 7 parts from second to year": "0 L#" * 64,
    "AN64, DAY, WEEK, MONTH, YEAR": "YEAR" * 16,
    r"AN14, [0-9]{4}\.[0-9]{4}\.[0-9]{4}": "1234.5678.9012",
    "AN255, [A-Za-z0-9_-]{1,255}": "aZ_0-" * 51,
    "AN4, ASC or DESC in any case": "Desc",
    "AN191, [A-Z0-9.]{2,5}(,[A-Z0-9.]{2,5}){0,31}": ",".join(["PA.CP"] * 32),
    "AN47, [A-Z]{2}(,[A-Z]{2}){0,15}": ",".join(["CC"] * 16),
}

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


def is_free_text(shape: Shape) -> bool:
    return shape.pattern is None and not shape.choices


def longest_value(shape: Shape) -> str:
    if shape.choices:
        return max(shape.choices, key=len)
    if shape.pattern is None:
        return "Ü" * shape.length_max
    return str(shape.check.high) if isinstance(shape.check, Between) else LONGEST[shape.notation]


def legal_values(shape: Shape) -> st.SearchStrategy[str]:
    if shape.choices:
        return st.sampled_from(shape.choices)
    if shape.pattern is None:
        legal = st.characters(exclude_categories=("Cc", "Cs"), include_characters="\t\r\n")
        return st.text(legal, min_size=shape.length_min, max_size=min(shape.length_max, shape.length_min + 40))
    if isinstance(shape.check, Between):
        return st.integers(shape.check.low, shape.check.high).map(str)
    if shape.check is not None:
        return st.just(LONGEST[shape.notation])
    drawn = st.from_regex(shape.pattern, fullmatch=True)
    return drawn.filter(lambda value: shape.length_min <= len(value) <= shape.length_max)


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
