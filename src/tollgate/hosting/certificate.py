"""Makes and renews the certificate of a test host that signs its own; others never load it, as it imports slowly."""

import ipaddress
import os
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tollgate.values import Instant, to_datetime

_LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)


def get_local_certificate(folder: Path, now: Instant) -> tuple[Path, Path]:
    """Returns the paths of certificate and key, which are made if they are missing or expire soon."""
    certificate, key = folder / "localhost.pem", folder / "localhost-key.pem"
    if certificate.exists() and key.exists():
        expires = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
        if expires - _RENEW_BEFORE > to_datetime(now):
            return certificate, key
    _make_certificate(certificate, key, now)
    return certificate, key


def _make_certificate(certificate: Path, key_path: Path, now: Instant) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
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
        .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key_path.unlink(missing_ok=True)
    with os.fdopen(os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
