"""The Makefile guards every suite against hanging, and names what it has. What its suites prove is theirs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tidy.source_tree import ROOT

TIMEOUT_MIN_S = 240
MAKEFILE = (ROOT / "Makefile").read_text()


def test_no_suite_is_stopped_because_the_machine_is_slow() -> None:
    timeouts = {suite: int(seconds) for suite, seconds in re.findall(r"^TIMEOUT_(\w+) := (\d+)$", MAKEFILE, re.M)}
    assert {suite: seconds for suite, seconds in timeouts.items() if seconds < TIMEOUT_MIN_S} == {}


def test_every_suite_has_a_timeout() -> None:
    suites = re.search(r"^SUITES := (.+)$", MAKEFILE, re.M)
    assert suites is not None
    assert set(re.findall(r"^TIMEOUT_(\w+) := \d+$", MAKEFILE, re.M)) == {"check", *suites[1].split()}


def test_every_folder_of_tests_is_a_suite() -> None:
    suites = re.search(r"^SUITES := (.+)$", MAKEFILE, re.M)
    assert suites is not None
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py"))}
    assert folders <= set(suites[1].split())


def test_the_targets_a_newcomer_needs_are_explained() -> None:
    explained = re.findall(r"^([a-z]+):.*## ", MAKEFILE, re.M)
    assert {"setup", "serve", "test", "check", "prove", "bench", "docs", "lock", "clean"} <= set(explained)


def test_every_tool_that_a_target_calls_exists() -> None:
    called = set(re.findall(r"\btools/[\w/]+\.py\b", MAKEFILE))
    assert called
    assert [tool for tool in sorted(called) if not (ROOT / tool).exists()] == []


def run_bare(target: str, folder: Path, apt_get: str) -> subprocess.CompletedProcess[str]:
    """A target on a machine where no program is installed but a given apt-get."""
    make = shutil.which("make")
    assert make is not None
    program = folder / "apt-get"
    program.write_text(f"#!/bin/sh\n{apt_get}\n")
    program.chmod(0o755)
    (folder / "env").symlink_to("/usr/bin/env")
    command = [make, "--directory", str(ROOT), target]
    return subprocess.run(command, env={"PATH": str(folder)}, capture_output=True, text=True, timeout=300)


def test_what_a_machine_lacks_is_installed(tmp_path: Path) -> None:
    ran = run_bare("machine", tmp_path, "echo $@")

    assert ran.returncode == 0, ran.stderr
    assert {"wrk", "faketime", "nodejs", "npm", "php-cli", "firefox-esr", "openssl", "curl"} <= set(ran.stdout.split())


@pytest.mark.parametrize("step", ["update", "install"])
def test_a_machine_that_lacks_something_is_refused_before_any_test_runs(tmp_path: Path, step: str) -> None:
    ran = run_bare("machine", tmp_path, f'[ "$1" != {step} ]')

    assert ran.returncode != 0
    assert re.search("please install:.* faketime", ran.stdout)


def test_a_suite_that_is_run_alone_looks_at_the_machine_first() -> None:
    recipe = re.search(r"^\$\(addprefix test-,\$\(SUITES\)\): test-%: (.+)$", MAKEFILE, re.M)

    assert recipe is not None
    assert recipe[1].split() == [".venv/.dev-ok", "machine"]
