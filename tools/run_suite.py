"""Runs one suite of tests: stops it when it hangs, says how long it took, and leaves no process of it behind.

Which suites there are, how long each may take and what it runs is said in the Makefile.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

# Started as a file, while what tests clean up with is found from the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cleaning import adopt_orphans, end_with_parent, list_descendants

GRACE_S = 30.0
"""Processes may take so long to end by themselves; then they are killed."""
LOOK_EVERY_S = 0.05
STOPPING = (signal.SIGALRM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """The suite hangs, or was interrupted."""


def main(name: str, timeout_s: int, command: list[str]) -> int:
    end_with_parent(signal.SIGTERM)
    adopt_orphans()
    for number in STOPPING:
        signal.signal(number, _stop)
    began = time.monotonic()
    signal.alarm(timeout_s)
    # A session of its own: an interrupt from the keyboard comes here alone and is passed on once.
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=end_with_parent)
    try:
        ending = "passed" if _wait_for(process) == 0 else "failed"
    except Stopped as reason:
        ending = str(reason)
        process.send_signal(signal.SIGINT)
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    _clean_up(name)
    took_s = round(time.monotonic() - began)
    text = {
        "SIGALRM": f"stopped, it did not end within {timeout_s} s",
        "passed": f"passed in {took_s} s",
        "failed": f"failed after {took_s} s",
    }.get(ending, f"stopped by {ending} after {took_s} s")
    print(f"{name}: {text}", flush=True)
    return 0 if ending == "passed" else 1


def _wait_for(process: subprocess.Popen[bytes]) -> int:
    """Waits for the suite, and for every process that it leaves: a test may itself wait for the end of one."""
    while True:
        number, status = os.waitpid(-1, 0)
        if number == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(signal.Signals(number).name)


def _clean_up(name: str) -> None:
    """Ends with no process below this one; what the suite's own cleaning leaves is named and killed.

    Shells are killed last, because they do that cleaning.
    """
    began = time.monotonic()
    while left := list_descendants(os.getpid()):
        waited_s = time.monotonic() - began
        doomed = {number: title for number, title in left.items() if waited_s > GRACE_S * (3 if title == "sh" else 1)}
        if doomed:
            print(f"{name}: killed what was left: {', '.join(sorted(doomed.values()))}", flush=True)
        for number in doomed:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        _reap()
        time.sleep(LOOK_EVERY_S)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
