"""The table of follow-ups is total: every state meets every request, and each pair has an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import pytest

from api.follow_up_states import AGED, FOREIGN, RECIPES, Specimen, World, ask
from api.follow_up_table import EXPECTED, REQUESTS
from api.merchants import add_merchant, find_merchant_id, wait_until
from gateway import GatewayProcess
from postgres import PostgresCluster
from tollgate.catalog.results import RESULTS
from tollgate.payments.chain import count_chain
from tollgate.payments.payment import Payment, State
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.store.payments import find_payment, list_chain
from tollgate.values import MerchantId

CHAIN_MAX = 1000


@dataclass
class Stage:
    """A server whose clock was moved, payments made before that, and a look behind the scene."""

    world: World
    database: Database
    runner: asyncio.Runner
    merchant_id: MerchantId
    aged: dict[str, list[Specimen]] = field(default_factory=dict)

    def take(self, state: str) -> Specimen:
        return self.aged[state].pop() if state in AGED else self.world.make(state)

    def read_chain(self, payment_id: str) -> dict[str, Payment]:
        payment = self.runner.run(find_payment(self.database, self.merchant_id, payment_id))
        if payment is None:
            return {}
        rows = self.runner.run(list_chain(self.database, self.merchant_id, payment.first_id, CHAIN_MAX))
        return {row.id: row for row in rows}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server of its own, because its clock is moved."""
    url = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        url = cluster.create_database()
    with GatewayProcess(tmp_path_factory.mktemp("table"), url) as gateway, asyncio.Runner() as runner:
        client, stranger = gateway.client(), add_merchant(gateway, "Stranger")
        wait_until(lambda: stranger.get("/v1/query/none").code == "700.400.580")
        opening = open_database(url or f"sqlite:///{gateway.data}/tollgate.db", read_only=True)
        merchant_id = MerchantId(find_merchant_id(gateway, client))
        stage = Stage(World(client, stranger), runner.run(opening), runner, merchant_id)
        for state in AGED:
            stage.aged[state] = [stage.world.make(state) for _ in range(count_specimens(state))]
        stage.world.sleep_eight_days()
        yield stage
        runner.run(stage.database.close())


def count_specimens(state: str) -> int:
    """Returns one for each request that changes the payment, and one for all that must not."""
    return 1 + sum(not code for code in EXPECTED[state].values())


def test_the_table_has_a_cell_for_every_state_and_every_request() -> None:
    visited = {(state, request) for state, row in EXPECTED.items() for request in row}

    assert visited == set(product([*RECIPES, *FOREIGN], REQUESTS))


def test_every_expected_code_is_in_the_catalogue_and_every_request_succeeds_and_fails_somewhere() -> None:
    codes = {request: {row[request] for row in EXPECTED.values()} for request in REQUESTS}

    assert set().union(*codes.values()) - {""} <= set(RESULTS)
    for request in ("CP", "CP.", "RV", "PA+", "PA'", "RF", "RF.", "RB", "+RC", "+CB", "+CR"):
        assert "" in codes[request]
    assert all(codes[request] - {""} for request in REQUESTS)


@pytest.mark.parametrize("state", EXPECTED)
def test_requests_that_may_not_be_are_refused_by_their_code_and_change_nothing(stage: Stage, state: str) -> None:
    refused = {request: code for request, code in EXPECTED[state].items() if code}
    specimen = stage.take(state)
    before = stage.read_chain(specimen.payment_id)

    answers = {request: ask(specimen.client, specimen.payment_id, REQUESTS[request]) for request in refused}

    after = stage.read_chain(specimen.payment_id)
    assert {request: answer.code for request, answer in answers.items()} == refused
    assert {answer.status for answer in answers.values()} == {400}
    assert {row_id: show_money(after[row_id]) for row_id in before} == {
        row_id: show_money(row) for row_id, row in before.items()
    }
    added = [row for row_id, row in after.items() if row_id not in before]
    assert all((row.state, row.action) == (State.DECLINED, None) for row in added)
    check_balances(after)


@pytest.mark.both_databases
@pytest.mark.parametrize("state", [state for state, row in EXPECTED.items() if "" in row.values()])
def test_requests_that_may_be_succeed(stage: Stage, state: str) -> None:
    for name in [request for request, code in EXPECTED[state].items() if not code]:
        specimen, request = stage.take(state), REQUESTS[name]

        answer = ask(specimen.client, specimen.payment_id, request)

        assert (name, answer.status, answer.code) == (name, 200, request.success)
        assert answer.json["referencedId"] == specimen.payment_id
        assert answer.json["paymentType"] == request.payment_type
        assert request.amount in (None, answer.json["amount"])
        check_balances(stage.read_chain(specimen.payment_id))


def show_money(payment: Payment) -> tuple[object, ...]:
    """Returns all of a row but the count of its chain, which numbers what was refused as well."""
    balance = payment.balance
    sums = (balance.added, balance.drawn, balance.reserved, balance.disputed, balance.counted, balance.chain_net)
    return payment.state, payment.result_code, payment.mac, balance.closed, *sums


def check_balances(chain: dict[str, Payment]) -> None:
    """The stored balances must equal the sums over the payments of the chain."""
    assert {row_id: row.balance for row_id, row in chain.items()} == count_chain(chain.values())
    assert [row.position for row in chain.values()] == list(range(1, len(chain) + 1))
