"""A registration belongs to one merchant with all its channels, and parallel requests take effect one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from api.chains import APPROVED, UNKNOWN_ID, result_of
from api.registration_requests import (
    FORCE,
    change,
    extend,
    get_registration,
    list_topics,
    pay_with,
    read,
    register,
    remove,
    store,
)
from api.test_registration_codes import ENDPOINTS
from gateway import CARD, Answer, Client, GatewayProcess

pytestmark = pytest.mark.both_databases

CROWD = 8


def at_once(*requests: Callable[[], Answer]) -> list[Answer]:
    with ThreadPoolExecutor(len(requests)) as pool:
        return [future.result() for future in [pool.submit(request) for request in requests]]


# ---- whose it is ----


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_another_merchants_registration_is_as_unknown_as_none(client: Client, stranger: Client, endpoint: str) -> None:
    theirs = register(client)

    answer, unknown = ENDPOINTS[endpoint](stranger, theirs), ENDPOINTS[endpoint](stranger, UNKNOWN_ID)

    assert result_of(answer) == result_of(unknown)
    assert answer.faults == unknown.faults
    assert result_of(read(client, theirs)) == APPROVED


def test_another_merchant_cannot_hide_behind_the_owners_entity(client: Client, stranger: Client) -> None:
    theirs = register(client)
    disguised = replace(stranger, entity_id=client.entity_id)

    assert [ENDPOINTS[endpoint](disguised, theirs).status for endpoint in ("update", "remove", "extend", "pay")] == [
        403
    ] * 4
    assert result_of(read(client, theirs)) == APPROVED


def test_every_channel_of_a_merchant_may_use_its_registrations(client: Client, lenient: Client) -> None:
    registration_id = register(client)

    assert result_of(pay_with(lenient, registration_id)) == APPROVED
    assert result_of(change(lenient, registration_id, {"card.holder": "Jane Smith"})) == APPROVED
    assert result_of(remove(lenient, registration_id)) == APPROVED
    assert result_of(read(client, registration_id)) == (400, "100.150.202")


def test_two_merchants_with_one_card_do_not_learn_of_each_other(
    gateway: GatewayProcess, client: Client, stranger: Client
) -> None:
    mine, theirs = register(client), register(stranger)

    prints = [
        get_registration(gateway, owner, each)[0].fingerprint for owner, each in ((client, mine), (stranger, theirs))
    ]

    assert None not in prints
    assert len(set(prints)) == 2


# ---- who is first ----


def test_one_of_many_removals_succeeds(gateway: GatewayProcess, client: Client) -> None:
    registration_id = register(client)

    answers = at_once(*[lambda: remove(client, registration_id)] * CROWD)

    assert Counter(map(result_of, answers)) == {APPROVED: 1, (400, "100.150.202"): CROWD - 1}
    assert list_topics(gateway, client, registration_id).count("registration.deleted") == 1


def test_one_of_many_confirmations_succeeds(gateway: GatewayProcess, client: Client) -> None:
    registration_id = register(client, {**CARD, FORCE: "000.200.000"})

    answers = at_once(*[lambda: change(client, registration_id, {"paymentType": "CF"})] * CROWD)

    assert Counter(map(result_of, answers)) == {APPROVED: 1, (400, "100.350.302"): CROWD - 1}
    assert list_topics(gateway, client, registration_id) == ["registration.created"]


def test_no_update_is_lost_among_many(gateway: GatewayProcess, client: Client) -> None:
    registration_id = register(client)
    places = range(CROWD)

    answers = at_once(
        *[
            partial(change, client, registration_id, {f"customParameters[part_{place}]": str(place)})
            for place in places
        ],
        lambda: extend(client, registration_id),
    )

    assert set(map(result_of, answers)) == {APPROVED}
    kept = read(client, registration_id).json["customParameters"]
    assert kept == {f"part_{place}": str(place) for place in places}
    assert list_topics(gateway, client, registration_id).count("registration.updated") == CROWD


def test_a_removal_and_an_update_at_once_end_in_a_removal(gateway: GatewayProcess, client: Client) -> None:
    for _ in range(5):
        registration_id = register(client)

        removed, changed = at_once(
            partial(remove, client, registration_id),
            partial(change, client, registration_id, {"card.holder": "Jane Smith"}),
        )

        assert result_of(removed) == APPROVED
        assert result_of(changed) in (APPROVED, (400, "100.350.101"))
        row, sealed, _ = get_registration(gateway, client, registration_id)
        assert (sealed, row.echo, row.fingerprint) == (None, {}, None)
        assert row.card is not None
        assert row.card.holder is None


def test_one_key_stores_one_account_however_many_ask(client: Client) -> None:
    key = {"Idempotency-Key": f"crowd-{register(client)}"}

    answers = at_once(*[lambda: store(client, CARD, key)] * CROWD)

    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["id"] for answer in answers}) == 1


def test_one_key_removes_for_everybody_who_asks(client: Client) -> None:
    registration_id = register(client)
    key = {"Idempotency-Key": f"crowd-{registration_id}"}

    answers = at_once(*[lambda: remove(client, registration_id, headers=key)] * CROWD)

    assert {(answer.status, answer.body) for answer in answers} == {(200, answers[0].body)}
