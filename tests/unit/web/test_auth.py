"""Recognising a caller: what each kind of route asks for, and what is said to whom."""

from __future__ import annotations

from base64 import b64decode

import pytest
from msgspec.structs import replace

from tollgate.operations.caches import MerchantCache
from tollgate.payments.merchants import Channel
from tollgate.values import ChannelId, Forbidden, InvalidParameters, MerchantId, Refusal, Unauthenticated
from tollgate.vault.keyring import make_keyring
from tollgate.vault.tokens import make_credential, show_token
from tollgate.web.callers import find_credential, recognise
from tollgate.web.request import Access, Caller, Request
from unit.app_fixture import CHANNEL, MERCHANT, NOW

LENIENT = replace(CHANNEL, id=ChannelId("8a" + "3" * 30), is_lenient=True)
CLOSED = replace(CHANNEL, id=ChannelId("8a" + "4" * 30), is_closed=True)
FOREIGN = replace(CHANNEL, id=ChannelId("8a" + "5" * 30), merchant_id=MerchantId("8a" + "9" * 30))
MADE = make_credential(MERCHANT.id, make_keyring(), NOW)
BEARER = f"Bearer {show_token(MADE.token)}"
USER_ID, PASSWORD = b64decode(show_token(MADE.token)).decode().split("|")
LOGIN = {"authentication.userId": USER_ID, "authentication.password": PASSWORD}


def ask(
    pairs: dict[str, str], header: str | None = BEARER, access: Access = Access.ENTITY, method: str = "POST"
) -> Caller:
    merchants = MerchantCache()
    merchants.fill([CHANNEL, LENIENT, CLOSED, FOREIGN], [MADE.credential])
    headers = {} if header is None else {b"authorization": header.encode("latin-1")}
    request = Request(method=method, path="/", names=(), headers=headers, pairs=list(pairs.items()), trace="f" * 32)
    return recognise(request, access, merchants, find_credential(headers.get(b"authorization"), merchants, NOW), NOW)


def entity(channel: Channel) -> dict[str, str]:
    return {"entityId": channel.id}


def test_a_caller_is_its_token_and_its_entity() -> None:
    caller = ask(entity(CHANNEL))

    assert (caller.merchant_id, caller.channel) == (MERCHANT.id, CHANNEL)
    assert caller.ndc == f"{CHANNEL.id}_{'f' * 32}"


@pytest.mark.parametrize("word", ["bearer", "BEARER", "bEaReR"])
def test_the_scheme_of_the_header_is_read_in_any_case(word: str) -> None:
    assert ask(entity(CHANNEL), BEARER.replace("Bearer", word)).merchant_id == MERCHANT.id


def test_where_a_token_is_enough_the_entity_may_be_left_out() -> None:
    assert ask({}, access=Access.TOKEN).channel is None
    assert ask(entity(CHANNEL), access=Access.TOKEN).channel == CHANNEL
    with pytest.raises(InvalidParameters):
        ask({}, access=Access.ENTITY)


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Basic abc", "Bearer a b", "Bearer \xe9", "Bearer " + "a" * 1025]
)
def test_no_readable_header_is_no_credential(header: str | None) -> None:
    with pytest.raises(Unauthenticated):
        ask(entity(CHANNEL), header)


def test_a_wrong_token_is_forbidden_before_the_entity_is_looked_at() -> None:
    for pairs in (entity(CHANNEL), entity(FOREIGN), {"entityId": "x"}, {}):
        with pytest.raises(Forbidden) as refused:
            ask(pairs, "Bearer guess")
        assert refused.value.result.code == "800.900.300"


def test_a_foreign_entity_is_said_to_be_unknown() -> None:
    said = set()
    for pairs in (entity(FOREIGN), {"entityId": "8a" + "0" * 30}):
        with pytest.raises(Forbidden) as refused:
            ask(pairs)
        said.add((refused.value.result.code, refused.value.detail))

    assert len(said) == 1


def test_a_closed_channel_says_so_to_its_owner() -> None:
    with pytest.raises(Refusal) as refused:
        ask(entity(CLOSED))

    assert refused.value.result.code == "500.100.203"


def test_a_login_opens_a_lenient_channel_and_no_other() -> None:
    assert ask({**entity(LENIENT), **LOGIN}, None).channel == LENIENT
    with pytest.raises(Unauthenticated):
        ask({**entity(CHANNEL), **LOGIN}, None)
    with pytest.raises(Refusal):
        ask(LOGIN, None, access=Access.TOKEN)


def test_a_header_wins_over_a_login() -> None:
    assert ask({**entity(CHANNEL), **LOGIN}).channel == CHANNEL
    with pytest.raises(Forbidden):
        ask({**entity(LENIENT), **LOGIN}, "Bearer guess")
