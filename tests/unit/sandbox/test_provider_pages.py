"""The provider's page asks once, decides once, and shows the same end to a returning shopper."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tollgate.connectors import redirect
from tollgate.connectors.exchange import WireRequest
from tollgate.operations.app import App
from tollgate.sandbox.provider import SimulatedProvider, Status, find_session
from tollgate.sandbox.provider_pages import ROUTES, decide_at_provider, show_provider
from tollgate.store.simulated_sessions import SimulatedSession, insert_simulated_session
from tollgate.values import MINUTE, FixedClock
from tollgate.web.request import Reply, Request
from unit.app_fixture import ScriptedWire, open_app

pytestmark = pytest.mark.anyio

HOSTILE = '"><script>alert(1)</script>'
BACK_URL = "http://127.0.0.1:8080/v1/shopper/ticket"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


async def open_page(app: App, brand: str = "PAYPAL", amount: int = 9200, currency: str = "EUR") -> str:
    """Returns the token in the address of a page that was just made."""
    message = redirect.SessionMessage(
        key="8a01",
        type="sale",
        amount=amount,
        currency=currency,
        brand=brand,
        back_url=BACK_URL,
        statement="1234.5678.9012 Shop",
        merchant=HOSTILE,
        reference="1234.5678.9012",
    )
    provider = SimulatedProvider(app.database, "", app.clock)
    request = WireRequest(path=redirect.SESSIONS, body=msgspec.json.encode(message), key="8a01")
    reply = msgspec.json.decode((await provider.send(request, 1.0)).body, type=redirect.SessionReply)
    assert reply.redirect is not None
    return reply.redirect.url.removeprefix("/sandbox/provider/")


async def show(app: App, token: str) -> Reply:
    return await show_provider(make_request("GET", token), app)


async def decide(app: App, token: str, **fields: str) -> Reply:
    return await decide_at_provider(make_request("POST", token, **fields), app)


def make_request(method: str, token: str, **fields: str) -> Request:
    path = f"/sandbox/provider/{token}"
    pairs = list(fields.items())
    return Request(method=method, path=path, names=(token,), headers={}, pairs=pairs, trace="1" * 32)


async def get_status(app: App) -> Status:
    session = await find_session(app.database, "8a01", app.clock)
    assert session is not None
    return session.status


def says(reply: Reply, text: str) -> bool:
    return text.encode() in reply.body


async def test_the_page_shows_what_is_paid_and_escapes_what_others_wrote(app: App) -> None:
    page = await show(app, await open_page(app))

    assert page.status == 200
    assert says(page, "<h1>PayPal</h1>")
    assert says(page, "92.00 EUR")
    assert says(page, "1234.5678.9012")
    assert says(page, "after 30 minutes")
    assert not says(page, "<script>alert")


@pytest.mark.parametrize(
    ("amount", "currency", "shown"), [(500, "JPY", "500 JPY"), (1250, "KWD", "1.250 KWD"), (5, "EUR", "0.05 EUR")]
)
async def test_amounts_have_the_decimals_of_their_currency(app: App, amount: int, currency: str, shown: str) -> None:
    assert says(await show(app, await open_page(app, amount=amount, currency=currency)), shown)


@pytest.mark.parametrize(
    ("decision", "status"),
    [("approve", Status.APPROVED), ("decline", Status.DECLINED), ("cancel", Status.CANCELLED)],
)
async def test_a_decision_is_kept_and_leads_back(app: App, decision: str, status: Status) -> None:
    token = await open_page(app)

    page = await decide(app, token, decision=decision)

    assert page.status == 200
    assert says(page, f"0;url={BACK_URL}")
    assert await get_status(app) is status


async def test_a_second_decision_changes_nothing_and_shows_the_first(app: App) -> None:
    token = await open_page(app)
    await decide(app, token, decision="decline")

    again = await decide(app, token, decision="approve")

    assert says(again, "Declined on the simulated page")
    assert says(again, BACK_URL)
    assert not says(again, "http-equiv")
    assert await get_status(app) is Status.DECLINED


async def test_the_back_button_finds_what_was_decided_and_stays_there(app: App) -> None:
    token = await open_page(app)
    await decide(app, token, decision="approve")

    page = await show(app, token)

    assert says(page, "Approved on the simulated page")
    assert says(page, BACK_URL)
    assert not says(page, "<form")
    assert not says(page, "http-equiv")


@pytest.mark.parametrize("fields", [{}, {"transaction": "8a01", "brand": "EPS"}, {"decision": "dance"}])
async def test_a_shop_may_open_the_page_by_a_post_with_fields_of_its_own(app: App, fields: dict[str, str]) -> None:
    page = await decide(app, await open_page(app, "EPS"), **fields)

    assert says(page, 'value="approve"')
    assert await get_status(app) is Status.OPEN


async def test_who_comes_too_late_can_decide_nothing(app: App) -> None:
    token = await open_page(app)
    assert isinstance(app.clock, FixedClock)
    app.clock.at += 30 * MINUTE + 1

    page = await decide(app, token, decision="approve")

    assert says(page, "Nobody decided in time")
    assert await get_status(app) is Status.EXPIRED


@pytest.mark.parametrize("token", ["", "8a01", "8a01-", "8a01-" + "0" * 32, "8a02-" + "0" * 32, "8a01-\u00fc"])
async def test_who_does_not_know_the_secret_sees_no_page_and_decides_nothing(app: App, token: str) -> None:
    await open_page(app)

    assert (await show(app, token)).status == 404
    assert (await decide(app, token, decision="approve")).status == 404
    assert await get_status(app) is Status.OPEN


async def test_a_key_that_was_blocked_has_no_page(app: App) -> None:
    provider = SimulatedProvider(app.database, "", app.clock)
    await provider.send(WireRequest(path=redirect.SESSION_INQUIRIES, body=b'{"key":"8a01"}', key="8a01"), 1.0)

    assert (await show(app, "8a01-")).status == 404


async def test_what_an_issuer_remembers_is_no_page_of_a_provider(app: App) -> None:
    row = SimulatedSession(id="acs-1", status="challenged", created_at=app.clock.now(), body="sealed")
    await insert_simulated_session(app.database, row)

    assert (await show(app, "acs-1-x")).status == 404


def test_no_log_shows_the_addresses_of_pages() -> None:
    assert all(row.hides_path for row in ROUTES)
