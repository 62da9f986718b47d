"""Reports and the back office read from a real standby, say how old that is, and fall back to the primary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.merchants import wait_until
from gateway import Answer, Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import read_key
from postgres import PostgresCluster, PostgresStandby
from tollgate.cli.program import program

BEHIND = "Read from a replica, which is at most"
INSTEAD = "Read from the primary, because the replica cannot be used"
PATIENT_S, STRICT_S = 3600, 5
WROTE = "tollgate_office_wrote"


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresCluster]:
    with PostgresCluster() as primary:
        yield primary


@pytest.fixture(scope="module")
def standby(primary: PostgresCluster) -> Iterator[PostgresStandby]:
    with PostgresStandby(primary) as standby:
        yield standby


@pytest.fixture(scope="module")
def gateway(
    primary: PostgresCluster, standby: PostgresStandby, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    """A gateway that reads from a standby that is behind, too."""
    database = primary.create_database()
    arguments = list_flags(standby, database, PATIENT_S)
    with GatewayProcess(tmp_path_factory.mktemp("reading"), database, arguments=arguments) as gateway:
        yield gateway


def list_flags(standby: PostgresStandby, database: str, lag_max_s: int) -> list[str]:
    return ["--read-database", standby.dsn(database.rpartition("/")[2]), "--read-lag-max-s", str(lag_max_s)]


@pytest.fixture(scope="module")
def client(gateway: GatewayProcess) -> Client:
    return gateway.client()


@pytest.fixture(scope="module")
def office(gateway: GatewayProcess) -> OfficeClient:
    return enter_office(gateway)


def read_report(client: Client) -> Answer:
    now = datetime.now(UTC)
    days = {"date.from": f"{now - timedelta(days=2):%Y-%m-%d}", "date.to": f"{now + timedelta(days=1):%Y-%m-%d}"}
    return client.get("/reports/v1/reconciliations/aggregations", {**days, "currency": "EUR", "testMode": "INTERNAL"})


def show_list(office: OfficeClient, page: str = "payments") -> str:
    return office.get(f"{office.base}/{page}").body.decode()


def show_behind(office: OfficeClient, page: str = "payments") -> str:
    """Returns the page as the standby has it; a measurement that took too long is waited for."""
    shown: list[str] = []

    def is_behind() -> bool:
        shown.append(show_list(office, page))
        return BEHIND in shown[-1]

    wait_until(is_behind)
    return shown[-1]


def read_lag(client: Client) -> float:
    text = client.send("GET", "/metrics").body.decode()
    return float(
        next(line for line in text.splitlines() if line.startswith("tollgate_replica_lag_seconds ")).split()[-1]
    )


def test_reports_and_lists_come_from_the_standby_and_say_how_old_they_are(client: Client, office: OfficeClient) -> None:
    payment_id = client.pay().json["id"]

    wait_until(lambda: payment_id in show_behind(office))
    for page in ("overview", "disputes", "reviews", "checkouts", "registrations", "schedules", "bank-files"):
        show_behind(office, page)
    assert BEHIND not in show_list(office, f"payments/{payment_id}")
    exported = office.get(f"{office.base}/payments/export.csv")
    assert payment_id in exported.body.decode()
    assert read_report(client).status == 200
    wait_until(lambda: read_report(client).headers["tollgate-read-from"].startswith("replica; lag="))
    assert 0 <= read_lag(client) <= PATIENT_S
    assert "tollgate-read-from" not in client.get(f"/v1/query/{payment_id}").headers


def test_what_was_just_done_is_shown_while_the_standby_shows_nothing_new(
    client: Client, office: OfficeClient, standby: PostgresStandby
) -> None:
    payment_id = client.pay().json["id"]
    wait_until(lambda: payment_id in show_behind(office))
    standby.pause()
    try:
        late = client.pay().json["id"]
        assert client.get(f"/v1/query/{late}").status == 200
        assert late not in show_behind(office)

        refund(office, payment_id, "12.34")

        assert "12.34" in show_list(office, f"payments/{payment_id}")
        page = show_list(office)
        assert BEHIND not in page
        assert "12.34" in page
        assert late in page
        # The next browser still sees the replica.
        del office.cookies[WROTE]
        assert "12.34" not in show_behind(office)
    finally:
        standby.resume()
    wait_until(lambda: late in show_behind(office))


def test_a_standby_that_is_too_far_behind_is_not_read(
    gateway: GatewayProcess, client: Client, office: OfficeClient, standby: PostgresStandby, tmp_path: Path
) -> None:
    flags = [*list_flags(standby, gateway.database, STRICT_S), "--key-file", str(gateway.data / "keys.json")]
    with GatewayProcess(tmp_path, gateway.database, arguments=flags) as strict:
        other = replace(client, base_url=strict.base_url)
        browser = OfficeClient(strict.base_url, office.merchant_id, dict(office.cookies))
        browser.cookies.pop(WROTE, None)
        show_behind(browser)
        standby.pause()
        try:
            late = other.pay().json["id"]
            wait_until(lambda: INSTEAD in show_list(browser))
            assert late in show_list(browser)
            assert read_report(other).headers["tollgate-read-from"].startswith("primary; why=it is ")
            wait_until(lambda: read_lag(other) > STRICT_S)
        finally:
            standby.resume()
        wait_until(lambda: late in show_behind(browser))


def refund(office: OfficeClient, payment_id: str, amount: str) -> None:
    key = read_key(show_list(office, f"payments/{payment_id}"), "refund")
    answer = office.post(f"{office.base}/payments/{payment_id}/refund", {"key": key, "amount": amount})
    assert answer.status == 200
    assert WROTE in office.cookies


def test_everything_is_read_from_the_primary_while_the_standby_is_gone(
    gateway: GatewayProcess, client: Client, office: OfficeClient, standby: PostgresStandby
) -> None:
    office.cookies.pop(WROTE, None)
    show_behind(office)
    standby.stop()
    try:
        payment_id = client.pay().json["id"]
        page = show_list(office)
        assert payment_id in page
        assert INSTEAD in page
        assert read_report(client).headers["tollgate-read-from"].startswith("primary; why=it cannot be read")
        wait_until(lambda: read_lag(client) == float("inf"))
        assert client.send("GET", "/readyz").status == 200
        assert "missing: --read-database: it cannot be read" in check(gateway)
    finally:
        standby.start()
    show_behind(office)
    assert "ready: test host" in check(gateway)


def check(gateway: GatewayProcess) -> str:
    """Runs `tollgate check` with the flags of the gateway."""
    store = ["--data", str(gateway.data), "--database", gateway.database]
    return CliRunner().invoke(program, ["check", *store, *gateway.arguments]).output


def test_an_embedded_database_has_no_standby(tmp_path: Path) -> None:
    gateway = GatewayProcess(tmp_path, arguments=["--read-database", "postgresql://127.0.0.1/tollgate"])
    with pytest.raises(RuntimeError, match="did not start"):
        gateway.start()
    assert "--read-database names a streaming standby of the PostgreSQL database" in gateway.read_log()
