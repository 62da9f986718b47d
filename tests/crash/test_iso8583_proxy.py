"""Payments over ISO 8583 through a proxy that loses, repeats, delays, reorders and breaks frames.

Whatever was lost, approvals less reversals at the host equal the ledger of the gateway in the end.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from acquirer_host import AcquirerHostProcess, Booked
from crash.store_reader import Record, StoreReader, open_store_reader
from crash.world import NO_ANSWER
from frame_proxy import Accident, FrameProxy
from gateway import Answer, Client, GatewayProcess
from tollgate.payments.payment import State

SHOPS = 6
GUARD_S = 500.0
APPROVED = ("000.100.112",)
SETTINGS = {
    "TOLLGATE_ACQUIRER_TIMEOUT_S": "1",
    "TOLLGATE_COMPLETION_MARGIN_S": "2",
    "TOLLGATE_LOG_LEVEL": "warning",
}
RULES = """
[[rule]]
act = "decline"
code = "51"
mti = ["0100", "0200"]
stan_modulus = 11

[[rule]]
act = "act-and-drop"
mti = ["0100", "0200", "0400"]
stan_modulus = 13

[[rule]]
act = "late"
seconds = 2
mti = ["0100", "0200"]
stan_modulus = 17
"""
LIVES: tuple[tuple[str, ...], ...] = (
    ("PA",),
    ("PA", "CP"),
    ("PA", "CP", "CP"),
    ("PA", "CP", "RF"),
    ("PA", "RV"),
    ("DB",),
    ("DB", "RF", "RF"),
    ("DB", "RV"),
    ("CD",),
)
"""The first payment and what follows it, as far as all before it was approved."""


@dataclass
class Shops:
    """Careful shops: every request has a key and is tried until it is answered."""

    client: Client
    seed: int
    payments: int
    faults: list[BaseException] = field(default_factory=list)
    answered: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()
        self._numbers = count(1)

    def start(self) -> list[threading.Thread]:
        threads = [threading.Thread(target=self._shop) for _ in range(SHOPS)]
        for thread in threads:
            thread.start()
        return threads

    def _shop(self) -> None:
        try:
            while True:
                with self._lock:
                    number, life = next(self._numbers), self._random.choice(LIVES)
                if number > self.payments:
                    return
                self._live(number, life)
        except BaseException as fault:
            self.faults.append(fault)

    def _live(self, number: int, life: tuple[str, ...]) -> None:
        first_id = last_id = ""
        for place, payment_type in enumerate(life):
            # Each capture and refund takes a part, so that a second one fits.
            amount = f"{number + 1000}.20" if payment_type not in ("CP", "RF") else f"{number + 200}.10"
            named = first_id if payment_type != "RF" else last_id
            answer = self._insist(
                named, {"paymentType": payment_type, "amount": amount}, f"{self.seed}-{number}-{place}"
            )
            self.answered += 1
            if answer.code not in APPROVED:
                return
            first_id = first_id or answer.json["id"]
            last_id = answer.json["id"] if payment_type != "RF" else last_id

    def _insist(self, named: str, fields: Mapping[str, str], key: str) -> Answer:
        deadline = time.monotonic() + GUARD_S
        while time.monotonic() < deadline:
            try:
                headers = {"Idempotency-Key": key}
                if named:
                    answer = self.client.post(f"/v1/payments/{named}", {"currency": "EUR", **fields}, headers)
                else:
                    answer = self.client.pay(headers, testMode="EXTERNAL", **fields)
            except NO_ANSWER:
                time.sleep(0.05)
                continue
            if answer.status not in (409, 429, 503):
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{key} was never answered")


def run_through_proxy(folder: Path, seed: int, payments: int) -> None:
    with AcquirerHostProcess(folder, rules=RULES) as host, FrameProxy(host.port, seed) as proxy:
        gateway = GatewayProcess(folder / "gateway", environment=SETTINGS)
        with gateway:
            client = gateway.client()
            flags = ("--test-url", f"tcp://127.0.0.1:{proxy.port}", "--terminal-id", "TERM0001")
            gateway.run("channel", "set", client.entity_id, "--acquirer", "iso8583", *flags)
        with gateway:
            shops = Shops(client, seed, payments)
            threads = shops.start()
            while shops.answered < payments // 2 and not shops.faults:
                time.sleep(0.01)
            gateway.kill()
            gateway.start()
            for thread in threads:
                thread.join()
            assert shops.faults == []
            proxy.heal()
            store = open_store_reader(f"sqlite:///{gateway.data}/tollgate.db")
            _wait_until_nothing_is_open(gateway, store)
            found = list(find_differences(store, host.read_ledger()))
            assert gateway.run("verify", "--quiet").returncode == 0
        assert found == [], "\n".join([*found, gateway.read_log()])
        _expect_a_rough_journey(store, proxy)


def _wait_until_nothing_is_open(gateway: GatewayProcess, store: StoreReader) -> None:
    deadline = time.monotonic() + GUARD_S
    while not store.has_nothing_open():
        assert time.monotonic() < deadline, f"still open: {store.list_open()}\n{gateway.read_log()}"
        # Pauses between tries grow to minutes; the test clock makes them short.
        gateway.run("clock", "--advance", "60")
        time.sleep(0.5)


def find_differences(store: StoreReader, booked: Booked) -> Iterator[str]:
    """Compares the gateway's payments and ledger with the host's, by payment and in total."""
    records = {record.id: record for record in store.read_payments() if not record.is_technical}
    ours = {id: each.amount for id, each in records.items() if each.state is State.APPROVED and each.is_sent}
    theirs = booked.list_effective()
    for id in ours.keys() | theirs.keys():
        if ours.get(id) != theirs.get(id):
            yield f"{records.get(id)} moved {ours.get(id)} here and {theirs.get(id)} there: {booked.entries.get(id)}"
    sums = _sum_lines(store, records)
    for root in sums.keys() | booked.payments.keys():
        there = booked.payments.get(root, {})
        for account in ("held", "earned"):
            if sums[root][account] != there.get(account, 0):
                yield f"{root} has {account} {sums[root][account]} here and {there.get(account, 0)} there"
    for account in ("held", "earned"):
        total = sum(each[account] for each in sums.values())
        if total != booked.totals.get("978", {}).get(account, 0):
            yield f"{account} is {total} here and {booked.totals} there"


def _sum_lines(store: StoreReader, records: Mapping[str, Record]) -> dict[str, Counter[str]]:
    """Sums the ledger entries of each chain by account."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for line in store.read_lines():
        record = records[line.payment_id]
        root = record.chain_id or record.id
        sums[root][line.source] -= line.amount
        sums[root][line.target] += line.amount
    return sums


def _expect_a_rough_journey(store: StoreReader, proxy: FrameProxy) -> None:
    """A run in which nothing went wrong, or nothing went well, would prove nothing."""
    records = store.read_payments()
    assert any(record.state is State.APPROVED for record in records)
    assert any(record.is_technical for record in records)
    assert sum(proxy.accidents.values()) > proxy.accidents[Accident.NONE] > 0


def test_approvals_less_reversals_at_the_host_equal_the_ledger_of_the_gateway(tmp_path: Path) -> None:
    run_through_proxy(tmp_path, seed=8583, payments=60)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(1, 41))
def test_they_are_equal_whatever_happens(tmp_path: Path, seed: int) -> None:
    run_through_proxy(tmp_path, seed, payments=150)
