"""Form text is read strictly: what is text comes out unchanged, what is not is refused and named."""

from __future__ import annotations

from urllib.parse import unquote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.catalog.limits import LIMITS
from tollgate.contract.fields import read_form
from tollgate.values import InvalidParameters, TooLarge

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50)


@given(st.lists(st.tuples(TEXT.filter(lambda name: 0 < len(urlencode({name: ""})) <= 250 and name != ""), TEXT)))
def test_what_a_client_encodes_is_what_is_read(pairs: list[tuple[str, str]]) -> None:
    assert read_form(urlencode(pairs).encode()) == pairs


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_and_never_break(body: bytes) -> None:
    try:
        pairs = read_form(body)
    except (InvalidParameters, TooLarge):
        return
    assert all(name and "\0" not in name + value for name, value in pairs)


@pytest.mark.parametrize(
    ("body", "pairs"),
    [
        (b"", []),
        (b"a=1&", [("a", "1")]),
        (b"a", [("a", "")]),
        (b"a=", [("a", "")]),
        (b"a=b=c", [("a", "b=c")]),
        (b"a=x+y%20z", [("a", "x y z")]),
        (b"a[0].b=#1 @home", [("a[0].b", "#1 @home")]),
        ("a=Größe".encode(), [("a", "Größe")]),
        (b"a%5B0%5D=%2B%26%3D", [("a[0]", "+&=")]),
        (b"a=1&a=2", [("a", "1"), ("a", "2")]),
    ],
)
def test_pairs_come_in_the_order_sent(body: bytes, pairs: list[tuple[str, str]]) -> None:
    assert read_form(body) == pairs


@pytest.mark.parametrize(
    "body",
    [b"a=%00", b"a=\0", b"a%00=1", b"a=%zz", b"a=%4", b"a=%", b"a=\xff", b"a=%ff", b"a=%c0%80", b"=1", b"a=1&&b=2"],
)
def test_what_is_no_text_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidParameters) as refused:
        read_form(body)

    assert len(refused.value.faults) == 1
    assert refused.value.faults[0].value is None


def test_names_and_counts_are_bounded() -> None:
    assert read_form(b"n" * LIMITS.name_length_max + b"=1")
    with pytest.raises(InvalidParameters):
        read_form(b"n" * (LIMITS.name_length_max + 1) + b"=1")
    assert len(read_form(b"&".join([b"a=1"] * LIMITS.parameters_max))) == LIMITS.parameters_max
    with pytest.raises(TooLarge):
        read_form(b"&".join([b"a=1"] * (LIMITS.parameters_max + 1)))


@pytest.mark.parametrize(
    "value", ["%5C%25", "\\x41%42", "\\%6E\\u0041", "a+%2B+b", "%C3%A9\u20ac%E2%82%AC", "\\N{DASH}%20", "%7e%7E"]
)
def test_escapes_are_read_as_everybody_reads_them(value: str) -> None:
    assert read_form(f"name={value}".encode()) == [("name", unquote_plus(value))]
