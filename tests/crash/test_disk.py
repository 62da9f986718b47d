"""A disk without room: payments fail without keeping money, and go on by themselves when there is room again."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crash.server import Server
from crash.store_reader import find_contradictions
from crash.world import PATIENCE_S, World, insist, try_to_pay
from gateway import Answer, Client

APPROVED = "000.100.112"
OUT_OF_SERVICE, UNKNOWN = (503, "800.800.800"), (500, "999.999.999")
"""Nothing was begun, so it may be tried again; or it was sent, and its end is unknown."""
ROOM_BYTES = 48 * 1024
ORDERS_MAX = 200


def limit_files(gateway: Server, size: int) -> None:
    """The process may not write beyond this size in any file, which SQLite cannot tell from a full disk."""
    _, most = resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE, (size, most))


def check_refused(answer: Answer) -> None:
    """A caller who may try again reads when; one who must not is not invited to."""
    received = (answer.status, answer.code)
    assert received in (OUT_OF_SERVICE, UNKNOWN), answer.body
    assert ("retry-after" in answer.headers) is (received == OUT_OF_SERVICE)


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.05)


def pay_until_it_breaks(client: Client) -> int:
    """Returns the number of the first order that could not be stored."""
    for number in range(1, ORDERS_MAX):
        answer = try_to_pay(client, f"{number}.00", f"disk-{number:06d}")
        assert answer is not None, "the server must outlive a full disk"
        if answer.code != APPROVED:
            check_refused(answer)
            return number
    raise AssertionError("the disk never became full")


def fill_up(client: Client, number: int) -> Answer:
    """Returns the state of the host once there is no room left, not even for the small row by which it checks."""
    states: list[Answer] = []

    def is_full() -> bool:
        try_to_pay(client, f"{number}.00", f"disk-{number:06d}")
        states.append(client.send("GET", "/readyz"))
        return states[-1].status == 503

    wait_for(is_full)
    return states[-1]


def test_a_full_disk_breaks_payments_and_not_the_truth(sqlite_world: World) -> None:
    gateway = sqlite_world.make_gateway()
    gateway.start()
    client = sqlite_world.make_client(gateway)
    log_of_writes = Path(sqlite_world.database.removeprefix("sqlite:///") + "-wal")
    limit_files(gateway, log_of_writes.stat().st_size + ROOM_BYTES)
    broken = pay_until_it_breaks(client)
    with ThreadPoolExecutor(4) as shops:
        numbers = range(broken + 1, broken + 9)
        answers = list(shops.map(lambda n: try_to_pay(client, f"{n}.00", f"disk-{n:06d}"), numbers))
    for answer in answers:
        assert answer is not None
        check_refused(answer)
    assert OUT_OF_SERVICE in {(answer.status, answer.code) for answer in answers if answer}
    unready = fill_up(client, broken)
    assert unready.json["status"] == "not ready"
    assert "cannot be written" in unready.json["reason"]
    assert client.send("GET", "/healthz").status == 200
    limit_files(gateway, resource.RLIM_INFINITY)
    wait_for(lambda: client.send("GET", "/readyz").status == 200)
    for number in range(1, broken + 9):
        insist(client, f"{number}.00", f"disk-{number:06d}")
    sqlite_world.store.wait_until_nothing_is_open()
    assert find_contradictions(sqlite_world.store, sqlite_world.acquirer.read_ledger()) == []
    assert gateway.stop() == 0
