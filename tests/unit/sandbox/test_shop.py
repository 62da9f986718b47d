"""The demo shop prepares, shows and asks as a merchant would, and believes nothing that a browser brings along."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tollgate.catalog.rule import Situation
from tollgate.catalog.test_cards import TEST_ACCOUNTS, TEST_CARDS, Behaviour
from tollgate.contract.fields import read_fields
from tollgate.flows.checkouts import prepare_checkout
from tollgate.operations.app import App, Call
from tollgate.operations.checkouts import find_any_checkout, open_prepared
from tollgate.sandbox.shop.options import LANGUAGES, SAMPLES
from tollgate.sandbox.shop.orders import (
    PRODUCTS,
    USUAL_CART,
    Ending,
    ask_ending,
    find_order,
    get_channel_of_shop,
    make_receipt,
    read_cart,
    render_price,
)
from tollgate.sandbox.tenant import SHOP, ensure_tenant, welcome
from tollgate.values import NotFound, Refusal
from tollgate.widget.languages import LANGUAGES as FORM_LANGUAGES
from unit.app_fixture import NOW, ScriptedWire, open_app
from unit.sandbox.shop_visits import (
    DECLINED,
    ORIGIN,
    header,
    name_result,
    open_shop_app,
    order,
    pass_time,
    pay,
    says,
    visit,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """One for all visitors: its merchant's wallet keys take their time."""
    async with open_shop_app(tmp_path_factory.mktemp("shop")) as app:
        yield app


# ---- the receipt ----


@pytest.mark.parametrize(
    "changes",
    [
        {"result": {"code": "900.100.300"}},
        {"resultDetails": {"LateApproval": "000.100.110"}},
        {"resultDetails": {"AbandonedBy": "shopper"}},
    ],
    ids=["no answer", "approved too late", "left at the provider"],
)
async def test_a_receipt_promises_money_back_where_some_may_have_been_taken(
    app: App, changes: dict[str, dict[str, str]]
) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id, **DECLINED)
    channel = await get_channel_of_shop(app)
    found = await find_order(app, channel, checkout_id)
    assert found is not None
    ending = await ask_ending(app, channel, found, "")

    received = make_receipt(found, Ending({**ending.body, **changes}, ""))

    assert make_receipt(found, ending).text == "You have not been charged."
    assert received.text.endswith("If anything was taken, you will get it back.")


# ---- the cart ----


async def test_a_visitor_sees_what_is_sold_and_what_it_costs(app: App) -> None:
    page = await visit(app, "GET", SHOP)

    assert page.status == 200
    assert all(says(page, product.name) and says(page, render_price(product.price)) for product in PRODUCTS)
    assert says(page, render_price(USUAL_CART.total))


async def test_the_amount_is_made_from_the_shops_own_prices(app: App) -> None:
    checkout_id = await order(app, mug="2", bag="1", amount="0.01", price="0")

    checkout = await find_any_checkout(app, checkout_id)
    assert checkout is not None
    prepared = open_prepared(app, checkout)
    assert (prepared["amount"], prepared["currency"], prepared["paymentType"]) == ("48.00", "EUR", "DB")
    assert [prepared[f"cart.items[{index}].name"] for index in (0, 1)] == ["Enamel mug", "Canvas bag"]


@pytest.mark.parametrize("text", ["-1", "1.5", "10", "x", "", "²", "٣"])
def test_a_quantity_that_is_no_small_number_counts_as_nothing(text: str) -> None:
    assert read_cart([("mug", text)]).bought == ()


async def test_an_empty_cart_is_not_ordered(app: App) -> None:
    page = await visit(app, "POST", f"{SHOP}/checkout", mug="0")

    assert page.status == 200
    assert says(page, "The cart is empty")


# ---- the form ----


async def test_the_form_is_shown_under_the_policy_that_merchants_are_advised_to_send(app: App) -> None:
    page = await visit(app, "GET", f"{SHOP}/checkout?id={await order(app)}")

    policy = dict(part.strip().split(" ", 1) for part in header(page, b"content-security-policy").split(";"))
    (nonce,) = set(re.findall(r'nonce="([^"]+)"', page.body.decode()))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == f"'self' {ORIGIN} 'nonce-{nonce}'"
    for name in ("style-src", "img-src", "connect-src", "frame-src"):
        assert ORIGIN in policy[name].split()
    assert "unsafe" not in header(page, b"content-security-policy")
    assert not re.search(r"<script(?![^>]*(?:src=|nonce=))|\sstyle=|\son[a-z]+=", page.body.decode())


async def test_every_page_has_a_nonce_of_its_own(app: App) -> None:
    pages = [await visit(app, "GET", SHOP) for _ in range(2)]

    assert len({header(page, b"content-security-policy") for page in pages}) == 2


async def test_the_form_loads_the_very_script_that_was_promised(app: App) -> None:
    checkout_id = await order(app)

    page = await visit(app, "GET", f"{SHOP}/checkout?id={checkout_id}")

    assert says(page, f'src="{ORIGIN}/v1/paymentWidgets.js?checkoutId={checkout_id}" integrity="sha384-abc"')
    assert says(
        page, 'class="paymentWidgets" data-brands="VISA MASTER AMEX APPLEPAY GOOGLEPAY PAYPAL DIRECTDEBIT_SEPA"'
    )


@pytest.mark.parametrize(
    ("query", "locale"), [("", "de-AT"), ("&lang=ar", "ar"), ("&lang=xx", "de-AT"), ("&lang=</script>", "de-AT")]
)
async def test_the_form_uses_the_language_of_the_visitor_or_the_browser(app: App, query: str, locale: str) -> None:
    page = await visit(app, "GET", f"{SHOP}/checkout?id={await order(app)}{query}")

    assert says(page, f'"locale": "{locale}"')


def test_the_shop_names_the_languages_of_the_form() -> None:
    assert {code: texts["name"] for code, texts in FORM_LANGUAGES.items()} == LANGUAGES


def test_the_numbers_to_try_are_those_that_a_test_host_knows() -> None:
    numbers = {sample.label: sample.number for sample in SAMPLES}
    iban = numbers.pop("IBAN")

    assert TEST_CARDS[numbers["Success"]].behaviour is Behaviour.NO_3DS
    assert TEST_CARDS[numbers["Decline"]].result_code == "800.100.152"
    assert TEST_CARDS[numbers["3-D Secure challenge"]].behaviour is Behaviour.CHALLENGE
    assert set(numbers.values()) <= set(TEST_CARDS)
    assert iban in {account.iban for account in TEST_ACCOUNTS}
    assert all(sample.shown.replace(" ", "") == sample.number for sample in SAMPLES)


async def test_a_checkout_that_has_expired_is_over(app: App) -> None:
    checkout_id = await order(app)
    pass_time(app, 30)

    page = await visit(app, "GET", f"{SHOP}/checkout?id={checkout_id}")

    assert page.status == 410
    assert says(page, "This checkout is over")
    assert not says(page, "paymentWidgets")


async def test_the_back_button_after_paying_leads_to_the_result(app: App) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id)

    before = await visit(app, "GET", f"{SHOP}/checkout?id={checkout_id}")
    await visit(app, "GET", name_result(checkout_id))
    after = await visit(app, "GET", f"{SHOP}/checkout?id={checkout_id}")

    assert header(before, b"location") == header(after, b"location") == name_result(checkout_id)


# ---- the result ----


async def test_the_result_is_asked_for_and_can_be_seen_again(app: App) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id)

    first = await visit(app, "GET", name_result(checkout_id))
    again = await visit(app, "GET", name_result(checkout_id))

    for page in (first, again):
        assert says(page, "Thank you, it is paid")
        assert says(page, '"amount": "48.00"')
    assert not says(first, "what the shop has kept")
    assert says(again, "200.300.404"), "a success is told once"


async def test_a_declined_shopper_may_try_again_in_the_same_checkout(app: App) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id, **DECLINED)
    declined = await visit(app, "GET", name_result(checkout_id))
    await pay(app, checkout_id)
    paid = await visit(app, "GET", name_result(checkout_id))

    assert says(declined, "It was not paid")
    assert says(declined, f"{SHOP}/checkout?id={checkout_id}")
    assert says(paid, "Thank you, it is paid")


async def test_who_reloads_too_often_still_sees_how_it_ended(app: App) -> None:
    checkout_id = await order(app)
    await pay(app, checkout_id, **DECLINED)

    pages = [await visit(app, "GET", name_result(checkout_id)) for _ in range(3)]

    assert [says(page, "It was not paid") for page in pages] == [True] * 3
    assert [says(page, "800.120.100") for page in pages] == [False, False, True]


async def test_nothing_is_paid_before_somebody_pays(app: App) -> None:
    page = await visit(app, "GET", name_result(await order(app)))

    assert says(page, "Nothing is paid yet")
    assert says(page, "Back to the payment")


async def test_only_the_path_of_this_very_checkout_is_believed(app: App) -> None:
    checkout_id, other_id = await order(app), await order(app)
    await pay(app, other_id)

    for path in (
        f"/v1/checkouts/{other_id}/payment",
        f"/v1/checkouts/{checkout_id}/registration",
        f"/v1/checkouts/{checkout_id}/payment/",
        f"https://elsewhere.example/v1/checkouts/{checkout_id}/payment",
        f"/v1/checkouts/{checkout_id}/../{other_id}/payment",
    ):
        assert (await visit(app, "GET", name_result(checkout_id, path))).status == 404, path
    received = await visit(app, "GET", name_result(other_id))
    assert not says(received, "what the shop has kept"), "a strange address has spent the success of another"


@pytest.mark.parametrize("checkout_id", ["", "x", "\0", "0" * 32, "0" * 32 + ".000000000000", "é" * 500])
async def test_an_unknown_checkout_is_over(app: App, checkout_id: str) -> None:
    assert (await visit(app, "GET", f"{SHOP}/checkout", id=checkout_id)).status == 404
    assert (await visit(app, "GET", f"{SHOP}/result", id=checkout_id, resourcePath="/v1")).status == 404


async def test_a_checkout_that_another_program_has_prepared_is_left_alone(app: App) -> None:
    """A question about its result would take the only answer away from that program."""
    channel = await get_channel_of_shop(app)
    pairs = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")]
    fields = read_fields(pairs, Situation("create_checkout", None, channel.is_lenient, app.is_live))
    answer = await prepare_checkout(app, fields, Call(channel, "ndc"))
    checkout_id: str = msgspec.json.decode(answer.body)["id"]
    await pay(app, checkout_id)

    page = await visit(app, "GET", name_result(checkout_id))

    assert page.status == 404
    checkout = await find_any_checkout(app, checkout_id)
    assert checkout is not None
    assert checkout.read_at is None


async def test_no_page_shows_the_access_token(app: App) -> None:
    checkout_id = await order(app)
    form = await visit(app, "GET", f"{SHOP}/checkout?id={checkout_id}")
    await pay(app, checkout_id)
    pages = [await visit(app, "GET", SHOP), form, await visit(app, "GET", name_result(checkout_id))]
    tenant = await ensure_tenant(app.database, app.keyring, NOW)
    token = (await welcome(app.database, app.keyring, tenant, ORIGIN)).access_token

    assert not any(says(page, token) for page in pages)
    assert all(says(page, "Bearer $TOKEN") and says(page, tenant.entity_id) for page in pages[1:])


# ---- files ----


async def test_files_are_kept_for_good_under_their_own_name_only(app: App) -> None:
    body = (await visit(app, "GET", SHOP)).body.decode()
    (path,) = re.findall(r'href="(/sandbox/shop/files/[^"]+)"', body)

    current = await visit(app, "GET", path)
    older = await visit(app, "GET", path.replace(path.split("/")[4], "0" * 16))

    assert current.body == older.body
    assert "immutable" in header(current, b"cache-control")
    assert older.headers == ((b"vary", b"accept-encoding"),)
    with pytest.raises(NotFound):
        await visit(app, "GET", "/sandbox/shop/files/0/shop.py")


async def test_a_host_without_its_sandbox_merchant_has_no_shop(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())

    with pytest.raises(Refusal):
        await visit(app, "POST", f"{SHOP}/checkout", mug="1")
    await app.database.close()
