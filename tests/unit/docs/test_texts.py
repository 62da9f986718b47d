"""Every text of the project stands in the menu once, and all its links, anchors and pictures lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from html import unescape
from pathlib import Path

import pytest

from installing import build_wheel
from tollgate.catalog.results import RESULTS
from tollgate.docs import texts
from tollgate.docs.site import API

ROOT = Path(__file__).parents[3]
HREF = re.compile(r'<a [^>]*href="([^"]+)"')
IMAGE = re.compile(r'<img src="([^"]+)"')
ID = re.compile(r' id="([^"]+)"')
OUTSIDE = ("http:", "https:", "mailto:")


def list_sources() -> set[str]:
    """Returns the Markdown files at the root and in docs; those of the tests are no texts."""
    return {path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))}


def test_every_text_stands_in_one_group_once() -> None:
    assert sorted(texts.FILES) == sorted(list_sources())


def test_every_text_has_an_address_of_its_own() -> None:
    assert len(texts.BY_PATH) == len(texts.FILES)


def list_addresses() -> set[str]:
    """Returns every address that a text may link to, with its anchors."""
    found = {"/", "/openapi.json", texts.DOCS, texts.CODES, API, f"{texts.DOCS}/license"}
    found |= {f"{texts.CODES}/{code}" for code in RESULTS}
    for text in texts.list_texts():
        anchors = map(unescape, ID.findall(text.rendered.html))
        found |= {text.path, *(f"{text.path}#{anchor}" for anchor in anchors)}
    return found


def test_every_link_and_every_anchor_leads_somewhere() -> None:
    addresses = list_addresses()
    dead = []
    for text in texts.list_texts():
        for href in map(unescape, HREF.findall(text.rendered.html)):
            target = text.path + href if href.startswith("#") else href
            if not target.startswith((*OUTSIDE, f"{API}/")) and target not in addresses:
                dead.append(f"{text.name}: {href}")
    assert dead == []


def test_no_anchor_is_given_twice() -> None:
    for text in texts.list_texts():
        anchors = ID.findall(text.rendered.html)
        assert len(anchors) == len(set(anchors)), text.name


def test_every_picture_exists_and_is_as_large_as_it_says() -> None:
    sources = {source for text in texts.list_texts() for source in IMAGE.findall(text.rendered.html)}

    assert "/docs/images/shop.png" in sources
    assert [source for source in sources if not (ROOT / source.removeprefix("/")).is_file()] == []
    assert texts.measure("README.md", "docs/images/shop.png") == (1000, 900)


def test_the_menu_shows_the_titles_of_the_texts() -> None:
    assert [texts.read_title(text.name) for text in texts.list_texts()] == [text.title for text in texts.list_texts()]


def test_result_codes_and_parameters_link_to_what_describes_them() -> None:
    html = texts.read_text("docs/three-d-secure.md").rendered.html

    assert '<a href="/docs/codes/000.200.000"><code>000.200.000</code></a>' in html
    assert '<a href="/docs/reference/parameters#shopperResultUrl"><code>shopperResultUrl</code></a>' in html


def test_a_link_to_a_file_that_no_page_shows_is_refused() -> None:
    with pytest.raises(LookupError, match="no page shows"):
        texts.lead_to("docs/webhooks.md", "../pyproject.toml")


def test_a_built_package_has_the_texts_and_finds_them(tmp_path: Path) -> None:
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        names = set(wheel.namelist())
        wheel.extractall(unpacked)
    pictures = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "images").iterdir()}
    wanted = {f"tollgate/docs/sources/{name}" for name in (*texts.FILES, texts.LICENSE, *pictures)}

    show = "from tollgate.docs import texts; print(texts.ROOT); print(len([*texts.list_texts()]))"
    told = subprocess.run(
        [sys.executable, "-c", show], env={"PYTHONPATH": str(unpacked)}, check=True, capture_output=True, text=True
    )

    assert wanted - names == set()
    assert told.stdout.split() == [str(unpacked / "tollgate" / "docs" / "sources"), str(len(texts.FILES))]
