"""One authentication and the answers to it that the tests of 3-D Secure start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from tollgate.connectors.exchange import Conversation, WireReply, WireRequest
from tollgate.connectors.threeds import exchanges
from tollgate.payments.authentication import AuthenticationCase, AuthenticationRequest, Browser
from tollgate.payments.merchants import ThreeDsTerms
from tollgate.payments.order import Order, TestMode
from tollgate.values import to_instant
from unit.connectors.samples import ORDER

_Told = TypeVar("_Told")

SERVER_ID = "8a880000-0000-4000-8000-000000000001"
DS_ID = "d5000000-0000-4000-8000-000000000002"
ACS_ID = "ac500000-0000-4000-8000-000000000003"
PROOF = "AAAAAAAAAAAAAAAAAAAAAAAAAAA="
NOW = to_instant(datetime(2026, 11, 15, 12, 30, 5, tzinfo=UTC))
NOTIFICATION_URL = "https://gate.example/v1/shopper/ticket"
RESULTS_URL = "https://gate.example/v1/threeDSecure/results/secret"

CASE = AuthenticationCase(server_id=SERVER_ID)
CHALLENGED = AuthenticationCase(
    server_id=SERVER_ID, ds_id=DS_ID, acs_id=ACS_ID, acs_url="https://bank.example/c", flow="challenge"
)
TERMS = ThreeDsTerms(
    acquirer_bin="412345", acquirer_merchant_id="M-1", requestor_id="R-1", requestor_name="Jones and daughters"
)
BROWSER = Browser(
    accept_header="text/html",
    language="de-AT",
    screen_height="1080",
    screen_width="1920",
    timezone="-60",
    user_agent="Mozilla/5.0",
    java_enabled="false",
    screen_color_depth="30",
    ip="192.0.2.7",
)
SHOPPER_ORDER = replace(
    ORDER,
    return_url="https://shop.example/back?order=7",
    authentication=AuthenticationRequest(browser=BROWSER),
    simulator_overrides={},
)
TEST_ORDER = replace(SHOPPER_ORDER, test_mode=TestMode.INTERNAL)

_ARES = {
    "messageType": "ARes",
    "messageVersion": "2.2.0",
    "threeDSServerTransID": SERVER_ID,
    "dsTransID": DS_ID,
    "acsTransID": ACS_ID,
}
_RREQ = {**_ARES, "messageType": "RReq", "messageCategory": "01", "transStatus": "Y", "authenticationValue": PROOF}


def make_ares(status: str, **members: Any) -> dict[str, Any]:
    """A member given as None is left out."""
    return _without_none({**_ARES, "transStatus": status, **members})


def make_rreq(**members: Any) -> bytes:
    return json.dumps(_without_none({**_RREQ, "eci": "05", **members})).encode()


def hold(conversation: Conversation[_Told], body: Mapping[str, Any] | bytes, status: int = 200) -> _Told:
    """Returns the end of a conversation in which everything is answered with the same."""
    reply = WireReply(status, body if isinstance(body, bytes) else json.dumps(body).encode())
    next(conversation)
    with pytest.raises(StopIteration) as end:
        conversation.send(reply)
    received: _Told = end.value.value
    return received


def ask(order: Order = SHOPPER_ORDER, **changes: Any) -> Conversation[AuthenticationCase]:
    arguments: dict[str, Any] = {
        "terms": TERMS,
        "browser": BROWSER,
        "method_done": "Y",
        "now": NOW,
        "notification_url": NOTIFICATION_URL,
        "results_url": RESULTS_URL,
        "simulator_overrides": {},
    }
    return exchanges.authenticate(order, CASE, **arguments | changes)


def read_request(conversation: Conversation[Any]) -> tuple[WireRequest, dict[str, Any]]:
    request = next(conversation)
    return request, json.loads(request.body)


def _without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
