"""Receivers behind TLS: one with a private authority, which an operator may name, and some that nobody vouches for."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tollgate.hosting.certificate import get_local_certificate
from tollgate.values import SystemClock
from tollgate.wire import Outgoing, Received, Unsent
from unit.wire.receivers import SOON_S, ScriptedNames, notifying, receiving

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Authority:
    """A private authority, its file, and TLS for a receiver that it vouches for."""

    file: Path
    tls: ssl.SSLContext


def sign(
    subject: str, key: ec.EllipticCurvePrivateKey, issuer: str, signer: ec.EllipticCurvePrivateKey, *, is_ca: bool
) -> bytes:
    """The certificate is one of 127.0.0.1 and shop.example."""
    now = datetime.now(UTC)
    names = [x509.DNSName("shop.example"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(signer, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    signer, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    file, chain = tmp_path / "authority.pem", tmp_path / "receiver.pem"
    file.write_bytes(sign("authority", signer, "authority", signer, is_ca=True))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain.write_bytes(sign("receiver", key, "authority", signer, is_ca=False) + secret)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    return Authority(file, tls)


async def test_a_private_authority_is_accepted_where_the_operator_names_it(authority: Authority) -> None:
    names = ScriptedNames([["127.0.0.1"]])
    async with (
        receiving(tls=authority.tls, requests_max=2) as receiver,
        notifying(ca_file=str(authority.file), look_up=names.look_up) as notifier,
    ):
        for _ in range(2):
            url = f"https://shop.example:{receiver.port}/"
            assert await notifier.send(Outgoing(url, "POST", body=b"{}"), SOON_S) == Received(200, b"ok")
    assert (receiver.connections, receiver.bodies) == (1, [b"{}", b"{}"])


async def test_a_private_authority_is_refused_elsewhere_and_the_reason_says_so(authority: Authority) -> None:
    async with receiving(tls=authority.tls) as receiver, notifying() as notifier:
        with pytest.raises(Unsent) as fault:
            await notifier.send(Outgoing(f"https://127.0.0.1:{receiver.port}/?token=secret", "POST"), SOON_S)
    assert fault.type is Unsent
    assert fault.value.reason == "TLS certificate not accepted: unable to get local issuer certificate"
    assert receiver.heads == []


async def test_a_certificate_of_another_name_is_refused(authority: Authority) -> None:
    names = ScriptedNames([["127.0.0.1"]])
    async with (
        receiving(tls=authority.tls) as receiver,
        notifying(ca_file=str(authority.file), look_up=names.look_up) as notifier,
    ):
        with pytest.raises(Unsent, match="TLS certificate not accepted: Hostname mismatch"):
            await notifier.send(Outgoing(f"https://other.example:{receiver.port}/", "POST"), SOON_S)
    assert receiver.heads == []


async def test_a_certificate_that_vouches_for_itself_is_refused(authority: Authority, tmp_path: Path) -> None:
    """The operator's own authority changes nothing about others."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*get_local_certificate(tmp_path, SystemClock().now()))
    for ca_file in ("", str(authority.file)):
        async with receiving(tls=tls) as receiver, notifying(ca_file=ca_file) as notifier:
            with pytest.raises(Unsent, match="TLS certificate not accepted: self-signed certificate"):
                await notifier.send(Outgoing(f"https://127.0.0.1:{receiver.port}/", "POST"), SOON_S)
        assert receiver.heads == []


async def test_a_receiver_without_tls_is_not_spoken_to_over_tls() -> None:
    """It answers the first bytes of the handshake as if they were a request."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with notifying() as notifier:
        with pytest.raises(Unsent) as fault:
            await notifier.send(Outgoing(f"https://127.0.0.1:{port}/"), SOON_S)
    server.close()
    assert fault.value.reason == "TLS handshake failed: wrong version number"


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["missing", "empty", "other"])
async def test_authorities_that_cannot_be_read_let_nothing_out(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_bytes(content)
    async with receiving() as receiver, notifying(ca_file=str(path)) as notifier:
        with pytest.raises(Unsent, match="--outbound-ca cannot be read"):
            await notifier.send(Outgoing(receiver.url), SOON_S)
    assert receiver.heads == []
