"""A disk without room: payments fail without keeping money, and go on by themselves when there is room again."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crash.books import find_lies
from crash.server import Server
from crash.world import World, insist, try_to_pay
from gateway import Client

APPROVED, BREAKAGE = "000.100.112", "999.999.999"
ROOM_BYTES = 48 * 1024
ORDERS_MAX = 200


def limit_files(gateway: Server, size: int) -> None:
    """The process may not write beyond this size in any file, which SQLite cannot tell from a full disk."""
    _, most = resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(gateway.pid, resource.RLIMIT_FSIZE, (size, most))


def pay_until_it_breaks(client: Client) -> int:
    """The number of the first order that was answered with breakage."""
    for number in range(1, ORDERS_MAX):
        answer = try_to_pay(client, f"{number}.00", f"disk-{number:06d}")
        assert answer is not None, "the server must outlive a full disk"
        if answer.code != APPROVED:
            assert answer.code == BREAKAGE
            return number
    raise AssertionError("the disk never became full")


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
    assert {answer and answer.code for answer in answers} == {BREAKAGE}
    limit_files(gateway, resource.RLIM_INFINITY)
    for number in range(1, broken + 9):
        insist(client, f"{number}.00", f"disk-{number:06d}")
    sqlite_world.books.wait_until_quiet()
    assert find_lies(sqlite_world.books, sqlite_world.acquirer.read_ledger()) == []
    assert gateway.stop() == 0
