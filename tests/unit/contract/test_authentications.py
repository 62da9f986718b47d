"""The parameters of an authentication: when a shopper can be asked, and which of them may not be missing."""

from __future__ import annotations

import pytest

from tollgate.catalog.parameters.names import first_word
from tollgate.contract import authentications
from tollgate.contract.fields import Fields
from tollgate.payments.accounts import CardAccount, TokenAccount
from tollgate.payments.authentication import AuthenticationRequest
from tollgate.values import InvalidParameters, Secret

CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034")
TOKEN = TokenAccount(number=Secret("4200000000000000"), type="NETWORK")
BROWSER = {
    "customer.browser.acceptHeader": "text/html",
    "customer.browser.language": "de",
    "customer.browser.screenHeight": "1080",
    "customer.browser.screenWidth": "1920",
    "customer.browser.timezone": "60",
    "customer.browser.userAgent": "Mozilla/5.0",
    "customer.browser.javaEnabled": "false",
}
BILLING = {
    "billing.street1": "Main Street 1",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}


def request(
    changes: dict[str, str] | None = None, payment_type: str = "DB", account: CardAccount | TokenAccount | None = CARD
) -> AuthenticationRequest | None:
    values = {"shopperResultUrl": "https://shop.example/back", **(changes or {})}
    fields = Fields(values, frozenset(map(first_word, values)), values)
    return authentications.read_authentication_request(fields, payment_type, account)


@pytest.mark.parametrize("payment_type", ["PA", "DB", "PA.CP", "3D"])
def test_a_card_payment_or_an_explicit_request_asks_for_authentication(payment_type: str) -> None:
    made = request(payment_type=payment_type)

    assert made is not None
    assert (made.browser, made.device, made.is_decoupled, made.is_unwanted) == (None, None, False, False)


@pytest.mark.parametrize("switch", ["threeDSecure.disable", "customParameters[custom_disable3DSecure]"])
def test_switching_it_off_counts_and_may_still_be_refused(switch: str) -> None:
    made = request({switch: "true"})

    assert made is not None
    assert made.is_unwanted


def test_who_says_nothing_at_all_leaves_it_to_the_channel() -> None:
    """There is nobody to come back; but a channel that insists needs a request that it can refuse."""
    assert (
        authentications.read_authentication_request(Fields({}, frozenset({"card"}), {}), "DB", CARD)
        == AuthenticationRequest()
    )


@pytest.mark.parametrize(
    ("payment_type", "account"),
    [
        ("CD", CARD),
        ("RF", CARD),
        ("DB", TOKEN),
        ("DB", None),
        ("DB", CardAccount(number=CARD.number, expiry_month="05", expiry_year="2034", number_type="DPAN")),
    ],
    ids=["credit", "refund", "token", "nothing", "device"],
)
def test_there_is_nobody_to_ask_where_no_card_of_a_shopper_pays(payment_type: str, account: CardAccount | None) -> None:
    assert request(payment_type=payment_type, account=account) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"threeDSecure.eci": "05"},
        {"threeDSecure.verificationId": "AAAAAAAAAAAAAAAAAAAAAAAAAAA="},
        {"standingInstruction.source": "MIT"},
    ],
)
def test_no_authentication_is_requested_where_it_was_done_elsewhere_or_switched_off(changes: dict[str, str]) -> None:
    assert request(changes) is None


def test_a_switch_that_says_no_switches_nothing_off() -> None:
    assert request({"threeDSecure.disable": "false"}) is not None


def test_a_merchant_may_ask_without_its_shopper_if_it_says_why() -> None:
    made = request({"standingInstruction.source": "MIT", "threeDSecure.threeRIInd": "RECURRING"})

    assert made is not None
    assert made.requestor_reason == "RECURRING"


def test_the_authentication_request_is_read_member_by_member() -> None:
    made = request(
        {
            **BROWSER,
            "threeDSecure.challengeIndicator": "04",
            "threeDSecure.decoupled": "true",
            "threeDSecure.deviceInfo": "{}",
        }
    )

    assert made is not None
    assert (made.challenge_indicator, made.is_decoupled, made.device) == ("04", True, "{}")
    assert made.browser is not None
    assert (made.browser.language, made.browser.user_agent) == ("de", "Mozilla/5.0")


@pytest.mark.parametrize("echo", [BILLING, {**BROWSER, **BILLING}], ids=["no browser", "both"])
def test_an_address_is_there_and_a_browser_complete_or_absent(echo: dict[str, str]) -> None:
    authentications.check_authentication_fields(echo, is_lenient=False)


def test_without_an_address_all_of_it_is_named_unless_the_channel_is_lenient() -> None:
    with pytest.raises(InvalidParameters) as refused:
        authentications.check_authentication_fields(BROWSER, is_lenient=False)

    assert {fault.name for fault in refused.value.faults} == set(BILLING)
    authentications.check_authentication_fields(BROWSER, is_lenient=True)


@pytest.mark.parametrize("missing", sorted(BROWSER) + sorted(BILLING))
def test_what_is_missing_of_a_group_is_named(missing: str) -> None:
    echo = {name: text for name, text in {**BROWSER, **BILLING}.items() if name != missing}

    with pytest.raises(InvalidParameters) as refused:
        authentications.check_authentication_fields(echo, is_lenient=False)

    assert [fault.name for fault in refused.value.faults] == [missing]


def test_a_lenient_channel_may_leave_half_an_address() -> None:
    authentications.check_authentication_fields({"billing.city": "Graz"}, is_lenient=True)
    with pytest.raises(InvalidParameters):
        authentications.check_authentication_fields({"customer.browser.language": "de"}, is_lenient=True)


def test_what_our_page_collects_is_cut_to_size() -> None:
    sent = {"language": "x" * 99, "timezone": "1" * 99, "screenHeight": "9" * 99, "javaEnabled": "", "other": "x"}

    browser = authentications.read_collected_browser(sent, accept="a" * 9999, user_agent=None, ip=None)

    assert (browser.language, browser.timezone, browser.screen_height) == ("x" * 8, "1" * 5, "9" * 6)
    assert (browser.java_enabled, browser.screen_width) == (None, None)
    assert (browser.accept_header, browser.user_agent) == ("a" * 2048, "-")


def test_a_browser_that_says_nothing_is_still_one() -> None:
    browser = authentications.read_collected_browser({}, accept=None, user_agent="", ip="192.0.2.7")

    assert (browser.accept_header, browser.user_agent, browser.ip) == ("*/*", "-", "192.0.2.7")
