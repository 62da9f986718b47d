"""The command archive beside a running server: what merchants, the back office and the operator see afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from api.endpoints import advance
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office
from postgres import PostgresCluster

pytestmark = pytest.mark.both_databases

YEAR_S = 366 * 24 * 3600
REFUND = {"paymentType": "RF", "amount": "1.00", "currency": "EUR"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archive") / "months"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def gateway(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    database = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    environment = {"TOLLGATE_ARCHIVE": str(folder / request.param)}
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), database, environment=environment) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def client(gateway: GatewayProcess) -> Client:
    return gateway.client()


@pytest.fixture(scope="module")
def office(gateway: GatewayProcess) -> OfficeClient:
    return enter_office(gateway)


@pytest.fixture(scope="module")
def archived(gateway: GatewayProcess, client: Client) -> dict[str, object]:
    """A payment that was refunded, as its merchant read it before both were archived, a year later."""
    paid = client.pay(merchantTransactionId="order-archived").json["id"]
    assert client.post(f"/v1/payments/{paid}", REFUND).status == 200
    before: dict[str, object] = client.get(f"/v1/payments/{paid}").json
    now = advance(client, YEAR_S)
    refused = fail(gateway, "archive", "--before", f"{now + timedelta(days=40):%Y-%m}")
    assert "at the latest: payments stay in the database for 180 days" in refused
    moved = json.loads(gateway.run("archive", "--before", find_month(now), "--quiet", "--json").stdout)
    assert [each["payments"] for each in moved] == [2]
    return before


def find_month(now: datetime) -> str:
    """Returns a month that is old enough, a year after the payments."""
    return f"{now - timedelta(days=190):%Y-%m}"


def fail(gateway: GatewayProcess, *command: str) -> str:
    with pytest.raises(CalledProcessError) as failed:
        gateway.run(*command)
    return str(failed.value.stderr)


def test_an_archived_payment_is_read_as_before(client: Client, archived: dict[str, object]) -> None:
    payment_id = archived["id"]

    assert client.get(f"/v1/payments/{payment_id}").json == archived
    assert client.get(f"/v1/query/{payment_id}").json == archived
    linked = client.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"})
    assert linked.status == 200
    assert linked.body.count(b'"paymentType":"RF"') == 1


@pytest.mark.parametrize("payment_type", ["RF", "RV", "CP", "RB"])
def test_nothing_follows_an_archived_payment(client: Client, archived: dict[str, object], payment_type: str) -> None:
    answer = client.post(f"/v1/payments/{archived['id']}", {**REFUND, "paymentType": payment_type})

    assert (answer.status, answer.code) == (400, "700.500.004")
    assert "moved to the archive" in answer.json["result"]["description"]


def test_a_report_of_the_time_is_refused(client: Client, archived: dict[str, object]) -> None:
    day = str(archived["timestamp"])[:10]
    answer = client.get("/reports/v1/reconciliations/aggregations", {"date.from": day, "date.to": day})

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert "date.from" in answer.faults


def test_the_back_office_shows_the_payment_and_offers_nothing(
    office: OfficeClient, archived: dict[str, object]
) -> None:
    answer = office.get(f"{office.base}/payments/{archived['id']}")
    page = answer.body.decode()

    assert answer.status == 200
    assert "This payment was moved to the archive." in page
    assert "Ledger: " in page
    assert "Event: " in page
    assert "/refund" not in page


def test_the_audit_reads_the_folder_and_says_when_it_has_none(
    gateway: GatewayProcess, archived: dict[str, object]
) -> None:
    assert archived
    verified = gateway.run("verify", "--quiet").stdout
    assert "all is well" in verified
    assert "2 in archived_payments" in verified
    with no_folder(gateway):
        unchecked = gateway.run("verify", "--quiet").stdout
    assert "2 payments in 1 archived months were not checked: name the folder with --archive" in unchecked


@contextmanager
def no_folder(gateway: GatewayProcess) -> Iterator[None]:
    """Lets commands run without the setting."""
    kept, gateway.environment = gateway.environment, {}
    yield
    gateway.environment = kept


def test_a_damaged_file_is_said_and_found(gateway: GatewayProcess, client: Client, archived: dict[str, object]) -> None:
    [manifest] = Path(gateway.environment["TOLLGATE_ARCHIVE"]).glob("*/manifest.json")
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b'"part":1', b'"part":2'))
    answer = client.get(f"/v1/payments/{archived['id']}")
    found = fail_with_output(gateway, "verify", "--quiet")
    manifest.write_bytes(content)

    assert (answer.status, answer.code) == (503, "800.800.800")
    assert "the archive cannot be read at present" in answer.json["result"]["description"]
    assert "manifest.json was changed, or written with another key" in found
    assert client.get(f"/v1/payments/{archived['id']}").status == 200


def fail_with_output(gateway: GatewayProcess, *command: str) -> str:
    with pytest.raises(CalledProcessError) as failed:
        gateway.run(*command)
    return str(failed.value.stdout)


def test_the_command_needs_a_folder_and_a_month(gateway: GatewayProcess, archived: dict[str, object]) -> None:
    assert archived
    assert "--before" in fail(gateway, "archive")
    assert "written yyyy-MM" in fail(gateway, "archive", "--before", "last-month")
    again = gateway.run("archive", "--before", "2026-01")
    assert "there is nothing to move" in again.stdout
    with no_folder(gateway):
        missing = fail(gateway, "archive", "--before", "2026-01")
    assert "--archive (or TOLLGATE_ARCHIVE) must name the folder" in missing
