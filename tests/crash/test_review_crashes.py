"""kill -9 while a review is rejected: the decision is whole or absent, and the money goes back once."""

from __future__ import annotations

import asyncio

import pytest

from acquirer import Fate
from api.merchants import wait_until
from crash.crashes import Crash
from crash.review_crashes import REVIEW_CRASHES
from crash.world import World, insist_on, pay, try_to
from gateway import Answer, Client
from tollgate.operations.risk_rules import add_rule
from tollgate.store.merchants import list_channels
from tollgate.store.opening import open_database
from tollgate.values import SystemClock, make_id

pytestmark = pytest.mark.timeout(1200)

REVIEW, REJECTED, SUCCESS = "000.400.000", "000.400.100", "000.100.112"


async def review_large_amounts(world: World) -> None:
    database = await open_database(world.database)
    try:
        channel = next(row for row in await list_channels(database) if row.id == world.entity_id)
        rule = {"kind": "amount", "outcome": "review", "mode": "active", "amount": "900.00", "currency": "EUR"}
        await add_rule(database, channel.merchant_id, rule, by="test", now=SystemClock().now(), new_id=make_id())
    finally:
        await database.close()


def reject(client: Client, payment_id: str) -> Answer:
    return client.post(f"/v1/payments/{payment_id}/review", {"decision": "REJECT"})


def list_chain(client: Client, payment_id: str) -> list[tuple[str, str]]:
    found = client.get(f"/v3/query/{payment_id}", {"includeLinkedTransactions": "true"}).json["records"]
    return [(each["paymentType"], each["result"]["code"]) for each in found if each["id"] != payment_id]


@pytest.mark.parametrize("crash", REVIEW_CRASHES, ids=lambda crash: crash.name)
def test_a_rejection_cut_off_anywhere_is_whole_and_gives_the_money_back_once(world: World, crash: Crash) -> None:
    asyncio.run(review_large_amounts(world))
    gateway = world.make_gateway()
    gateway.start()
    paid = pay(world.make_client(gateway), f"{crash.number}.00")
    payment_id = str(paid.json["id"])
    assert paid.code == REVIEW
    gateway.kill()

    dying = world.make_gateway(crash.kill.point)
    dying.start()
    try_to(lambda: reject(world.make_client(dying), payment_id))
    dying.wait_for_death()
    living = world.make_gateway()
    living.start()
    client = world.make_client(living)
    before = client.get(f"/v1/payments/{payment_id}").code
    answer = insist_on(lambda: reject(client, payment_id), "the decision")

    assert before in (REVIEW, REJECTED)
    assert answer.code == REJECTED
    wait_until(lambda: list_chain(client, payment_id) == [("RV", SUCCESS)])
    undone = [each for each in world.acquirer.read_ledger().values() if each.type == "reversal"]
    assert [(each.fate, each.amount) for each in undone] == [(Fate.APPROVED, crash.number * 100)]
    assert world.verify() == ""
