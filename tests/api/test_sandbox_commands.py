"""A sandbox is saved, loaded beside its running servers, and forked; a live host refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from api.chains import refund
from api.merchants import add_merchant, run_command, wait_until
from gateway import Client, GatewayProcess
from office_client import enter_office
from postgres import PostgresCluster
from tollgate.config import load_settings
from tollgate.wiring import join_routes

pytestmark = pytest.mark.both_databases

APPROVED = "000.100.110"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server with two processes on PostgreSQL, whose whole store belongs to these tests."""
    folder = tmp_path_factory.mktemp("sandbox")
    if request.param == "sqlite":
        with GatewayProcess(folder) as gateway:
            yield gateway
        return
    cluster: PostgresCluster = request.getfixturevalue("cluster")
    with GatewayProcess(folder, cluster.create_database(), ("--workers", "2"), is_cold=True) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def shop(host: GatewayProcess) -> Client:
    return host.client()


def fail(host: GatewayProcess, *command: str) -> str:
    """Returns the last line that a command says that is not carried out."""
    with pytest.raises(CalledProcessError) as failed:
        host.run("sandbox", *command)
    said: str = failed.value.stderr.strip().splitlines()[-1]
    return said


def test_a_loaded_sandbox_goes_on_from_the_saved_state(host: GatewayProcess, shop: Client, tmp_path: Path) -> None:
    file = str(tmp_path / "a.snapshot")
    kept = shop.pay()
    before = shop.get("/sandbox/clock").json["now"]
    run_command(host, "sandbox", "save", file)
    lost = shop.pay()
    assert refund(shop, kept.json["id"], "92.00").code == APPROVED
    late = add_merchant(host, "Too late")
    wait_until(lambda: late.pay().status == 200)
    shop.post("/sandbox/clock", {"advance": str(90 * 86400), "entityId": None})

    run_command(host, "sandbox", "load", file)

    assert shop.get(f"/v1/payments/{lost.json['id']}").status == 404
    assert refund(shop, kept.json["id"], "92.00").code == APPROVED, "its refund was taken back too"
    # Any number of processes: each of the last requests may be answered by another one.
    wait_until(lambda: all(late.pay().status == 403 for _ in range(10)))
    wait_until(lambda: all(shop.get("/sandbox/clock").json["now"][:10] == before[:10] for _ in range(10)))
    assert shop.pay().code == APPROVED
    assert "all is well" in run_command(host, "verify")


def test_users_sessions_and_tokens_stay_as_they_are(host: GatewayProcess, shop: Client, tmp_path: Path) -> None:
    office = enter_office(host)
    file = str(tmp_path / "a.snapshot")
    run_command(host, "sandbox", "save", file)
    merchant_id = run_command(host, "merchant", "list").split()[0]
    token = run_command(host, "token", "add", merchant_id)
    run_command(host, "sandbox", "load", file)
    later = Client(shop.base_url, token, shop.entity_id)
    wait_until(lambda: later.pay().code == APPROVED)
    assert office.get(f"{office.base}/approvals").status == 200


def test_a_changed_file_is_refused_in_one_line(host: GatewayProcess, tmp_path: Path) -> None:
    file = tmp_path / "a.snapshot"
    run_command(host, "sandbox", "save", str(file))
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert fail(host, "load", str(file)).startswith("tollgate: the file is no snapshot of this host")
    assert "No such file" in fail(host, "load", str(tmp_path / "missing"))


def test_a_fork_serves_the_same_payments_to_the_same_tokens(host: GatewayProcess, shop: Client, tmp_path: Path) -> None:
    paid = shop.pay()
    run_command(host, "sandbox", "fork", "--to-data", str(tmp_path / "fork"))
    assert (tmp_path / "fork" / "keys.json").stat().st_mode & 0o777 == 0o600
    with GatewayProcess(tmp_path / "fork") as fork:
        there = Client(fork.base_url, shop.token, shop.entity_id)
        assert there.get(f"/v1/payments/{paid.json['id']}").code == APPROVED
        assert refund(there, paid.json["id"], "92.00").code == APPROVED
        assert "all is well" in run_command(fork, "verify")
        office = enter_office(fork)
        assert office.get(f"{office.base}/checkouts").status == 200
    assert refund(shop, paid.json["id"], "92.00").code == APPROVED, "the fork has a life of its own"
    assert "name an empty folder" in fail(host, "fork", "--to-data", str(tmp_path / "fork"))


def test_a_live_host_refuses_and_has_no_page(host: GatewayProcess, tmp_path: Path) -> None:
    file = tmp_path / "a.snapshot"
    for command in (("save", str(file)), ("load", str(file)), ("fork", "--to-data", str(tmp_path / "fork"))):
        said = fail(host, *command, "--environment", "live", "--key-file", str(host.data / "keys.json"))
        assert said == "tollgate: only a test host can be saved, loaded or forked"
    assert not file.exists()
    assert not (tmp_path / "fork").exists()
    paths = {row.path for row in join_routes(load_settings({"environment": "live"}))}
    assert not any("simulator" in path for path in paths)
