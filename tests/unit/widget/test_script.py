"""The script for the shop's page: what its bytes hold, how small they are, and how they are served."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import tollgate.widget.serving as serving
from tollgate.operations.app import App
from tollgate.payments.checkout import Script as Promised
from tollgate.values import NotFound
from tollgate.web.pages.scripts import Module, list_modules, read_module
from tollgate.web.request import Reply, Request
from tollgate.widget.serving import ASSETS, FRAME_VERSION, SCRIPT, make_script, make_version
from tollgate.widget.serving import FRAMES_FOLDER as FRAMES
from tollgate.widget.serving import PARTS_FOLDER as FOLDER

GZIPPED_MAX = 65_000
NO_APP = cast(App, None)

NEVER = {
    "runs text as code": r"\beval\(|new Function\(|setTimeout\(\s*[\"'`]",
    "makes markup of text": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write",
    "speaks to any origin": r"postMessage\([^)]*[\"']\*[\"']",
    "keeps anything in the browser": r"localStorage|sessionStorage|document\.cookie|indexedDB",
    "writes more than warnings to the console": r"\bconsole\.(?!warn\()",
    "sets styles as text": r"cssText|setAttribute\(\s*[\"']style[\"']",
    "uses what older frameworks replace by their own": r"Array\.from\(",
    "waits for a framework": r"(?<!window\.)\bjQuery\b|\brequire\(|\bimport\b",
}


def list_page_modules() -> dict[str, Module]:
    """Returns the modules of the page's script, by their names."""
    return {module.path.name: module for module in list_modules([FOLDER / "start.js"])}


def test_the_script_is_small_enough() -> None:
    assert gzip.decompress(SCRIPT.gzipped) == SCRIPT.body
    assert len(SCRIPT.gzipped) <= GZIPPED_MAX


def test_the_integrity_is_the_hash_of_the_very_bytes() -> None:
    digest = base64.b64encode(hashlib.sha384(SCRIPT.body).digest()).decode()
    assert SCRIPT.integrity == f"sha384-{digest}"


@pytest.mark.parametrize("folder", [FOLDER, FRAMES / "parts"], ids=["page", "frames"])
def test_every_module_is_joined(folder: Path) -> None:
    joined = {module.path for module in list_modules([folder / "start.js"])}
    assert sorted(folder.glob("*.js")) == sorted(path for path in joined if path.parent == folder)


def test_every_module_that_both_may_share_is_joined_somewhere() -> None:
    entries = [folder / "start.js" for folder in (FOLDER, FRAMES / "parts")]
    joined = {module.path for entry in entries for module in list_modules([entry])}
    assert set((FOLDER.parent / "input").glob("*.js")) <= joined


def test_the_script_is_well_formed(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None, "node is not installed: make machine"
    path = tmp_path / "script.js"
    path.write_bytes(SCRIPT.body)
    subprocess.run([node, "--check", path], check=True, capture_output=True, timeout=300)


def test_the_bytes_do_not_depend_on_chance() -> None:
    """Several processes serve one page, and each must serve what the others have promised."""
    code = "from tollgate.widget.serving import SCRIPT; print(SCRIPT.integrity, SCRIPT.version)"
    received = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
        env={"PYTHONHASHSEED": "7"},
    )
    assert received.stdout.split() == [SCRIPT.integrity, SCRIPT.version]


def test_the_bytes_name_no_host() -> None:
    assert re.findall(rb"https?://[\w.]+", SCRIPT.body) == []


@pytest.mark.parametrize("what", NEVER)
def test_no_module(what: str) -> None:
    found = {name for name, module in list_page_modules().items() if re.search(NEVER[what], module.code)}
    assert found == set()


@pytest.mark.parametrize(
    ("around", "origins"),
    [
        (
            "location = { ancestorOrigins: ['https://a.example', 'https://b.example'] }",
            ["https://a.example", "https://b.example"],
        ),
        ("location = {}, document = { referrer: 'https://a.example/portal?x' }", ["https://a.example"]),
        ("location = {}, document = { referrer: '' }", []),
        ("location = {}, document = { referrer: 'https://b.example/' }, window = globalThis, parent = window", []),
    ],
    ids=["told", "guessed from where the page was asked for", "unknown", "none, the page is on top"],
)
def test_frames_know_whose_pages_stand_around_the_shops(around: str, origins: list[str]) -> None:
    node = shutil.which("node")
    assert node is not None, "node is not installed: make machine"
    part = read_module(FOLDER / "frames.js").code
    code = f"var window = {{ parent: 1 }}; var {around};\n{part}\nconsole.log(JSON.stringify(listAncestors()));"
    received = subprocess.run([node, "-e", code], check=True, capture_output=True, timeout=300)
    assert json.loads(received.stdout) == origins


def test_the_version_changes_with_any_file() -> None:
    assert make_version([b"a", b"b"]) != make_version([b"ab"]) != make_version([b"a", b"c"])


# ---- serving ----


async def ask(operation: str, *names: str, pairs: tuple[tuple[str, str], ...] = (), **headers: str) -> Reply:
    sent = {name.replace("_", "-").encode(): text.encode() for name, text in headers.items()}
    request = Request(method="GET", path="", names=names, headers=sent, pairs=list(pairs), trace="")
    row = next(row for row in serving.ROUTES if row.operation == operation)
    handler: Any = row.handler
    reply: Reply = await handler(request, NO_APP)
    return reply


@pytest.fixture
def promises(monkeypatch: pytest.MonkeyPatch) -> dict[str, Promised]:
    """The promises of earlier releases, by the id of the checkout."""
    kept: dict[str, Promised] = {}

    async def find(_app: App, checkout_id: str) -> Promised | None:
        return kept.get(checkout_id)

    monkeypatch.setattr(serving, "find_promised_script", find)
    return kept


@pytest.mark.anyio
@pytest.mark.usefixtures("promises")
async def test_the_script_is_packed_for_those_who_can_unpack_it() -> None:
    plain = await ask("payment_form_script")
    packed = await ask("payment_form_script", accept_encoding="br;q=1.0, gzip;q=0.8")

    assert plain.body == gzip.decompress(packed.body) == SCRIPT.body
    assert (b"content-encoding", b"gzip") in packed.headers
    assert (b"vary", b"accept-encoding") in plain.headers
    for refusal in ("gzip;q=0", "br, gzip; q=0.0", "identity", "x-gzip"):
        assert (await ask("payment_form_script", accept_encoding=refusal)).body == SCRIPT.body


@pytest.mark.anyio
async def test_files_are_packed_too_and_are_no_pages() -> None:
    for name in ("widget.css", "frame.js", "frame.css", "VISA.svg"):
        packed = await ask("payment_form_files", SCRIPT.version, name, accept_encoding="gzip, br")
        assert gzip.decompress(packed.body) == ASSETS[name].body
        assert len(packed.body) < len(ASSETS[name].body)
        assert {(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")} <= set(packed.headers)
        assert dict(packed.headers)[b"content-security-policy"] == b"default-src 'none'; frame-ancestors 'none'"


@pytest.mark.anyio
@pytest.mark.usefixtures("promises")
async def test_a_browser_that_has_the_script_is_not_sent_it_again() -> None:
    tag = dict((await ask("payment_form_script")).headers)[b"etag"].decode()

    assert (await ask("payment_form_script", if_none_match=f'"older", W/{tag}')).status == 304
    assert (await ask("payment_form_script", if_none_match='"older"')).status == 200


@pytest.mark.anyio
@pytest.mark.parametrize("ending", ["", "/registration"])
async def test_a_checkout_gets_the_bytes_it_was_promised(promises: dict[str, Promised], ending: str) -> None:
    earlier = make_script(b"older();", "older")
    promises["A1.node"] = Promised(earlier.version, earlier.integrity, earlier.body)

    assert (await ask("payment_form_script", pairs=(("checkoutId", f"A1.node{ending}"),))).body == b"older();"
    assert (await ask("payment_form_script", pairs=(("checkoutId", "B2.node"),))).body == SCRIPT.body


@pytest.mark.anyio
@pytest.mark.parametrize("version", [SCRIPT.version, FRAME_VERSION])
async def test_files_are_kept_for_good_under_their_own_version_only(version: str) -> None:
    for name in ("widget.css", "frame.js", "VISA.svg"):
        right, wrong = await ask("payment_form_files", version, name), await ask("payment_form_files", "older", name)
        assert right.body == wrong.body == ASSETS[name].body
        assert b"immutable" in dict(right.headers)[b"cache-control"]
        assert dict(wrong.headers)[b"cache-control"] == b"no-cache"


@pytest.mark.anyio
async def test_no_other_file_is_served() -> None:
    for name in ("script.py", "..", "frame.html", ""):
        with pytest.raises(NotFound):
            await ask("payment_form_files", SCRIPT.version, name)


def test_scripts_of_any_shop_may_load_them() -> None:
    loaded = {row.operation for row in serving.ROUTES if row.is_for_any_origin}

    assert loaded == {"payment_form_script", "payment_form_files"}


def test_options_that_the_guide_calls_without_effect_are_not_read() -> None:
    guide = Path(__file__).parents[3] / "docs" / "payment-form.md"
    rows = re.findall(r"^\| (.+?) \|.*\| no effect", guide.read_text(), re.MULTILINE)
    names = re.findall(r"`(\w+)`", " ".join(rows))

    assert "createCheckout" in names
    assert [name for name in names if re.search(rf"(?:options\.|[\"']){name}\b", SCRIPT.body.decode())] == []
