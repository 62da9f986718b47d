"""A live host behind a proxy that ends TLS: it serves what came by https through that proxy, and nothing else."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from api.merchants import add_merchant, run_command
from api.recording import RecordingAcquirer
from gateway import Client, GatewayProcess
from tollgate.cli.program import program

PUBLIC = "https://pay.example.com"
HTTPS = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
PLAIN = {"X-Forwarded-Proto": "http", "X-Forwarded-For": "192.0.2.7"}


@pytest.fixture(scope="module")
def client(acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Calls from 127.0.0.1, which is the address of the proxy."""
    folder = tmp_path_factory.mktemp("behind")
    keys = folder / "keys"
    keys.mkdir()
    key_file = CliRunner().invoke(program, ["make-keys", str(keys)], catch_exceptions=False).stdout.strip()
    gateway = GatewayProcess(folder / "data")
    gateway.environment = {
        "TOLLGATE_ENVIRONMENT": "live",
        "TOLLGATE_KEY_FILE": key_file,
        "TOLLGATE_TRUSTED_PROXY": "10.0.0.0/8, 127.0.0.1",
        "TOLLGATE_PUBLIC_URL": PUBLIC,
        "TOLLGATE_ALLOW_PLAIN_LOOPBACK": "true",
    }
    run_command(gateway, "migrate")
    known = add_merchant(gateway, "Live shop")
    run_command(gateway, "channel", "set", known.entity_id, "--live-url", acquirer.url)
    with gateway:
        yield Client(gateway.base_url, known.token, known.entity_id)


def test_what_came_by_https_through_the_proxy_is_served(client: Client) -> None:
    answer = client.pay(HTTPS)

    assert answer.code == "000.000.000"
    assert answer.headers["strict-transport-security"].startswith("max-age=63072000")


@pytest.mark.parametrize("headers", [{}, PLAIN, {**HTTPS, "X-Forwarded-Proto": "https, http"}])
def test_what_came_by_plain_http_is_led_to_https_and_makes_no_payment(
    client: Client, acquirer: RecordingAcquirer, headers: dict[str, str]
) -> None:
    before = len(acquirer.received)

    answer = client.pay(headers)

    assert (answer.status, answer.headers["location"]) == (307, f"{PUBLIC}/v1/payments")
    assert len(acquirer.received) == before


def test_the_proxy_asks_how_the_host_is_without_saying_https(client: Client) -> None:
    assert [client.send("GET", path).status for path in ("/healthz", "/readyz")] == [200, 200]


@pytest.mark.parametrize("path", ["/v1/payments", "/healthz"])
def test_nobody_else_is_served_whatever_his_headers_say(client: Client, path: str) -> None:
    host = client.base_url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=120, source_address=("127.0.0.2", 0))
    try:
        connection.request("GET", path, headers=client.authorized(HTTPS))
        reply = connection.getresponse()
        assert (reply.status, json.loads(reply.read())["result"]["code"]) == (403, "800.900.300")
    finally:
        connection.close()
