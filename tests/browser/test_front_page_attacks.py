"""A page on another port of this machine is of the same site, and still reads and changes nothing of the front page."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from api.front_page import COOKIE
from browser.shops import HTML, Site
from browser.watching import Watch
from gateway import Client, GatewayProcess
from tollgate.web.request import Reply

FIXED = "A" * 43
NEWS = "**/sandbox/front/news"
FORGED = hmac.new(FIXED.encode(), b"tollgate form", "sha256").hexdigest()
"""The form token of the cookie, which its planter can compute."""
HOSTILE = "\"'><img src=x onerror=alert(1)></code></script><script>alert(1)</script>{{7*7}}"


@pytest.fixture(autouse=True)
def own_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("front")) as gateway:
        yield gateway


@pytest.fixture
def newcomer(own_gateway: GatewayProcess) -> Client:
    return own_gateway.client()


def name_as_localhost(url: str) -> str:
    """Returns the address by the name that both hosts share, because cookies know no ports."""
    return url.replace("127.0.0.1", "localhost")


def open_attacker(page: Page, site: Site, body: str = "") -> None:
    site.pages["/attack"] = Reply(200, f"<!doctype html><title>Attack</title>{body}".encode(), HTML)
    page.goto(name_as_localhost(f"{site.url}/attack"))


def read_clock(client: Client) -> str:
    now: str = client.get("/sandbox/clock").json["now"]
    return now[:10]


@pytest.mark.parametrize("mode", ["cors", "no-cors"])
@pytest.mark.parametrize("path", ["/", "/sandbox/credentials", "/sandbox/front/news"])
def test_a_page_on_another_port_reads_nothing(
    page: Page, newcomer: Client, site: Site, watch: Watch, mode: str, path: str
) -> None:
    open_attacker(page, site)

    read = page.evaluate(
        """async ([url, mode]) => {
             try {
               return await (await fetch(url, { mode, credentials: "include" })).text();
             } catch {
               return "";
             }
           }""",
        [name_as_localhost(newcomer.base_url) + path, mode],
    )

    assert read == ""
    watch.take()


def test_a_cookie_that_another_port_planted_forges_no_form(
    page: Page, newcomer: Client, site: Site, watch: Watch
) -> None:
    host = name_as_localhost(newcomer.base_url)
    before = read_clock(newcomer)
    fields = (
        f'<input name="form_token" value="{FORGED}"><input name="forward" value="9"><input name="unit" value="days">'
    )
    form = f'<form method="post" action="{host}/sandbox/front/clock">{fields}<button>Go</button></form>'
    for policy in ("unsafe-url", "no-referrer"):
        open_attacker(page, site, f'<meta name="referrer" content="{policy}">{form}')
        page.evaluate(f"document.cookie = '{COOKIE}={FIXED}; path=/'")
        with page.expect_response("**/sandbox/front/clock") as answered:
            page.get_by_role("button", name="Go").click()

        # The browser sends the planted cookie, so that the token alone would not have stopped the form.
        assert f"{COOKIE}={FIXED}" in answered.value.request.all_headers()["cookie"]
        assert answered.value.status == 403
        expect(page.get_by_text("the request came from another site")).to_be_visible()
    assert read_clock(newcomer) == before
    watch.take()


def test_a_page_on_another_port_frames_nothing(page: Page, newcomer: Client, site: Site, watch: Watch) -> None:
    open_attacker(page, site, f'<iframe src="{name_as_localhost(newcomer.base_url)}/"></iframe>')

    assert any("frame-ancestors" in complaint for complaint in watch.take())
    assert "Your sandbox" not in page.frames[-1].content()


def test_what_others_sent_is_shown_as_text(page: Page, newcomer: Client) -> None:
    newcomer.pay(card__holder="<b>Jane</b> Jones", merchantTransactionId="<img src=x>")
    body = json.dumps({"type": HOSTILE, "payload": {"paymentType": HOSTILE, "amount": HOSTILE, "currency": HOSTILE}})
    newcomer.send("POST", "/sandbox/inbox/orders", body, {"Content-Type": "application/json"})
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)

    page.goto(newcomer.base_url)
    expect(page.locator("#messages li")).to_have_count(1)
    newcomer.send("POST", "/sandbox/inbox/orders", body, {"Content-Type": "application/json"})

    # The second one is put into the page by its script.
    expect(page.locator("#messages li")).to_have_count(2)
    assert page.locator("main img, main script, main b").count() == 0
    assert dialogs == []


def test_a_host_with_errors_is_asked_less_and_less(page: Page, newcomer: Client, watch: Watch) -> None:
    asked: list[str] = []

    def fail(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=500, body="{}")

    page.clock.install()
    page.route(NEWS, fail)
    page.goto(newcomer.base_url)
    for pause_ms in (2_100, 4_100, 8_100, 16_100, 32_100, 60_100):
        with page.expect_response(NEWS):
            page.clock.run_for(pause_ms)
        # The page must have read the answer before the time goes on.
        page.evaluate("() => new Promise((done) => queueMicrotask(done))")
    count = len(asked)
    page.clock.run_for(50_000)
    assert len(asked) == count == 6

    page.unroute(NEWS)
    with page.expect_response(NEWS) as answered:
        page.clock.run_for(10_100)
    assert answered.value.status in (200, 304)
    assert all("500" in complaint for complaint in watch.take())
