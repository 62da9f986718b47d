"""A handler finds the first value of a name that was sent twice."""

from __future__ import annotations

from tollgate.web.request import Request


def test_of_a_name_sent_twice_the_first_value_is_found_and_of_none_nothing() -> None:
    pairs = [("a", "1"), ("b", "2"), ("a", "3")]
    request = Request(method="GET", path="/", names=(), headers={}, pairs=pairs, trace="0" * 32)

    assert [request.find(name) for name in ("a", "b", "c")] == ["1", "2", ""]
