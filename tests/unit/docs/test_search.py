"""The index of the search is small and complete, and its script finds what readers look for, in the right order."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.events import EVENT_ROWS
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.results import RESULTS
from tollgate.config import SETTINGS
from tollgate.docs import search, search_name, texts

MODULE = Path(search.__file__).parent / "modules" / "ranking.js"
INDEX_BYTES_MAX = 60_000
RUNNER = """
import { readFileSync } from "node:fs";
import { findEntries, isNearly, readIndex } from "./ranking.mjs";
const entries = readIndex(JSON.parse(readFileSync("index.json")));
const find = (text) => findEntries(entries, text).map(({ kind, path }) => [kind, path]);
const [name, given] = process.argv.slice(2);
console.log(JSON.stringify({ find, isNearly }[name](...JSON.parse(given))));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search")
    shutil.copy(MODULE, folder / "ranking.mjs")
    (folder / "run.mjs").write_text(RUNNER)
    (folder / "index.json").write_bytes(search.render_index(is_live=False).body)
    return folder


def run(folder: Path, name: str, *given: str) -> Any:
    command = ["node", "run.mjs", name, json.dumps(given)]
    return json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120).stdout)


def find(folder: Path, asked: str) -> list[tuple[str, str]]:
    return [(kind, path) for kind, path in run(folder, "find", asked)]


def list_titles(kind: str) -> set[str]:
    pages = search.make_index(is_live=False).pages
    return {title for page in pages if page.kind == kind for title, _, _ in page.entries}


def test_the_packed_index_is_small() -> None:
    assert len(search.render_index(is_live=False).gzipped) < INDEX_BYTES_MAX


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("Result code", set(RESULTS)),
        ("Endpoint", {f"{row.title}: {row.key}" for row in ENDPOINTS.values()}),
        ("Parameter", set(PARAMETERS)),
        ("Event", set(EVENT_ROWS)),
        ("Brand", set(BRANDS)),
        ("Setting", {f"--{setting.member.replace('_', '-')}" for setting in SETTINGS}),
        ("Text", {text.title for text in texts.list_texts()}),
    ],
)
def test_everything_that_has_a_name_is_in_the_index(kind: str, wanted: set[str]) -> None:
    assert wanted - list_titles(kind) == set()


def test_every_entry_leads_to_an_anchor_that_exists() -> None:
    ids = {text.path: text.rendered.html for text in texts.list_texts()}
    pages = [page for page in search.make_index(is_live=False).pages if page.path in ids]
    entries = [(page.path, rest) for page in pages for _, _, rest in page.entries]

    assert len(entries) > 1000
    assert [rest for path, rest in entries if rest and f'id="{rest.removeprefix("#")}"' not in ids[path]] == []


def test_a_live_host_does_not_find_the_sandbox() -> None:
    pages = search.make_index(is_live=True).pages

    assert [page for page in pages if page.kind == "Endpoint" and page.title == "Sandbox"] == []


def test_the_address_of_the_index_changes_with_its_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    before = search_name.get_path()
    search_name.get_path.cache_clear()
    monkeypatch.setattr(texts, "FILES", texts.FILES[1:])
    after = search_name.get_path()
    search_name.get_path.cache_clear()

    assert before != after


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("000.100.110", ("Result code", "/docs/codes/000.100.110")),
        ("card.cvv", ("Parameter", "/docs/reference/parameters#card.cvv")),
        ("CARD.CVV", ("Parameter", "/docs/reference/parameters#card.cvv")),
        ("POST /v1/payments", ("Endpoint", "/docs/api/post-v1-payments")),
        ("  post   /v1/payments ", ("Endpoint", "/docs/api/post-v1-payments")),
        ("refund", ("Endpoint", "/docs/api/post-v1-payments-id")),
        ("chargeback", ("Word", "/docs/glossary#chargeback")),
        ("payment.refunded", ("Event", "/docs/reference/events#payment.refunded")),
        ("--four-eyes", ("Setting", "/docs/reference/settings#--four-eyes")),
        ("webhooks", ("Text", "/docs/webhooks")),
        ("webhoks", ("Text", "/docs/webhooks")),
        ("glosary", ("Text", "/docs/glossary")),
    ],
)
def test_the_best_result_comes_first(folder: Path, asked: str, first: tuple[str, str]) -> None:
    assert find(folder, asked)[0] == first


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("soft decline", "/docs/codes/300.100.100"),
        ("sort table zzz", None),
        ("decline soft", "/docs/codes/300.100.100"),
        ("100.100", "/docs/codes/100.100.100"),
        ("visa", "/docs/reference/brands#VISA"),
    ],
)
def test_all_words_are_wanted_in_any_order(folder: Path, asked: str, wanted: str | None) -> None:
    paths = [path for _, path in find(folder, asked)]

    assert paths == [] if wanted is None else wanted in paths


@pytest.mark.parametrize("asked", ["", "   ", ".", "()[]*+?\\", "<script>alert(1)</script>", "é" * 300])
def test_odd_input_finds_nothing_and_breaks_nothing(folder: Path, asked: str) -> None:
    assert find(folder, asked) == [] or "script" in asked


@pytest.mark.parametrize(
    ("typed", "word", "is_near"),
    [
        ("refund", "refund", True),
        ("refnd", "refund", True),
        ("refuund", "refund", True),
        ("refumd", "refund", True),
        ("refnud", "refund", True),
        ("rfeund", "refund", True),
        ("refnnd", "refund", True),
        ("rexxnd", "refund", False),
        ("refundable", "refund", False),
        ("dnufer", "refund", False),
    ],
)
def test_one_mistyped_letter_is_forgiven(folder: Path, typed: str, word: str, is_near: bool) -> None:
    assert run(folder, "isNearly", typed, word) is is_near
