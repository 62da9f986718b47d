"""A shopper walks through 3-D Secure in a real browser: every way through it ends at the shop, and charges once."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext, Shoot
from browser.shops import BACK, HTML, Site
from browser.walks import CHALLENGED, CHALLENGED_WITH_FRAME, CHECKOUT, Journey, pay_by_card
from browser.watching import Watch
from gateway import Client
from tollgate.web.request import Reply

APPROVED = "000.100.110"
FAILED = "100.380.401"
BROWSER = {
    "customer.browser.acceptHeader": "text/html",
    "customer.browser.language": "de-AT",
    "customer.browser.screenHeight": "1200",
    "customer.browser.screenWidth": "1600",
    "customer.browser.timezone": "-60",
    "customer.browser.userAgent": "Mozilla/5.0",
    "customer.browser.javaEnabled": "false",
    "customer.browser.javascriptEnabled": "true",
    "customer.browser.screenColorDepth": "24",
    "customer.ip": "192.0.2.1",
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
}


def go_to_challenge(page: Page, journey: Journey) -> None:
    journey.start(page)
    if not journey.redirect.get("preconditions"):
        page.get_by_role("link", name="Pay").click()
    expect_challenge(page)


def expect_challenge(page: Page) -> None:
    expect(page.get_by_role("heading", name="Confirm your payment")).to_be_visible()


def choose(page: Page, code: str) -> None:
    page.locator("select[name=returnCode]").select_option(code)
    page.locator("input[type=submit]").click()


def test_a_shopper_is_looked_at_in_a_hidden_frame_is_challenged_and_pays(
    page: Page, shop: Site, client: Client, shoot: Shoot
) -> None:
    journey = pay_by_card(shop, client, CHALLENGED_WITH_FRAME)
    assert [step["origin"] for step in journey.redirect["preconditions"]] == ["iframe#hidden"]

    go_to_challenge(page, journey)
    shoot(page, "challenge")
    choose(page, "000.000.000")

    journey.expect_home(page)
    answer = client.get(f"/v1/payments/{journey.id}")
    assert answer.code == APPROVED
    assert answer.json["threeDSecure"]["eci"] == "05"


def test_our_own_page_shows_the_hidden_frame_where_the_shop_did_not(page: Page, shop: Site, client: Client) -> None:
    journey = pay_by_card(shop, client, CHALLENGED_WITH_FRAME)
    framed: list[str] = []
    page.on("request", lambda request: framed.append(request.url) if request.frame != page.main_frame else None)

    page.goto(journey.redirect["url"])
    expect_challenge(page)
    choose(page, "000.000.000")

    journey.expect_home(page)
    assert framed[0].endswith("/sandbox/acs/method")
    assert any("/v1/threeDSecure/method/" in url for url in framed)
    assert journey.read_code() == APPROVED


@pytest.mark.parametrize("changes", [{}, BROWSER], ids=["collected", "sent"])
def test_a_shopper_pays_whether_the_shop_sent_the_browser_or_not(
    page: Page, shop: Site, client: Client, changes: dict[str, str]
) -> None:
    journey = pay_by_card(shop, client, CHALLENGED, **changes)

    go_to_challenge(page, journey)
    choose(page, "000.000.000")

    journey.expect_home(page)
    assert journey.read_code() == APPROVED


@pytest.mark.parametrize("code", [FAILED, "100.390.124"])
def test_a_challenge_that_fails_brings_the_shopper_home_without_money(
    page: Page, shop: Site, client: Client, code: str
) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)

    go_to_challenge(page, journey)
    choose(page, code)

    journey.expect_home(page)
    assert journey.read_code() == code


def test_the_one_time_code_may_be_wrong_twice(page: Page, shop: Site, client: Client, shoot: Shoot) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)

    go_to_challenge(page, journey)
    for tries_left in (2, 1):
        page.get_by_label("One-time code").fill("9999")
        page.get_by_label("One-time code").press("Enter")
        expect(page.get_by_role("alert")).to_contain_text(f"Tries left: {tries_left}")
    shoot(page, "challenge-wrong")
    page.get_by_label("One-time code").fill("1234")
    page.get_by_role("button", name="Confirm").click()

    journey.expect_home(page)
    assert journey.read_code() == APPROVED


def test_the_third_wrong_one_time_code_ends_it(page: Page, shop: Site, client: Client) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)

    go_to_challenge(page, journey)
    for tries_left in (2, 1, 0):
        page.get_by_label("One-time code").fill("9999")
        page.get_by_role("button", name="Confirm").click()
        if tries_left:
            expect(page.get_by_role("alert")).to_contain_text(f"Tries left: {tries_left}")

    journey.expect_home(page)
    assert journey.read_code() == "100.390.119"


@pytest.mark.parametrize("number", [CHALLENGED, CHALLENGED_WITH_FRAME])
def test_a_challenge_may_be_walked_without_scripts(
    plain_page: Page, shop: Site, client: Client, shoot: Shoot, number: str
) -> None:
    journey = pay_by_card(shop, client, number)

    plain_page.goto(journey.redirect["url"])
    expect(plain_page.get_by_role("heading")).to_have_text("One moment")
    shoot(plain_page, "collect")
    plain_page.get_by_role("button", name="Continue").click()
    expect(plain_page.get_by_role("heading")).to_have_text("On to your bank")
    plain_page.get_by_role("button", name="Continue").click()
    expect_challenge(plain_page)
    choose(plain_page, "000.000.000")
    plain_page.get_by_role("button", name="Continue").click()

    journey.expect_home(plain_page)
    assert journey.read_code() == APPROVED


def test_the_challenge_may_be_shown_in_a_frame_of_the_shop(page: Page, shop: Site, client: Client) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)
    frame = f'<!doctype html><title>Shop</title><iframe name="pay" src="{journey.redirect["url"]}"></iframe>'
    shop.pages[CHECKOUT] = Reply(200, frame.encode(), HTML)

    page.goto(shop.url + CHECKOUT)
    inside = page.frame_locator("iframe")
    inside.locator("select[name=returnCode]").select_option("000.000.000")
    inside.locator("input[type=submit]").click()

    expect(inside.get_by_role("heading", name="Welcome back")).to_be_visible()
    assert journey.read_code() == APPROVED


def test_reloading_in_the_middle_changes_nothing(page: Page, shop: Site, client: Client) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)

    go_to_challenge(page, journey)
    page.reload()
    expect_challenge(page)
    page.goto(journey.redirect["url"])
    expect_challenge(page)
    choose(page, "000.000.000")

    journey.expect_home(page)
    assert journey.read_code() == APPROVED


def test_after_the_end_the_back_button_and_the_old_address_lead_home_again(
    page: Page, shop: Site, client: Client
) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)
    go_to_challenge(page, journey)
    choose(page, "000.000.000")
    journey.expect_home(page)
    before = client.get(f"/v1/payments/{journey.id}").json

    # The issuer's page was opened by a form, as it must be, so the browser asks before it sends the form again.
    with pytest.raises(PlaywrightError, match="ERR_CACHE_MISS"):
        page.go_back()
    page.wait_for_url("chrome-error:**")
    page.reload(wait_until="commit")
    journey.expect_home(page)
    page.goto(journey.redirect["url"])
    journey.expect_home(page)

    after = client.get(f"/v1/payments/{journey.id}").json
    assert len(shop.visits_to(BACK)) == 3
    assert {**after, "timestamp": "", "ndc": ""} == {**before, "timestamp": "", "ndc": ""}


def test_two_tabs_end_alike_and_charge_once(open_context: OpenContext, shop: Site, client: Client) -> None:
    journey = pay_by_card(shop, client, CHALLENGED)
    context = open_context()
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(journey.redirect["url"])
        expect_challenge(page)

    choose(first, FAILED)
    journey.expect_home(first)
    choose(second, "000.000.000")
    journey.expect_home(second)

    assert journey.read_code() == FAILED


def test_an_address_that_nobody_was_given_says_so(page: Page, client: Client, watch: Watch) -> None:
    answered = page.goto(f"{client.base_url}/v1/shopper/AAAA")

    assert answered is not None
    assert answered.status == 404
    expect(page.get_by_role("heading")).to_have_text("This link has ended")
    assert ["404" in complaint for complaint in watch.take()] == [True]
