"""The first five minutes of a newcomer at the front page, and the page as everybody needs it.

Every browser of these tests is watched: it complains of nothing and asks no other host.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Response, Route, expect

from browser.accessibility import list_faults
from browser.conftest import OpenContext, Shoot
from gateway import Client, GatewayProcess

BYTES_MAX = 100_000
"""The whole page, compressed: its text, its styles and its scripts."""
NEWS = "**/sandbox/front/news"


@pytest.fixture(autouse=True)
def own_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A host of a newcomer, on which nothing has happened yet; it is there before the browser and ends after it."""
    with GatewayProcess(tmp_path_factory.mktemp("front")) as gateway:
        yield gateway


@pytest.fixture
def newcomer(own_gateway: GatewayProcess) -> Client:
    return own_gateway.client()


def open_front(page: Page, client: Client) -> None:
    page.goto(client.base_url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your sandbox")


def row_of(kind: str) -> str:
    """Returns the selector of the newest payment of a type."""
    return f"#payments tr:has(td:nth-child(2):has-text('{kind}')) >> nth=0"


def follow_up(page: Page) -> None:
    """Captures and refunds an authorization, and charges a debit back."""
    page.locator(row_of("PA")).get_by_role("button", name="Capture").click()
    expect(page.get_by_text("Capture of 11.50 EUR: 000.100.110")).to_be_visible()
    page.locator(row_of("CP")).get_by_role("button", name="Refund").click()
    expect(page.get_by_text("Refund of 11.50 EUR: 000.100.110")).to_be_visible()
    page.get_by_label("Payment type").select_option("DB")
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator(row_of("DB")).get_by_role("button", name="Chargeback").click()
    expect(page.get_by_text("Chargeback of 11.50 EUR: 000.100.200")).to_be_visible()
    # The notices of all steps: the newest three stay until they are closed.
    expect(page.locator("#notices > p")).to_have_count(3)
    page.locator("#notices").get_by_role("button", name="Close").first.click()
    expect(page.locator("#notices > p")).to_have_count(2)
    expect(page.locator("#messages li").filter(has_text="CB 11.50 EUR")).to_be_visible()


def test_a_newcomer_walks_the_first_five_minutes(
    open_context: OpenContext, own_gateway: GatewayProcess, newcomer: Client, shoot: Shoot
) -> None:
    context = open_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    open_front(page, newcomer)
    for empty in ("No payment yet", "No webhook arrived yet", "Nothing is due", "Nothing was sent yet"):
        expect(page.get_by_text(empty)).to_be_visible()
    shoot(page, "front-empty")

    page.get_by_role("button", name="Copy the access token").click()
    expect(page.locator("#copied")).to_have_text("Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == newcomer.token

    page.get_by_role("button", name="Add a webhook and test it").click()
    expect(page.get_by_text("its inbox answered the test event")).to_be_visible()
    expect(page.locator("#messages li")).to_have_count(1)
    expect(page.locator("#webhook")).to_be_hidden()

    page.get_by_label("Payment type").select_option("PA")
    page.get_by_label("Amount").fill("11.50")
    expect(page.locator("#curl")).to_contain_text("-d paymentType=PA")
    expect(page.locator("#curl")).to_contain_text("-d amount=11.50")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#answer")).to_contain_text('"paymentType": "PA"')
    expect(page.locator("#answer a")).to_have_attribute("href", "/docs/codes/000.100.110")
    expect(page.locator("#payments tr")).to_have_count(1)
    expect(page.locator("#next")).to_contain_text("An authorization expires")

    follow_up(page)

    page.get_by_label("Move forward by").fill("3")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_text("The clock was moved forward by 3 days")).to_be_visible()
    shoot(page, "front")
    assert list_faults(page) == []

    main = page.get_by_role("main")
    for link, path in (("Documentation", "/docs"), ("Demo shop", "/sandbox/shop"), ("Back office", "/office/sign-in")):
        main.get_by_role("link", name=link, exact=True).click()
        page.wait_for_url(re.compile(rf"{path}(\?|$|/)"))
        page.goto(own_gateway.base_url)
    page.get_by_role("link", name="Open the inbox").click()
    expect(page.get_by_role("heading", name="Inbox start")).to_be_visible()


def test_the_empty_page_is_accessible(page: Page, newcomer: Client) -> None:
    open_front(page, newcomer)

    assert list_faults(page) == []


def test_the_page_with_all_it_loads_is_small(page: Page, newcomer: Client) -> None:
    newcomer.pay()
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    open_front(page, newcomer)
    page.wait_for_load_state("networkidle")

    # The page itself has secrets, and is not compressed.
    sizes = {
        each.url: len(gzip.compress(each.body())) if "content-encoding" in each.headers else len(each.body())
        for each in responses
    }
    assert len(sizes) >= 6
    assert sum(sizes.values()) < BYTES_MAX, sizes


def test_it_is_read_and_used_without_scripts(plain_page: Page, newcomer: Client) -> None:
    open_front(plain_page, newcomer)
    expect(plain_page.locator("#access-token")).to_have_text(newcomer.token)
    expect(plain_page.get_by_role("button", name="Copy")).to_have_count(0)

    plain_page.get_by_role("button", name="Send", exact=True).click()
    expect(plain_page.locator("#answer")).to_contain_text('"code": "000.100.110"')
    plain_page.get_by_role("button", name="Refund").click()
    expect(plain_page.get_by_text("Refund of 92.00 EUR: 000.100.110")).to_be_visible()
    plain_page.get_by_role("button", name="Move", exact=True).click()
    expect(plain_page.get_by_text("The clock was moved forward by 1 days")).to_be_visible()


def test_a_payment_of_somebody_else_appears_and_the_focus_stays(page: Page, newcomer: Client) -> None:
    newcomer.pay()
    open_front(page, newcomer)
    button = page.locator(row_of("DB")).get_by_role("button", name="Refund")
    button.focus()
    focused = page.evaluate("() => document.activeElement.id")
    page.evaluate("() => { document.activeElement.kept = 'yes'; }")

    newcomer.pay(amount="5.00")
    expect(page.locator("#payments tr")).to_have_count(2)
    expect(page.locator("#payments tr").first).to_contain_text("5.00 EUR")

    assert page.evaluate("() => [document.activeElement.id, document.activeElement.kept]") == [focused, "yes"]


def test_the_focus_stays_on_a_row_whose_button_is_gone(page: Page, newcomer: Client) -> None:
    paid = newcomer.pay().json["id"]
    open_front(page, newcomer)

    page.locator(f"#refund-{paid}").press("Enter")
    expect(page.locator("#payments tr")).to_have_count(2)

    expect(page.locator(f"#refund-{paid}")).to_have_count(0)
    assert page.evaluate("() => document.activeElement.id") == f"open-{paid}"


def test_a_double_click_refunds_once(page: Page, newcomer: Client) -> None:
    paid = newcomer.pay().json["id"]
    open_front(page, newcomer)

    page.locator(f"#refund-{paid}").dblclick()
    expect(page.locator(f"#refund-{paid}")).to_have_count(0)

    expect(page.locator("#payments tr").filter(has_text="RF")).to_have_count(1)
    expect(page.locator("#payments tr")).to_have_count(2)


def test_nobody_is_asked_while_the_page_is_hidden(page: Page, newcomer: Client) -> None:
    page.clock.install()
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=304)

    page.route(NEWS, answer)
    open_front(page, newcomer)
    with page.expect_request(NEWS):
        page.clock.run_for(2_100)
    page.evaluate("() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })")
    page.clock.run_for(2_100)
    count = len(asked)
    page.clock.run_for(60_000)
    assert len(asked) == count

    page.evaluate("() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => false })")
    with page.expect_request(NEWS):
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")


def test_the_keys_find_the_search_and_list_themselves(page: Page, newcomer: Client) -> None:
    open_front(page, newcomer)

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("refund")
    page.keyboard.press("Enter")

    page.wait_for_url("**/docs?q=refund")


def test_a_table_that_was_sorted_stays_sorted(page: Page, newcomer: Client) -> None:
    for amount in ("3.00", "1.00", "2.00"):
        newcomer.pay(amount=amount)
    open_front(page, newcomer)
    page.get_by_role("button", name="Amount").click()
    expect(page.locator("#payments td.number")).to_have_text(["1.00 EUR", "2.00 EUR", "3.00 EUR"])

    newcomer.pay(amount="9.00")

    expect(page.locator("#payments td.number")).to_have_text(["9.00 EUR", "1.00 EUR", "2.00 EUR", "3.00 EUR"])
