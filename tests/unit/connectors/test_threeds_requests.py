"""A directory server receives the order in the words of EMV 3-D Secure 2.2, and nothing that does not fit."""

from __future__ import annotations

import base64
import json
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.connectors.threeds import exchanges
from tollgate.payments.authentication import AuthenticationRequest, Browser
from tollgate.payments.merchants import ThreeDsTerms
from tollgate.payments.order import Acceptor, Address, Customer, Details, Order, StandingInstruction
from tollgate.values import Money
from unit.connectors.threeds_samples import (
    BROWSER,
    CASE,
    CHALLENGED,
    NOTIFICATION_URL,
    RESULTS_URL,
    SERVER_ID,
    SHOPPER_ORDER,
    ask,
    read_request,
)


def tell(order: Order = SHOPPER_ORDER, **changes: Any) -> dict[str, Any]:
    return read_request(ask(order, **changes))[1]


def test_a_browser_request_names_the_shop_the_card_the_purchase_and_the_browser() -> None:
    request, message = read_request(ask(simulator_overrides={"3DS2_flow": "challenge"}))

    assert (request.path, request.simulator_overrides) == ("/3ds/areq", {"3DS2_flow": "challenge"})
    assert message == {
        "messageType": "AReq",
        "messageVersion": "2.2.0",
        "messageCategory": "01",
        "deviceChannel": "02",
        "threeDSServerTransID": SERVER_ID,
        "threeDSServerRefNumber": "TOLLGATE_020200",
        "threeDSServerURL": RESULTS_URL,
        "threeDSRequestorID": "R-1",
        "threeDSRequestorName": "Jones and daughters",
        "threeDSRequestorURL": "https://shop.example",
        "threeDSRequestorAuthenticationInd": "01",
        "threeDSCompInd": "Y",
        "notificationURL": NOTIFICATION_URL,
        "acquirerBIN": "412345",
        "acquirerMerchantID": "M-1",
        "merchantName": "Jones",
        "acctNumber": "4200000000000000",
        "cardExpiryDate": "3405",
        "cardholderName": "Jane Jones",
        "purchaseAmount": "9210",
        "purchaseCurrency": "978",
        "purchaseExponent": "2",
        "purchaseDate": "20261115123005",
        "browserAcceptHeader": "text/html",
        "browserIP": "192.0.2.7",
        "browserJavaEnabled": False,
        "browserJavascriptEnabled": True,
        "browserLanguage": "de-AT",
        "browserColorDepth": "24",
        "browserScreenHeight": "1080",
        "browserScreenWidth": "1920",
        "browserTZ": "-60",
        "browserUserAgent": "Mozilla/5.0",
    }


def test_the_security_code_is_never_answered() -> None:
    assert "731" not in read_request(ask())[0].body.decode()


@pytest.mark.parametrize(
    ("money", "amount", "currency", "exponent"),
    [
        (Money(1000, "JPY"), "10", "392", "0"),
        (Money(1050, "BHD"), "10500", "048", "3"),
        (Money(1, "USD"), "1", "840", "2"),
    ],
)
def test_amounts_are_sent_in_the_currencys_own_minor_units(
    money: Money, amount: str, currency: str, exponent: str
) -> None:
    message = tell(replace(SHOPPER_ORDER, money=money))

    assert (message["purchaseAmount"], message["purchaseCurrency"], message["purchaseExponent"]) == (
        amount,
        currency,
        exponent,
    )


def test_the_issuer_receives_the_name_by_which_the_shopper_knows_the_merchant() -> None:
    assert tell(replace(SHOPPER_ORDER, merchant_name="Gatehouse Goods"))["merchantName"] == "Gatehouse Goods"
    assert tell(SHOPPER_ORDER)["merchantName"] == SHOPPER_ORDER.statement


def test_a_payment_of_nothing_is_no_payment() -> None:
    message = tell(replace(SHOPPER_ORDER, money=Money(0, "EUR")))

    assert (message["messageCategory"], message["threeDSRequestorAuthenticationInd"]) == ("02", "04")
    assert "purchaseAmount" not in message


def test_addresses_and_customers_are_sent_as_far_as_they_fit() -> None:
    details = Details(
        acceptor=Acceptor(name="Jones Ltd", mcc="5732", country_code="DEU", url="https://jones.example"),
        customer=Customer(
            merchant_customer_id="C-7", email="jane@example.org", phone="+43 (1) 5551234", mobile="06641234567"
        ),
        billing=Address(street1="Ring", house_number1="7", city="Wien", postcode="1010", country="AT", state="9"),
        shipping=Address(street1="x" * 90, city="Graz", state="Steiermark", country="AT"),
    )
    message = tell(replace(SHOPPER_ORDER, details=details))

    assert message["threeDSRequestorURL"] == "https://jones.example"
    assert (message["merchantName"], message["mcc"], message["merchantCountryCode"]) == ("Jones Ltd", "5732", "276")
    assert (message["acctID"], message["email"]) == ("C-7", "jane@example.org")
    assert message["homePhone"] == {"cc": "43", "subscriber": "15551234"}
    assert "mobilePhone" not in message, "without a country code it could only be guessed"
    assert [message[f"billAddr{name}"] for name in ("Line1", "City", "PostCode", "State", "Country")] == [
        "Ring 7",
        "Wien",
        "1010",
        "9",
        "040",
    ]
    assert (message["shipAddrLine1"], message["shipAddrCountry"]) == ("x" * 50, "040")
    assert "shipAddrState" not in message


@pytest.mark.parametrize(("sent", "received"), [(None, "24"), ("24", "24"), ("48", "48"), ("30", "24"), ("0", "1")])
def test_color_depths_are_rounded_to_those_of_the_protocol(sent: str | None, received: str) -> None:
    assert tell(browser=replace(BROWSER, screen_color_depth=sent))["browserColorDepth"] == received


def test_a_browser_without_scripts_says_so() -> None:
    message = tell(browser=Browser(accept_header="*/*", user_agent="w3m", javascript_enabled="false"))

    assert message["browserJavascriptEnabled"] is False
    assert "browserColorDepth" not in message


def test_the_challenge_indicator_has_two_digits() -> None:
    request = AuthenticationRequest(challenge_indicator="4")

    assert tell(replace(SHOPPER_ORDER, authentication=request))["threeDSRequestorChallengeInd"] == "04"


def test_a_decoupled_request_says_how_long_it_may_take() -> None:
    message = tell(replace(SHOPPER_ORDER, authentication=AuthenticationRequest(is_decoupled=True)))

    assert (message["threeDSRequestorDecReqInd"], message["threeDSRequestorDecMaxTime"]) == ("Y", "00015")


@pytest.mark.parametrize(
    ("reason", "received"), [("RECURRING", "01"), ("SPLIT_SHIPMENT", "06"), ("DELAYED_SHIPMENT", "06"), ("ELSE", "11")]
)
def test_without_the_shopper_no_browser_is_sent(reason: str, received: str) -> None:
    message = tell(replace(SHOPPER_ORDER, authentication=AuthenticationRequest(requestor_reason=reason)))

    assert (message["deviceChannel"], message["threeRIInd"]) == ("03", received)
    assert {"browserUserAgent", "notificationURL", "threeDSCompInd"}.isdisjoint(message)


@pytest.mark.parametrize(
    ("parts", "received"), [(None, ("02", "20281231", "0030", None)), ("12", ("03", "20281231", "0030", "12"))]
)
def test_the_first_of_several_payments_says_how_often_and_until_when(
    parts: str | None, received: tuple[str | None, ...]
) -> None:
    standing = StandingInstruction(expiry=date(2028, 12, 31), frequency="0030", number_of_installments=parts)
    message = tell(replace(SHOPPER_ORDER, details=Details(standing_instruction=standing)))

    names = ("threeDSRequestorAuthenticationInd", "recurringExpiry", "recurringFrequency", "purchaseInstalData")
    assert tuple(message.get(name) for name in names) == received


DEVICE = {"sdkAppID": "app", "sdkEncData": "secret", "sdkEphemPubKey": {"kty": "EC"}, "sdkMaxTimeout": "05"}


@pytest.mark.parametrize(
    "text", [json.dumps(DEVICE), base64.urlsafe_b64encode(json.dumps(DEVICE).encode()).decode().rstrip("=")]
)
def test_device_data_of_an_app_is_handed_on_member_by_member(text: str) -> None:
    message = tell(replace(SHOPPER_ORDER, authentication=AuthenticationRequest(device=text)))

    assert message["deviceChannel"] == "01"
    assert {name: message[name] for name in DEVICE} == DEVICE
    assert "browserUserAgent" not in message


@pytest.mark.parametrize("text", ["eyJhbGciOi.x.y", "ÿ", "[1]", "null", "%%%", "[" * 5000, '{"sdkAppID":7}'])
def test_device_data_that_is_no_structure_is_handed_on_as_it_came(text: str) -> None:
    assert tell(replace(SHOPPER_ORDER, authentication=AuthenticationRequest(device=text)))["sdkEncData"] == text


def test_a_channel_without_terms_still_makes_a_whole_request() -> None:
    message = tell(replace(SHOPPER_ORDER, return_url=None), terms=ThreeDsTerms())

    assert (message["threeDSRequestorID"], message["acquirerMerchantID"]) == ("UNREGISTERED", "UNREGISTERED")
    assert (message["threeDSRequestorName"], message["threeDSRequestorURL"]) == ("Jones", "https://gate.example")


def test_an_app_scheme_as_return_address_is_no_shop() -> None:
    message = tell(replace(SHOPPER_ORDER, return_url="myshop://back"))

    assert message["threeDSRequestorURL"] == "https://gate.example"


def test_what_the_merchant_says_of_the_authentication_wins() -> None:
    said = {
        "threeDSecure.merchant.name": "Jones elsewhere",
        "threeDSecure.merchant.url": "https://elsewhere.example",
        "threeDSecure.merchant.country": "AUT",
        "threeDSecure.v2.visa.requestorId": "V-1",
        "threeDSecure.v2.visa.requestorName": "Jones at Visa",
        "threeDSecure.v2.amex.requestorId": "not this one",
        "threeDSecure.authenticationInd": "3",
        "threeDSecure.amount": "10.50",
        "threeDSecure.currency": "BHD",
    }
    message = tell(replace(SHOPPER_ORDER, echo=said))

    assert (message["merchantName"], message["merchantCountryCode"]) == ("Jones elsewhere", "040")
    assert (message["threeDSRequestorID"], message["threeDSRequestorName"]) == ("V-1", "Jones at Visa")
    assert message["threeDSRequestorURL"] == "https://elsewhere.example"
    assert message["threeDSRequestorAuthenticationInd"] == "03"
    assert (message["purchaseAmount"], message["purchaseCurrency"]) == ("10500", "048")


@pytest.mark.parametrize(
    "said",
    [
        {"threeDSecure.amount": "10.50", "threeDSecure.currency": "JPY"},
        {"threeDSecure.amount": "10.50", "threeDSecure.currency": "XXX"},
        {"threeDSecure.currency": "BHD"},
    ],
)
def test_an_amount_that_is_none_is_not_asked_about(said: dict[str, str]) -> None:
    message = tell(replace(SHOPPER_ORDER, echo=said))

    assert (message["purchaseAmount"], message["purchaseCurrency"]) == ("9210", "978")


def test_a_merchant_may_ask_for_no_payment() -> None:
    assert tell(replace(SHOPPER_ORDER, echo={"threeDSecure.npa": "true"}))["messageCategory"] == "02"


def test_the_older_version_is_spoken_without_the_news_of_the_newer() -> None:
    order = replace(SHOPPER_ORDER, authentication=AuthenticationRequest(is_decoupled=True))
    conversation = exchanges.authenticate(
        order,
        replace(CASE, version="2.1.0"),
        terms=ThreeDsTerms(),
        browser=BROWSER,
        method_done="Y",
        now=0,
        notification_url=NOTIFICATION_URL,
        results_url=RESULTS_URL,
    )
    message = read_request(conversation)[1]

    assert (message["messageVersion"], message["browserJavaEnabled"]) == ("2.1.0", False)
    assert {"browserJavascriptEnabled", "threeDSRequestorDecReqInd", "threeDSRequestorDecMaxTime"}.isdisjoint(message)


@pytest.mark.parametrize(
    ("said", "received"),
    [
        ("www.jones.example", "https://www.jones.example"),
        ("http://jones.example/shop", "http://jones.example/shop"),
        ("Jones & Co", "https://shop.example"),
        ("ftp://jones.example", "https://shop.example"),
        ("jönes.example", "https://shop.example"),
    ],
)
def test_an_odd_address_of_the_shop_fails_no_payment(said: str, received: str) -> None:
    message = tell(replace(SHOPPER_ORDER, details=Details(acceptor=Acceptor(url=said))))

    assert message["threeDSRequestorURL"] == received


@pytest.mark.parametrize(
    ("ip", "received"), [("2001:db8::1", "2001:db8::1"), ("unknown", None), ("1.2.3", None), (None, None)]
)
def test_an_odd_address_of_the_browser_is_not_sent(ip: str | None, received: str | None) -> None:
    assert tell(browser=replace(BROWSER, ip=ip)).get("browserIP") == received


def decode(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def test_the_method_frame_says_where_to_report() -> None:
    text = exchanges.make_method_data(CASE, "https://gate.example/v1/method/t")

    assert decode(text) == {
        "threeDSServerTransID": SERVER_ID,
        "threeDSMethodNotificationURL": "https://gate.example/v1/method/t",
    }
    assert exchanges.read_method_data(text) == SERVER_ID


@pytest.mark.parametrize(("window", "size"), [(None, "05"), ("1", "01"), ("5", "05")])
def test_a_challenge_carries_the_ids_and_the_window(window: str | None, size: str) -> None:
    fields = exchanges.make_challenge(CHALLENGED, window)

    assert decode(fields["creq"]) == {
        "messageType": "CReq",
        "messageVersion": "2.2.0",
        "threeDSServerTransID": SERVER_ID,
        "acsTransID": CHALLENGED.acs_id,
        "challengeWindowSize": size,
    }
    assert fields["threeDSSessionData"] == SERVER_ID
    assert "=" not in fields["creq"]


def test_an_id_is_a_random_uuid() -> None:
    assert exchanges.make_server_id(lambda count: b"\xff" * count) == "ffffffff-ffff-4fff-bfff-ffffffffffff"
    assert exchanges.make_server_id(lambda count: b"\0" * count) == "00000000-0000-4000-8000-000000000000"
