"""Gateways that are killed on command: by themselves at a crash point, or from outside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from crash.crash_point import arm, read_point
from gateway import GatewayProcess
from warm import Prepare

DEATH_S = 300.0


@dataclass
class Server(GatewayProcess):
    point: str = ""

    @property
    def prepare(self) -> Prepare | None:
        return partial(arm, read_point(self.point)) if self.point else None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def ask_to_stop(self) -> None:
        assert self.process is not None
        self.process.terminate()

    def wait_for_death(self) -> None:
        """The gateway kills itself; any other exit code than that of SIGKILL is an accident."""
        assert self.process is not None
        code = self.process.wait(timeout=DEATH_S)
        self.process = None
        assert code == -9, f"{self.read_log()}\nended with {code} instead of being killed {self.point}"

    def find_exit_code(self) -> int | None:
        assert self.process is not None
        return self.process.poll()
