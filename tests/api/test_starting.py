"""A start reads what requests need, and nothing that waits for its first use; then a payment reads nothing more.

What is loaded is counted in a real process, which the machine's speed does not change.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.merchants import add_merchant, run_command
from api.recording import RecordingAcquirer
from api.secure import SecureClient, SecureGateway, make_certificate
from api.test_live_host import make_keys, make_variables
from gateway import GatewayProcess
from ports import find_free_port
from postgres import PostgresCluster

NOTED = {"PYTHONPROFILEIMPORTTIME": "1"}
"""Python then writes a line for every module that it loads."""
_LINE = re.compile(r"^import time: +\d+ \| +\d+ \| +([\w.]+)$", re.MULTILINE)

LATER = {
    "alembic": "a store that is up to date is not migrated",
    "cryptography.x509": "certificates are read for tokens of wallets, and made by a host that signs its own",
    "markdown_it": "texts are rendered when they are read",
    "schwifty": "account numbers are checked without its register of banks",
    "sqlalchemy.orm": "statements are compiled and not run by SQLAlchemy",
    "tollgate.cli.people": "the commands of operators are loaded when they are run",
}
"""Modules that no host loads at its start, with the reason."""
LATER_ON_TEST_HOSTS = {"aiohttp": "the partners of a test host are simulated, and most have no receiver of webhooks"}
LATER_ON_SQLITE = {"asyncpg": "it is the driver of the other database", **LATER_ON_TEST_HOSTS}
LATER_ON_POSTGRESQL = {"apsw": "it is the driver of the other database", **LATER_ON_TEST_HOSTS}
NEVER_ON_LIVE_HOSTS = {"tollgate.sandbox": "it is for tests", "apsw": "it is the driver of the other database"}


def list_loaded(gateway: GatewayProcess) -> list[str]:
    return _LINE.findall(gateway.log_path.read_text())


def list_too_early(loaded: list[str], later: dict[str, str]) -> list[str]:
    rows = {**LATER, **later}
    return [f"{name}: {why}" for name, why in rows.items() if any(f"{each}.".startswith(f"{name}.") for each in loaded)]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_test_host_loads_nothing_at_its_start_that_waits_and_nothing_at_its_first_payment(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    address, later = "", LATER_ON_SQLITE
    if database == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        address, later = cluster.create_database(), LATER_ON_POSTGRESQL
    with GatewayProcess(tmp_path, address) as first:
        client, port = first.client(), first.port
    (tmp_path / "server.log").unlink()

    with GatewayProcess(tmp_path, address, environment=NOTED, port=port, is_cold=True) as gateway:
        before = list_loaded(gateway)
        assert client.pay().code == "000.100.110"
        after = list_loaded(gateway)

    assert "tollgate.flows.pay" in before
    assert list_too_early(before, later) == []
    assert after == before


def test_a_live_host_has_loaded_what_its_payments_send_with_before_it_is_ready(
    cluster: PostgresCluster, acquirer: RecordingAcquirer, tmp_path: Path
) -> None:
    certificate = make_certificate(tmp_path / "tls")
    gateway = SecureGateway(tmp_path / "data", cluster.create_database(), is_cold=True)
    gateway.environment = {**NOTED, **make_variables(certificate, make_keys(tmp_path / "keys"), find_free_port())}
    run_command(gateway, "migrate")
    known = add_merchant(gateway, "Live shop")
    run_command(gateway, "channel", "set", known.entity_id, "--live-url", acquirer.url)

    with gateway:
        before = list_loaded(gateway)
        client = SecureClient(gateway.base_url, known.token, known.entity_id, authority=certificate.authority)
        assert client.pay().code == "000.000.000"
        after = list_loaded(gateway)

    assert {"aiohttp", "tollgate.connectors.card"} <= set(before)
    assert list_too_early(before, NEVER_ON_LIVE_HOSTS) == []
    assert after == before
