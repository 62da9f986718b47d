"""The switches of the demo shop: what a visitor chooses is kept, changes the form's options, and reaches the bank."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tollgate.operations.app import App
from tollgate.operations.checkouts import find_any_checkout, open_prepared
from tollgate.sandbox.shop.options import COOKIE, SWITCHES, read_choices, recall_choices
from tollgate.sandbox.tenant import SHOP
from unit.sandbox.shop_visits import header, name_result, open_shop_app, order, pay, says, visit

pytestmark = pytest.mark.anyio

USUAL = {switch.key: switch.usual for switch in SWITCHES}
OTHER = {"layout": "classic", "style": "plain", "colours": "plum", "cards": "off", "bank": "slow"}
DELAY = "customParameters[simulatorDelay]"


@pytest.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    async with open_shop_app(tmp_path_factory.mktemp("shop")) as app:
        yield app


async def read_delay(app: App, checkout_id: str) -> str | None:
    checkout = await find_any_checkout(app, checkout_id)
    assert checkout is not None
    return open_prepared(app, checkout).get(DELAY)


def test_choices_are_known_again_from_their_cookie() -> None:
    name, value = read_choices(OTHER.items()).make_cookie(is_secure=True)

    kept = value.decode().partition(";")[0].removeprefix(f"{COOKIE}=")
    assert (name, recall_choices(kept).by_key) == (b"set-cookie", OTHER)
    assert value.endswith(b"; HttpOnly; SameSite=Lax; Secure")


@pytest.mark.parametrize("cookie", ["", "classic", "....", "<b>.x.y.z.w", "a.b.c.d.e.f.g"])
def test_what_is_no_choice_is_the_usual_one(cookie: str) -> None:
    assert recall_choices(cookie).by_key == USUAL


async def test_choices_change_the_options_of_the_form_and_stay(app: App) -> None:
    checkout_id = await order(app)
    usual = await visit(app, "GET", f"{SHOP}/checkout?id={checkout_id}")

    chosen = await visit(app, "POST", f"{SHOP}/switches", id=checkout_id, lang="de", **OTHER)
    cookie = header(chosen, b"set-cookie").partition(";")[0]
    changed = await visit(app, "GET", header(chosen, b"location"), cookie)

    assert says(usual, '"layout": "accordion"')
    assert all(says(usual, text) for text in ('"registrations": {}', "colours-shop", '"style": "card"'))
    assert header(chosen, b"location") == f"{SHOP}/checkout?lang=de&id={checkout_id}"
    assert all(
        says(changed, text)
        for text in ('"layout": "classic"', '"style": "plain"', '"showOneClickWidget": false', "colours-plum")
    )
    assert not says(changed, '"registrations"')


async def test_a_slow_bank_is_slow_for_this_order_and_the_next_until_it_is_switched_back(app: App) -> None:
    checkout_id = await order(app)
    assert await read_delay(app, checkout_id) is None

    chosen = await visit(app, "POST", f"{SHOP}/switches", id=checkout_id, **{**USUAL, "bank": "slow"})
    assert await read_delay(app, checkout_id) == "6000"
    cookie = header(chosen, b"set-cookie").partition(";")[0]
    following = await visit(app, "POST", f"{SHOP}/checkout", cookie, mug="1")
    next_id = header(following, b"location").partition("id=")[2]
    assert await read_delay(app, next_id) == "6000"

    await visit(app, "POST", f"{SHOP}/switches", id=checkout_id, **USUAL)
    assert await read_delay(app, checkout_id) == "0"


async def test_a_checkout_expires_at_once_where_that_is_asked_for(app: App) -> None:
    checkout_id = await order(app)

    gone = await visit(app, "POST", f"{SHOP}/switches", id=checkout_id, act="expire", **USUAL)

    shown = await visit(app, "GET", header(gone, b"location"))
    assert shown.status in (404, 410)
    assert says(shown, "This checkout is over")


async def test_what_is_paid_does_not_expire(app: App) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id)

    await visit(app, "POST", f"{SHOP}/switches", id=checkout_id, act="expire", **USUAL)

    assert says(await visit(app, "GET", name_result(checkout_id)), "Thank you, it is paid")


async def test_a_checkout_of_another_program_is_left_alone(app: App) -> None:
    reply = await visit(app, "POST", f"{SHOP}/switches", id="8a01", act="expire", **USUAL)

    assert (reply.status, header(reply, b"location")) == (303, f"{SHOP}/checkout")
