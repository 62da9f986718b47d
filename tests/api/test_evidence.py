"""The facts of a host for an assessor: complete, and without any secret or name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from api.server import SharedServer
from gateway import CARD, Client, GatewayProcess
from tollgate.config import Settings
from tollgate.flows.host_facts import list_settings

PAGE = Path(__file__).parents[2] / "docs" / "pci.md"


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    return own_server


@pytest.fixture(scope="module")
def gateway(server: SharedServer) -> GatewayProcess:
    return server.gateway


@pytest.fixture(scope="module")
def printed(gateway: GatewayProcess, client: Client) -> str:
    client.pay(customer__email="jane@example.com", customer__givenName="Janeann", customer__surname="Jones")
    return gateway.run("evidence", "--json", "--quiet").stdout


def test_every_fact_that_the_documents_name_exists(printed: str) -> None:
    rows = [line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| \d", line)]
    named = {code for row in rows for code in re.findall(r"`([^`]+)`", row[6])}
    assert len(named) > 20
    for path in sorted(named):
        fact: Any = json.loads(printed)
        for word in path.split("."):
            assert word in fact, path
            fact = fact[word]


def test_no_secret_and_no_name_is_among_the_facts(gateway: GatewayProcess, client: Client, printed: str) -> None:
    shown = json.loads(gateway.run("credentials", "--json").stdout)
    keys = json.loads((gateway.data / "keys.json").read_text())
    secrets = [client.token, shown["office"]["password"], *keys["keys"].values(), keys["fingerprint_key"]]
    secrets += [CARD["card.number"], CARD["card.holder"], "jane@example.com", "Janeann", 'admin"', "argon2id"]
    assert [secret for secret in secrets if secret in printed] == []


def test_user_and_password_of_a_database_are_left_out() -> None:
    shown = list_settings(Settings(database="postgresql://gate:5ecret@db.example:5432/tollgate"))
    assert shown["--database"] == "postgresql://db.example:5432/tollgate"


def test_what_is_wrong_with_the_store_is_among_the_facts(printed: str) -> None:
    facts = json.loads(printed)
    assert facts["verify"] == {"findings": 0, "lines": []}
    assert {row["what"]: row["oldest"] for row in facts["retention"]}["accounts of payments"] is not None


def test_the_text_says_the_same_in_lines(gateway: GatewayProcess, printed: str) -> None:
    text = gateway.run("evidence", "--quiet").stdout
    facts = json.loads(printed)
    assert f"  active_id: {facts['keys']['active_id']}" in text.splitlines()
    assert [name for name in facts if name not in text] == []


def test_printing_the_facts_is_recorded(gateway: GatewayProcess) -> None:
    first, second = [
        json.loads(gateway.run("evidence", "--json", "--quiet").stdout)["audit_log"]["entries"] for _ in range(2)
    ]
    assert second > first
