"""Every program of the documentation, in every language, is run against a server and gets the answer of its example."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.example_host import ALL, ExampleHost, is_success, open_example_host
from programs import run_programs
from tollgate.docs.calls import make_call
from tollgate.docs.snippets import LANGUAGES, Language, join_pieces, render_snippet


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleHost]:
    with open_example_host(tmp_path_factory.mktemp("snippets")) as host:
        yield host


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.id)
def test_every_program_gets_the_answer_of_its_example(host: ExampleHost, language: Language, tmp_path: Path) -> None:
    programs = {}
    for name, example in ALL.items():
        pieces = render_snippet(language, make_call(example), host.client.base_url)
        programs[name] = join_pieces(pieces, host.fill(example, host.prepare(example)))

    printed = run_programs(language.id, programs, tmp_path, language.suffix)

    host.remove_webhooks()
    wrong = {name: text for name, text in printed.items() if not (text.startswith("{") and is_success(text.encode()))}
    assert wrong == {}
