"""The figures carry the commit, the cores and the interpreter of their run. Measures nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import timeit
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def describe_commit() -> str:
    commit = _run_git("rev-parse", "HEAD")
    changed = _run_git("status", "--porcelain", "--untracked-files=no", "--", "src")
    return f"{commit}, with changes not committed" if changed else commit


@dataclass(frozen=True)
class Machine:
    kind: str
    interpreter: str
    load: str
    taken: str


def describe_machine() -> Machine:
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    # Builds of one version differ by a third or more and do not say so; a small loop shows it.
    loop_us = min(timeit.repeat("sum(n for n in range(1000))", number=500, repeat=9)) / 500 * 1e6
    return Machine(
        f"{os.cpu_count()} cores ({platform.machine()}), {memory_gb:.0f} GiB, {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, of a build that adds up a thousand numbers in {loop_us:.0f} µs",
        f"load average {os.getloadavg()[0]:.1f} before the first measurement",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


def _run_git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.strip()
