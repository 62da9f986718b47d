"""The documentation in a browser: search by keyboard, headings, copying, sorting, looks; and no other host is asked."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import Error as PlaywrightError

from browser.accessibility import NARROW, list_faults
from browser.conftest import CHROMIUM_FLAGS, PATIENCE_MS, OpenContext, Shoot, find_chromium
from browser.repeats import keep_rows
from browser.watching import Watch
from gateway import GatewayProcess
from tollgate.docs import texts

KINDS = {
    "docs-home": "/docs",
    "docs-guide": "/docs/recurring",
    "docs-rows": "/docs/reference/events",
    "docs-code": "/docs/codes/800.100.155",
    "docs-chargeback": "/docs/codes/000.100.203",
    "docs-unknown-code": "/docs/codes/800.100.999",
    "docs-missing": "/docs/nothing",
}
"""A page of every kind."""
MISSING = ("docs-unknown-code", "docs-missing")
ONLY_THE_GATEWAY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search the documentation")


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Results").get_by_role("option")


@pytest.mark.prove
@pytest.mark.parametrize("path", [*texts.BY_PATH, texts.CODES])
def test_no_text_has_a_fault_in_any_look(page: Page, gateway: GatewayProcess, path: str) -> None:
    page.goto(gateway.base_url + path)

    assert list_faults(page) == []


@pytest.mark.parametrize("kind", keep_rows(KINDS, "docs-home", "docs-guide", "docs-rows", "docs-code", "docs-missing"))
def test_a_page_has_no_fault_in_any_look(
    page: Page, gateway: GatewayProcess, watch: Watch, shoot: Shoot, kind: str
) -> None:
    page.goto(gateway.base_url + KINDS[kind])

    assert list_faults(page) == []
    shoot(page, kind)
    complaints = watch.take()
    # A browser reports the status of the page itself.
    assert len(complaints) == (1 if kind in MISSING else 0), complaints


def test_the_open_search_has_no_fault_in_any_look(page: Page, gateway: GatewayProcess, shoot: Shoot) -> None:
    page.goto(f"{gateway.base_url}/docs?q=refund")
    expect(options(page).first).to_be_visible()

    assert list_faults(page) == []
    shoot(page, "docs-search")


def test_a_reader_searches_by_keyboard_alone(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs/webhooks")

    page.keyboard.press("/")
    expect(field(page)).to_be_focused()
    page.keyboard.type("card.cvv")
    expect(options(page).first).to_contain_text("card.cvv")
    expect(field(page)).to_have_attribute("aria-expanded", "true")
    expect(field(page)).to_have_attribute("aria-activedescendant", "found-0")
    expect(page.get_by_role("status")).to_contain_text("found")
    expect(options(page).first.locator("mark").first).to_have_text("card")

    page.keyboard.press("ArrowDown")
    expect(options(page).nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(options(page).last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    page.wait_for_url("**/docs/reference/parameters#card.cvv")
    expect(page.locator("[id='card.cvv']")).to_be_in_viewport()


def test_escape_closes_the_results_and_leaves_the_field(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs")
    page.keyboard.press("/")
    page.keyboard.type("refund")
    expect(options(page).first).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.locator("#found")).to_be_hidden()
    expect(field(page)).to_have_attribute("aria-expanded", "false")
    expect(field(page)).to_be_focused()


def test_the_server_is_asked_for_the_index_once_and_never_for_a_search(page: Page, gateway: GatewayProcess) -> None:
    asked: list[str] = []
    page.goto(f"{gateway.base_url}/docs")
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    page.keyboard.press("/")
    for text, first in (
        ("000.100.110", "000.100.110"),
        ("refnud", "Refund"),
        ("POST /v1/payments", "Create a payment"),
    ):
        field(page).fill(text)
        expect(options(page).filter(has_text=first).first).to_be_visible()

    assert [path.rpartition("/")[0] for path in asked] == ["/docs/search"]


def test_a_search_that_finds_nothing_says_so(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs")

    field(page).fill("xqzxqz")

    expect(page.get_by_role("status")).to_have_text("Nothing found. Use fewer words, or others.")
    expect(page.get_by_role("status")).to_be_visible()
    expect(page.locator("#found")).to_be_hidden()


def test_a_search_in_the_address_is_opened(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs?q=soft%20decline")

    expect(field(page)).to_have_value("soft decline")
    expect(options(page).and_(page.locator("[href$='/codes/300.100.100']"))).to_be_visible()


def test_markup_in_a_search_is_text(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")

    expect(field(page)).to_have_value("<img src=x onerror=alert(1)>")
    expect(page.get_by_role("status")).not_to_have_text("")
    assert page.locator(".find img").count() == 0


@pytest.mark.parametrize("path", ["/docs", "/docs/security"])
def test_the_question_mark_lists_the_keys(page: Page, gateway: GatewayProcess, path: str) -> None:
    page.goto(gateway.base_url + path)

    page.keyboard.press("?")

    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_headings_are_listed_and_link_to_themselves(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs/webhooks")
    contents = page.get_by_role("navigation", name="On this page")

    contents.get_by_role("link", name="Retries").click()
    heading = page.get_by_role("heading", name="Retries")
    expect(heading).to_be_in_viewport()
    link = heading.get_by_role("link", name="Link to this section")
    expect(link).to_have_css("opacity", "0")
    heading.hover()
    expect(link).to_have_css("opacity", "1")
    link.click()

    assert page.url.endswith("/docs/webhooks#retries")


def test_the_menu_marks_the_page_and_leads_on(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs/webhooks")
    menu = page.get_by_role("navigation", name="Documentation")
    expect(menu.locator("[aria-current=page]")).to_have_text("Webhooks")

    page.get_by_role("navigation", name="Before and after").locator("[rel=next]").click()

    following = texts.FILES[texts.FILES.index("docs/webhooks.md") + 1]
    expect(page.get_by_role("heading", level=1)).to_have_text(texts.read_text(following).title)
    expect(menu.locator("[aria-current=page]")).to_be_in_viewport()


def test_code_is_copied_as_it_stands(open_context: OpenContext, gateway: GatewayProcess) -> None:
    context = open_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=gateway.base_url)
    page = context.new_page()
    page.goto(f"{gateway.base_url}/docs/codes/800.100.155")

    page.get_by_role("button", name="Copy").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".code code").inner_text()
    assert copied.startswith("curl $BASE/v1/payments")


def test_a_table_is_sorted_by_its_head(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs/reference/events")
    first = page.locator("tbody tr").first

    page.get_by_role("button", name="name").click()
    expect(first).to_contain_text("payment.authenticated")
    page.get_by_role("button", name="name").click()
    expect(first).to_contain_text("webhook.test")


def test_a_wide_table_scrolls_by_keyboard(page: Page, gateway: GatewayProcess) -> None:
    page.set_viewport_size(NARROW)
    page.goto(f"{gateway.base_url}/docs/reference/brands")
    region = page.get_by_role("region", name="Cards: table")

    region.focus()
    page.keyboard.press("ArrowRight")

    expect(region).to_be_focused()
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")


def test_codes_are_filtered_by_words_and_group(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs/codes")

    page.get_by_label("Filter").fill("soft_decline")
    expect(page.locator(".codes-of tbody tr:visible")).to_have_count(1)
    expect(page.locator("#filter-count")).to_have_text("Codes that fit: 1")
    assert list_faults(page) == []
    page.get_by_label("Filter").fill("no such words")

    expect(page.get_by_text("No code has these words.")).to_be_visible()


def test_on_a_phone_menu_and_sections_begin_closed(page: Page, gateway: GatewayProcess) -> None:
    page.set_viewport_size(NARROW)
    page.goto(f"{gateway.base_url}/docs/webhooks")

    expect(page.get_by_role("navigation", name="Documentation")).to_be_hidden()
    expect(page.get_by_role("navigation", name="On this page")).to_be_hidden()
    page.get_by_text("On this page").click()
    expect(page.get_by_role("navigation", name="On this page")).to_be_visible()


def test_pictures_leave_room_before_they_arrive(page: Page, gateway: GatewayProcess, watch: Watch) -> None:
    page.route("**/docs/images/*", lambda route: route.abort())
    page.goto(f"{gateway.base_url}/docs/readme")

    boxes = page.locator(".docs img").evaluate_all("(all) => all.map((each) => each.clientHeight)")

    assert boxes
    assert min(boxes) > 100
    assert {*watch.take()} == {"Failed to load resource: net::ERR_FAILED"}


def test_the_documentation_is_read_without_scripts(plain_page: Page, gateway: GatewayProcess) -> None:
    plain_page.goto(f"{gateway.base_url}/docs")

    expect(plain_page.get_by_label("Search the documentation")).to_be_hidden()
    plain_page.locator("main a[href='/docs/webhooks']").click()
    expect(plain_page.get_by_role("navigation", name="On this page")).to_be_visible()
    expect(plain_page.get_by_role("region", name="From nothing to a verified event: code", exact=True)).to_be_visible()


# ---- with the network cut ----

VISITED = (
    *(
        "/",
        *KINDS.values(),
        "/docs/reference/parameters",
        "/docs/payment-form",
        "/docs/api",
        "/docs/api/post-v1-payments",
    ),
    *("/office/sign-in", "/sandbox/shop", "/sandbox/inbox/shop"),
)


@pytest.fixture
def lonely_browser(browser: Browser) -> Iterator[Browser]:
    """A browser that finds no host but the gateway's."""
    lonely = browser.browser_type.launch(
        executable_path=find_chromium(), args=[*CHROMIUM_FLAGS, ONLY_THE_GATEWAY], timeout=PATIENCE_MS
    )
    yield lonely
    lonely.close()


def test_no_page_asks_another_host(lonely_browser: Browser, gateway: GatewayProcess) -> None:
    asked: list[str] = []
    failed: list[str] = []
    context = lonely_browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    context.on("request", lambda request: asked.append(request.url))
    context.on("requestfailed", lambda request: failed.append(request.url))
    page = context.new_page()

    for path in VISITED:
        page.goto(gateway.base_url + path, wait_until="networkidle")
    page.goto(f"{gateway.base_url}/docs?q=refund")
    expect(options(page).first).to_be_visible()

    assert len(asked) > 2 * len(VISITED)
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(gateway.base_url).netloc}
    assert failed == []


def test_a_page_that_asked_another_host_would_be_seen(lonely_browser: Browser) -> None:
    page = lonely_browser.new_page()

    with pytest.raises(PlaywrightError, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("http://example.com/")
