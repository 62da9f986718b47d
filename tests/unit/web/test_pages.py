"""Pages for the shopper: whatever values come, the page stays the page it was meant to be, behind strict headers."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pytest
from jinja2 import TemplateNotFound, UndefinedError

from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.api import ROUTES
from tollgate.web.pages.packing import PACKED_OR_NOT
from tollgate.web.pages.rendering import ANYWHERE, STATIC_FILES, Pages, UnsafeAddress, check_address, get_source_name
from tollgate.web.request import Reply, Request

HOSTILE = "\"'><script>alert(1)</script>{{ 7 * 7 }}&amp;"
SHOP = "https://shop.example:8443/back?order=1&b=2"
WORDS = {"title": "Your bank", "text": "One step more."}

EXAMPLES: dict[str, dict[str, Any]] = {
    "forward.html": {**WORDS, "url": SHOP, "method": "POST", "fields": {"creq": "e30"}},
    "leave.html": {**WORDS, "url": SHOP},
    "collect.html": {
        **WORDS,
        "action": "/v1/shopper/1",
        "fields": {"step": "browser"},
        "asks": {"language": "browser.language", "javascript_enabled": "browser.scripts"},
        "frame": {
            "url": "https://acs.example/method",
            "name": "threeDSMethodData",
            "value": "e30",
            "until": "/v1/shopper/1/method",
            "done_name": "method",
        },
    },
    "wait.html": {**WORDS, "note": "Open the app of your bank", "url": "/v1/shopper/1"},
    "end.html": {**WORDS, "link": SHOP},
}

Tag = tuple[str, dict[str, str | None]]


class Reader(HTMLParser):
    """A page as a browser takes it apart: its tags and its text."""

    def __init__(self, page: Reply) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.text = ""
        self.feed(page.body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def read_policy(page: Reply) -> dict[str, str]:
    text = dict(page.headers)[b"content-security-policy"].decode()
    return {name: sources for name, _, sources in (part.partition(" ") for part in text.split("; "))}


def poison(value: Any) -> Any:
    """Returns the same values with hostile ones wherever text may come from outside."""
    if isinstance(value, dict):
        return {name: poison(inner) for name, inner in value.items()}
    return value + HOSTILE if isinstance(value, str) and value not in ("POST",) else value


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_is_html_in_one_language_with_a_title_and_a_heading(name: str) -> None:
    page = Pages().render(name, **EXAMPLES[name])

    assert (page.status, page.content_type) == (200, b"text/html;charset=UTF-8")
    reader = Reader(page)
    assert page.body.startswith(b"<!doctype html>")
    assert reader.all("html") == [{"lang": "en"}]
    assert len(reader.all("main")) == len(reader.all("h1")) == len(reader.all("title")) == 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_loads_only_files_of_ours_that_exist_and_runs_nothing_inline(name: str) -> None:
    reader = Reader(Pages().render(name, **EXAMPLES[name]))

    loaded = [attributes["src"] for attributes in reader.all("script")]
    loaded += [attributes["href"] for attributes in reader.all("link")]
    assert len(loaded) >= 2
    assert set(loaded) <= {asset.path for asset in STATIC_FILES.assets.values()}
    assert reader.all("style") == []
    names = {attribute for _, attributes in reader.tags for attribute in attributes}
    assert [attribute for attribute in names if attribute == "style" or attribute.startswith("on")] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_hostile_values_stay_text(name: str) -> None:
    plain = Reader(Pages().render(name, **EXAMPLES[name]))
    poisoned = Reader(Pages().render(name, **poison(EXAMPLES[name])))

    assert [tag for tag, _ in poisoned.tags] == [tag for tag, _ in plain.tags]
    assert [set(attributes) for _, attributes in poisoned.tags] == [set(attributes) for _, attributes in plain.tags]
    assert HOSTILE in poisoned.text


def test_a_forward_carries_its_fields_to_the_address_exactly() -> None:
    reader = Reader(Pages().render("forward.html", **EXAMPLES["forward.html"] | {"fields": {"creq": HOSTILE}}))

    assert reader.all("form") == [{"method": "post", "action": SHOP, "data-forward": None}]
    assert reader.all("input") == [{"type": "hidden", "name": "creq", "value": HOSTILE}]
    assert len(reader.all("button")) == 1


def test_a_page_that_leaves_names_the_address_twice_for_the_browser_and_for_the_finger() -> None:
    reader = Reader(Pages().render("leave.html", **EXAMPLES["leave.html"]))

    assert {"http-equiv": "refresh", "content": f"0;url={SHOP}"} in reader.all("meta")
    assert [attributes["href"] for attributes in reader.all("a")] == [SHOP]


def test_the_collecting_page_asks_only_for_the_named_properties() -> None:
    reader = Reader(Pages().render("collect.html", **EXAMPLES["collect.html"]))

    asked = {attributes["name"]: attributes["value"] for attributes in reader.all("input") if "data-ask" in attributes}
    # What a browser without scripts sends.
    assert asked == {"browser.language": "en", "browser.scripts": "false"}
    assert [form.get("target") for form in reader.all("form")] == ["issuer", None]


def test_the_collecting_page_has_no_frame_without_an_issuers_page() -> None:
    reader = Reader(Pages().render("collect.html", **EXAMPLES["collect.html"] | {"frame": None}))

    assert reader.all("iframe") == []
    assert [attributes for attributes in reader.all("input") if "data-done" in attributes] == []


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "JavaScript:alert(1)", " javascript:x", "data:text/html,x", "//a"]
)
def test_no_page_leads_to_an_address_that_runs(name: str, address: str) -> None:
    changed: dict[str, Any] = {
        key: address if key in ("url", "action", "link") else value for key, value in EXAMPLES[name].items()
    }

    with pytest.raises(UnsafeAddress):
        Pages().render(name, **changed)


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        Pages().render("forward.html", title="Only a title")


def test_a_room_may_build_on_our_layout_and_use_our_pages(tmp_path: Path) -> None:
    (tmp_path / "bank.html").write_text('{% extends "layout.html" %}{% block main %}<h1>{{ title }}</h1>{% endblock %}')
    pages = Pages(tmp_path)

    assert b"<h1>Bank &amp; Co</h1>" in pages.render("bank.html", title="Bank & Co", status=404).body
    assert pages.render("bank.html", title="Bank", status=404).status == 404
    assert pages.render("end.html", **EXAMPLES["end.html"]).status == 200
    with pytest.raises(TemplateNotFound):
        pages.render("../secret.html")


def test_a_page_may_do_nothing_that_it_was_not_given() -> None:
    policy = read_policy(Pages().render("end.html", **EXAMPLES["end.html"]))

    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "frame-src": "'none'",
    }


def test_a_page_may_lead_only_to_allowed_addresses() -> None:
    page = Pages().render(
        "end.html",
        form_targets=[SHOP, "https://SHOP.example:8443/other", "shop.app://paid", "https://[::1]:8080/x", "/v1/own"],
        framed_by=ANYWHERE,
        frames=["https://acs.example/method", "/v1/shopper"],
        **EXAMPLES["end.html"],
    )

    policy = read_policy(page)
    assert policy["form-action"] == "'self' https://shop.example:8443 shop.app: https:"
    assert policy["frame-ancestors"] == "*"
    assert policy["frame-src"] == "https://acs.example 'self'"
    assert dict(page.headers)[b"permissions-policy"].startswith(b"camera=()")


@pytest.mark.parametrize(
    "address",
    [
        "https://shop.example;script-src/*",
        "https://a b.example/",
        "https://shop.example, *",
        "https://user:word@shop.example/",
        "https://münchen.example/",
        "shop.app://; script-src *",
    ],
)
def test_an_address_cannot_write_into_the_policy(address: str) -> None:
    assert get_source_name(address) in ("https:", "shop.app:")


@pytest.mark.parametrize(
    "address", ["/v1/x", "https://shop.example", "http://127.0.0.1:1/", "msdk.demo.async://payment"]
)
def test_paths_of_ours_the_web_and_apps_may_be_led_to(address: str) -> None:
    assert check_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        *("", "page.html", "/\\evil.example", "//evil.example", ":x", "file:///etc/passwd", "shop.app:back"),
        *(" https://shop.example", "https:\\\\shop.example", "java\tscript://x", "\x01https://shop.example"),
        *("intent://x#Intent;scheme=javascript;end", "search-ms://x", "MS-MSDT://x"),
    ],
)
def test_everything_else_may_not(address: str) -> None:
    with pytest.raises(UnsafeAddress):
        check_address(address)


def ask(*names: str) -> Request:
    return Request(method="GET", path="", names=names, headers={}, pairs=[], trace="0" * 32)


NO_APP = cast(App, None)


@pytest.mark.anyio
@pytest.mark.parametrize("name", sorted(STATIC_FILES.assets))
async def test_a_file_is_served_from_the_path_that_pages_name_and_may_be_kept(name: str) -> None:
    asset = STATIC_FILES.assets[name]
    _, _, _, hash_named, file_named = asset.path.split("/")

    reply = await STATIC_FILES.answer(ask(hash_named, file_named), NO_APP)

    assert (reply.status, reply.body, reply.content_type) == (200, asset.body, asset.content_type)
    assert reply.headers == ((b"cache-control", b"public, max-age=31536000, immutable"), PACKED_OR_NOT)
    assert [row.path for row in ROUTES if row.operation == "static"] == ["/v1/static/{hash}/{name}"]


@pytest.mark.anyio
async def test_a_file_asked_for_by_an_older_hash_is_served_and_not_kept() -> None:
    reply = await STATIC_FILES.answer(ask("0" * 16, "page.css"), NO_APP)

    assert (reply.status, reply.headers) == (200, (PACKED_OR_NOT,))


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["other.css", "..", "page.css%00", ""])
async def test_no_other_file_is_served(name: str) -> None:
    with pytest.raises(NotFound):
        await STATIC_FILES.answer(ask("0" * 16, name), NO_APP)
