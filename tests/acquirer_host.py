"""The simulated ISO 8583 host in a process of its own, started by its command. No test lives here."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gateway import LOOK_EVERY_S, START_S, STOP_S, inherit_variables
from warm import WarmProcess

_LISTENING = re.compile("listening on [a-z]+://[^ ]*:([0-9]+)")


@dataclass(frozen=True)
class Booked:
    """The ledger of the host: requests by key, sums by payment and by currency."""

    entries: Mapping[str, Mapping[str, Any]]
    payments: Mapping[str, Mapping[str, int]]
    totals: Mapping[str, Mapping[str, int]]

    def list_effective(self) -> dict[str, int]:
        """Maps the keys of requests that moved an amount, and were not undone, to that amount."""
        return {
            key: entry["amount"]
            for key, entry in self.entries.items()
            if entry["response"] == "00" and not entry["is_undone"] and entry["kind"] != "undoing"
        }


class AcquirerHostProcess:
    """Starts on entering, is stopped on leaving."""

    def __init__(self, folder: Path, *flags: str, rules: str = "") -> None:
        self.folder = folder
        self._ledger = folder / "host-ledger.json"
        self._log = folder / "host.log"
        self._flags = list(flags)
        if rules:
            (folder / "rules.toml").write_text(rules)
            self._flags += ["--rules", str(folder / "rules.toml")]
        self.port = 0
        self._process: WarmProcess | None = None

    def __enter__(self) -> Self:
        command = ["acquirer-host", "--port", "0", "--ledger", str(self._ledger), *self._flags]
        self._log.touch()
        self._process = WarmProcess(command, inherit_variables(), self._log, self._log)
        deadline = time.monotonic() + START_S
        while not (found := _LISTENING.search(self.read_log())):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the host did not start:\n{self.read_log()}")
            time.sleep(LOOK_EVERY_S)
        self.port = int(found[1])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> str:
        """Ends it as Ctrl-C does, and returns everything that it has printed."""
        if self._process is not None:
            self._process.terminate()
            assert self._process.wait(STOP_S) == 0, self.read_log()
            self._process = None
        return self.read_log()

    def read_log(self) -> str:
        return self._log.read_text()

    def read_ledger(self) -> Booked:
        return Booked(**json.loads(self._ledger.read_bytes()))
