"""The table of examples is complete and consistent. That a server answers them is tested over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.examples import (
    BASE,
    EXAMPLES,
    OPEN_LINK,
    Example,
    fill_holes,
    find_member,
    get_example,
    list_steps,
)
from tollgate.catalog.parameters.names import Resolved, first_word, resolve

ROWS = [example for rows in EXAMPLES.values() for example in rows]
HOLE = re.compile(r"\{(\w+)\}")


def test_every_endpoint_has_an_example_and_every_example_an_endpoint() -> None:
    assert set(EXAMPLES) == set(ENDPOINTS)
    assert all(EXAMPLES.values())


def test_every_example_has_a_name_and_within_its_endpoint_a_title_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert [key for key, rows in EXAMPLES.items() if len({row.title for row in rows}) != len(rows)] == []


def test_an_example_sends_only_what_its_endpoint_takes_and_all_that_it_needs() -> None:
    assert list(_list_wrong_parameters()) == []


def _list_wrong_parameters() -> Iterator[tuple[str, str]]:
    for row in ROWS:
        endpoint = ENDPOINTS[row.endpoint]
        names, own = [name for name, _ in row.pairs], {each.name for each in endpoint.own}
        for name in names:
            is_known = isinstance(resolve(name), Resolved) and first_word(name) in endpoint.takes
            if name not in own and not is_known:
                yield row.name, name
        required = {*endpoint.needs, *(each.name for each in endpoint.own if each.is_required)}
        yield from ((row.name, f"no {name}") for name in required - set(names))
        if len(set(names)) != len(names):
            yield row.name, "twice"


def test_every_hole_has_a_source_and_every_source_a_hole() -> None:
    for row in ROWS:
        holes = set(HOLE.findall(row.endpoint + "".join(value for _, value in row.pairs)))
        assert holes - {BASE} == set(row.ids), row.name


def test_steps_come_in_the_order_in_which_they_need_each_other_and_each_comes_once() -> None:
    names = [step.name for step in list_steps(get_example("link_payment"))]

    assert names == ["link", "opened_link", "opened_link_status", "paid_link", "link_payment"]
    assert get_example("opened_link").endpoint == OPEN_LINK


def test_a_member_is_found_by_its_path_or_not_at_all() -> None:
    answer = {"id": "a1", "list": [{"id": "b2"}], "count": 3}

    assert find_member(answer, "id") == "a1"
    assert find_member(answer, "list.0.id") == "b2"
    assert [find_member(answer, path) for path in ("list.1.id", "id.x", "none", "count", "list.x")] == [None] * 5


def test_holes_are_filled_by_answers_and_a_day_is_the_day_of_a_time() -> None:
    example = Example(
        name="any",
        endpoint="GET /v1/query/{id}",
        title="Any",
        ids={"id": "first.id", "day": "first.timestamp"},
    )
    answers = {"first": {"id": "a1", "timestamp": "2031-05-06 07:08:09+0000"}}

    assert fill_holes(example, answers, "https://host") == {"base": "https://host", "id": "a1", "day": "2031-05-06"}
