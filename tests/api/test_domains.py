"""A channel that lists domains refuses other addresses and pages; one that lists none allows all."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from api.merchants import add_channel, run_command, wait_until
from gateway import PAYMENT, Answer, Client, GatewayProcess

RESULT, NOTIFICATION = "600.300.211", "600.300.210"
CHECKOUT = {"amount": "92.00", "currency": "EUR", "paymentType": "DB"}
CARD = {name: value for name, value in PAYMENT.items() if name.startswith(("card.", "paymentBrand"))}
GOOD, EVIL = "https://shop.example", "https://evil.example"


@pytest.fixture(scope="module")
def listed(gateway: GatewayProcess, client: Client) -> Client:
    return add_channel(gateway, client, "listed", "--domains", "Shop.example,*.wide.example")


def prepare(client: Client, **more: str) -> str:
    made = client.post("/v1/checkouts", {**CHECKOUT, **more})
    assert made.status == 200, made.json
    return str(made.json["id"])


def submit(client: Client, checkout_id: str, origin: str | None, **more: str) -> Answer:
    """Sends the form as a browser does, with the origin of the page that it is on."""
    form = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    headers = form | ({} if origin is None else {"Origin": origin})
    fields = {**CARD, "shopperResultUrl": f"{GOOD}/done", **more}
    return client.send("POST", f"/v1/checkouts/{checkout_id}/payment", urlencode(fields), headers)


def test_addresses_on_other_domains_are_refused_and_nothing_is_paid(listed: Client) -> None:
    refused = listed.pay(shopperResultUrl=f"{EVIL}/", merchantTransactionId="refused-order")
    assert (refused.status, refused.code) == (400, RESULT)
    assert "shopperResultUrl" in refused.json["result"]["description"]
    assert listed.pay(notificationUrl=f"{EVIL}/").code == NOTIFICATION
    assert listed.get("/v1/query", {"merchantTransactionId": "refused-order"}).code == "700.400.580"
    assert listed.pay(shopperResultUrl=f"{GOOD}/x", notificationUrl="https://a.wide.example/").status == 200
    assert listed.pay(shopperResultUrl="HTTPS://SHOP.EXAMPLE./x").status == 200
    assert listed.pay().status == 200


@pytest.mark.parametrize("path", ["/v1/checkouts", "/paybylink/v1"])
def test_what_is_prepared_is_checked_when_it_is_made(listed: Client, path: str) -> None:
    fields = CHECKOUT | {"merchant.name": "Shop", "shopperResultUrl": f"{EVIL}/"}
    assert listed.post(path, fields).code == RESULT
    assert listed.post(path, fields | {"shopperResultUrl": f"{GOOD}/"}).status == 200


def test_a_registration_may_not_notify_elsewhere(listed: Client) -> None:
    assert listed.post("/v1/registrations", {**CARD, "notificationUrl": f"{EVIL}/"}).code == NOTIFICATION


def test_a_channel_without_a_list_allows_all(client: Client) -> None:
    assert client.pay(shopperResultUrl=f"{EVIL}/", notificationUrl=f"{EVIL}/").status == 200
    assert submit(client, prepare(client), EVIL, shopOrigin=EVIL, shopperResultUrl=f"{EVIL}/").status == 200


def test_the_form_is_shown_to_pages_of_listed_domains_only(listed: Client) -> None:
    path = f"/v1/checkouts/{prepare(listed)}/form"
    refused = listed.send("GET", path, None, {"Origin": EVIL})
    assert (refused.status, refused.code) == (400, RESULT)
    # The shop's script must be able to read why.
    assert refused.headers["access-control-allow-origin"] == "*"
    for origin in ("null", "https://shop.example.evil.example", "https://shop.example:8443", f"{GOOD}@evil.example"):
        assert listed.send("GET", path, None, {"Origin": origin}).code == RESULT
    for headers in ({"Origin": GOOD}, {"Origin": "https://a.wide.example"}, {"Origin": listed.base_url}, {}):
        assert listed.send("GET", path, None, headers).status == 200


def test_the_form_pays_from_pages_of_listed_domains_only(listed: Client) -> None:
    checkout_id = prepare(listed)
    assert submit(listed, checkout_id, EVIL).code == RESULT
    # The frame is a page of this host, and names the page that shows it.
    assert submit(listed, checkout_id, listed.base_url, shopOrigin=EVIL).code == RESULT
    assert submit(listed, checkout_id, GOOD, shopperResultUrl=f"{EVIL}/").code == RESULT
    paid = submit(listed, checkout_id, listed.base_url, shopOrigin=GOOD)
    assert (paid.status, paid.code) == (200, "000.100.110"), paid.json


def test_a_payment_link_is_paid_on_this_host_whatever_is_listed(listed: Client) -> None:
    made = listed.post("/paybylink/v1", CHECKOUT | {"merchant.name": "Shop"}).json
    page = listed.send("GET", made["link"].removeprefix(listed.base_url))
    assert page.status == 200
    checkout_id = page.body.decode().partition("checkoutId=")[2].partition('"')[0].partition("&")[0]
    paid = submit(listed, checkout_id, listed.base_url, shopOrigin=listed.base_url, shopperResultUrl=made["link"])
    assert (paid.status, paid.code) == (200, "000.100.110"), paid.json


def test_the_form_is_given_up_from_pages_of_listed_domains_only(listed: Client) -> None:
    path = f"/v1/checkouts/{prepare(listed)}/abandoned"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert listed.send("POST", path, "attempt=none", form | {"Origin": EVIL}).code == RESULT
    assert listed.send("POST", path, "attempt=none", form | {"Origin": GOOD}).status == 200


def test_a_receipt_leads_to_listed_domains_only(gateway: GatewayProcess, client: Client) -> None:
    own = add_channel(gateway, client, "narrowed")
    made = own.post("/paybylink/v1", CHECKOUT | {"merchant.name": "Shop", "shopperResultUrl": f"{EVIL}/home"}).json
    path = made["link"].removeprefix(own.base_url)
    page = own.send("GET", path).body.decode()
    checkout_id = page.partition("checkoutId=")[2].partition('"')[0].partition("&")[0]
    assert submit(own, checkout_id, None, shopperResultUrl=made["link"]).code == "000.100.110"
    assert f"{EVIL}/home" in own.send("GET", path).body.decode()
    run_command(gateway, "channel", "set", own.entity_id, "--domains", "shop.example")
    wait_until(lambda: EVIL not in own.send("GET", path).body.decode())


def test_a_list_that_is_emptied_allows_all_again(gateway: GatewayProcess, client: Client) -> None:
    own = add_channel(gateway, client, "emptied", "--domains", "shop.example")
    assert own.pay(shopperResultUrl=f"{EVIL}/").code == RESULT
    run_command(gateway, "channel", "set", own.entity_id, "--domains", "")
    wait_until(lambda: own.pay(shopperResultUrl=f"{EVIL}/").status == 200)


@pytest.mark.parametrize("domains", ["https://shop.example", "shop.example/path", "*", "a.*.example", "bücher.example"])
def test_a_list_holds_domains_and_nothing_else(gateway: GatewayProcess, listed: Client, domains: str) -> None:
    with pytest.raises(RuntimeError, match="not a domain such as"):
        run_command(gateway, "channel", "set", listed.entity_id, "--domains", domains)
