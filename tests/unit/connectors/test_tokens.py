"""Requests to a token vault and the verdicts of its answers, however odd they are."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.results import RESULTS
from tollgate.connectors import tokens
from tollgate.connectors.exchange import Conversation, WireReply, WireRequest, encode_message
from tollgate.payments.accounts import TokenAccount
from tollgate.payments.registration import CardNews, NetworkToken, TokenState
from tollgate.values import Money, Secret
from unit.connectors.samples import CARD

KEY = "8a" + "7" * 30
ISSUED = {"key": KEY, "status": "active", "reference": "ref-1", "number": "4895370012003478", "expiry": "2034-05"}
PROOF = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
SILENCE = tokens.SILENT

_T = TypeVar("_T")


def talk(conversation: Conversation[_T], body: bytes | dict[str, Any], status: int = 200) -> tuple[WireRequest, _T]:
    request = next(conversation)
    with pytest.raises(StopIteration) as end:
        conversation.send(WireReply(status, body if isinstance(body, bytes) else json.dumps(body).encode()))
    return request, end.value.value


def provision() -> Conversation[tokens.TokenAnswer]:
    return tokens.provision(KEY, "VISA", CARD, requestor="R-1", events_url="https://gate.example/events")


def prove() -> Conversation[tokens.Cryptogram]:
    return tokens.request_cryptogram(KEY, "8a01", Money(9200, "EUR"), requestor="R-1")


def test_a_token_is_asked_for_with_the_card_and_one_key_per_card() -> None:
    request, received = talk(provision(), {**ISSUED, "card": {"last_digits": "0000", "expiry": "2034-05"}})

    assert (request.path, request.key) == (tokens.PROVISIONS, f"{KEY}-token")
    assert json.loads(request.body) == {
        "key": KEY,
        "network": "visa",
        "number": "4200000000000000",
        "expiry": "2034-05",
        "holder": "Jane Jones",
        "requestor": "R-1",
        "events_url": "https://gate.example/events",
    }
    assert (received.state, received.reference) == (TokenState.ACTIVE, "ref-1")
    assert isinstance(received.account, TokenAccount)
    assert received.account.number.matches(Secret("4895370012003478"))
    assert (received.account.type, received.account.expiry_month, received.account.expiry_year) == (
        "NETWORK",
        "05",
        "2034",
    )
    assert received.card == CardNews(last_digits="0000", expiry_month="05", expiry_year="2034")


@pytest.mark.parametrize("word", sorted(tokens.REASONS))
def test_every_reason_has_its_code(word: str) -> None:
    _, received = talk(provision(), {"key": KEY, "status": "refused", "reason": word})

    assert received.state is TokenState.REFUSED
    assert received.reason == tokens.REASONS[word]
    assert RESULTS[tokens.REASONS[word].code].code.startswith("800.100.3")


def test_no_two_reasons_share_a_code() -> None:
    codes = [reason.code for reason in tokens.REASONS.values()]
    assert len(set(codes)) == len(codes)


def test_a_reason_that_nobody_knows_is_final_and_has_the_code_for_it() -> None:
    _, received = talk(provision(), {"key": KEY, "status": "refused", "reason": "moonshine"})

    assert received.reason == tokens.Reason("800.100.310")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"null",
        {},
        {**ISSUED, "key": "8a" + "8" * 30},
        {**ISSUED, "status": "ACTIVE"},
        {**ISSUED, "number": None},
        {**ISSUED, "number": "4895370012003478\n"},
        {**ISSUED, "number": "٤٨٩٥٣٧٠٠١٢٠٠٣٤٧٨"},
        {**ISSUED, "number": 4895370012003478},
        {**ISSUED, "number": "4" * 20},
        {**ISSUED, "expiry": "2034-13"},
        {**ISSUED, "expiry": "1934-05"},
        {**ISSUED, "reference": "../../etc"},
        {**ISSUED, "reference": None},
        {**ISSUED, "card": {"last_digits": "00001", "expiry": "2034-05"}},
        {**ISSUED, "card": {"last_digits": "0000", "expiry": "soon"}},
    ],
)
def test_what_is_no_answer_is_asked_for_again_and_never_a_token(body: bytes | dict[str, Any]) -> None:
    for conversation in (provision(), tokens.inquire(KEY, requestor="")):
        _, received = talk(conversation, body)
        assert (received.state, received.reason, received.account) == (TokenState.REFUSED, SILENCE, None)
    assert SILENCE.is_passing


def test_a_vault_that_broke_down_says_nothing_whatever_it_sends() -> None:
    _, received = talk(provision(), ISSUED, status=503)

    assert received.reason == SILENCE


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("active", TokenState.ACTIVE),
        ("suspended", TokenState.SUSPENDED),
        ("deleted", TokenState.DELETED),
        ("unknown", TokenState.DELETED),
    ],
)
def test_the_vault_is_asked_how_a_token_stands(status: str, state: TokenState) -> None:
    request, received = talk(tokens.inquire(KEY, requestor="R-1"), {**ISSUED, "status": status})

    assert (request.path, json.loads(request.body)) == (tokens.INQUIRIES, {"key": KEY, "requestor": "R-1"})
    assert received.state is state
    assert (received.account is None) is (state is TokenState.DELETED)


@pytest.mark.parametrize(
    ("answer", "is_removed"),
    [
        ({"key": KEY, "status": "deleted"}, True),
        ({"key": KEY, "status": "unknown"}, True),
        (ISSUED, False),
        ({"key": KEY, "status": "refused", "reason": "provider_busy"}, False),
        (b"fine", False),
    ],
)
def test_a_token_is_removed_once_the_vault_says_that_it_has_none(answer: Any, is_removed: bool) -> None:
    request, received = talk(tokens.remove(KEY, requestor=""), answer)

    assert (request.path, json.loads(request.body)) == (tokens.DELETIONS, {"key": KEY})
    assert received is is_removed


def test_a_cryptogram_is_asked_for_one_payment_and_its_amount() -> None:
    request, received = talk(prove(), {"key": KEY, "status": "issued", "cryptogram": PROOF})

    assert (request.path, request.key) == (tokens.CRYPTOGRAMS, "8a01-cryptogram")
    assert json.loads(request.body) == {
        "key": KEY,
        "payment": "8a01",
        "amount": 9200,
        "currency": "EUR",
        "requestor": "R-1",
    }
    assert received.text is not None
    assert received.text.matches(Secret(PROOF))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"key": KEY, "status": "refused", "reason": "suspended"}, "800.100.317"),
        ({"key": KEY, "status": "refused", "reason": "wrong_state"}, "800.100.307"),
        ({"key": KEY, "status": "issued"}, "800.100.310"),
        ({"key": "other", "status": "issued", "cryptogram": PROOF}, "800.100.321"),
        ({"key": KEY, "status": "issued", "cryptogram": "short"}, "800.100.321"),
        ({"key": KEY, "status": "issued", "cryptogram": PROOF + "\n"}, "800.100.321"),
        ({"key": KEY, "status": "issued", "cryptogram": "<script>alert(1)</script>====="}, "800.100.321"),
        (b"\x00", "800.100.321"),
    ],
)
def test_what_is_no_cryptogram_says_why(answer: Any, code: str) -> None:
    _, received = talk(prove(), answer)

    assert received.text is None
    assert received.reason is not None
    assert received.reason.code == code


def test_an_event_names_its_token_and_is_bounded() -> None:
    body = encode_message(tokens.EventMessage(id="e-1", key=KEY, event="SUSPENDED"))

    assert tokens.read_event(body, KEY) == tokens.EventMessage(id="e-1", key=KEY, event="SUSPENDED")
    assert tokens.read_event(body, "8a" + "8" * 30) is None
    assert tokens.read_event(body + b" " * 5000, KEY) is None
    assert tokens.read_event(json.dumps({"id": "e 1\n", "key": KEY}).encode(), KEY) is None
    assert tokens.read_event(b"{", KEY) is None


def test_only_a_cards_own_number_of_a_network_that_has_tokens_can_have_one() -> None:
    assert tokens.can_have_token("VISA", CARD)
    assert not tokens.can_have_token("MEEZA", CARD)
    assert not tokens.can_have_token("VISA", None)
    assert not tokens.can_have_token("VISA", replace(CARD, number_type="DPAN"))
    assert not tokens.can_have_token("VISA", replace(CARD, wallet="walletA"))
    assert not tokens.can_have_token("VISA", TokenAccount(number=Secret("4895370012003478"), type="EXTERNAL"))


def test_every_brand_with_tokens_is_a_card_of_the_catalogue() -> None:
    assert {BRANDS[brand].account.value for brand in tokens.NETWORKS} == {"card"}


def test_a_merchant_reads_which_token_was_used_or_why_none_was_and_nothing_secret() -> None:
    _, received = talk(provision(), ISSUED)
    card_summary = tokens.make_network_token(received, 7)

    assert card_summary == NetworkToken(
        state=TokenState.ACTIVE,
        updated_at=7,
        reference="ref-1",
        last_digits="3478",
        expiry_month="05",
        expiry_year="2034",
    )
    assert tokens.describe_use(card_summary, None) == {"NetworkTokenUsed": "true", "NetworkTokenLast4Digits": "3478"}
    assert tokens.describe_use(card_summary, "800.100.317") == {
        "NetworkTokenUsed": "false",
        "NetworkTokenResponse": "800.100.317",
    }
