"""Throttles that two gateways share through Redis, while it is there, gone, hanging, and back."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from api.merchants import wait_until
from gateway import Answer, Client, GatewayProcess
from postgres import PostgresCluster
from redis_server import RedisServer

APPROVED = "000.100.110"
LIMIT = 25
WINDOW_S = 86_400
ROWS = f"create_payment={LIMIT}/{WINDOW_S},wrong_token={LIMIT}/{WINDOW_S},query=5000/{WINDOW_S}"


@dataclass
class Pair:
    redis: RedisServer
    first: Client
    second: Client

    def ask_in_turns(self, times: int, ask: Callable[[Client], Answer]) -> list[Answer]:
        with ThreadPoolExecutor(16) as pool:
            return list(pool.map(lambda number: ask(self.second if number % 2 else self.first), range(times)))

    def tell_modes(self) -> set[str]:
        return {client.send("GET", "/readyz").json["throttles"] for client in (self.first, self.second)}

    def count_alone(self) -> float:
        texts = [client.send("GET", "/metrics").body.decode() for client in (self.first, self.second)]
        return sum(
            float(line.split()[-1])
            for text in texts
            for line in text.splitlines()
            if line.startswith('tollgate_throttle_counts_total{by="one process"}')
        )


@contextmanager
def open_pair(folder: Path, database: str, rows: str) -> Iterator[Pair]:
    with RedisServer(password="shared-password") as redis, ExitStack() as gateways:
        environment = {"TOLLGATE_THROTTLES": rows, "TOLLGATE_SHARED": redis.url}
        first = GatewayProcess(folder / "first", database, environment=environment)
        gateways.enter_context(first)
        arguments = ["--key-file", str(first.data / "keys.json")]
        second = GatewayProcess(folder / "second", database, arguments=arguments, environment=environment)
        gateways.enter_context(second)
        client = first.client()
        yield Pair(redis, client, replace(client, base_url=second.base_url))
        assert "shared-password" not in first.read_log() + second.read_log()


@pytest.fixture
def pair(tmp_path: Path, cluster: PostgresCluster) -> Iterator[Pair]:
    with open_pair(tmp_path, cluster.create_database(), ROWS) as pair:
        yield pair


def test_two_gateways_count_one_limit_exactly(pair: Pair) -> None:
    answers = pair.ask_in_turns(3 * LIMIT, Client.pay)

    assert [answer.status for answer in answers].count(200) == LIMIT
    refused = [answer for answer in answers if answer.status != 200]
    assert {(answer.status, answer.code) for answer in refused} == {(429, "800.120.100")}
    assert all(0 < int(answer.headers["retry-after"]) <= WINDOW_S for answer in refused)

    guesses = pair.ask_in_turns(3 * LIMIT, lambda client: replace(client, token="guess").get("/v1/query/none"))

    assert [answer.status for answer in guesses].count(403) == LIMIT
    assert {answer.status for answer in guesses} == {403, 429}
    # A guess that is answered before its body is read is counted too.
    expecting = {"Authorization": "Bearer guess", "Expect": "100-continue", "Content-Length": "10"}
    assert pair.first.send("POST", "/v1/payments", None, expecting).status == 429
    assert (pair.tell_modes(), pair.count_alone()) == ({"shared"}, 0)
    check_that_counters_name_nobody(pair)


def check_that_counters_name_nobody(pair: Pair) -> None:
    with pair.redis.connect() as client:
        names = list(client.scan_iter("*"))
        assert len(names) == 2
        assert all(name.startswith("tollgate:throttle:") and client.pttl(name) > 0 for name in names)
    assert not [name for name in names if pair.first.entity_id in name or "127.0.0.1" in name]


@pytest.mark.parametrize("fault", ["killed", "hangs"])
def test_no_payment_fails_while_redis_is_gone_and_counts_are_shared_again(pair: Pair, fault: str) -> None:
    is_over = threading.Event()

    def read_until_over(client: Client) -> set[int]:
        statuses = set()
        while not is_over.is_set():
            statuses.add(client.get(f"/v1/query/{'8a' + '0' * 30}").status)
        return statuses

    with ThreadPoolExecutor(4) as pool:
        reading = [pool.submit(read_until_over, client) for client in (pair.first, pair.second) * 2]
        assert {answer.code for answer in pair.ask_in_turns(10, Client.pay)} == {APPROVED}
        pair.redis.kill() if fault == "killed" else pair.redis.suspend()
        wait_until(lambda: pair.tell_modes() == {"not shared"})
        # Each counts for itself, from nothing, with the same limit.
        alone = [pair.first.pay().code for _ in range(LIMIT)]
        pair.redis.start() if fault == "killed" else pair.redis.resume()
        wait_until(lambda: pair.tell_modes() == {"shared"})
        is_over.set()
        assert set.union(*[each.result() for each in reading]) == {400}

    assert alone == [APPROVED] * LIMIT
    assert pair.count_alone() >= LIMIT
    # One that was killed has forgotten the calls before.
    counted = 0 if fault == "killed" else 10
    answers = pair.ask_in_turns(2 * LIMIT, Client.pay)
    assert [answer.status for answer in answers].count(200) == LIMIT - counted


def test_a_host_starts_without_redis_and_not_with_a_wrong_password(tmp_path: Path) -> None:
    with RedisServer(password="right") as redis:
        wrong = redis.url.replace("right", "wrong-password")
        gateway = GatewayProcess(tmp_path, environment={"TOLLGATE_SHARED": wrong})
        with pytest.raises(RuntimeError, match="did not start"):
            gateway.start()
        log = gateway.read_log() + tell_missing(gateway)
        assert log.count("--shared: Redis does not accept the user and password of the address") == 2
        assert "wrong-password" not in log

    with GatewayProcess(tmp_path, environment={"TOLLGATE_SHARED": redis.url}) as gateway:
        assert gateway.client().send("GET", "/readyz").json == {"status": "ready", "throttles": "not shared"}
        assert gateway.client().pay().code == APPROVED
        assert "missing: --shared: Redis cannot be reached" in tell_missing(gateway)


def tell_missing(gateway: GatewayProcess) -> str:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        gateway.run("check")
    printed: str = failed.value.stdout
    return printed
