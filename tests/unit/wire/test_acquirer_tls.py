"""TLS to acquirers, for both wires: pinned authorities, client certificates, files that are missing or rotated."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec.structs import replace

from tollgate.config import Environment, Settings
from tollgate.connectors.exchange import WireRequest
from tollgate.hosting.readiness import list_unready_channels
from tollgate.payments.merchants import AcquirerTerms, TlsTerms
from tollgate.wire import ClientTls, Forbidden, HttpWire, Silent, Unsent, Wire, Wires
from unit.app_fixture import CHANNEL
from unit.wire.iso8583_hosts import ACCOUNT, SOON_S, Visit, answer, approve_all, hosting, make_request, make_wire
from unit.wire.receivers import OK, receiving

pytestmark = pytest.mark.anyio


class Authority:
    """Signs certificates; its own is in a file of the folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = f"{name}.pem"
        (folder / self.file).write_bytes(self._sign(name, self._key, is_ca=True))

    def issue(self, subject: str, host: str = "127.0.0.1") -> str:
        """Writes a certificate and its key, and returns the name of the file."""
        key = ec.generate_private_key(ec.SECP256R1())
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self.folder / f"{subject}.pem").write_bytes(self._sign(subject, key, host=host) + secret)
        return f"{subject}.pem"

    def make_tls(self, host: str = "127.0.0.1", clients: Authority | None = None) -> ssl.SSLContext:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.folder / self.issue(f"server-of-{self.name}", host))
        if clients is not None:
            tls.verify_mode = ssl.CERT_REQUIRED
            tls.load_verify_locations(self.folder / clients.file)
        return tls

    def _sign(
        self, subject: str, key: ec.EllipticCurvePrivateKey, *, is_ca: bool = False, host: str = "127.0.0.1"
    ) -> bytes:
        now = datetime.now(UTC)
        names = [x509.IPAddress(ipaddress.ip_address(host))]
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, self.name)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
            .public_bytes(serialization.Encoding.PEM)
        )


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ours")


@pytest.fixture
def theirs(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "theirs")


Pay = Callable[[TlsTerms], Awaitable[None]]
"""Sends one payment over a new wire under these terms."""

_HTTP_REQUEST = WireRequest(path="/v1/charges", body=b"{}", key="k")


@asynccontextmanager
async def _serving_http(tls: ssl.SSLContext, folder: Path, peers: list[object]) -> AsyncIterator[Pay]:
    async def answer_web(writer: asyncio.StreamWriter) -> None:
        peers.append(writer.get_extra_info("peercert"))
        writer.write(OK)
        await writer.drain()

    async with receiving(answer_web, tls=tls) as receiver:

        async def pay(terms: TlsTerms) -> None:
            address = f"https://127.0.0.1:{receiver.port}"
            wire = HttpWire(address, is_open=True, get_tls=ClientTls(terms, folder).get_context)
            await _send(wire, wire.close, _HTTP_REQUEST)

        yield pay


@asynccontextmanager
async def _serving_iso8583(tls: ssl.SSLContext, folder: Path, peers: list[object]) -> AsyncIterator[Pay]:
    async def approve(visit: Visit) -> None:
        while True:
            message = await visit.read()
            peers.append(visit.writer.get_extra_info("peercert"))
            await visit.write(answer(message))

    async with hosting(approve, tls=tls) as host:

        async def pay(terms: TlsTerms) -> None:
            wire = make_wire(host, replace(ACCOUNT, tls=terms), "tls", folder=folder)
            await _send(wire, wire.close, make_request())

        yield pay


async def _send(wire: Wire, close: Callable[[], Awaitable[None]], request: WireRequest) -> None:
    try:
        await wire.send(request, SOON_S)
    finally:
        await close()


BOTH = pytest.mark.parametrize("serving", [_serving_http, _serving_iso8583], ids=["https", "tls"])
Serving = Callable[[ssl.SSLContext, Path, list[object]], AbstractAsyncContextManager[Pay]]


@BOTH
async def test_an_authority_that_the_account_names_is_trusted_and_no_certificate_is_sent(
    serving: Serving, ours: Authority, tmp_path: Path
) -> None:
    peers: list[object] = []
    async with serving(ours.make_tls(), tmp_path, peers) as pay:
        await pay(TlsTerms(ca_file=ours.file))

    assert peers == [None]


@BOTH
async def test_another_authority_is_refused_before_anything_is_sent(
    serving: Serving, ours: Authority, theirs: Authority, tmp_path: Path
) -> None:
    peers: list[object] = []
    async with serving(theirs.make_tls(), tmp_path, peers) as pay:
        for terms in (TlsTerms(ca_file=ours.file), TlsTerms()):
            with pytest.raises(Unsent):
                await pay(terms)

    assert peers == []


@BOTH
async def test_a_certificate_of_another_host_is_refused(serving: Serving, ours: Authority, tmp_path: Path) -> None:
    peers: list[object] = []
    async with serving(ours.make_tls("127.0.0.2"), tmp_path, peers) as pay:
        with pytest.raises(Unsent):
            await pay(TlsTerms(ca_file=ours.file))

    assert peers == []


@BOTH
async def test_a_client_certificate_is_sent_where_the_acquirer_requires_it(
    serving: Serving, ours: Authority, theirs: Authority, tmp_path: Path
) -> None:
    peers: list[object] = []
    async with serving(theirs.make_tls(clients=ours), tmp_path, peers) as pay:
        await pay(TlsTerms(ca_file=theirs.file, certificate_file=ours.issue("gateway")))
        # The server of TLS 1.3 refuses after the handshake, so the request may have been written by then.
        with pytest.raises((Unsent, Silent)):
            await pay(TlsTerms(ca_file=theirs.file))

    assert len(peers) == 1
    assert "gateway" in str(peers[0])


@BOTH
@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
async def test_a_file_that_cannot_be_used_stops_the_payment_and_is_logged(
    serving: Serving, ours: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "broken.pem").write_bytes(content)
    peers: list[object] = []
    async with serving(ours.make_tls(), tmp_path, peers) as pay:
        with pytest.raises(Unsent):
            await pay(TlsTerms(ca_file="broken.pem"))
        with pytest.raises(Unsent):
            await pay(TlsTerms(ca_file=ours.file, certificate_file="broken.pem"))

    assert peers == []
    refused = [each.getMessage() for each in caplog.records if "TLS file" in each.getMessage()]
    assert ["--acquirer-ca" in refused[0], "--acquirer-certificate" in refused[1]] == [True, True]


async def test_a_rotated_file_is_read_again_for_new_connections(
    ours: Authority, theirs: Authority, tmp_path: Path
) -> None:
    (tmp_path / "pinned.pem").write_bytes((tmp_path / ours.file).read_bytes())
    async with hosting(approve_all, tls=theirs.make_tls()) as host:
        wire = make_wire(host, replace(ACCOUNT, tls=TlsTerms(ca_file="pinned.pem")), "tls", folder=tmp_path)
        with pytest.raises(Unsent):
            await wire.send(make_request(), SOON_S)
        (tmp_path / "new.pem").write_bytes((tmp_path / theirs.file).read_bytes())
        os.replace(tmp_path / "new.pem", tmp_path / "pinned.pem")
        assert (await wire.send(make_request(), SOON_S)).status == 200
        await wire.close()


def test_terms_of_tls_stay_the_same_until_a_file_changes(ours: Authority, tmp_path: Path) -> None:
    tls = ClientTls(TlsTerms(ca_file=ours.file), tmp_path)
    first = tls.get_context()
    assert tls.get_context() is first

    Authority(tmp_path, "ours")
    assert tls.get_context() is not first


async def test_a_plain_host_is_refused_by_a_live_host_unless_it_is_loopback_and_allowed() -> None:
    async with hosting(approve_all) as host:
        address = f"tcp://127.0.0.1:{host.port}"
        refusing = Wires(Settings(environment=Environment.LIVE))
        with pytest.raises(Forbidden):
            await refusing.find(address, ACCOUNT).send(make_request(), SOON_S)
        assert host.visits == []
        allowing = Wires(Settings(environment=Environment.LIVE, allow_plain_loopback=True))
        assert (await allowing.find(address, ACCOUNT).send(make_request(), SOON_S)).status == 200
        await refusing.close()
        await allowing.close()


async def test_a_channel_has_one_connection_of_its_own_per_address() -> None:
    async with hosting(approve_all) as host:
        wires = Wires(Settings())
        address = f"tcp://127.0.0.1:{host.port}"
        for account in (ACCOUNT, ACCOUNT, replace(ACCOUNT, id="8ac7a4c7", terminal_id="TERM0002")):
            await wires.find(address, account).send(make_request(), SOON_S)
        await wires.close()

    assert len(host.visits) == 2
    assert host.list_codes().count("002") == 2


async def test_another_terminal_of_a_channel_is_signed_on_by_itself() -> None:
    async with hosting(approve_all) as host:
        wires = Wires(Settings())
        for account in (ACCOUNT, replace(ACCOUNT, terminal_id="TERM0002")):
            await wires.find(f"tcp://127.0.0.1:{host.port}", account).send(make_request(), SOON_S)
        await wires.close()

    signed_on = [message.fields[41] for message in host.received if message.fields.get(70) == "001"]
    assert signed_on == ["TERM0001", "TERM0002"]


@pytest.mark.parametrize("environment", [Environment.TEST, Environment.LIVE])
def test_a_check_names_files_that_cannot_be_used(tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "certificates").mkdir()
    sound = Authority(tmp_path / "certificates", "ours").file
    settings = Settings(data=str(tmp_path), environment=environment)

    def check(terms: AcquirerTerms) -> list[str]:
        channel = replace(CHANNEL, live_url="tls://acquirer.example:8583", acquirer=terms)
        return list_unready_channels(settings, [channel])

    assert check(AcquirerTerms(ca_file=sound)) == []
    (missing,) = check(AcquirerTerms(ca_file=sound, certificate_file="client.pem"))
    assert CHANNEL.id in missing
    assert "client.pem" in missing
