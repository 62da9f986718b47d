"""Every page of the documentation that links lead to: small, by itself, with a strict policy."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import quote, urldefrag

import pytest

from gateway import Answer, Client
from tollgate.catalog.results import GROUPS, RESULTS
from tollgate.docs import code_pages, search_name

PAGE_BYTES_MAX = 100_000
"""A page with all that it loads, compressed: styles, scripts, icon and the index of the search."""
BEGIN = "/docs"
FOLLOWED = ("/docs", "/openapi.json")
PACKED = {"Accept-Encoding": "gzip"}
ENTITY = "$ENTITY"


@dataclass
class Links(HTMLParser):
    """The links of a page, the files it loads, and its anchors."""

    hrefs: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.hrefs.append(given["href"])
        elif tag == "link":
            self.loads.append(given["href"])
        elif "src" in given and tag != "img":
            self.loads.append(given["src"])
        elif tag == "img":
            self.hrefs.append(given["src"])
        self.loads += [given["data-index"]] if "data-index" in given else []
        self.ids += [given["id"]] if "id" in given else []
        self.faults += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]


@dataclass(frozen=True)
class Page:
    path: str
    answer: Answer
    links: Links

    @property
    def text(self) -> str:
        return gzip.decompress(self.answer.body).decode()


def fetch(client: Client, path: str) -> Page:
    answer = client.send("GET", path, headers=PACKED)
    links = Links()
    if answer.headers["content-type"].startswith("text/html"):
        links.feed(gzip.decompress(answer.body).decode())
    return Page(path, answer, links)


def crawl(client: Client) -> dict[str, Page]:
    """Follows every link that stays within the documentation."""
    found: dict[str, Page] = {}
    waiting = [BEGIN]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = fetch(client, path)
            targets = (urldefrag(href).url for href in found[path].links.hrefs)
            waiting += [target for target in targets if target.startswith(FOLLOWED)]
    return found


@pytest.fixture(scope="module")
def pages(client: Client) -> Mapping[str, Page]:
    return crawl(client)


@pytest.fixture(scope="module")
def shown(pages: Mapping[str, Page]) -> list[Page]:
    """The pages that are HTML."""
    return [page for page in pages.values() if page.answer.headers["content-type"].startswith("text/html")]


def test_every_link_leads_to_a_page(pages: Mapping[str, Page]) -> None:
    assert len(pages) > len(RESULTS)
    assert {path: page.answer.status for path, page in pages.items() if page.answer.status != 200} == {}


def test_every_anchor_that_is_linked_to_exists(pages: Mapping[str, Page], shown: list[Page]) -> None:
    dead = set()
    for page in shown:
        for href in page.links.hrefs:
            target, anchor = urldefrag(href)
            of = pages.get(target or page.path)
            if anchor and of is not None and of.answer.status == 200 and anchor not in of.links.ids:
                dead.add(f"{page.path}: {href}")
    assert dead == set()


def test_every_page_has_a_strict_policy_and_keeps_to_it(shown: list[Page]) -> None:
    for page in shown:
        policy = page.answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"), page.path
        assert "frame-ancestors 'none'" in policy, page.path
        assert "unsafe" not in policy
        assert page.links.faults == [], page.path
        assert re.search(r"<script(?![^>]* src=)|<style", page.text) is None, page.path


def test_no_page_loads_anything_from_another_host(shown: list[Page]) -> None:
    loaded = {target for page in shown for target in page.links.loads}

    assert len(loaded) > 5
    assert [target for target in loaded if not target.startswith("/") or target.startswith("//")] == []


def test_every_page_is_small_with_all_that_it_loads(client: Client, shown: list[Page]) -> None:
    loaded = {target for page in shown for target in page.links.loads}
    sizes = {target: len(client.send("GET", target, headers=PACKED).body) for target in loaded}
    whole = {page.path: len(page.answer.body) + sum(sizes[each] for each in page.links.loads) for page in shown}

    assert {path: size for path, size in whole.items() if size > PAGE_BYTES_MAX} == {}


def test_every_page_has_one_title_and_no_anchor_twice(shown: list[Page]) -> None:
    assert [page.path for page in shown if page.text.count("<h1") != 1] == []
    assert [page.path for page in shown if len(page.links.ids) != len(set(page.links.ids))] == []


def test_the_page_is_not_sent_again_to_who_has_it(client: Client) -> None:
    first = client.send("GET", "/docs/webhooks", headers=PACKED)
    tag = first.headers["etag"]

    again = client.send("GET", "/docs/webhooks", headers=PACKED | {"If-None-Match": f'"other", {tag}'})
    other = client.send("GET", "/docs/webhooks", headers=PACKED | {"If-None-Match": '"other"'})

    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert (other.status, other.body) == (200, first.body)


def test_the_index_is_kept_for_good_under_its_name(client: Client) -> None:
    current = client.send("GET", search_name.get_path(), headers=PACKED)
    older = client.send("GET", f"{search_name.SEARCH}/0123456789abcdef.json")

    assert "immutable" in current.headers["cache-control"]
    assert "no-store" in older.headers["cache-control"]
    assert gzip.decompress(current.body) == older.body


@pytest.mark.parametrize(
    "path",
    [
        *("/docs/nothing", "/docs/reference/nothing", "/docs/a/b", "/docs/a/b/c", "/docs/images/nothing.png"),
        *("/docs/images/..%2f..%2fpyproject.toml", "/docs/%2e%2e/%2e%2e/etc/passwd", "/docs/README.md", "/docs/%00"),
        *(f"/docs/{quote('日本')}", "/docs/<script>alert(1)</script>", "/docs/%ff%fe", "/docs/" + "x" * 1000),
    ],
)
def test_an_address_without_a_page_is_a_page_with_the_search(client: Client, path: str) -> None:
    answer = client.send("GET", path)

    assert answer.status == 404
    assert b'<input id="find"' in answer.body
    assert b"Page not found" in answer.body
    assert b"alert(1)" not in answer.body


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("/docs/codes/800.100.15", "800.100.155"),
        ("/docs/codes/000.100.111x", "000.100.111"),
        ("/docs/codes/800100155", "800.100.155"),
    ],
)
def test_an_unknown_code_suggests_the_nearest_ones(client: Client, path: str, nearest: str) -> None:
    page = fetch(client, path)

    assert page.answer.status == 404
    assert f"/docs/codes/{nearest}" in page.links.hrefs


@pytest.mark.parametrize(
    "path", ["/docs/codes/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/docs/codes/" + "9" * 1000, "/docs/codes/%ff"]
)
def test_a_hostile_code_is_not_shown(client: Client, path: str) -> None:
    answer = client.send("GET", path)

    assert answer.status == 404
    assert b"alert(1)" not in answer.body
    assert b"99999" not in answer.body


@pytest.mark.parametrize("code", [code_pages.list_group(group.id)[0].code for group in GROUPS])
def test_the_request_of_a_codes_page_gets_the_code(client: Client, code: str) -> None:
    """One code of every group; the request is taken from the page as a reader would."""
    text = re.search(r"<code>(curl .*?)</code>", fetch(client, f"/docs/codes/{code}").text, re.DOTALL)
    assert text is not None
    words = shlex.split(unescape(text[1]))
    fields = dict(word.partition("=")[::2] for flag, word in pairwise(words) if flag == "-d")

    assert fields["entityId"] == ENTITY
    assert client.post("/v1/payments", fields | {"entityId": client.entity_id}).code == code


def test_a_codes_page_says_what_the_rows_say(client: Client) -> None:
    text = fetch(client, "/docs/codes/800.100.155").text

    for part in ("rejected_by_bank", "4000000000009995", "payment.failed", "another day", "^(800\\.[17]00", "400"):
        assert part in text
    assert "/docs/codes/800.100.154" in text
    assert "/docs/codes/800.100.156" in text


def test_a_chargeback_names_the_reasons_of_banks(client: Client) -> None:
    text = fetch(client, "/docs/codes/000.100.203").text

    assert "<code>AM04</code>" in text
    assert "payment.charged_back" in text
    assert "payment.refunded" not in text
