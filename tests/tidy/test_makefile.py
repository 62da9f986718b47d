"""The Makefile guards every suite against hanging, and names what it has. What its suites prove is theirs."""

from __future__ import annotations

import re

from tidy.house import ROOT

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
