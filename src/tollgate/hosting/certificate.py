"""A certificate for localhost, made on request so that HTTPS can be tried on a laptop. Never for a live host."""

from __future__ import annotations

import ipaddress
import os
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tollgate.values import Instant, to_datetime

_LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)


def get_local_certificate(folder: Path, now: Instant) -> tuple[Path, Path]:
    """Paths of certificate and key; made when there are none or they run out soon."""
    certificate, key = folder / "localhost.pem", folder / "localhost-key.pem"
    if not (certificate.exists() and key.exists() and _is_fresh(certificate, now)):
        _make_certificate(certificate, key, now)
    return certificate, key


def _is_fresh(path: Path, now: Instant) -> bool:
    expires = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    return expires - _RENEW_BEFORE > to_datetime(now)


def _make_certificate(certificate: Path, key_path: Path, now: Instant) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    moment = to_datetime(now)
    addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", "::1")]
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - timedelta(hours=1))
        .not_valid_after(moment + _LIFETIME)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write_private(key_path, secret)
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def _write_private(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
