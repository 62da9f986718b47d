"""The alert rules and the board are sound, and ask only for metrics, labels and values that a gateway has."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY

from gateway import GatewayProcess
from tollgate.catalog import card_testing, results
from tollgate.config import Settings
from tollgate.wiring import join_routes
from tollgate.workers.metrics import measure_reversals

FOLDER = Path(__file__).parents[3] / "deploy"
RULES = FOLDER / "prometheus" / "alerts.yaml"
BOARD = FOLDER / "grafana" / "board.json"
NAME = re.compile(r"\btollgate_\w+")
SELECTOR = re.compile(r"\b(tollgate_\w+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
GROUPING = re.compile(r"by \(([^)]*)\)")
ADDED = {"instance", "job", "le"}
"""Prometheus adds two of these labels, and histograms have the third."""


def read_rules() -> list[dict[str, Any]]:
    read = yaml.safe_load(RULES.read_text())
    return [rule for group in read["groups"] for rule in group["rules"]]


def list_expressions() -> list[str]:
    panels = json.loads(BOARD.read_text())["panels"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    return [*(rule["expr"] for rule in read_rules()), *shown]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Returns what a gateway that has taken a payment shows to Prometheus."""
    with GatewayProcess(tmp_path_factory.mktemp("gateway")) as gateway:
        client = gateway.client()
        assert client.pay().status == 200
        yield client.send("GET", "/metrics").body.decode()


LOADED = measure_reversals
"""Its module registers the metrics of workers; the routes register the others."""


def list_labels() -> dict[str, set[str]]:
    """Returns the labels of each metric by the names of its series."""
    found: dict[str, set[str]] = {}
    for collector, names in REGISTRY._collector_to_names.items():
        labels = set(getattr(collector, "_labelnames", ()))
        found |= {name: labels for name in names if name.startswith("tollgate_")}
    return found


def list_values() -> dict[str, set[str]]:
    return {
        "operation": {route.operation for route in join_routes(Settings())},
        "group": {group.id for group in results.GROUPS},
        "result": {"delivered", "failed"},
        "counter": {row.name for row in card_testing.COUNTERS.values()},
        "by": {"all processes", "one process"},
        "action": {"slowed down", "refused", "sent away"},
    }


@pytest.mark.parametrize("command", [["check", "rules", RULES.name], ["test", "rules", "alerts.test.yaml"]])
def test_promtool_accepts_the_rules(command: list[str]) -> None:
    ran = subprocess.run(["promtool", *command], cwd=RULES.parent, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    cases = yaml.safe_load((RULES.parent / "alerts.test.yaml").read_text())["tests"]
    checks = [check for case in cases for check in case["alert_rule_test"]]
    fires = {check["alertname"] for check in checks if check["exp_alerts"]}
    is_silent = {check["alertname"] for check in checks if not check["exp_alerts"]}

    assert fires == is_silent == {rule["alert"] for rule in read_rules()}


def test_every_metric_that_is_named_is_scraped(scraped: str) -> None:
    described = set(re.findall(r"^# TYPE (\w+)", scraped, re.M))
    named = {name.removesuffix("_bucket") for expression in list_expressions() for name in NAME.findall(expression)}

    assert len(named) > 5
    assert named - described == set()


def test_every_label_that_is_named_belongs_to_its_metric() -> None:
    labels = list_labels()
    for expression in list_expressions():
        named = {name for part in GROUPING.findall(expression) for name in part.split(", ")}
        assert named <= ADDED.union(*(labels[name] for name in NAME.findall(expression) if name in labels)), expression
        for metric, selector in SELECTOR.findall(expression):
            assert {label for label, _ in MATCHER.findall(selector)} <= labels[metric] | ADDED, expression


def test_every_value_that_is_named_is_one_of_the_label() -> None:
    values = list_values()
    selectors = [selector for expression in list_expressions() for _, selector in SELECTOR.findall(expression)]
    named = [(label, part) for each in selectors for label, value in MATCHER.findall(each) for part in value.split("|")]
    checked = [(label, value) for label, value in named if label in values]

    assert {label for label, _ in checked} >= {"operation", "group", "result", "action"}
    assert [(label, value) for label, value in checked if value not in values[label]] == []


def test_the_board_has_one_place_for_each_panel() -> None:
    panels = json.loads(BOARD.read_text())["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]

    assert len({panel["id"] for panel in panels}) == len(set(places)) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
