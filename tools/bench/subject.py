"""The server under test, run as a user runs it, and what it needs while it works. Sends no load itself."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from tools.bench.wrk import Call

from gateway import PAYMENT, Client, GatewayProcess

ORDER = {
    **PAYMENT,
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "customer.email": "jane.jones@example.com",
    "billing.country": "DE",
}
"""With the entity and the merchant's own reference it has fifteen fields, as a shop sends."""


_USER_AT = 11
"""Where user and system time stand among the fields after the name."""


@dataclass
class Subject:
    """A server on a database of its own, with its log at the default level in a file."""

    folder: Path
    database: str
    process: GatewayProcess = field(init=False)
    start_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.process = GatewayProcess(self.folder, self.database)

    def start(self) -> None:
        began = time.perf_counter()
        self.process.start()
        self.start_s.append(time.perf_counter() - began)

    def stop(self) -> None:
        self.process.stop()

    def make_call(self) -> Call:
        client = self.process.client()
        body = urlencode({"entityId": client.entity_id, **ORDER})
        return Call(client.base_url, "/v1/payments", client.authorized(), body, "merchantTransactionId")

    def pay_once(self) -> None:
        client: Client = self.process.client()
        answer = client.post("/v1/payments", {**ORDER, "merchantTransactionId": "specimen-1"})
        if answer.status != 200:
            raise RuntimeError(f"the first payment was refused: {answer.body.decode()}")

    def read_memory_mb(self) -> float:
        """The process's share of memory: pages it has in common with others count in part."""
        for line in (self._proc / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("the kernel does not tell the memory of a process")

    def read_cpu_s(self) -> float:
        """What all its threads have spent so far, in and out of the kernel."""
        after_name = (self._proc / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, after_name[_USER_AT : _USER_AT + 2])) / os.sysconf("SC_CLK_TCK")

    @property
    def _proc(self) -> Path:
        process = self.process.process
        if process is None:
            raise RuntimeError("the server is not running")
        return Path(f"/proc/{process.pid}")
