"""The pages of endpoints as a developer uses them: choosing a language, copying, sending, and reading only."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from browser.accessibility import list_faults
from browser.conftest import OpenContext, Shoot
from browser.watching import Watch
from gateway import Client, GatewayProcess
from tollgate.catalog.endpoints import ENDPOINTS

PAY = "/docs/api/post-v1-payments"
READ_CHECKOUT = "/docs/api/get-v1-checkouts-id-payment"
TOO_LARGE = 100_000


def open_page(page: Page, gateway: GatewayProcess, path: str) -> Locator:
    """Opens the page of an endpoint, and returns its first example once it can be sent."""
    page.goto(gateway.base_url + path)
    example = page.locator(".example").first
    expect(example.get_by_role("button", name="Send")).to_be_visible()
    return example


def test_the_programs_have_the_readers_own_credentials(page: Page, gateway: GatewayProcess, client: Client) -> None:
    example = open_page(page, gateway, PAY)

    program = example.get_by_role("tabpanel", name="curl")
    expect(program).to_contain_text(f"curl {gateway.base_url}/v1/payments")
    expect(program).to_contain_text(f"Bearer {client.token}")
    expect(program).to_contain_text(f"entityId={client.entity_id}")
    expect(page.get_by_text("YOUR_TOKEN")).to_have_count(0)


def test_a_language_is_chosen_by_keys_for_all_examples_and_pages(page: Page, gateway: GatewayProcess) -> None:
    example = open_page(page, gateway, PAY)

    example.get_by_role("tab", name="curl").focus()
    page.keyboard.press("ArrowRight")
    expect(example.get_by_role("tab", name="Python")).to_be_focused()
    expect(example.get_by_role("tabpanel")).to_contain_text("from urllib.request import")
    page.keyboard.press("End")
    expect(example.get_by_role("tab", name="Java")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowRight")
    expect(example.get_by_role("tab", name="curl")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.goto(gateway.base_url + READ_CHECKOUT)

    expect(page.get_by_role("tabpanel")).to_contain_text("public class Example")


def test_the_program_that_is_shown_is_copied(open_context: OpenContext, gateway: GatewayProcess) -> None:
    context = open_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    example = open_page(page, gateway, PAY)
    example.get_by_role("tab", name="PHP").click()

    example.get_by_role("button", name="Copy").click()

    expect(example.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == example.get_by_role("tabpanel").locator("code").text_content()
    assert copied.startswith("<?php\n")


def test_an_example_is_sent_as_the_reader_has_changed_it(
    page: Page, gateway: GatewayProcess, client: Client, shoot: Shoot
) -> None:
    example = open_page(page, gateway, PAY)
    example.get_by_label("amount", exact=True).fill("7.31")
    example.get_by_label("merchantTransactionId").fill("")

    example.get_by_role("button", name="Send").click()

    answer = example.get_by_role("region", name="Answer: Debit a card")
    expect(answer).to_contain_text('"amount": "7.31"')
    expect(answer).not_to_contain_text("merchantTransactionId")
    expect(example.get_by_role("status")).to_have_text(re.compile(r"^200 000\.100\.110 \d+ ms$"))
    expect(example.get_by_role("link", name="000.100.110")).to_have_attribute("href", "/docs/codes/000.100.110")
    payment = re.search(r'"id": "([0-9a-f]{32})"', answer.inner_text())
    assert payment is not None
    assert client.get(f"/v1/payments/{payment[1]}").json["amount"] == "7.31"
    shoot(page, "docs-endpoint")


@pytest.mark.parametrize(("width", "is_beside"), [(1280, True), (320, False)])
def test_the_answer_stands_beside_the_request_where_there_is_room(
    open_context: OpenContext, gateway: GatewayProcess, width: int, is_beside: bool
) -> None:
    page = open_context(viewport={"width": width, "height": 800}).new_page()
    example = open_page(page, gateway, PAY)

    recorded = example.get_by_role("region", name="Example of an answer: Debit a card")
    expect(recorded).to_contain_text('"code": "000.100.110"')
    example.get_by_role("button", name="Send").click()

    answer = example.get_by_role("region", name="Answer: Debit a card", exact=True)
    expect(answer).to_be_visible()
    expect(recorded).to_have_count(0)
    request_box, answer_box = example.locator(".request").bounding_box(), answer.bounding_box()
    assert request_box is not None
    assert answer_box is not None
    assert (answer_box["x"] >= request_box["x"] + request_box["width"]) is is_beside
    assert (answer_box["y"] >= request_box["y"] + request_box["height"]) is not is_beside


def test_a_slow_answer_is_waited_for_in_sight_and_is_asked_for_once(page: Page, gateway: GatewayProcess) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/sandbox/send", hold)
    example = open_page(page, gateway, PAY)
    send = example.get_by_role("button", name="Send")

    send.focus()
    page.keyboard.press("Enter")
    expect(example.get_by_role("progressbar", name="Waiting for the answer")).to_be_visible()
    page.keyboard.press("Enter")
    held[0].continue_()

    expect(example.get_by_role("status")).to_have_text(re.compile(r"^200 000\.100\.110"))
    expect(example.get_by_role("progressbar")).to_have_count(0)
    expect(send).to_be_focused()
    assert len(held) == 1


def test_what_an_example_needs_is_sent_before_it(page: Page, gateway: GatewayProcess) -> None:
    example = open_page(page, gateway, READ_CHECKOUT)

    example.get_by_role("button", name="Send").click()

    expect(example.get_by_role("status")).to_have_text(re.compile(r"^200 000\.100\.110"))
    steps = example.locator(".step")
    expect(steps).to_have_count(2)
    expect(steps.first).to_contain_text("Prepare a checkout for the payment form 200 000.200.100")
    steps.first.locator("summary").click()
    body = steps.first.get_by_role("region")
    expect(body).to_be_visible()
    checkout = re.search(r'"id": "([0-9A-F]{32}\.[a-z0-9-]+)"', body.inner_text())
    assert checkout is not None
    expect(example.get_by_role("tabpanel")).to_contain_text(f"/v1/checkouts/{checkout[1]}/payment")


def test_an_id_that_the_reader_puts_in_is_used_and_nothing_is_sent_before(
    page: Page, gateway: GatewayProcess, client: Client
) -> None:
    payment = client.pay().json["id"]
    example = open_page(page, gateway, "/docs/api/get-v1-payments-id")
    example.get_by_label("id", exact=True).fill(payment)

    example.get_by_role("button", name="Send").click()

    expect(example.get_by_role("region", name="Answer: Read a payment")).to_contain_text(f'"id": "{payment}"')
    expect(example.locator(".step")).to_have_count(0)


def test_the_payment_of_a_link_is_read_after_its_page_was_opened_and_paid(page: Page, gateway: GatewayProcess) -> None:
    example = open_page(page, gateway, "/docs/api/get-paybylink-v1-id-checkouts-checkout-payment")

    example.get_by_role("button", name="Send").click()

    expect(example.get_by_role("status")).to_have_text(re.compile(r"^200 000\.100\.110"))
    expect(example.locator(".step")).to_have_count(4)


def test_a_refusal_is_shown_with_its_faults_and_unknown_names_with_a_warning(
    page: Page, gateway: GatewayProcess
) -> None:
    example = open_page(page, gateway, PAY)
    example.get_by_label("amount", exact=True).fill("a lot")

    # A reader cannot rename a parameter, so the page is made to.
    example.get_by_label("card.holder").evaluate("input => { input.name = 'card.holdr'; }")
    example.get_by_role("button", name="Send").click()

    expect(example.get_by_role("status")).to_have_text(re.compile(r"^400 200\.300\.404"))
    expect(example.get_by_role("region", name="Answer: Debit a card")).to_contain_text('"name": "amount"')
    expect(example.locator(".fault")).to_contain_text("card.holdr")


def test_a_visitor_from_elsewhere_sees_placeholders_until_he_has_signed_in_and_comes_back(
    open_context: OpenContext, gateway: GatewayProcess, watch: Watch
) -> None:
    page = open_context(extra_http_headers={"X-Forwarded-For": "192.0.2.7"}).new_page()
    page.goto(gateway.base_url + PAY)

    link = page.get_by_role("link", name="Sign in at the back office")
    expect(link).to_have_attribute("href", f"/office/sign-in?next={PAY}")
    expect(page.locator(".example").first.get_by_role("tabpanel")).to_contain_text("Bearer YOUR_TOKEN")
    expect(page.get_by_role("button", name="Send")).to_have_count(0)
    # The browser itself reports the refusal.
    assert [each for each in watch.take() if "403" not in each] == []

    link.click()
    shown = json.loads(gateway.run("credentials", "--json").stdout)["office"]
    page.fill("#name", shown["user"])
    page.fill("#password", shown["password"])
    page.click("button")

    expect(page).to_have_url(gateway.base_url + PAY)
    expect(page.get_by_role("button", name="Send").first).to_be_visible()
    expect(page.locator(".example").first.get_by_role("tabpanel")).not_to_contain_text("YOUR_TOKEN")


def test_without_scripts_all_languages_and_parameters_can_be_read(plain_page: Page, gateway: GatewayProcess) -> None:
    plain_page.goto(gateway.base_url + PAY)

    example = plain_page.locator(".example").first
    expect(example.locator("summary")).to_have_text(["Debit a card", "curl", "Python", "PHP", "Node", "Java"])
    expect(example.get_by_role("region", name="Debit a card: curl")).to_contain_text("Bearer YOUR_TOKEN")
    expect(plain_page.get_by_role("button", name="Send")).to_have_count(0)
    plain_page.locator("summary", has_text="card").filter(has_text=re.compile(r"^card \d+$")).first.click()
    expect(plain_page.get_by_role("region", name="Parameters of card: table")).to_contain_text("card.expiryYear")


def test_the_list_leads_to_every_endpoint(page: Page, gateway: GatewayProcess) -> None:
    page.goto(f"{gateway.base_url}/docs/api")

    targets = page.locator("main .endpoint-list li > a").evaluate_all("all => all.map(a => a.getAttribute('href'))")

    assert targets == [f"/docs/api/{row.slug}" for row in ENDPOINTS.values()]
    assert list_faults(page) == []


# All that a page can unfold is judged, which takes minutes on the longest ones.
@pytest.mark.parametrize(
    "path",
    [
        "/docs/api/post-v1-webhooks",
        pytest.param("/docs/api/delete-v1-webhooks-id", marks=pytest.mark.prove),
        pytest.param(READ_CHECKOUT, marks=pytest.mark.prove),
        pytest.param(PAY, marks=pytest.mark.prove),
    ],
)
def test_a_page_has_no_faults_for_those_who_use_it_otherwise(page: Page, gateway: GatewayProcess, path: str) -> None:
    example = open_page(page, gateway, path)
    example.get_by_role("button", name="Send").click()
    expect(example.get_by_role("region", name=re.compile("^Answer: ")).first).to_be_visible()

    assert list_faults(page) == []


def test_the_longest_page_with_all_it_loads_is_small(page: Page, gateway: GatewayProcess) -> None:
    sizes: list[int] = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    open_page(page, gateway, PAY)
    page.wait_for_load_state("networkidle")

    assert 0 < sum(sizes) < TOO_LARGE
