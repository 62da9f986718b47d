"""Every page of the back office that can be opened: accessible, small, by itself, and safe from what shoppers wrote.

The pages are taken from their rows, so a new page is visited too.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, Response, expect

from api.direct_debits import begin_debit
from api.endpoints import advance
from api.merchants import wait_until
from browser.accessibility import WIDE, list_faults
from browser.conftest import PATIENCE_MS, Shoot
from browser.watching import Watch
from gateway import CARD, GatewayProcess
from office_client import OfficeClient
from office_users import OfficeUser, add_users
from office_world import PAGE_ROWS, OfficeWorld, build_world, has_permission
from tollgate.catalog.permissions import Role
from tollgate.payments.users import Stage

ROWS = [row for row in PAGE_ROWS if row.method == "GET" and Stage.SIGNED_IN in row.stages]
REPEATED = ("/office/users", "/office/users/{id}", "/office/audit-log")
"""The same templates as those of a merchant, which `make test` looks at."""
EVERYWHERE = OfficeUser("everywhere", Role.PLATFORM)
BYTES_MAX = 100_000
"""The whole page, compressed: its text, its styles and its scripts."""
NUMBERS = (CARD["card.number"], "4000000000000002")
CVV = re.compile(rf"cv[vcn]\W{{0,12}}{CARD['card.cvv']}\b", re.IGNORECASE)
PATTERNS = [(re.compile(f"{row.method} " + re.sub(r"\{\w+\}", "[^/]+", row.path)), row) for row in PAGE_ROWS]
PATTERNS.sort(key=lambda pair: pair[1].path.count("{"))
_LIST_OFFERED = """() => {
  const name = (method, address) => method.toUpperCase() + ' ' + new URL(address, location.href).pathname;
  const links = [...document.querySelectorAll('a[href^="/office"]')]
    .map(each => name('get', each.getAttribute('href')));
  // By attribute: a form may have a field that is called action.
  const forms = [...document.forms].filter(each => each.method !== 'dialog')
    .map(each => name(each.method, each.getAttribute('action') ?? ''));
  return [...new Set([...links, ...forms])];
}"""
_CANARY = "() => 'canary' in window"
FILES = ("/export.csv", "/export.json", "/evidence/{file}", "/snapshots/{name}")
"""Ends of paths that answer with a file."""


@pytest.fixture(scope="module")
def own_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("office")) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def world(own_gateway: GatewayProcess) -> OfficeWorld:
    """The world is built in a thread, because Playwright's loop runs in this one."""
    begin_debit(own_gateway.client())
    # The debit is due by then, so that there is a bank file too.
    advance(own_gateway.client(), 20 * 86400)
    with ThreadPoolExecutor(1) as elsewhere:
        world = elsewhere.submit(build_world, own_gateway).result()
        elsewhere.submit(add_users, own_gateway, *(get_user(role, world) for role in Role)).result()
    return world


@pytest.fixture(scope="module")
def office(world: OfficeWorld) -> OfficeClient:
    browser = EVERYWHERE.enter(world.gateway, world.merchant_id)
    wait_until(lambda: b"direct debits" in browser.get(f"{browser.base}/bank-files").body)
    world.learn_ids(browser)
    return browser


class RoleBrowsers:
    """One window for each role, with the session of a user who has it."""

    def __init__(self, browser: Browser, world: OfficeWorld) -> None:
        self._browser, self._world = browser, world
        self._opened: dict[Role, tuple[Page, Watch]] = {}

    def open(self, role: Role) -> tuple[Page, Watch]:
        if role not in self._opened:
            self._opened[role] = self._enter(role)
        return self._opened[role]

    def _enter(self, role: Role) -> tuple[Page, Watch]:
        entered, watch = get_user(role, self._world).enter(self._world.gateway, self._world.merchant_id), Watch()
        context = self._browser.new_context(viewport=WIDE, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE_MS)
        context.add_cookies(
            [{"name": name, "value": text, "url": entered.base_url} for name, text in entered.cookies.items()]
        )
        watch.over(context)
        return context.new_page(), watch

    def close(self) -> None:
        for page, _ in self._opened.values():
            page.context.close()


@pytest.fixture(scope="module")
def browsers(office: OfficeClient, world: OfficeWorld, browser: Browser) -> Iterator[RoleBrowsers]:
    """Comes after the first look at all pages, which learns the ids that their paths need."""
    assert office.cookies
    browsers = RoleBrowsers(browser, world)
    yield browsers
    browsers.close()


@pytest.fixture
def office_page(browsers: RoleBrowsers) -> Iterator[Page]:
    page, watch = browsers.open(Role.PLATFORM)
    yield page
    assert watch.take() == []


def get_user(role: Role, world: OfficeWorld) -> OfficeUser:
    return EVERYWHERE if role is Role.PLATFORM else OfficeUser(f"reader {role}", role, world.merchant_id)


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row.path, marks=[pytest.mark.prove] if row.path in REPEATED else []) for row in ROWS],
)
def test_a_page_is_accessible_small_and_harmless(
    row: Any, office: OfficeClient, office_page: Page, world: OfficeWorld, shoot: Shoot
) -> None:
    path = world.fill(row.path)
    if row.path.endswith(FILES):
        assert office.get(path).status in (200, 404)
        return
    dialogs: list[str] = []
    loaded: dict[str, Response] = {}

    def note_dialog(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    def note_response(response: Response) -> None:
        loaded[response.url] = response

    office_page.on("dialog", note_dialog)
    office_page.on("response", note_response)
    try:
        shown = office_page.goto(office.base_url + path)
        faults = list_faults(office_page)
        was_run = office_page.evaluate(_CANARY)
        sizes = [len(gzip.compress(response.body())) for response in loaded.values()]
    finally:
        office_page.remove_listener("dialog", note_dialog)
        office_page.remove_listener("response", note_response)
    shoot(office_page, "office-" + re.sub(r"\W+", "-", row.path.partition("}")[2] or row.path).strip("-"))

    assert shown is not None
    assert shown.status == 200
    assert faults == []
    assert not was_run, "a text that a shopper wrote was run as a script"
    assert sum(sizes) < BYTES_MAX
    assert dialogs == []


@pytest.mark.parametrize("row", [pytest.param(row, id=row.path) for row in ROWS if not row.path.endswith(FILES)])
@pytest.mark.parametrize("role", list(Role))
def test_a_page_offers_each_role_what_it_may_do_and_nothing_else(
    role: Role, row: Any, browsers: RoleBrowsers, world: OfficeWorld
) -> None:
    page, watch = browsers.open(role)
    shown = page.goto(world.gateway.base_url + world.fill(row.path))
    offered = page.evaluate(_LIST_OFFERED)
    complaints = [text for text in watch.take() if "status of 403" not in text]

    assert shown is not None
    assert shown.status == (200 if has_permission(row, role) else 403)
    assert page.locator("h1").count() == 1
    assert not page.evaluate(_CANARY), "a text that a shopper wrote was run as a script"
    assert complaints == []
    assert [path for path in offered if not is_offered_to(role, path)] == []


def is_offered_to(role: Role, path: str) -> bool:
    """Tells whether a role may follow a link, or send a form, that begins with its method."""
    rows = [row for pattern, row in PATTERNS if pattern.fullmatch(path)]
    return bool(rows) and has_permission(rows[0], role)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.usefixtures("office")
def test_no_page_shows_a_number_code_token_or_key_to_any_role(role: Role, world: OfficeWorld) -> None:
    browser = get_user(role, world).enter(world.gateway, world.merchant_id)
    keys = json.loads((world.gateway.data / "keys.json").read_text())
    secrets = [*NUMBERS, world.client.token, *keys["keys"].values(), keys["fingerprint_key"], *browser.cookies.values()]
    seen = 0
    for row in ROWS:
        answer = browser.get(world.fill(row.path))
        text = answer.body.decode("utf-8", "replace")
        seen += answer.status == 200
        assert [secret[:6] for secret in secrets if secret and secret in text] == [], row.path
        assert CVV.search(text) is None, row.path
        if answer.headers["content-type"].startswith("text/csv"):
            cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
            assert [cell for cell in cells if cell.startswith(("=", "@", "+"))] == [], row.path
    assert seen > 1


def test_keys_search_and_list_themselves(office_page: Page, office: OfficeClient) -> None:
    office_page.goto(f"{office.base_url}{office.base}/approvals")
    office_page.keyboard.press("/")
    expect(office_page.locator("#find")).to_be_focused()
    office_page.locator("h1").click()
    office_page.keyboard.press("?")
    expect(office_page.get_by_role("dialog", name="Keys")).to_be_visible()
    office_page.keyboard.press("Escape")
    expect(office_page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_the_canaries_are_on_the_pages_as_text(office: OfficeClient, world: OfficeWorld) -> None:
    """The first look at a page shows that what is harmless is there at all."""
    texts = [office.get(world.fill(row.path)).body.decode("utf-8", "replace") for row in ROWS]
    assert any("&lt;img src=x onerror=window.canary=1&gt;" in text for text in texts)
