"""Whatever a directory, an issuer or a browser says, 3-D Secure ends in a value, and in a yes only if one was said."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.results import RESULTS
from tollgate.connectors.exchange import WireReply
from tollgate.connectors.threeds import exchanges, messages, refusals
from tollgate.payments.authentication import AuthenticationCase, AuthenticationRequest, Browser
from tollgate.payments.order import Acceptor, Address, Customer, Details
from tollgate.sandbox.directory_server import check_message
from tollgate.values import Money
from unit.connectors.samples import CARD
from unit.connectors.threeds_samples import CASE, CHALLENGED, PROOF, SERVER_ID, SHOPPER_ORDER, ask, make_ares, make_rreq

ARES = make_ares("Y", eci="05", authenticationValue=PROOF, transStatusReason="17", acsURL="https://bank.example/c")
RREQ: dict[str, Any] = json.loads(make_rreq(transStatusReason="17", challengeCancel=None))
PRES = {
    "messageType": "PRes",
    "messageVersion": "2.2.0",
    "threeDSServerTransID": SERVER_ID,
    "cardRangeData": [
        {
            "startRange": "4000000000000000",
            "endRange": "4000000000000099",
            "acsStartProtocolVersion": "2.1.0",
            "acsEndProtocolVersion": "2.2.0",
        }
    ],
}
CRES = {**ARES, "messageType": "CRes"}

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def bodies(draw: st.DrawFn, message: dict[str, Any]) -> bytes:
    """Any bytes, any JSON, or the message with members changed, cut, or with a byte turned over."""
    kind = draw(st.sampled_from(("bytes", "json", "changed", "cut", "flipped")))
    if kind == "bytes":
        return draw(st.binary(max_size=200))
    if kind == "json":
        return json.dumps(draw(JUNK)).encode()
    changes = draw(st.dictionaries(st.sampled_from(sorted(message)), JUNK, max_size=3))
    statuses = draw(st.sampled_from([{}, *({"transStatus": letter} for letter in "YANURICDZ")]))
    written = json.dumps({**message, **statuses, **changes}).encode()
    if kind == "changed":
        return written
    place = draw(st.integers(0, len(written) - 1))
    if kind == "cut":
        return written[:place]
    return written[:place] + bytes([written[place] ^ draw(st.integers(1, 255))]) + written[place + 1 :]


def end(conversation: Any, reply: WireReply) -> Any:
    next(conversation)
    with pytest.raises(StopIteration) as over:
        conversation.send(reply)
    return over.value.value


def read_status(body: bytes) -> object:
    message = json.loads(body)
    return message["transStatus"]


@given(body=bodies(ARES), status=st.sampled_from((200, 200, 200, 204, 302, 404, 500)))
def test_every_answer_of_a_directory_ends_in_a_case_that_can_be_judged(body: bytes, status: int) -> None:
    case: AuthenticationCase = end(ask(), WireReply(status, body))

    assert case.server_id == SERVER_ID
    assert case.result is None or case.result.status in "YANURI"
    if case.result is None:
        assert read_status(body) == "C"
        assert (case.acs_url or "").startswith("https://")
    code = refusals.find_authentication_refusal(case)
    if case.result is not None and code is None:
        assert status < 300
        assert read_status(body) in ("Y", "A", "I")
    assert code is None or code in RESULTS
    assert all(isinstance(text, str) for text in refusals.describe_case(case).values())


@given(body=bodies(PRES), status=st.sampled_from((200, 200, 404, 500)))
def test_every_answer_about_ranges_ends_in_ranges_or_none(body: bytes, status: int) -> None:
    ranges = end(exchanges.ask_ranges(SERVER_ID), WireReply(status, body))

    assert ranges is None or all(len(each.start) == len(each.end) for each in ranges)


@given(body=bodies(RREQ))
def test_every_result_is_read_or_refused_and_always_answered(body: bytes) -> None:
    result = exchanges.read_result(body, CHALLENGED)

    if result is not None:
        assert result.status == read_status(body)
        assert result.status in "YANUR"
        assert result.value is not None or result.status in "NUR" or json.loads(body)["messageCategory"] != "01"
    assert exchanges.read_result(body, CASE) is None
    for case in (CHALLENGED, None):
        answer = json.loads(exchanges.answer_result(body, case, accepted=result is not None))
        assert answer["messageType"] == ("RRes" if result is not None and case is not None else "Erro")


@given(text=st.text(max_size=200) | bodies(CRES).map(lambda body: body.decode("latin-1")))
def test_whatever_the_browser_brings_is_read_or_not(text: str) -> None:
    exchanges.read_method_data(text)
    answer = messages.unwrap(text, messages.CRes)

    assert answer is None or len(answer.trans_status) == 1


@given(body=bodies(CRES))
def test_whatever_is_wrapped_for_the_browser_is_read_or_not(body: bytes) -> None:
    for text in (base64.urlsafe_b64encode(body).decode(), base64.b64encode(body).decode().rstrip("=")):
        answer = messages.unwrap(text, messages.CRes)
        assert answer is None or answer.message_version


def said_texts(length_max: int) -> st.SearchStrategy[str]:
    """Generates texts that a shop may send: any letters but lone surrogates, which no form can carry."""
    return st.text(st.characters(codec="utf-8"), min_size=1, max_size=length_max)


def texts(length_max: int) -> st.SearchStrategy[str | None]:
    return st.none() | said_texts(length_max)


def digits(length_max: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", min_size=1, max_size=length_max)


ADDRESSES = st.none() | st.builds(
    Address,
    street1=texts(100),
    street2=texts(100),
    house_number1=texts(10),
    city=texts(80),
    state=texts(50),
    postcode=texts(16),
    country=texts(2) | st.sampled_from(sorted(COUNTRIES)),
)
DETAILS = st.builds(
    Details,
    acceptor=st.none()
    | st.builds(Acceptor, name=texts(60), url=texts(100), country_code=texts(3), mcc=st.none() | st.just("5812")),
    customer=st.none() | st.builds(Customer, email=texts(128), phone=texts(25), mobile=texts(25), ip=texts(255)),
    billing=ADDRESSES,
    shipping=ADDRESSES,
)
BROWSERS = st.builds(
    Browser,
    accept_header=said_texts(50),
    language=said_texts(8),
    screen_height=digits(6),
    screen_width=digits(6),
    timezone=st.integers(-840, 840).map(str),
    user_agent=said_texts(50),
    java_enabled=st.sampled_from(("true", "false")),
    javascript_enabled=st.sampled_from((None, "true", "false")),
    screen_color_depth=st.none() | digits(2),
    ip=texts(50),
)
SAID = st.fixed_dictionaries(
    {},
    optional={
        "threeDSecure.merchant.name": said_texts(255),
        "threeDSecure.merchant.url": said_texts(255),
        "threeDSecure.merchant.country": said_texts(3),
        "threeDSecure.v2.visa.requestorId": said_texts(100),
        "threeDSecure.v2.visa.requestorName": said_texts(100),
        "threeDSecure.authenticationInd": st.sampled_from(("1", "02", "9")),
        "threeDSecure.amount": st.sampled_from(("0", "10.50", "999999999.99")),
        "threeDSecure.currency": st.sampled_from(sorted(CURRENCIES)),
        "threeDSecure.npa": st.sampled_from(("true", "false")),
    },
)
AUTHENTICATION_REQUESTS = st.builds(
    AuthenticationRequest,
    device=texts(40),
    challenge_indicator=st.sampled_from((None, "1", "04", "9")),
    is_decoupled=st.booleans(),
    requestor_reason=st.sampled_from((None, "RECURRING", "DELAYED_SHIPMENT")),
)


@given(
    details=DETAILS,
    browser=BROWSERS,
    said=SAID,
    authentication=AUTHENTICATION_REQUESTS,
    money=st.builds(Money, st.integers(0, 10**10).map(lambda units: units * 100), st.sampled_from(sorted(CURRENCIES))),
    holder=texts(128),
    statement=said_texts(127),
    return_url=st.none() | st.text(max_size=30).map("https://shop.example/".__add__) | texts(40),
)
def test_whatever_a_shop_sends_makes_a_request_that_a_strict_directory_takes(
    details: Details,
    browser: Browser,
    said: dict[str, str],
    authentication: AuthenticationRequest,
    money: Money,
    holder: str | None,
    statement: str,
    return_url: str | None,
) -> None:
    order = msgspec.structs.replace(
        SHOPPER_ORDER,
        details=details,
        authentication=authentication,
        money=money,
        echo=said,
        account=msgspec.structs.replace(CARD, holder=holder),
        statement=statement,
        return_url=return_url,
    )
    request = next(ask(order, browser=browser))

    assert check_message(request.body) == ([], [])
