"""A run of tests that ends, however it ends, leaves no process and no file behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from cleaning import Cleanup, adopt_orphans, list_descendants
from crash.hanging import REPORT, Started
from gateway import inherit_variables

ROOT = Path(__file__).resolve().parents[2]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n", "1", "tests/crash/hanging.py"]
SUITE = [sys.executable, "tools/run_suite.py", "hanging", "3600", *PYTEST]
WITHIN_S = 300.0
LOOK_EVERY_S = 0.05

Kill = Callable[[subprocess.Popen[bytes], Started], None]


@pytest.fixture(autouse=True)
def _orphans_are_seen() -> Iterator[None]:
    adopt_orphans()
    yield
    adopt_orphans(does_adopt=False)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def send(number: int) -> Kill:
    return lambda run, _: run.send_signal(number)


def kill_the_worker(_: subprocess.Popen[bytes], started: Started) -> None:
    os.kill(started.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("command", "kill"),
    [
        # It ends as when the suite takes too long, which interrupts pytest and finds nothing left to kill.
        pytest.param(PYTEST, send(signal.SIGINT), id="pytest is interrupted", marks=pytest.mark.prove),
        # Both end as when the suite is killed, which kills pytest.
        pytest.param(PYTEST, send(signal.SIGTERM), id="pytest is terminated", marks=pytest.mark.prove),
        pytest.param(PYTEST, send(signal.SIGKILL), id="pytest is killed", marks=pytest.mark.prove),
        pytest.param(PYTEST, kill_the_worker, id="a worker is killed", marks=pytest.mark.prove),
        pytest.param(SUITE, send(signal.SIGALRM), id="the suite takes too long", marks=pytest.mark.prove),
        # The hardest: nobody who was killed can clean up.
        pytest.param(SUITE, send(signal.SIGKILL), id="the suite is killed"),
    ],
)
def test_nothing_is_left_of_a_run_when(command: list[str], kill: Kill, tmp_path: Path) -> None:
    before = set(list_descendants(os.getpid()))

    def list_new() -> list[str]:
        return [name for number, name in list_descendants(os.getpid()).items() if number not in before]

    with start(command, tmp_path) as run:
        started = wait_until_all_started(run, tmp_path)
        folders = [Path(folder) for folder in started.folders]
        assert all(folder.exists() for folder in folders)
        assert {"postgres", "sh"} <= set(list_new())
        assert any("chrom" in name for name in list_new())

        kill(run, started)
        run.wait(WITHIN_S)

    assert "killed what was left" not in (tmp_path / "output").read_text()
    wait_until_none(list_new)
    wait_until_none(lambda: [folder for folder in folders if folder.exists()])


def test_a_process_that_a_test_leaves_may_be_waited_for(tmp_path: Path) -> None:
    left = tmp_path / "left"
    waiting = f"(true & echo $! > {left}); while [ -e /proc/$(cat {left}) ]; do sleep {LOOK_EVERY_S}; done"

    done = subprocess.run(
        [sys.executable, "tools/run_suite.py", "waiting", str(round(WITHIN_S)), "sh", "-c", waiting],
        cwd=ROOT,
        env=inherit_variables(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


@contextmanager
def start(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    variables = {name: value for name, value in inherit_variables().items() if not name.startswith("PYTEST_")}
    variables[REPORT] = str(folder / "report")
    with (folder / "output").open("wb") as output:
        run = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, env=variables, start_new_session=True)
    with Cleanup(command=["kill", "-9", f"-{run.pid}"]):
        yield run


def wait_until_all_started(run: subprocess.Popen[bytes], folder: Path) -> Started:
    deadline = time.monotonic() + WITHIN_S
    while not (folder / "report").exists():
        assert run.poll() is None, (folder / "output").read_text()
        assert time.monotonic() < deadline, (folder / "output").read_text()
        time.sleep(LOOK_EVERY_S)
    return msgspec.json.decode((folder / "report").read_bytes(), type=Started)


def wait_until_none(list_left: Callable[[], Sequence[object]]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while left := list_left():
        assert time.monotonic() < deadline, f"after {WITHIN_S} s there is still {left}"
        time.sleep(LOOK_EVERY_S)
