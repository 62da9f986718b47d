"""HTTPS served by the process itself, with certificates that a client verifies; plain HTTP beside it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from api.secure import Certificate, SecureClient, SecureGateway, make_certificate
from api.sockets import exchange, render
from gateway import PAYMENT, Client, GatewayProcess
from ports import find_free_port


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def plain_port() -> int:
    return find_free_port()


@pytest.fixture(scope="module")
def secure(
    certificate: Certificate, plain_port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SecureGateway]:
    flags = ("--tls-cert", str(certificate.chain), "--tls-key", str(certificate.key), "--http-port", str(plain_port))
    gateway = SecureGateway(tmp_path_factory.mktemp("secure"), arguments=flags)
    with gateway:
        yield gateway


@pytest.fixture(scope="module")
def visitor(secure: SecureGateway, certificate: Certificate) -> SecureClient:
    shown = secure.client()
    return SecureClient(
        secure.base_url, shown.token, shown.entity_id, shown.lenient_entity_id, authority=certificate.authority
    )


def test_a_payment_over_https_with_a_verified_certificate(visitor: SecureClient) -> None:
    answer = visitor.pay()

    assert answer.code == "000.100.110"
    assert answer.headers["strict-transport-security"].startswith("max-age=63072000")


def test_a_client_that_trusts_somebody_else_does_not_talk_to_it(visitor: SecureClient, tmp_path: Path) -> None:
    elsewhere = make_certificate(tmp_path)

    with pytest.raises(ssl.SSLCertVerificationError):
        replace(visitor, authority=elsewhere.authority).pay()


def test_tls_before_1_2_is_refused(secure: SecureGateway) -> None:
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1

    with (
        socket.create_connection(("127.0.0.1", secure.port), timeout=120) as line,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        old.wrap_socket(line).close()


def test_plain_http_is_redirected_to_https_and_its_body_is_not_read(secure: SecureGateway, plain_port: int) -> None:
    plain = Client(f"http://127.0.0.1:{plain_port}", "", "")

    answer = plain.send("POST", "/v1/payments?a=1", "&".join(f"{name}={value}" for name, value in PAYMENT.items()))

    assert (answer.status, answer.body) == (307, b"")
    assert answer.headers["location"] == f"{secure.base_url}/v1/payments?a=1"


def test_a_redirect_cannot_be_bent(secure: SecureGateway, plain_port: int) -> None:
    plain = Client(f"http://127.0.0.1:{plain_port}", "", "")
    for target in ("//elsewhere.example/", "http://elsewhere.example/", "@elsewhere.example/", "/a\tb", "/\xe9"):
        for answer in exchange(plain, render("GET", target)):
            assert answer.headers["location"].startswith(f"{secure.base_url}/")


def test_plain_http_on_the_tls_port_gets_no_payment(secure: SecureGateway, visitor: SecureClient) -> None:
    plain = Client(f"http://127.0.0.1:{secure.port}", visitor.token, visitor.entity_id)

    with pytest.raises((ConnectionError, OSError)):
        plain.pay()


def test_a_certificate_for_localhost_is_made_on_request(tmp_path: Path) -> None:
    with SecureGateway(tmp_path, arguments=["--tls-self-signed"]) as gateway:
        shown = gateway.client()
        visitor = SecureClient(gateway.base_url, shown.token, shown.entity_id, authority=tmp_path / "localhost.pem")
        assert visitor.pay().code == "000.100.110"
        assert replace(visitor, base_url=f"https://localhost:{gateway.port}").pay().code == "000.100.110"
        assert (tmp_path / "localhost-key.pem").stat().st_mode & 0o077 == 0


def test_a_host_without_tls_promises_none(gateway: GatewayProcess, client: Client) -> None:
    assert gateway.base_url.startswith("http:")
    assert "strict-transport-security" not in client.pay().headers
