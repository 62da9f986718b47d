"""The frames' pages as they are served: who may show them, what they may do, and what their files hold."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from tollgate.catalog.brands import CARD_BRANDS
from tollgate.operations.app import App
from tollgate.values import NotFound
from tollgate.web.pages.scripts import join_modules
from tollgate.web.request import Reply, Request
from tollgate.widget import serving as frames

pytestmark = pytest.mark.anyio

SHOP = "https://shop.example"
NO_APP = cast(App, None)


async def read_frame(field: str, *origins: str, accept: bytes = b"text/html") -> Reply:
    pairs = [("origin", origin) for origin in origins]
    headers = {b"accept": accept}
    request = Request(method="GET", path="", names=(field,), headers=headers, pairs=pairs, trace="")
    handler: Any = frames.ROUTES[0].handler
    reply: Reply = await handler(request, NO_APP)
    return reply


def read_policy(reply: Reply) -> dict[str, str]:
    policy = dict(reply.headers)[b"content-security-policy"].decode()
    return {name: sources for name, _, sources in (part.partition(" ") for part in policy.split("; "))}


async def test_a_frame_is_shown_by_the_named_pages_only_and_may_do_very_little() -> None:
    reply = await read_frame("number", SHOP, "http://127.0.0.1:8081")

    assert reply.status == 200
    assert read_policy(reply) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-src": "'none'",
        "frame-ancestors": f"{SHOP} http://127.0.0.1:8081",
    }
    assert b"payment=()" in dict(reply.headers)[b"permissions-policy"]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"text/html,*/*;q=0.8", "text/html,*/*;q=0.8"),
        (b'"><script>\x80', "&#34;&gt;&lt;script&gt;"),
        (b"x" * 5000, "x" * 2048),
        (b"", ""),
    ],
)
async def test_a_frame_keeps_the_accept_header_of_its_own_request(sent: bytes, kept: str) -> None:
    page = (await read_frame("number", SHOP, accept=sent)).body.decode()

    assert f'<body data-accept="{kept}">' in page


@pytest.mark.parametrize("field", frames.FIELDS)
async def test_every_frame_has_the_one_input_that_browsers_know_how_to_fill(field: str) -> None:
    page = (await read_frame(field, SHOP)).body.decode()

    assert page.count("<input") == 1
    assert f'name="card.{field}"' in page
    assert f'autocomplete="{frames.FIELDS[field].completion}"' in page
    assert f'src="/v1/paymentWidgets/{frames.FRAME_VERSION}/frame.js"' in page
    assert "style=" not in page
    assert not re.search(r"<script[^>]*>[^<]", page), "a script stands in the page itself"


async def test_a_frame_without_an_origin_or_with_a_malformed_one_is_refused_and_framed_by_nobody() -> None:
    for origins in ((), ("null",), ("*",), (SHOP, "https://*.example"), (SHOP,) * (frames.ORIGINS_MAX + 1)):
        reply = await read_frame("cvv", *origins)
        assert (reply.status, read_policy(reply)["frame-ancestors"]) == (400, "'none'")
        assert b"<input" not in reply.body


async def test_a_field_that_is_none_is_not_found() -> None:
    with pytest.raises(NotFound):
        await read_frame("pin", SHOP)


@pytest.mark.parametrize(
    "origin", [SHOP, "http://localhost", "https://xn--mnchen-3ya.example:8443", "http://10.0.0.1:80"]
)
def test_an_origin_is_taken_as_browsers_spell_it(origin: str) -> None:
    assert frames.is_origin(origin)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "https://",
        "https://shop.example/",
        "https://shop.example/path",
        "https://shop.example?x",
        "HTTPS://shop.example",
        "https://Shop.example",
        "https://shop.example:",
        "https://shop.example:0",
        "https://shop.example:65536",
        "https://user@shop.example",
        "https://shop.example;script-src *",
        "https://shop.example https://other.example",
        "https://shop.example\n",
        "https://*.example",
        "https://-.example",
        "https://shop..example",
        "https://[::1]:8080",
        "ftp://shop.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "'self'",
        f"https://{'a' * 300}.example",
    ],
)
def test_what_is_no_plain_origin_is_refused(text: str) -> None:
    assert not frames.is_origin(text)


def test_the_script_is_one_strict_closure_over_all_modules_and_the_rows_of_all_cards() -> None:
    script = frames.FRAME_ASSETS["frame.js"].decode()

    assert script.startswith('(() => {\n"use strict";\n')
    assert frames.BRAND_ROWS + join_modules(frames.FRAMES_FOLDER / "parts" / "start.js") in script
    assert not re.search(r"^\s|^//|^/\*", script, re.MULTILINE), "margins and comments are not for browsers"
    assert all(f'"{brand.code}":{{' in script for brand in CARD_BRANDS)


def test_the_script_keeps_nothing_and_speaks_to_exact_origins_only() -> None:
    script = frames.FRAME_ASSETS["frame.js"].decode()

    for banned in ("console.", "localStorage", "sessionStorage", "indexedDB", "cookie", "innerHTML", "eval(", '"*"'):
        assert banned not in script
    # One to siblings, with the service's own origin as the only reader; one over the port that the page handed in.
    assert sorted(re.findall(r"(\w+)\.postMessage\(", script)) == ["port", "sibling"]
    assert "}, location.origin);" in script


def test_the_style_loads_nothing() -> None:
    style = frames.FRAME_ASSETS["frame.css"].decode()

    assert "url(" not in style
    assert "@import" not in style
