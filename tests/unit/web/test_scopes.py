"""Scopes of access tokens: every operation with a token has a row, and each pair of operation and scope follows it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.scopes import REFUND_TYPES, SCOPE_ROWS, Scope
from tollgate.catalog.throttles import THROTTLES
from tollgate.operations.caches import MerchantCache
from tollgate.payments.merchants import Credential
from tollgate.values import ChannelId, Forbidden, WrongToken
from tollgate.vault.keyring import make_keyring
from tollgate.vault.tokens import make_credential, show_token
from tollgate.web.api import authentications, checkouts, host, payments, registrations, reports, webhooks
from tollgate.web.callers import find_credential, list_named, recognise
from tollgate.web.request import Access, Caller, Request
from unit.app_fixture import CHANNEL, MERCHANT, NOW

MADE = make_credential(MERCHANT.id, make_keyring(), NOW)
OTHER = replace(CHANNEL, id=ChannelId("8a" + "7" * 30))
ROWS = [
    row
    for module in (authentications, checkouts, host, payments, registrations, reports, webhooks)
    for row in module.ROUTES
    if row.access is not Access.OPEN
]
OPERATIONS = {row.operation: row.access for row in ROWS}
WEBHOOKS = {operation for operation in OPERATIONS if operation.endswith("webhook") or operation == "list_webhooks"}


def ask(
    operation: str,
    credential: Credential,
    now: int = NOW,
    access: Access = Access.ENTITY,
    fields: Mapping[str, str] = {},
    entity: str = CHANNEL.id,
) -> Caller:
    merchants = MerchantCache()
    merchants.fill([CHANNEL, OTHER], [credential])
    headers = {b"authorization": f"Bearer {show_token(MADE.token)}".encode()}
    pairs = [("entityId", entity), *fields.items()]
    request = Request(
        method="POST", path="/", names=(), headers=headers, pairs=pairs, trace="f" * 32, operation=operation
    )
    found = find_credential(headers[b"authorization"], merchants, now)
    return recognise(request, access, merchants, found, now)


def with_terms(*scopes: Scope, channels: tuple[ChannelId, ...] = (), expires_at: int | None = None) -> Credential:
    return replace(MADE.credential, scopes=scopes, channel_ids=channels, expires_at=expires_at)


def is_allowed(operation: str, credential: Credential, **fields: str) -> bool:
    try:
        ask(operation, credential, access=OPERATIONS[operation], fields=fields)
    except Forbidden as refusal:
        return refusal.result.code != "800.900.301"
    return True


def test_every_operation_with_a_token_has_a_scope_but_those_of_webhooks() -> None:
    assert {operation for operation in OPERATIONS if THROTTLES[operation].scope is None} == WEBHOOKS
    assert {row.operation for row in THROTTLES.values() if row.scope} == set(OPERATIONS) - WEBHOOKS
    assert [row.scope for row in SCOPE_ROWS] == list(Scope)


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_a_token_with_one_scope_may_do_what_the_row_says_and_nothing_else(operation: str, scope: Scope) -> None:
    assert is_allowed(operation, with_terms(scope)) is (THROTTLES[operation].scope is scope)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_a_token_without_scopes_may_do_everything(operation: str) -> None:
    assert is_allowed(operation, with_terms())


def test_webhooks_need_a_token_for_all_channels_too() -> None:
    assert {each for each in OPERATIONS if not is_allowed(each, with_terms(channels=(CHANNEL.id,)))} == WEBHOOKS


@pytest.mark.parametrize("payment_type", sorted(PAYMENT_TYPES))
def test_types_that_give_money_back_need_the_scope_of_refunds_and_others_that_of_payments(payment_type: str) -> None:
    gives_back = payment_type in REFUND_TYPES
    for operation in ("create_payment", "follow_up", "pay_registration", "create_checkout", "schedule"):
        for name in ("paymentType", "overridePaymentType[VISA]", "recurring.paymentType"):
            fields = {name: payment_type.lower()}
            assert is_allowed(operation, with_terms(Scope.REFUNDS), **fields) is gives_back
            assert is_allowed(operation, with_terms(Scope.PAYMENTS), **fields) is not gives_back


def test_refunds_reversals_and_credits_give_money_back_and_captures_do_not() -> None:
    assert {"RF", "RV", "CD"} <= REFUND_TYPES
    assert REFUND_TYPES.isdisjoint({"CP", "DB", "PA", "PA.CP", "RB"})


def test_two_types_in_one_request_need_both_scopes() -> None:
    fields = {"paymentType": "DB", "overridePaymentType[VISA]": "CD"}
    assert not is_allowed("create_checkout", with_terms(Scope.PAYMENTS), **fields)
    assert not is_allowed("create_checkout", with_terms(Scope.REFUNDS), **fields)
    assert is_allowed("create_checkout", with_terms(Scope.PAYMENTS, Scope.REFUNDS), **fields)


def test_the_refusal_names_the_scope() -> None:
    with pytest.raises(Forbidden) as refused:
        ask("create_payment", with_terms(Scope.READ), fields={"paymentType": "RF"})
    assert "refunds" in str(refused.value.detail)


def test_a_token_is_refused_from_its_last_second_on() -> None:
    credential = with_terms(expires_at=NOW + 10)
    assert ask("create_payment", credential, NOW + 9).merchant_id == MERCHANT.id
    for late in (NOW + 10, NOW + 11):
        with pytest.raises(WrongToken):
            ask("create_payment", credential, late)


def test_a_channel_beyond_a_token_is_as_unknown_as_none() -> None:
    credential = with_terms(channels=(CHANNEL.id,))
    assert ask("create_payment", credential).channel_ids == (CHANNEL.id,)
    refusals = []
    for entity in (OTHER.id, "8a" + "0" * 30):
        with pytest.raises(Forbidden) as refused:
            ask("create_payment", credential, entity=entity)
        refusals.append((refused.value.result.code, refused.value.detail))
    assert refusals[0] == refusals[1]


def test_ids_that_a_request_names_are_found_in_its_path_and_its_parameters() -> None:
    pairs = [("registrations[1].id", "b"), ("referenceUuid", "c"), ("registrationId", "d"), ("customer.id", "e")]
    request = Request(method="POST", path="/", names=("a",), headers={}, pairs=pairs, trace="f" * 32)
    assert list_named(request) == ["a", "b", "c", "d"]
