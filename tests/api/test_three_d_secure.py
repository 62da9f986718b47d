"""3-D Secure on a test host without a challenge: test cards, simulator overrides, what is asked for and answered."""

from __future__ import annotations

import re

import pytest

from api.chains import APPROVED, FAULTY, PENDING, result_of
from api.challenges import (
    BILLING,
    BROWSER,
    CHALLENGED,
    CHALLENGED_WITH_FRAME,
    ENROLLED,
    FLOW,
    FRICTIONLESS,
    FRICTIONLESS_WITH_FRAME,
    SHOP_URL,
    open_order,
    order,
    pass_challenge,
    read_code,
    read_return,
    see_challenge,
)
from api.windows import Window
from gateway import Client
from tollgate.catalog.test_cards import TEST_CARDS, Behaviour, TestCard

UNCHALLENGED = [
    card
    for card in TEST_CARDS.values()
    if card.behaviour not in (Behaviour.CHALLENGE, Behaviour.NO_3DS) and not card.has_method_data
]
ENDS = {
    Behaviour.FRICTIONLESS: ("000.100.110", "Y", ("05", "02")),
    Behaviour.ATTEMPT: ("000.100.110", "A", ("06", "01")),
    Behaviour.TECHNICAL_ERROR: ("100.390.112", "U", (None, None)),
    Behaviour.NOT_ENROLLED: ("000.400.102", "N", ("06", "01")),
    Behaviour.NOT_PARTICIPATING: ("000.400.101", "U", ("07", "00")),
}
"""Code, status, and the indicator of most networks and of MASTER."""
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
WITHOUT_BROWSER: dict[str, str | None] = dict.fromkeys(BROWSER)


@pytest.mark.parametrize("card", UNCHALLENGED, ids=lambda card: card.number)
def test_cards_without_challenge_are_answered_at_once(client: Client, card: TestCard) -> None:
    answer = order(client, card.number, brand=card.brand)
    code, status, indicators = ENDS[card.behaviour]

    proof = answer.json["threeDSecure"]
    assert answer.code == code
    assert proof["authenticationStatus"] == status
    assert proof.get("eci") == indicators[card.brand == "MASTER"]
    assert (len(proof.get("verificationId", "")) == 28) is (status in ("Y", "A"))
    assert (proof["version"], proof["flow"]) == ("2.2.0", "frictionless")
    assert UUID.fullmatch(proof["dsTransactionId"])
    assert UUID.fullmatch(proof["acsTransactionId"])
    assert "redirect" not in answer.json
    assert client.get(f"/v1/payments/{answer.json['id']}").json["threeDSecure"] == proof


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "card",
    [card for card in TEST_CARDS.values() if card.behaviour is Behaviour.CHALLENGE or card.has_method_data],
    ids=lambda card: card.number,
)
def test_cards_that_need_the_browser_wait_for_it(client: Client, card: TestCard) -> None:
    answer = order(client, card.number, brand=card.brand)

    assert result_of(answer) == PENDING
    assert ("preconditions" in answer.json["redirect"]) is card.has_method_data


@pytest.mark.parametrize("number", ["4200000000000000", "4539578763621486"])
def test_cards_that_take_no_part_are_paid_without(client: Client, number: str) -> None:
    answer = order(client, number)

    assert result_of(answer) == APPROVED
    assert "threeDSecure" not in answer.json


def test_a_card_with_a_method_page_shows_it_to_the_hidden_frame_first(client: Client) -> None:
    answer = open_order(client, FRICTIONLESS_WITH_FRAME)
    (precondition,) = answer.json["redirect"]["preconditions"]

    assert (precondition["origin"], precondition["method"]) == ("iframe#hidden", "POST")
    assert precondition["url"].endswith("/sandbox/acs/method")
    assert [each["name"] for each in precondition["parameters"]] == ["threeDSMethodData"]

    end = Window(client).walk(answer.json["redirect"]["url"])
    assert read_return(end)["id"] == answer.json["id"]
    assert read_code(client, answer) == "000.100.110"


def test_preconditions_that_a_shop_skips_are_made_up_for_on_our_page(client: Client) -> None:
    answer = open_order(client, CHALLENGED_WITH_FRAME)
    page = Window(client).walk(answer.json["redirect"]["url"])

    assert 'name="returnCode"' in page.text


def test_fields_of_the_precondition_posted_along_do_no_harm(client: Client) -> None:
    answer = open_order(client, CHALLENGED_WITH_FRAME)
    (precondition,) = answer.json["redirect"]["preconditions"]
    fields = {each["name"]: each["value"] for each in precondition["parameters"]}
    page = Window(client).walk(answer.json["redirect"]["url"], fields)

    assert 'name="returnCode"' in page.text


def test_without_browser_data_our_page_asks_the_browser(client: Client) -> None:
    answer = open_order(client, FRICTIONLESS, **WITHOUT_BROWSER)

    assert "preconditions" not in answer.json["redirect"]
    assert read_return(Window(client).walk(answer.json["redirect"]["url"]))["id"] == answer.json["id"]
    assert read_code(client, answer) == "000.100.110"


def test_the_shopper_comes_home_with_what_names_the_payment(client: Client) -> None:
    answer = open_order(client)

    assert read_return(pass_challenge(client, answer)) == {
        "order": "7",
        "id": answer.json["id"],
        "resourcePath": f"/v1/payments/{answer.json['id']}",
    }


@pytest.mark.parametrize("name", BROWSER)
def test_missing_browser_fields_are_named(client: Client, name: str) -> None:
    answer = order(client, **{name: None})

    assert result_of(answer) == FAULTY
    assert set(answer.faults) == {name}


def test_missing_billing_fields_are_named(client: Client) -> None:
    answer = order(client, **{"billing.city": None, "billing.postcode": None})

    assert set(answer.faults) == {"billing.city", "billing.postcode"}


@pytest.mark.parametrize("number", [CHALLENGED, FRICTIONLESS])
def test_on_a_strict_channel_an_enrolled_card_needs_the_billing_address(
    client: Client, lenient: Client, number: str
) -> None:
    without: dict[str, str | None] = dict.fromkeys(BILLING)

    assert set(order(client, number, **without).faults) == set(BILLING)
    assert order(lenient, number, **without).status == 200
    # Nobody can come back, so 3-D Secure does not run.
    assert order(client, number, **without, shopperResultUrl=None).code == "000.100.110"


def test_a_card_that_takes_no_part_needs_no_browser_fields(client: Client) -> None:
    assert result_of(order(client, "4200000000000000", **{"customer.browser.language": None})) == APPROVED


@pytest.mark.parametrize(
    ("number", "simulator_overrides", "expected"),
    [
        ("4200000000000000", {ENROLLED: "true"}, PENDING),
        ("4200000000000000", {ENROLLED: "true", FLOW: "challenge"}, PENDING),
        ("4200000000000000", {ENROLLED: "true", FLOW: "frictionless"}, APPROVED),
        (FRICTIONLESS, {FLOW: "challenge"}, PENDING),
        (CHALLENGED, {FLOW: "frictionless"}, APPROVED),
        (CHALLENGED, {ENROLLED: "false"}, APPROVED),
        (FRICTIONLESS, {"threeDSecure.challengeIndicator": "04"}, PENDING),
        (FRICTIONLESS, {"threeDSecure.challengeIndicator": "4"}, PENDING),
        (FRICTIONLESS, {"threeDSecure.challengeIndicator": "02"}, APPROVED),
        (CHALLENGED, {"threeDSecure.disable": "true"}, APPROVED),
        (CHALLENGED, {"customParameters[custom_disable3DSecure]": "true"}, APPROVED),
        (CHALLENGED, {"shopperResultUrl": None}, APPROVED),
    ],
)
def test_simulator_overrides_and_parameters_choose_the_way(
    client: Client, number: str, simulator_overrides: dict[str, str | None], expected: tuple[int, str]
) -> None:
    assert result_of(order(client, number, **simulator_overrides)) == expected


def test_what_an_app_left_out_is_named(client: Client) -> None:
    answer = order(client, FRICTIONLESS, **{"threeDSecure.deviceInfo": '{"sdkAppID":"a"}'})

    assert result_of(answer) == (400, "100.390.115")
    assert answer.json["threeDSecure"]["errorCode"] == "201"
    assert "sdkEncData" in answer.json["threeDSecure"]["errorDescription"]


def test_a_charge_after_authentication_can_still_be_declined(client: Client) -> None:
    answer = order(client, FRICTIONLESS, **{"customParameters[forceResultCode]": "800.100.151"})

    assert result_of(answer) == (400, "800.100.151")
    assert answer.json["threeDSecure"]["authenticationStatus"] == "Y"


def test_an_authentication_by_itself_takes_no_money(client: Client) -> None:
    fields = {"amount": "92.00", "currency": "EUR", "shopperResultUrl": SHOP_URL, **BROWSER, **BILLING}
    card = {"paymentBrand": "VISA", "card.number": FRICTIONLESS, "card.expiryMonth": "05", "card.expiryYear": "2034"}
    answer = client.post("/v1/threeDSecure", {**fields, **card})
    status = client.get(f"/v1/threeDSecure/{answer.json['id']}")

    assert result_of(answer) == (200, "000.400.110")
    assert answer.json["threeDSecure"]["eci"] == "05"
    assert status.json["threeDSecure"] == answer.json["threeDSecure"]
    assert "resultDetails" not in answer.json


@pytest.mark.parametrize("payment_type", ["DB", "PA", "CD", "CP", "RF", "CB"])
def test_an_authentication_by_itself_cannot_be_made_to_move_money(client: Client, payment_type: str) -> None:
    card = {"paymentBrand": "VISA", "card.number": "4200000000000000", "card.expiryMonth": "05"}
    fields = {"amount": "92.00", "currency": "EUR", "paymentType": payment_type, **card, "card.expiryYear": "2034"}
    answer = client.post("/v1/threeDSecure", {**fields, "shopperResultUrl": SHOP_URL})

    assert result_of(answer) == (400, "200.300.404")
    assert [fault["name"] for fault in answer.json["result"]["parameterErrors"]] == ["paymentType"]


def test_an_authentication_by_itself_says_where_its_shopper_comes_back_to(client: Client) -> None:
    card = {"paymentBrand": "VISA", "card.number": CHALLENGED, "card.expiryMonth": "05", "card.expiryYear": "2034"}
    answer = client.post("/v1/threeDSecure", {"amount": "92.00", "currency": "EUR", **card, **BROWSER, **BILLING})

    assert result_of(answer) == (400, "200.300.404")
    assert [fault["name"] for fault in answer.json["result"]["parameterErrors"]] == ["shopperResultUrl"]


def test_an_authentication_by_itself_follows_no_payment(client: Client) -> None:
    paid = order(client, FRICTIONLESS)
    fields = {"amount": "92.00", "currency": "EUR", "referenceUuid": paid.json["id"], "shopperResultUrl": SHOP_URL}
    answer = client.post("/v1/threeDSecure", fields)

    assert result_of(answer) == (400, "200.300.404")
    assert [fault["name"] for fault in answer.json["result"]["parameterErrors"]] == ["referenceUuid"]


@pytest.mark.both_databases
def test_a_challenged_authentication_by_itself_ends_at_its_own_address(client: Client) -> None:
    fields = {"amount": "92.00", "currency": "EUR", "shopperResultUrl": SHOP_URL, **BROWSER, **BILLING}
    card = {"paymentBrand": "VISA", "card.number": CHALLENGED, "card.expiryMonth": "05", "card.expiryYear": "2034"}
    answer = client.post("/v1/threeDSecure", {**fields, **card})
    home = read_return(pass_challenge(client, answer))

    assert home["resourcePath"] == f"/v1/threeDSecure/{answer.json['id']}"
    assert result_of(client.get(home["resourcePath"])) == APPROVED


def test_an_authentication_by_itself_of_a_card_that_takes_no_part_fails(client: Client) -> None:
    fields = {"amount": "92.00", "currency": "EUR", "shopperResultUrl": SHOP_URL, **BROWSER, **BILLING}
    card = {"paymentBrand": "VISA", "card.number": "4200000000000000", "card.expiryMonth": "05"}
    answer = client.post("/v1/threeDSecure", {**fields, **card, "card.expiryYear": "2034"})

    assert result_of(answer) == (400, "000.400.109")


def test_a_payment_is_no_authentication(client: Client) -> None:
    paid = order(client, FRICTIONLESS)

    assert client.get(f"/v1/threeDSecure/{paid.json['id']}").status == 404


def test_a_merchant_may_ask_while_the_shopper_is_away(client: Client) -> None:
    changes = {"threeDSecure.threeRIInd": "RECURRING", "shopperResultUrl": None, **WITHOUT_BROWSER}

    assert result_of(order(client, FRICTIONLESS, **changes)) == APPROVED
    assert result_of(order(client, CHALLENGED, **changes)) == (400, "100.390.121")


def test_data_of_an_app_is_taken_instead_of_a_browsers(client: Client) -> None:
    changes = {"threeDSecure.deviceInfo": '{"sdkAppID":"a","sdkEncData":"x"}', **WITHOUT_BROWSER}

    assert result_of(order(client, FRICTIONLESS, **changes)) == APPROVED


@pytest.mark.parametrize(
    "changes",
    [
        {"threeDSecure.decoupled": "true"},
        {"threeDSecure.deviceInfo": '{"sdkEncData":"x"}', **WITHOUT_BROWSER},
    ],
    ids=["decoupled", "app"],
)
def test_outside_of_the_browser_the_issuer_asks_by_itself(client: Client, changes: dict[str, str | None]) -> None:
    answer = open_order(client, **changes)
    text = answer.json["threeDSecure"]["cardHolderInfo"]
    window = Window(client)
    page = window.visit(text.rpartition(" ")[2], {"returnCode": "000.000.000"})

    assert "You may close this window" in page.text
    assert read_code(client, answer) == "000.100.110"


def test_a_payment_of_nothing_is_authenticated_as_none(client: Client) -> None:
    answer = order(client, FRICTIONLESS, paymentType="PA", amount="0.00")

    assert result_of(answer) == APPROVED
    assert answer.json["threeDSecure"]["authenticationStatus"] == "Y"


def test_see_challenge_shows_merchant_amount_and_card(client: Client) -> None:
    page = see_challenge(client, open_order(client, amount="12.50", **{"merchant.name": "Jones <Ltd>"}))

    assert "12.50 EUR" in page.text
    assert "Jones &lt;Ltd&gt;" in page.text
    assert "0000" in page.text
    assert CHALLENGED not in page.text
