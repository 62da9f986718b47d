"""Makes the simulated provider's keys and certificates, and the keys of the channels that trust it.

Where they are kept is not known here.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from tollgate.catalog.wallets import Wallet
from tollgate.sandbox.wallets.request import Provider

_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

# However far the clock of a test host is moved, its certificates are valid.
_BEGIN, _END = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_LEAF_MARK, _INTERMEDIATE_MARK = "1.2.840.113635.100.6.29", "1.2.840.113635.100.6.2.14"
_NOTHING = b"\x05\x00"


class Secrets(msgspec.Struct, frozen=True):
    provider: Provider
    signing_public: bytes
    private_keys: dict[Wallet, bytes]
    """By wallet, as PEM, what the channels open tokens with."""


def make_secrets() -> Secrets:
    root_key, intermediate_key, leaf_key, signing_key = (_make_curve_key() for _ in range(4))
    keys: dict[Wallet, _Key] = {
        Wallet.A: _make_curve_key(),
        Wallet.B: _make_curve_key(),
        Wallet.C: rsa.generate_private_key(65537, 2048),
    }
    root = _issue("Tollgate Sandbox Root", root_key, root_key)
    intermediate = _issue(
        "Tollgate Sandbox Intermediate", intermediate_key, root_key, issuer=root, mark=_INTERMEDIATE_MARK
    )
    leaf = _issue("Tollgate Sandbox Wallet", leaf_key, intermediate_key, issuer=intermediate, mark=_LEAF_MARK)
    provider = Provider(
        roots=(root.public_bytes(Encoding.PEM).decode(),),
        certificates=(leaf.public_bytes(Encoding.DER), intermediate.public_bytes(Encoding.DER)),
        leaf_key=_spell(leaf_key, Encoding.DER),
        signing_key=_spell(signing_key, Encoding.DER),
        recipients={wallet: _spell_public(key) for wallet, key in keys.items()},
    )
    private_keys = {wallet: _spell(key, Encoding.PEM) for wallet, key in keys.items()}
    return Secrets(provider, _spell_public(signing_key), private_keys)


def _issue(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    issuer: x509.Certificate | None = None,
    mark: str | None = None,
) -> x509.Certificate:
    """Without an issuer it is the root; whatever is not marked as a leaf may issue others."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGIN)
        .not_valid_after(_END)
        .add_extension(x509.BasicConstraints(ca=mark != _LEAF_MARK, path_length=None), critical=True)
    )
    if mark:
        extension = x509.UnrecognizedExtension(x509.ObjectIdentifier(mark), _NOTHING)
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _make_curve_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _spell(key: _Key, encoding: Encoding) -> bytes:
    return key.private_bytes(encoding, PrivateFormat.PKCS8, NoEncryption())


def _spell_public(key: _Key) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
