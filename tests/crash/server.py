"""Servers that die on command: at a seam by their own knife, or by the power cord."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from crash.knife import CUTS, hone
from gateway import GatewayProcess
from warm import Prepare

DEATH_S = 300.0


@dataclass
class Server(GatewayProcess):
    seam: str = ""

    @property
    def prepare(self) -> Prepare | None:
        return partial(hone, CUTS[self.seam]) if self.seam else None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def ask_to_stop(self) -> None:
        assert self.process is not None
        self.process.terminate()

    def wait_for_death(self) -> None:
        """By its own hand; anything but SIGKILL was an accident."""
        assert self.process is not None
        code = self.process.wait(timeout=DEATH_S)
        self.process = None
        assert code == -9, f"{self.read_log()}\nended with {code} instead of its knife {self.seam}"

    def find_exit_code(self) -> int | None:
        assert self.process is not None
        return self.process.poll()
