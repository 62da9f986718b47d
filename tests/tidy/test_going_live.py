"""The guide to going live says how hosts differ: each row of its table follows from the code, or a test proves it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest
from click.testing import CliRunner

from tidy.source_tree import ROOT
from tollgate.catalog import codes
from tollgate.cli.program import program
from tollgate.config import Environment, Settings
from tollgate.contract.orders import read_test_mode
from tollgate.hosting import readiness
from tollgate.operations.app import SUCCESS_CODES
from tollgate.operations.approvals import read_four_eyes
from tollgate.payments.order import TestMode
from tollgate.values import Refusal
from tollgate.web.throttling import configure_throttles
from tollgate.wire import may_carry_cards
from tollgate.wire.acquirer import Forbidden
from tollgate.wire.guard import Guard
from tollgate.wiring import join_routes

GUIDE = (ROOT / "docs" / "going-live.md").read_text("utf-8")
TABLE = GUIDE.partition("## What changes on a live host")[2].partition("\n## ")[0]
LINES = [line for line in TABLE.splitlines() if line.startswith("|")]
ROWS = {cells[0]: cells[1:] for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in LINES[2:])}


def make_settings(is_live: bool) -> Settings:
    return Settings(environment=Environment.LIVE if is_live else Environment.TEST)


def has_need(name: str, is_live: bool) -> bool:
    missing = readiness.list_missing(make_settings(is_live))
    return next(need.missing for need in readiness.NEEDS if need.name == name) in missing


def has_path(pattern: str, is_live: bool) -> bool:
    return any(re.fullmatch(pattern, row.path) for row in join_routes(make_settings(is_live)))


def answer_test_mode(is_live: bool) -> str:
    try:
        read_test_mode("INTERNAL", is_live)
    except Refusal as refusal:
        return f"`{refusal.result.code}`"
    return "accepted"


def name_throttles(is_live: bool) -> str:
    rows = configure_throttles("", is_live=is_live)
    on = [row.operation for row in rows if row.is_on]
    return "every operation" if len(on) == len(rows) else ", ".join(f"`{each}`" for each in on) + " only"


def may_deliver(is_live: bool) -> bool:
    guard = Guard(is_live=is_live, ports=make_settings(is_live).outbound_port_numbers)
    try:
        return all(guard.read_address(url) for url in ("http://shop.example/", "http://127.0.0.1/"))
    except Forbidden:
        return False


def name_approvals(is_live: bool) -> str:
    return ", ".join(f"`{kind}`" for kind in read_four_eyes("", is_live=is_live)) or "none"


def may_send_plain(is_live: bool) -> bool:
    return may_carry_cards("http://acquirer.example", is_live=is_live, allows_plain_loopback=False)


DERIVED: Mapping[str, Callable[[bool], str]] = {
    "requests without TLS": lambda is_live: "refused" if has_need("tls", is_live) else "served",
    "addresses below `/sandbox`": lambda is_live: "exist" if has_path("/sandbox/.*", is_live) else "do not exist",
    "`/metrics` on the port of the API": lambda is_live: (
        "exists" if has_path("/metrics", is_live) else "does not exist"
    ),
    "`testMode=INTERNAL`": answer_test_mode,
    "code of a successful payment": lambda is_live: f"`{SUCCESS_CODES[None if is_live else TestMode.INTERNAL]}`",
    "throttles": name_throttles,
    "card testing": lambda is_live: (
        "slowed down, then refused" if make_settings(is_live).stops_card_testing else "not stopped"
    ),
    "webhooks to `http://` addresses and loopback": lambda is_live: "delivered" if may_deliver(is_live) else "refused",
    "acquirers at `http://` addresses": lambda is_live: "called" if may_send_plain(is_live) else "refused",
    "key file": lambda is_live: (
        "`--key-file`, outside the data folder" if has_need("key file", is_live) else "made at the first start"
    ),
    "actions that a second user confirms": name_approvals,
}

PROVEN = {
    "simulator overrides in `customParameters`": "tests/api/test_live_host.py::test_simulator_overrides_do_nothing",
    "a channel without acquirer": "tests/api/test_live_host.py::test_a_channel_without_an_acquirer_is_not_set_up",
    "warnings about unknown parameters": "tests/unit/web/test_server.py"
    "::test_only_a_test_host_names_parameters_that_nobody_reads",
    "signing in without a second factor": "tests/api/test_office_live.py"
    "::test_the_first_user_of_a_live_host_chooses_a_password_and_sets_up_a_second_factor",
}
"""Rows that need a running host, and the tests that have one."""

COMMANDS = "`tollgate credentials`, `tollgate clock`, `tollgate trigger`, `tollgate listen`"


def test_every_row_is_derived_or_proven() -> None:
    assert set(ROWS) == {*DERIVED, *PROVEN, COMMANDS}


@pytest.mark.parametrize("row", DERIVED)
def test_a_row_says_what_the_code_does(row: str) -> None:
    assert ROWS[row] == [DERIVED[row](is_live) for is_live in (False, True)]


@pytest.mark.parametrize("row", PROVEN)
def test_the_test_of_a_row_exists(row: str) -> None:
    path, _, name = PROVEN[row].partition("::")
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("command", re.findall(r"`tollgate (\w+)`", COMMANDS))
def test_commands_of_a_sandbox_are_refused_on_a_live_host(command: str) -> None:
    arguments = ["payment.succeeded"] if command == "trigger" else []
    done = CliRunner().invoke(program, [command, *arguments, "--environment", "live"])
    assert done.exit_code != 0
    assert re.search("live host|only a test host", done.output)


def test_the_code_of_a_channel_without_acquirer_is_that_of_the_table() -> None:
    assert ROWS["a channel without acquirer"][1] == f"`{codes.MODE_NOT_CONFIGURED}`"
