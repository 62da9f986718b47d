"""A server that is asked to stop, rather than killed, finishes what it has in hand."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from acquirer import Manner
from crash.store_reader import find_contradictions
from crash.world import World, pay
from tollgate.connectors.card import CHARGES

HELD_S = 0.3


def test_a_server_asked_to_stop_answers_the_payment_it_is_working_on(sqlite_world: World) -> None:
    gateway = sqlite_world.make_gateway()
    gateway.start()
    sqlite_world.acquirer.behave(CHARGES, Manner.HOLD, times=1)
    with ThreadPoolExecutor(1) as shopper:
        paying = shopper.submit(pay, sqlite_world.make_client(gateway), "1.00", "shutdown-1")
        sqlite_world.acquirer.wait_for_requests(CHARGES, 1)
        gateway.ask_to_stop()
        time.sleep(HELD_S)
        sqlite_world.acquirer.release()
    assert paying.result().code == "000.100.112"
    assert gateway.stop() == 0
    assert sqlite_world.store.has_nothing_open()
    assert find_contradictions(sqlite_world.store, sqlite_world.acquirer.read_ledger()) == []
