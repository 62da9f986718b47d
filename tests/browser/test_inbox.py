"""A newcomer pays in the demo shop and sees the event arrive, then looks into the inbox of the shop."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, Route, expect

from browser.accessibility import list_violations
from browser.conftest import Shoot
from browser.shopping import NUMBER, order, pay_by_card
from gateway import Client, GatewayProcess

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x00"
SECTION = re.compile('<section class="box arrival".*?</section>', re.DOTALL)
WAITING = '<section id="arrival" data-follows="/sandbox/shop/arrival?id={id}">Waiting for the event</section>'
NARROW = {"width": 320, "height": 640}


def list_faults(page: Page) -> list[str]:
    found = []
    for scheme in SCHEMES:
        # A colour that is on its way from day to night is neither.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += list_violations(page)
    return found


def test_the_result_page_shows_the_event_and_leads_to_the_inbox(
    page: Page, gateway: GatewayProcess, shoot: Shoot
) -> None:
    order(page, gateway.base_url)
    pay_by_card(page, NUMBER)

    event = page.get_by_role("region", name="The event as JSON")
    expect(page.get_by_role("heading", name="The event that arrived")).to_be_visible()
    expect(event).to_contain_text('"type": "PAYMENT"')
    expect(event).to_contain_text('"merchantTransactionId": "demo-shop-')
    expect(page.get_by_text("The signature is right")).to_be_visible()
    shoot(page, "shop-event")
    faults = list_faults(page)

    page.get_by_role("link", name="Open the inbox of the shop").click()
    expect(page.get_by_role("heading", name="Inbox shop")).to_be_visible()
    newest = page.locator(".messages > li").first
    expect(newest.locator(".badge").first).to_have_text("encrypted and signed")
    expect(newest).to_contain_text('"type": "PAYMENT"')
    newest.get_by_text("Request as it came").click()
    expect(newest.get_by_text("webhook-signature", exact=True)).to_be_visible()
    shoot(page, "inbox")
    assert faults + list_faults(page) == []


def test_a_page_that_waits_shows_the_event_when_it_arrives(page: Page, gateway: GatewayProcess) -> None:
    """The page is made to be from before the event, and so is the first answer to what it asks."""
    looks: list[str] = []

    def remove_event(route: Route) -> None:
        reply = route.fetch()
        text = reply.text()
        [payment_id] = set(re.findall("<dt>Transaction number</dt>\\s*<dd>([0-9a-f]{32})</dd>", text))
        route.fulfill(response=reply, body=SECTION.sub(WAITING.format(id=payment_id), text))

    def answer_late(route: Route) -> None:
        looks.append(route.request.url)
        if len(looks) > 1:
            route.continue_()
        else:
            route.fulfill(status=200, content_type="text/html", body="")

    page.route(re.compile("/sandbox/shop/result"), remove_event)
    page.route(re.compile("/sandbox/shop/arrival"), answer_late)
    order(page, gateway.base_url)
    pay_by_card(page, NUMBER)

    expect(page.get_by_role("heading", name="The event that arrived")).to_be_visible()
    assert len(looks) > 1


@pytest.mark.parametrize("size", [None, NARROW], ids=["wide", "narrow"])
def test_a_hostile_message_is_shown_as_text_and_fits(
    page: Page, gateway: GatewayProcess, client: Client, shoot: Shoot, size: dict[str, int] | None
) -> None:
    headers = {"X-Authentication-Tag": "<b>" * 50, "Webhook-Replay": "true", "Webhook-Sequence": "3"}
    client.send("POST", "/sandbox/inbox/hostile", HOSTILE.encode() * 40, headers)
    if size is not None:
        page.set_viewport_size(size)  # type: ignore[arg-type]

    page.goto(f"{gateway.base_url}/sandbox/inbox/hostile")
    message = page.locator(".messages > li").first
    message.get_by_text("Request as it came").click()

    expect(message.get_by_role("region", name="Body")).to_contain_text("<img src=x onerror=alert(1)>\\u202e\\u0000")
    expect(message.locator(".badge")).to_have_text(["encrypted", "replay", "sequence 3", "answered 204"])
    expect(page.locator("img")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shoot(page, "inbox-hostile")
    assert list_faults(page) == []
