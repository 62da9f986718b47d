"""Every example of the documentation is answered with a success, after the examples that it needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.example_host import ALL, ExampleHost, open_example_host
from tollgate.catalog.results import RESULTS, is_pending, is_success


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleHost]:
    with open_example_host(tmp_path_factory.mktemp("examples")) as host:
        yield host


@pytest.mark.parametrize("name", ALL)
def test_an_example_is_answered_with_a_success(host: ExampleHost, name: str) -> None:
    example = ALL[name]

    answer = host.send(example, host.prepare(example))

    assert answer.status == 200, answer.body
    if "result" in answer.json:
        code = answer.code
        assert is_success(code) or is_pending(code) or RESULTS[code].group == "chargeback", answer.body
