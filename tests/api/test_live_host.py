"""A live host: says everything that is missing, and when complete takes real payments and offers nothing of a test."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.linking import LinkVisit
from api.merchants import add_merchant, run_command, wait_until
from api.recording import RecordingAcquirer
from api.registration_requests import register
from api.scheduling import schedule
from api.secure import Certificate, SecureClient, SecureGateway, make_certificate
from gateway import Client, GatewayProcess
from ports import find_free_port
from postgres import PostgresCluster
from tollgate.catalog.card_testing import COUNTERS, WAITING_PER_KEY_MAX
from tollgate.cli.program import program
from tollgate.docs import search_name

PAYMENTS_PAGE = "/docs/api/post-v1-payments"


@dataclass(frozen=True)
class LiveHost:
    gateway: SecureGateway
    client: SecureClient
    metrics_port: int


def start_and_fail(gateway: GatewayProcess) -> str:
    """Returns the message of a host that may not start."""
    with pytest.raises(RuntimeError) as refused:
        gateway.start()
    return str(refused.value)


def make_keys(folder: Path) -> str:
    folder.mkdir()
    done = CliRunner().invoke(program, ["make-keys", str(folder)], catch_exceptions=False)
    return done.stdout.strip()


def test_a_live_host_without_anything_says_everything_that_is_missing(tmp_path: Path) -> None:
    said = start_and_fail(GatewayProcess(tmp_path, environment={"TOLLGATE_ENVIRONMENT": "live"}, is_cold=True))

    assert "not ready to serve" in said
    assert "serves TLS" in said
    assert "--key-file" in said
    assert not (tmp_path / "keys.json").exists()


def test_a_live_host_whose_channels_have_no_acquirer_does_not_start(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path / "tls")
    gateway = SecureGateway(tmp_path / "data")
    key_file = make_keys(tmp_path / "keys")
    gateway.environment = make_variables(certificate, key_file, find_free_port())

    assert "needs a real acquirer" in start_and_fail(gateway)


@pytest.fixture(scope="module")
def host(
    cluster: PostgresCluster, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveHost]:
    folder = tmp_path_factory.mktemp("live")
    certificate = make_certificate(folder / "tls")
    metrics_port = find_free_port()
    gateway = SecureGateway(folder / "data", cluster.create_database(), is_cold=True)
    gateway.environment = make_variables(certificate, make_keys(folder / "keys"), metrics_port)
    run_command(gateway, "migrate")
    known = add_merchant(gateway, "Live shop")
    run_command(gateway, "channel", "set", known.entity_id, "--live-url", acquirer.url)
    with gateway:
        client = SecureClient(gateway.base_url, known.token, known.entity_id, authority=certificate.authority)
        yield LiveHost(gateway, client, metrics_port)


def make_variables(certificate: Certificate, key_file: str, metrics_port: int) -> dict[str, str]:
    return {
        "TOLLGATE_ENVIRONMENT": "live",
        "TOLLGATE_KEY_FILE": key_file,
        "TOLLGATE_TLS_CERT": str(certificate.chain),
        "TOLLGATE_TLS_KEY": str(certificate.key),
        "TOLLGATE_METRICS_PORT": str(metrics_port),
        "TOLLGATE_ALLOW_PLAIN_LOOPBACK": "true",
    }


def test_a_live_payment_goes_to_the_real_acquirer_and_succeeds(host: LiveHost, acquirer: RecordingAcquirer) -> None:
    before = len(acquirer.received)

    answer = host.client.pay()

    assert (answer.status, answer.json["result"]) == (
        200,
        {"code": "000.000.000", "description": "Transaction succeeded"},
    )
    assert len(acquirer.received) == before + 1
    assert host.client.get(f"/v1/payments/{answer.json['id']}").json == answer.json


@pytest.mark.parametrize("mode", ["INTERNAL", "EXTERNAL"])
def test_test_modes_are_refused(host: LiveHost, mode: str) -> None:
    answer = host.client.pay(testMode=mode)

    assert (answer.status, answer.code) == (400, "600.200.701")


def test_simulator_overrides_do_nothing(host: LiveHost) -> None:
    for override, value in (("forceResultCode", "800.100.151"), ("simulatorFault", "nonsense")):
        assert host.client.pay(None, **{f"customParameters[{override}]": value}).code == "000.000.000"


def test_nothing_of_a_test_host_is_there(host: LiveHost) -> None:
    for path in ("/sandbox/clock", "/sandbox/inbox/shop", "/sandbox/credentials", "/sandbox/front/news", "/metrics"):
        answer = host.client.send("GET", path)
        assert (answer.status, answer.code) == (404, "200.300.404")
    for command in ("credentials", "clock"):
        with pytest.raises(RuntimeError, match="live host"):
            run_command(host.gateway, command)


def test_its_front_page_is_its_name_and_nothing_else(host: LiveHost) -> None:
    answer = host.client.send("GET", "/")

    assert (answer.status, answer.body) == (200, b"Tollgate\n")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "set-cookie" not in answer.headers
    assert host.client.send("GET", "/favicon.ico").headers["content-type"] == "image/x-icon"


def test_a_payment_link_of_a_live_host_has_the_configured_address_and_takes_real_money(host: LiveHost) -> None:
    order = {"amount": "38.50", "currency": "EUR", "paymentType": "DB"}
    made = host.client.post("/paybylink/v1", order, {"X-Forwarded-Host": "evil.example"})
    assert made.json["link"] == f"{host.client.base_url}/paymentlink/{made.json['id']}"
    picture = {"layout.logo": "http://127.0.0.1:9000/logo.png"}
    assert list(host.client.post("/paybylink/v1", {**order, **picture}).faults) == ["layout.logo"]

    visit = LinkVisit(host.client, made.json["id"])
    assert "Test mode" not in visit.open().body.decode()
    assert visit.pay(visit.find_checkout()).code == "000.000.000"

    assert (visit.read()["status"], visit.read()["result"]["code"]) == (2, "000.000.000")
    assert "Payment complete" in visit.open().body.decode()


def test_a_live_prepayment_is_completed_by_a_receipt_that_the_operator_records(
    host: LiveHost, acquirer: RecordingAcquirer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acquirer, "reply", {"status": "account", "account": {"iban": "DE89370400440532013000"}})
    order = {"amount": "38.50", "currency": "EUR", "paymentType": "PA", "paymentBrand": "PREPAYMENT"}
    payment_id = host.client.post("/v1/payments", order).json["id"]
    monkeypatch.undo()

    said = [run_command(host.gateway, "record", payment_id, "--type", "RC", "--reference", "R-77") for _ in range(2)]

    assert ["1 recorded\n" in text for text in said] == [True, False]
    assert "1 recorded before" in said[1]
    receipt_id = said[0].split()[2]
    receipt = host.client.get(f"/v1/payments/{receipt_id}").json
    assert (receipt["paymentType"], receipt["referencedId"], receipt["amount"]) == ("RC", payment_id, "38.50")
    assert receipt["result"]["code"] == "000.000.000"
    refund = {"amount": "38.50", "currency": "EUR", "paymentType": "RF"}
    assert host.client.post(f"/v1/payments/{receipt_id}", refund).code == "000.000.000"


def test_metrics_are_on_a_port_of_their_own(host: LiveHost) -> None:
    aside = Client(f"http://127.0.0.1:{host.metrics_port}", "", "")

    assert b"tollgate_requests_total" in aside.send("GET", "/metrics").body
    assert aside.send("GET", "/v1/resultcodes").status == 404


def test_a_channel_without_an_acquirer_is_not_set_up(host: LiveHost) -> None:
    other = add_merchant(host.gateway, "No acquirer")
    caller = SecureClient(host.client.base_url, other.token, other.entity_id, authority=host.client.authority)
    wait_until(lambda: caller.get("/v1/query/none").status != 403)

    assert caller.pay().code == "600.200.700"


def test_the_check_command_agrees_that_it_is_ready(host: LiveHost) -> None:
    # Warnings come first.
    assert run_command(host.gateway, "check").splitlines()[-1].startswith("ready: live host")


def test_schedules_need_an_acquirer_on_a_live_channel(host: LiveHost) -> None:
    other = add_merchant(host.gateway, "No schedules")
    caller = SecureClient(host.client.base_url, other.token, other.entity_id, authority=host.client.authority)
    wait_until(lambda: caller.get("/v1/query/none").status != 403)

    codes = [schedule(client, register(client)).code for client in (host.client, caller)]

    assert codes == ["000.000.000", "100.360.400"]


def test_a_live_host_shows_the_documentation_with_placeholders_and_without_a_sandbox(host: LiveHost) -> None:
    shown = {
        path: host.client.send("GET", path).body.decode()
        for path in ("/docs", "/docs/readme", "/docs/codes", "/docs/codes/000.000.000", "/docs/api", PAYMENTS_PAGE)
    }
    for path, text in shown.items():
        assert "Live: real money" in text, path
        assert 'href="/sandbox' not in text, path

    assert 'data-fill="token">YOUR_TOKEN<' in shown[PAYMENTS_PAGE]
    assert 'data-host="live"' in shown[PAYMENTS_PAGE]
    assert 'class="send"' not in shown[PAYMENTS_PAGE]
    assert ">Sandbox<" not in shown["/docs/api"]
    for path in ("/docs/nothing", "/docs/api/get-sandbox-clock"):
        assert host.client.send("GET", path).status == 404
    for path in (search_name.get_path(), "/openapi.json"):
        index = host.client.send("GET", path).body
        assert b"/v1/payments" in index
        assert b"/sandbox/clock" not in index


def test_a_live_host_stops_card_testing_by_default(
    host: LiveHost, acquirer: RecordingAcquirer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acquirer, "reply", {"status": "declined", "response_code": "05", "message": "No"})
    row, shopper = COUNTERS["i"], {"customer.ip": "203.0.113.9"}
    for _ in range(row.slow_from):
        assert host.client.pay(None, **shopper).code == "800.100.152"
    with ThreadPoolExecutor(WAITING_PER_KEY_MAX) as pool:
        list(pool.map(lambda _: host.client.pay(None, **shopper), range(row.refuse_from - row.slow_from + 2)))
    before = len(acquirer.received)

    answer = host.client.pay(None, **shopper)

    assert (answer.status, answer.code) == (400, "800.120.102")
    assert len(acquirer.received) == before
