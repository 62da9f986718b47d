"""The Makefile keeps its promises on time and names. What its suites prove is theirs."""

from __future__ import annotations

import re

from tidy.house import ROOT

MINUTES_MAX = 15
MAKEFILE = (ROOT / "Makefile").read_text()


def test_the_budgets_of_all_suites_fit_into_fifteen_minutes() -> None:
    budgets = [int(seconds) for seconds in re.findall(r"^BUDGET_\w+ := (\d+)$", MAKEFILE, re.M)]
    assert 0 < sum(budgets) <= MINUTES_MAX * 60


def test_every_suite_has_a_budget() -> None:
    suites = re.search(r"^SUITES := (.+)$", MAKEFILE, re.M)
    assert suites is not None
    assert set(re.findall(r"^BUDGET_(\w+) :=", MAKEFILE, re.M)) == {"check", *suites[1].split()}


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
