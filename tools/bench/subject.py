"""The server under test, run as a user runs it, and what it needs while it works. Sends no load itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
"""The order has fifteen fields, as a shop sends, together with the entity and the merchant's own reference."""


_CPU_CLOCK = 2
"""The clock of the processor time of a process has the number that `clock_getcpuclockid` makes of its id and this."""


@dataclass
class Subject:
    """A server on a database of its own, with its log at the default level in a file."""

    folder: Path
    database: str
    processes: int = 1
    process: GatewayProcess = field(init=False)
    start_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        arguments = ["--workers", str(self.processes)] if self.processes > 1 else []
        self.process = GatewayProcess(self.folder, self.database, arguments, is_cold=True)

    def start(self) -> None:
        began = time.perf_counter()
        self.process.start()
        self.start_s.append(time.perf_counter() - began)

    def stop(self) -> None:
        self.process.stop()

    def make_call(self, orders: Sequence[Mapping[str, str]] = (ORDER,)) -> Call:
        client = self.process.client()
        bodies = [urlencode({"entityId": client.entity_id, **order}) for order in orders]
        return Call(client.base_url, "/v1/payments", client.authorized(), bodies, "merchantTransactionId")

    def pay_once(self) -> None:
        client: Client = self.process.client()
        answer = client.post("/v1/payments", {**ORDER, "merchantTransactionId": "specimen-1"})
        if answer.status != 200:
            raise RuntimeError(f"the first payment was refused: {answer.body.decode()}")

    def read_memory_mb(self) -> float:
        """Returns its share of memory, all processes together: pages in common with others count in part."""
        return sum(_read_pss_kb(proc) for proc in self._list_procs()) / 1024

    def measure_peak_mb(self, work: Callable[[], object]) -> float:
        """Does the work, and returns how much more resident memory the server had meanwhile, at the most."""
        [proc] = self._list_procs()
        (proc / "clear_refs").write_text("5")
        before = _read_status_kb(proc, "VmRSS")
        work()
        return max(0.0, (_read_status_kb(proc, "VmHWM") - before) / 1024)

    def read_cpu_s(self) -> float:
        """Returns the seconds that all its threads have spent so far, in and out of the kernel."""
        return sum(read_process_cpu_s(int(proc.name)) for proc in self._list_procs())

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stops all its processes meanwhile, so that what it does behind its answers is done in its own time."""
        pids = [int(proc.name) for proc in self._list_procs()]
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def _list_procs(self) -> list[Path]:
        """Returns the process that was started, and those it started to serve beside it."""
        process = self.process.process
        if process is None:
            raise RuntimeError("the server is not running")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return [Path(f"/proc/{pid}") for pid in (process.pid, *children)]


def read_process_cpu_s(pid: int) -> float:
    """Returns the seconds that a process has spent so far, in and out of the kernel, with all its threads."""
    return time.clock_gettime(~pid << 3 | _CPU_CLOCK)


def _read_status_kb(proc: Path, name: str) -> int:
    lines = (proc / "status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


def _read_pss_kb(proc: Path) -> int:
    for line in (proc / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise RuntimeError("the kernel does not tell the memory of a process")
