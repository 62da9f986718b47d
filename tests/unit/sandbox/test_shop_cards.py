"""The demo shop knows a visitor by a signed cookie, which names the cards that were saved and no others."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from tollgate.operations.app import App
from tollgate.operations.checkouts import find_any_checkout, open_prepared
from tollgate.payments.registration import WIPED
from tollgate.sandbox.shop.options import CARDS_MAX, read_cards, remember_cards
from tollgate.sandbox.shop.orders import get_channel_of_shop
from tollgate.sandbox.tenant import SHOP
from tollgate.store.registrations import find_registration
from tollgate.values import make_id
from tollgate.vault.keyring import make_keyring
from unit.sandbox.shop_visits import (
    header,
    make_request,
    open_shop_app,
    order,
    store_card,
    visit,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """One for all visitors: its merchant's wallet keys take their time."""
    async with open_shop_app(tmp_path_factory.mktemp("shop")) as app:
        yield app


async def test_a_card_that_was_saved_is_offered_next_time(app: App) -> None:
    cookie = await store_card(app)

    checkout = await find_any_checkout(app, await order(app, cookie))

    assert checkout is not None
    assert open_prepared(app, checkout)["registrations[0].id"] == read_cards(make_request("GET", SHOP, cookie), app)[0]


async def test_the_cookie_is_for_the_shop_alone_and_for_no_script(app: App) -> None:
    name, cookie = remember_cards([make_id()], app)

    assert name == b"set-cookie"
    assert {"Path=/sandbox/shop", "HttpOnly", "SameSite=Lax"} <= set(cookie.decode().split("; "))
    assert "Secure" not in cookie.decode()
    secured = msgspec.structs.replace(app, base_url="https://pay.example")
    assert remember_cards([make_id()], secured)[1].endswith(b"; Secure")


async def test_a_visitor_has_the_newest_cards_each_once(app: App) -> None:
    ids = [make_id() for _ in range(CARDS_MAX + 1)]

    cookie = remember_cards([ids[0], *ids], app)[1].decode().partition(";")[0]

    assert read_cards(make_request("GET", SHOP, cookie), app) == ids[:CARDS_MAX]


async def test_a_cookie_that_the_shop_has_not_signed_names_no_card(app: App) -> None:
    stranger = msgspec.structs.replace(app, keyring=make_keyring())
    theirs = remember_cards([make_id()], stranger)[1].decode().partition(";")[0]

    for cookie in ("", "tollgate_shop", f"tollgate_shop={make_id()}", "tollgate_shop=%%%", theirs, theirs[:-4]):
        assert read_cards(make_request("GET", SHOP, f"a=b; {cookie}"), app) == []


async def test_cards_that_are_to_be_forgotten_are_wiped_in_the_gateway_too(app: App) -> None:
    cookie = await store_card(app)
    (stored_id,) = read_cards(make_request("GET", SHOP, cookie), app)
    channel = await get_channel_of_shop(app)

    replies = [await visit(app, "POST", f"{SHOP}/forget", cookie) for _ in range(2)]

    for reply in replies:
        assert header(reply, b"location") == SHOP
        assert "Max-Age=0" in header(reply, b"set-cookie")
    registration = await find_registration(app.database, channel.merchant_id, stored_id)
    assert registration is not None
    assert registration.state in WIPED
