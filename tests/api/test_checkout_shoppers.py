"""Shoppers who have to go away to pay, in one window or in several: whatever they do, a checkout is paid once."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa

from api.chains import FORCE, PENDING, result_of
from api.challenges import BILLING, BROWSER, CHALLENGED
from api.checking_out import ask, prepare
from api.merchants import wait_until
from api.paying_forms import (
    AT_SHOP,
    BUSY,
    GONE,
    PAYPAL,
    SHOP_URL,
    begin_at_provider,
    begin_challenge,
    come_back,
    find_next,
    has_ended,
    list_made,
    open_checkout,
    pass_challenge,
    pass_seconds,
    post,
    press,
    read_home,
    show,
)
from api.registration_requests import ask_store, register
from api.windows import Window
from gateway import CARD, Client, GatewayProcess
from tollgate.payments.checkout import Script
from tollgate.store.checkouts import keep_script
from tollgate.store.database import Database
from tollgate.store.statements import Statement
from tollgate.values import to_instant

pytestmark = pytest.mark.both_databases

PAID = (200, "000.100.110")
PAID_TWICE = "800.110.100"
OVER = "900.300.600"
MINUTE_S = 60
SHOP_ORIGIN = "https://shop.example"


def list_codes(client: Client, reference: str) -> list[tuple[str, str]]:
    return sorted((each["paymentType"], each["result"]["code"]) for each in list_made(client, reference))


def find_made(client: Client, reference: str, payment_type: str, brand: str) -> dict[str, Any]:
    made = list_made(client, reference)
    [found] = [each for each in made if (each["paymentType"], each["paymentBrand"]) == (payment_type, brand)]
    return found


def test_a_challenge_inside_the_page_pays(client: Client) -> None:
    checkout_id = open_checkout(client)

    page = begin_challenge(client, checkout_id, shopOrigin="https://shop.example")
    assert show(client, checkout_id).json["state"] == "open"
    assert result_of(ask(client, checkout_id)) == PENDING
    home = pass_challenge(client, page)

    assert read_home(home) == {
        "order": "7",
        "id": checkout_id,
        "resourcePath": f"/v1/checkouts/{checkout_id}/payment",
    }
    paid = ask(client, checkout_id)
    assert result_of(paid) == PAID
    assert paid.json["threeDSecure"]["eci"] == "05"
    assert paid.json["ndc"] == checkout_id


def test_no_word_of_the_form_spares_its_shopper_the_challenge(client: Client) -> None:
    checkout_id = open_checkout(client)

    page = begin_challenge(client, checkout_id, **{"card.numberType": "DPAN", "walletA.source": "web"})

    pass_challenge(client, page)
    assert ask(client, checkout_id).json["threeDSecure"]["eci"] == "05"


def test_our_page_collects_the_browser_where_the_form_sent_none(client: Client) -> None:
    checkout_id = open_checkout(client)

    answer = post(client, checkout_id, {**CARD, **BILLING, "card.number": CHALLENGED})
    page = Window(client).walk(find_next(answer, "challenge"))

    assert 'name="returnCode"' in page.text
    pass_challenge(client, page)
    assert result_of(ask(client, checkout_id)) == PAID


def test_the_shop_that_waits_gets_a_message_at_its_exact_origin(client: Client) -> None:
    checkout_id = open_checkout(client)
    answer = post(client, checkout_id, {**PAYPAL, "shopOrigin": SHOP_ORIGIN})
    back = press(client, find_next(answer, "provider"), "approve")

    page = Window(client).visit(back).text

    assert f'data-checkout="{checkout_id}"' in page
    assert f'data-origin="{SHOP_ORIGIN}" data-paid>' in page


def test_a_provider_that_wants_a_form_gets_it_from_a_page_of_ours(client: Client) -> None:
    checkout_id = open_checkout(client)

    url = find_next(post(client, checkout_id, {"paymentBrand": "GIROPAY", "bankAccount.bic": "DEUTDEFF"}), "provider")
    assert urlsplit(url).path == f"/v1/checkouts/{checkout_id}/provider"
    page = Window(client).walk(url)

    assert "92.00" in page.text
    come_back(client, press(client, page.url, "approve"))
    assert result_of(ask(client, checkout_id)) == PAID
    assert has_ended(client.send("GET", f"/v1/checkouts/{checkout_id}/provider"))


def test_whoever_closes_the_providers_window_pays_with_something_else(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="closed-popup")
    begin_at_provider(client, checkout_id)

    assert result_of(post(client, checkout_id)) == PAID
    assert result_of(ask(client, checkout_id)) == PAID
    assert list_codes(client, "closed-popup") == [("DB", "000.100.110"), ("DB", "000.200.000")]


def test_what_a_provider_approves_after_a_card_has_paid_goes_back_by_itself(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="late-approval")
    provider = begin_at_provider(client, checkout_id)
    post(client, checkout_id)

    home = come_back(client, press(client, provider, "approve"))

    assert read_home(home)["id"] == checkout_id
    late = find_made(client, "late-approval", "DB", "PAYPAL")
    assert late["result"]["code"] == PAID_TWICE
    assert late["resultDetails"]["LateApproval"] == "000.100.110"
    wait_until(lambda: ("RV", "000.100.110") in list_codes(client, "late-approval"))
    reversal = find_made(client, "late-approval", "RV", "PAYPAL")
    assert reversal["referencedId"] == late["id"]
    assert b"Reversed by the simulator" in client.send("GET", urlsplit(provider).path).body
    paid = ask(client, checkout_id)
    assert (result_of(paid), paid.json["paymentBrand"]) == (PAID, "VISA")


def test_what_a_provider_approves_unseen_is_found_by_the_worker(client: Client) -> None:
    """The shopper presses the button and never comes back."""
    sole, late = (open_checkout(client, merchantTransactionId=name) for name in ("unseen-sole", "unseen-late"))
    providers = [begin_at_provider(client, each) for each in (sole, late)]
    post(client, late)
    for provider in providers:
        press(client, provider, "approve")

    pass_seconds(client, 5 * MINUTE_S)

    wait_until(lambda: list_codes(client, "unseen-sole") == [("DB", "000.100.110")])
    assert result_of(ask(client, sole)) == PAID
    wait_until(lambda: ("RV", "000.100.110") in list_codes(client, "unseen-late"))
    assert result_of(post(client, sole)) == GONE


def test_a_second_window_during_a_challenge_decides_by_who_locks_first(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="two-windows")
    page = begin_challenge(client, checkout_id)

    assert result_of(post(client, checkout_id)) == PAID
    home = pass_challenge(client, page)

    assert read_home(home)["id"] == checkout_id
    assert list_codes(client, "two-windows") == [("DB", "000.100.110"), ("DB", PAID_TWICE)]
    assert result_of(ask(client, checkout_id)) == PAID


def test_two_challenges_at_once_end_with_one_payment(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="two-challenges")
    one, other = begin_challenge(client, checkout_id), begin_challenge(client, checkout_id)

    homes = {pass_challenge(client, page) for page in (other, one, other)}

    assert len(homes) == 1
    assert list_codes(client, "two-challenges") == [("DB", "000.100.110"), ("DB", PAID_TWICE)]


def test_a_challenge_that_ends_after_the_checkout_takes_no_money(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="after-the-end")
    pass_seconds(client, 20 * MINUTE_S)
    page = begin_challenge(client, checkout_id)
    pass_seconds(client, 10 * MINUTE_S)

    pass_challenge(client, page)

    assert list_codes(client, "after-the-end") == [("DB", OVER)]
    assert result_of(ask(client, checkout_id)) == GONE


def test_a_challenge_for_an_amount_that_was_changed_takes_no_money(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="changed-amount")
    page = begin_challenge(client, checkout_id)
    client.post(f"/v1/checkouts/{checkout_id}", {"amount": "100.00"})

    pass_challenge(client, page)

    assert list_codes(client, "changed-amount") == [("DB", OVER)]
    assert result_of(post(client, checkout_id)) == PAID
    assert ask(client, checkout_id).json["amount"] == "100.00"


def test_what_a_provider_approves_for_an_amount_that_was_changed_goes_back_by_itself(client: Client) -> None:
    """Otherwise a shopper gets a full basket for the price of its first item."""
    checkout_id = open_checkout(client, merchantTransactionId="cheap-basket")
    provider_url = begin_at_provider(client, checkout_id)
    client.post(f"/v1/checkouts/{checkout_id}", {"amount": "1000.00"})

    come_back(client, press(client, provider_url, "approve"))

    assert result_of(ask(client, checkout_id)) == (400, OVER)
    wait_until(lambda: ("RV", PAID[1]) in list_codes(client, "cheap-basket"))
    stale = find_made(client, "cheap-basket", "DB", "PAYPAL")
    assert (stale["result"]["code"], stale["resultDetails"]["LateApproval"]) == (OVER, PAID[1])
    assert result_of(post(client, checkout_id)) == PAID
    assert ask(client, checkout_id).json["amount"] == "1000.00"


def test_a_registered_card_may_be_challenged_too(client: Client) -> None:
    stored = register(client, {**CARD, "card.number": CHALLENGED})
    checkout_id = prepare(client, {**AT_SHOP, "registrations[0].id": stored})

    answer = post(client, checkout_id, {"registrationId": stored, "card.cvv": "123", **BROWSER, **BILLING})
    page = Window(client).walk(find_next(answer, "challenge"))
    pass_challenge(client, page)

    assert ask(client, checkout_id).json["registrationId"] == stored


def test_a_challenge_that_fails_leaves_the_checkout_open(client: Client) -> None:
    checkout_id = open_checkout(client)
    page = begin_challenge(client, checkout_id)

    Window(client).visit(page.url, {"returnCode": "100.380.401"})
    Window(client).go_on(Window(client).visit(page.url))

    wait_until(lambda: show(client, checkout_id).json["state"] == "open")
    assert result_of(post(client, checkout_id)) == PAID


def test_a_payout_that_is_pending_keeps_its_checkout(client: Client) -> None:
    """Nobody is invited to pay out twice."""
    checkout_id = open_checkout(client, paymentType="CD", **{FORCE: "000.200.000"})

    assert result_of(post(client, checkout_id)) == PENDING
    assert result_of(post(client, checkout_id)) == BUSY


def test_a_script_is_served_as_it_was_promised_across_a_release(gateway: GatewayProcess, client: Client) -> None:
    """The earlier release is a row with other bytes, as its last process left it."""
    checkout_id = prepare(client)
    path = f"/v1/paymentWidgets.js?checkoutId={checkout_id}"
    own = client.send("GET", path)
    now = to_instant(datetime.fromisoformat(client.send("GET", "/sandbox/clock").json["now"]))
    marking = Statement(sa.text(f"UPDATE checkouts SET script = 'earlier' WHERE id = '{checkout_id}'"), is_write=True)

    async def release(database: Database) -> None:
        await keep_script(database, Script("earlier", "sha384-earlier", b"earlier();"), now)
        await database.fetch(marking, {})

    ask_store(gateway, release)

    promised = client.send("GET", path)
    with_kind = client.send("GET", f"{path}/registration")
    unknown = client.send("GET", "/v1/paymentWidgets.js?checkoutId=unknown")
    assert promised.body == with_kind.body == b"earlier();"
    assert unknown.body == own.body
    assert unknown.headers["etag"] == own.headers["etag"] != promised.headers["etag"]
    assert own.headers["access-control-allow-origin"] == "*"
    pass_seconds(client, 30 * MINUTE_S)
    assert client.send("GET", path).body == own.body


def test_a_shopper_comes_home_with_the_shops_own_question(client: Client, lenient: Client) -> None:
    for url, begins in (
        ("https://shop.example/r", "https://shop.example/r?id="),
        ("https://shop.example/r?a=b%20c", "https://shop.example/r?a=b%20c&id="),
        ("https://shop.example/r#top", "https://shop.example/r?id="),
        ("com.shop.app://result", "com.shop.app://result?id="),
        (SHOP_URL, f"{SHOP_URL}&id="),
    ):
        merchant = lenient if url.startswith("com.") else client
        checkout_id = prepare(merchant, {**AT_SHOP, "shopperResultUrl": url})
        home = find_next(post(client, checkout_id), "result")
        assert home.startswith(f"{begins}{checkout_id}&resourcePath=%2Fv1%2Fcheckouts%2F"), home
        assert home.endswith("#top") is url.endswith("#top")
