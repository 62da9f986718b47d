"""Scores of requests about one payment in the same instant, at two servers on one database.

Never a hundredth too much, and exactly one winner where only one may win.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from acquirer import AcquirerProcess, Manner
from api.contests import FAMILIES, Contest, draw_contest, render_amount
from api.merchants import add_channel, run_command, wait_until
from api.oracle import Outcome, Record, Standing, find_disagreement, find_unfairness
from api.parallel import Shot, fire, insist
from crash.store_reader import Rows, open_store_reader
from gateway import Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.connectors.acquiring import FOLLOW_UPS
from tollgate.payments.payment import State

SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(12, 220))]
"""Twelve seeds meet every row of a family, with and without an acquirer outside."""
EMBEDDED_SEEDS = [*range(0, 12, 3), *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(20, 40))]


@dataclass(frozen=True)
class Field:
    """A field is the servers, clients and acquirer that contests share."""

    gateways: Sequence[GatewayProcess]
    clients: Sequence[Client]
    """One for each server, all of one merchant on one channel."""
    acquirer: AcquirerProcess
    query: Callable[[str], Rows]


@pytest.fixture(scope="module")
def acquirer_apart() -> Iterator[AcquirerProcess]:
    with AcquirerProcess() as acquirer:
        yield acquirer


@pytest.fixture(scope="module")
def two_servers(
    cluster: PostgresCluster, acquirer_apart: AcquirerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Field]:
    folder, database = tmp_path_factory.mktemp("two"), cluster.create_database()
    environment = {"TOLLGATE_KEY_FILE": str(folder / "keys.json")}
    with (
        GatewayProcess(folder / "first", database, environment=environment) as first,
        GatewayProcess(folder / "second", database, environment=environment) as second,
    ):
        client = add_channel(first, first.client(), "Contests", "--test-url", acquirer_apart.url)
        other = replace(client, base_url=second.base_url)
        wait_until(lambda: other.get("/v1/query/none").code == "700.400.580")
        yield Field((first, second), (client, other), acquirer_apart, open_store_reader(database).query)


@pytest.fixture(scope="module")
def embedded(acquirer_apart: AcquirerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    with GatewayProcess(tmp_path_factory.mktemp("embedded")) as gateway:
        client = add_channel(gateway, gateway.client(), "Contests", "--test-url", acquirer_apart.url)
        query = open_store_reader(f"sqlite:///{gateway.data}/tollgate.db").query
        yield Field((gateway,), (client,), acquirer_apart, query)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_asked_of_one_payment_at_once_two_servers_give_what_one_queue_would(
    two_servers: Field, family: str, seed: int
) -> None:
    check_contest(two_servers, family, seed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", EMBEDDED_SEEDS)
def test_a_server_on_an_embedded_file_gives_what_one_queue_would(embedded: Field, family: str, seed: int) -> None:
    check_contest(embedded, family, seed)


def _tell_otherwise(outcome: Outcome) -> Outcome:
    (wanted, answer), *others = outcome.answers
    conflict = replace(answer, status=409, body=answer.body.replace(b'"code":"', b'"code":"8'))
    return replace(outcome, answers=[(wanted, conflict), *others])


def _swap_first_and_last(outcome: Outcome) -> Outcome:
    first, *others, last = outcome.records
    swapped = [replace(last, position=first.position), *others, replace(first, position=last.position)]
    return replace(outcome, records=swapped)


def _move(outcome: Outcome, **differences: int) -> Outcome:
    moved = {name: getattr(outcome.standing, name) + difference for name, difference in differences.items()}
    return replace(outcome, standing=replace(outcome.standing, **moved))


TAMPERINGS: dict[str, Callable[[Outcome], Outcome]] = {
    "a hundredth too much is drawn": lambda outcome: _move(outcome, drawn=1),
    "a hundredth is still reserved": lambda outcome: _move(outcome, reserved=1),
    "a closure is set": lambda outcome: _move(outcome, closed=2),
    "there was less to give": lambda outcome: replace(outcome, contest=replace(outcome.contest, total=10)),
    "a row is missing": lambda outcome: replace(outcome, records=outcome.records[:-1]),
    "a request was done twice": lambda outcome: replace(outcome, records=[*outcome.records, outcome.records[0]]),
    "a winner came last": _swap_first_and_last,
    "one more should have won": lambda outcome: replace(
        outcome, contest=replace(outcome.contest, winners=frozenset({65}))
    ),
    "somebody was told of a conflict": _tell_otherwise,
}


def test_the_oracle_notices_every_wrong_outcome(embedded: Field) -> None:
    rng = Random(0)
    fair = hold_contest(embedded, draw_contest("refunds", 2, rng), rng, is_external=False)

    assert find_unfairness(fair) == []
    assert [name for name, tamper in TAMPERINGS.items() if find_unfairness(tamper(fair)) == []] == []


@pytest.mark.parametrize("name", ["two_servers", "embedded"])
def test_after_all_contests_the_whole_store_is_verified(name: str, request: pytest.FixtureRequest) -> None:
    field: Field = request.getfixturevalue(name)
    for family in FAMILIES:
        check_contest(field, family, seed=0)

    assert run_command(field.gateways[0], "verify")


def test_after_all_contests_no_two_units_have_locked_each_other_out(two_servers: Field) -> None:
    """A deadlock would be undone and tried again, and nobody would notice but by the time it takes."""
    for family in FAMILIES:
        check_contest(two_servers, family, seed=1)

    found = two_servers.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert found == [("0",)]


def check_contest(field: Field, family: str, seed: int) -> None:
    rng = Random(f"{family} {seed}")
    contest, is_external = draw_contest(family, seed, rng), seed % 2 == 1
    outcome = hold_contest(field, contest, rng, is_external=is_external)

    assert find_unfairness(outcome) == []
    if is_external:
        account, ledger = field.acquirer.read_account(outcome.named_id), field.acquirer.read_ledger()
        assert find_disagreement(outcome, account, ledger) == []


def hold_contest(field: Field, contest: Contest, rng: Random, *, is_external: bool) -> Outcome:
    first_id, named_id = begin(field.clients[0], contest, is_external=is_external)
    field.acquirer.behave(FOLLOW_UPS, Manner.DECLINE, contest.declines if is_external else 0)
    shots = [
        Shot(rng.choice(field.clients), named_id, wanted.fields, wanted.key and f"{named_id}-{wanted.key}")
        for wanted in contest.wanted
    ]
    answers = [insist(shot, answer) for shot, answer in zip(shots, fire(shots), strict=True)]
    chain = read_chain(field, first_id)
    return Outcome(
        contest=contest,
        is_external=is_external,
        named_id=named_id,
        answers=list(zip(contest.wanted, answers, strict=True)),
        records=[record for record, _ in chain.values()][len(contest.begins) :],
        standing=chain[named_id][1],
    )


def begin(client: Client, contest: Contest, *, is_external: bool) -> tuple[str, str]:
    """Returns the first payment of the chain and the one that everybody wants something of."""
    payment_type, *captures = contest.begins
    amount = render_amount(contest.total)
    captures_max = None if contest.captures_max is None else str(contest.captures_max)
    mode = "EXTERNAL" if is_external else "INTERNAL"
    first = client.pay(paymentType=payment_type, amount=amount, numberOfCaptures=captures_max, testMode=mode)
    assert first.status == 200, first.body
    first_id = named_id = first.json["id"]
    for capture in captures:
        followed = client.post(
            f"/v1/payments/{named_id}", {"paymentType": capture, "amount": amount, "currency": "EUR"}
        )
        assert followed.status == 200, followed.body
        named_id = followed.json["id"]
    return first_id, named_id


def read_chain(field: Field, first_id: str) -> dict[str, tuple[Record, Standing]]:
    """Returns every transaction of it and what stands on each, in the order of their positions."""
    rows = field.query(
        f"""SELECT id, payment_type, state, result_code, amount, releases, position, amount, added, drawn, reserved,
        counted, closed FROM payments WHERE id = '{first_id}' OR chain_id = '{first_id}' ORDER BY position"""
    )
    return {
        id: (
            Record(id, payment_type, State(int(state)), code, *map(int, numbers[:3])),
            Standing(*map(int, numbers[3:])),
        )
        for id, payment_type, state, code, *numbers in rows
    }
