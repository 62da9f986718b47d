"""Our pages in a real browser: they do what they are for, with scripts and without, and their policy lets them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenContext, Shoot
from browser.shops import BACK, HTML, Site, Visit, redirect
from browser.watching import Watch
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Reply

PAGES = Pages()
WORDS: dict[str, Any] = {"title": "Your bank wants to know you", "text": "You are being brought to your bank."}
HOSTILE = "\"'><script>alert(1)</script>&amp;"
ASKS = {
    question: question
    for question in (
        "language",
        "screen_height",
        "screen_width",
        "color_depth",
        "timezone",
        "java_enabled",
        "javascript_enabled",
    )
}


def forward_to(url: str, **changes: Any) -> Reply:
    values: dict[str, Any] = {**WORDS, "url": url, "method": "POST", "fields": {"creq": HOSTILE, "submit": "x"}}
    return PAGES.render("forward.html", form_targets=[url], **(values | changes))


def collect(site: Site, frame_url: str = "", **changes: Any) -> Reply:
    frame = {"url": frame_url, "name": "data", "value": "e30", "until": "/know", "done_name": "done"}
    values: dict[str, Any] = {**WORDS, "action": "/next", "fields": {"step": "1"}, "asks": ASKS}
    values["frame"] = frame | changes if frame_url else None
    targets = [frame_url] if frame_url else []
    site.pages["/next"] = Reply(200, b"<!doctype html><title>Next</title>", HTML)
    site.pages["/known"] = Reply(200, b"<!doctype html><title>Known</title>", HTML)
    return PAGES.render("collect.html", form_targets=targets, frames=[*targets, "/"], **values)


def test_a_forward_posts_its_fields_by_itself(page: Page, site: Site, shop: Site) -> None:
    site.pages["/forward"] = forward_to(shop.url + BACK)

    page.goto(site.url + "/forward")
    expect(page).to_have_title("Shop")

    assert shop.visits_to(BACK) == [Visit("POST", BACK, {"creq": HOSTILE, "submit": "x"})]


def test_a_forward_waits_for_the_button_where_scripts_are_off(
    plain_page: Page, site: Site, shop: Site, shoot: Shoot
) -> None:
    site.pages["/forward"] = forward_to(shop.url + BACK)

    plain_page.goto(site.url + "/forward")
    shoot(plain_page, "forward")
    assert shop.visits == []
    plain_page.get_by_role("button", name="Continue").press("Enter")
    expect(plain_page).to_have_title("Shop")

    assert [visit.method for visit in shop.visits_to(BACK)] == ["POST"]


def test_the_back_button_passes_over_a_forward(page: Page, site: Site, shop: Site) -> None:
    site.pages["/start"] = Reply(200, b'<!doctype html><title>Start</title><a href="/forward">go</a>', HTML)
    site.pages["/forward"] = forward_to(shop.url + BACK)
    page.goto(site.url + "/start")
    page.get_by_role("link", name="go").click()
    expect(page).to_have_title("Shop")

    page.go_back()

    expect(page).to_have_title("Start")
    assert len(shop.visits_to(BACK)) == 1


def test_a_form_cannot_go_where_its_page_does_not_allow(page: Page, site: Site, shop: Site, watch: Watch) -> None:
    site.pages["/forward"] = PAGES.render("forward.html", **WORDS, url=shop.url + BACK, method="POST", fields={})

    with page.expect_console_message():
        page.goto(site.url + "/forward", wait_until="commit")

    assert shop.visits == []
    assert any("form-action" in complaint for complaint in watch.take())


def test_a_redirect_after_a_form_is_held_against_the_policy_of_the_page(
    page: Page, site: Site, shop: Site, watch: Watch
) -> None:
    """A walk ends on a page that leaves, and not with a redirect, for this reason."""
    site.pages["/forward"] = forward_to("/decide")
    site.pages["/decide"] = redirect(shop.url + BACK)

    with page.expect_console_message():
        page.goto(site.url + "/forward", wait_until="commit")

    assert shop.visits == []
    assert any("form-action" in complaint for complaint in watch.take())


@pytest.mark.parametrize("with_scripts", [True, False])
def test_a_page_that_leaves_brings_the_shopper_home_after_a_form(
    open_context: OpenContext, site: Site, shop: Site, with_scripts: bool
) -> None:
    page = open_context(java_script_enabled=with_scripts).new_page()
    site.pages["/forward"] = forward_to("/decide")
    site.pages["/decide"] = PAGES.render("leave.html", **WORDS, url=shop.url + BACK + "?a=1&b=%26%3B%20'\"")

    page.goto(site.url + "/forward")
    if not with_scripts:
        page.get_by_role("button", name="Continue").click()
    expect(page).to_have_title("Shop")

    assert shop.visits_to(BACK) == [Visit("GET", BACK, {"a": "1", "b": "&; '\""})]


def test_the_back_button_passes_over_a_page_that_leaves(page: Page, site: Site, shop: Site) -> None:
    site.pages["/start"] = Reply(200, b'<!doctype html><title>Start</title><a href="/leave">go</a>', HTML)
    site.pages["/leave"] = PAGES.render("leave.html", **WORDS, url=shop.url + BACK)
    page.goto(site.url + "/start")
    page.get_by_role("link", name="go").click()
    expect(page).to_have_title("Shop")

    page.go_back()

    expect(page).to_have_title("Start")


def test_a_page_that_leaves_for_an_app_stays_with_a_link_where_there_is_no_app(
    page: Page, site: Site, shoot: Shoot
) -> None:
    site.pages["/leave"] = PAGES.render("leave.html", **WORDS, url="shop.app://paid?id=1")

    page.goto(site.url + "/leave")

    link = page.get_by_role("link", name="Continue")
    expect(link).to_have_attribute("href", "shop.app://paid?id=1")
    shoot(page, "leave")


def test_the_collecting_page_sends_the_properties_of_the_browser(open_context: OpenContext, site: Site) -> None:
    screen = {"width": 1234, "height": 777}
    page = open_context(locale="de-AT", timezone_id="Asia/Tokyo", screen=screen, viewport=screen).new_page()
    site.pages["/collect"] = collect(site)

    page.goto(site.url + "/collect")
    expect(page).to_have_title("Next")

    assert site.visits_to("/next")[0].fields == {
        "step": "1",
        "language": "de-AT",
        "screen_height": "777",
        "screen_width": "1234",
        "color_depth": "24",
        "timezone": "-540",
        "java_enabled": "false",
        "javascript_enabled": "true",
    }


def test_a_language_with_a_long_name_is_sent_as_its_first_part(open_context: OpenContext, site: Site) -> None:
    page = open_context(locale="zh-Hant-TW").new_page()
    site.pages["/collect"] = collect(site)

    page.goto(site.url + "/collect")
    expect(page).to_have_title("Next")

    assert site.visits_to("/next")[0].fields["language"] == "zh"


def test_the_collecting_page_sends_what_there_is_without_scripts(plain_page: Page, site: Site) -> None:
    site.pages["/collect"] = collect(site, site.url + "/issuer")

    plain_page.goto(site.url + "/collect")
    plain_page.get_by_role("button", name="Continue").click()
    expect(plain_page).to_have_title("Next")

    sent = site.visits_to("/next")[0].fields
    assert (sent["language"], sent["javascript_enabled"], sent["done"]) == ("en", "false", "N")
    assert (sent["timezone"], sent["screen_height"]) == ("", "")
    assert site.visits_to("/issuer") == []


def test_the_issuers_frame_is_waited_for_until_it_comes_back_to_us(page: Page, site: Site, shop: Site) -> None:
    site.pages["/collect"] = collect(site, shop.url + "/issuer")
    shop.pages["/issuer"] = PAGES.render(
        "forward.html", form_targets=[site.url], framed_by=ANYWHERE,
        **WORDS, url=site.url + "/known", method="POST", fields={"data": "e30"},
    )  # fmt: skip

    page.goto(site.url + "/collect")
    expect(page).to_have_title("Next")

    assert shop.visits_to("/issuer") == [Visit("POST", "/issuer", {"data": "e30"})]
    assert site.visits_to("/known") == [Visit("POST", "/known", {"data": "e30"})]
    assert site.visits_to("/next")[0].fields["done"] == "Y"
    assert [visit.path for visit in site.visits].index("/known") < [visit.path for visit in site.visits].index("/next")


def test_an_issuer_that_never_answers_is_not_waited_for_longer_than_ten_seconds(
    page: Page, site: Site, shop: Site
) -> None:
    site.pages["/collect"] = collect(site, shop.url + "/issuer")
    shop.pages["/issuer"] = Reply(200, b"<!doctype html><title>Stuck</title>", HTML)
    page.clock.install()

    page.goto(site.url + "/collect")
    expect(page.get_by_role("status")).to_be_visible()
    page.clock.fast_forward(5_000)
    assert site.visits_to("/next") == []
    page.clock.fast_forward(5_500)
    expect(page).to_have_title("Next")

    assert site.visits_to("/next")[0].fields["done"] == "N"


def test_the_waiting_page_looks_again_by_itself(plain_page: Page, site: Site, shoot: Shoot) -> None:
    ended = PAGES.render("end.html", **WORDS | {"title": "It is over"}, link="https://shop.example/")
    site.pages["/wait"] = lambda visit: (
        PAGES.render("wait.html", **WORDS, note=None, url="/wait") if len(site.visits_to(visit.path)) == 1 else ended
    )

    plain_page.goto(site.url + "/wait")
    shoot(plain_page, "wait")
    expect(plain_page.get_by_role("heading", name="It is over")).to_be_visible()
    shoot(plain_page, "end")

    assert [visit.method for visit in site.visits_to("/wait")] == ["GET", "GET"]


def test_a_page_shows_in_no_frame_unless_allowed(page: Page, site: Site, shop: Site, watch: Watch) -> None:
    site.pages["/alone"] = PAGES.render("end.html", **WORDS, link=None)
    site.pages["/framed"] = PAGES.render("end.html", framed_by=ANYWHERE, **WORDS, link=None)
    frames = "".join(f'<iframe src="{site.url}{path}"></iframe>' for path in ("/alone", "/framed"))
    shop.pages["/frames"] = Reply(200, f"<!doctype html><title>Frames</title>{frames}".encode(), HTML)

    page.goto(shop.url + "/frames")

    expect(page.frame_locator("iframe").nth(1).get_by_role("heading")).to_have_text(WORDS["title"])
    assert page.frame_locator("iframe").nth(0).get_by_role("heading").count() == 0
    assert any("frame-ancestors" in complaint for complaint in watch.take())
