"""Writes signatures beside what they sign (CMS SignedData, detached), as a device of walletA does.

The library's own writer signs with the machine's time; a test host has a clock of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tollgate.values import Instant, to_datetime

_INTEGER, _OCTETS, _NAME, _UTC_TIME, _GENERALIZED_TIME = 0x02, 0x04, 0x06, 0x17, 0x18
_SEQUENCE, _SET, _FIRST = 0x30, 0x31, 0xA0

# Object names as they stand in the bytes.
_SIGNED_MESSAGE, _PLAIN_BYTES = bytes.fromhex("2a864886f70d010702"), bytes.fromhex("2a864886f70d010701")
_CONTENT_TYPE, _MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010903"), bytes.fromhex("2a864886f70d010904")
_SIGNING_TIME = bytes.fromhex("2a864886f70d010905")
_SHA256, _ECDSA_SHA256 = bytes.fromhex("608648016503040201"), bytes.fromhex("2a8648ce3d040302")

_SHORT_YEAR_END = 2050
"""Times from then on have four digits for the year."""


def sign_message(
    message: bytes, certificates: Sequence[bytes], key: ec.EllipticCurvePrivateKey, signed_at: Instant
) -> bytes:
    """The first certificate is the signer's."""
    leaf = x509.load_der_x509_certificate(certificates[0])
    serial = leaf.serial_number.to_bytes(leaf.serial_number.bit_length() // 8 + 1, "big")
    attributes = _spell_attributes(message, signed_at)
    signature = key.sign(_element(_SET, attributes), ec.ECDSA(hashes.SHA256()))
    signer = _element(
        _SEQUENCE,
        _element(_INTEGER, b"\x01"),
        _element(_SEQUENCE, leaf.issuer.public_bytes(), _element(_INTEGER, serial)),
        _name(_SHA256),
        _element(_FIRST, attributes),
        _name(_ECDSA_SHA256),
        _element(_OCTETS, signature),
    )
    body = _element(
        _SEQUENCE,
        _element(_INTEGER, b"\x01"),
        _element(_SET, _name(_SHA256)),
        _name(_PLAIN_BYTES),
        _element(_FIRST, *certificates),
        _element(_SET, signer),
    )
    return _element(_SEQUENCE, _element(_NAME, _SIGNED_MESSAGE), _element(_FIRST, body))


def _spell_attributes(message: bytes, signed_at: Instant) -> bytes:
    """A set is written in the order of its bytes."""
    return b"".join(
        sorted(
            (
                _attribute(_CONTENT_TYPE, _element(_NAME, _PLAIN_BYTES)),
                _attribute(_SIGNING_TIME, _spell_time(signed_at)),
                _attribute(_MESSAGE_DIGEST, _element(_OCTETS, hashlib.sha256(message).digest())),
            )
        )
    )


def _attribute(name: bytes, value: bytes) -> bytes:
    return _element(_SEQUENCE, _element(_NAME, name), _element(_SET, value))


def _spell_time(instant: Instant) -> bytes:
    moment = to_datetime(instant)
    if moment.year < _SHORT_YEAR_END:
        return _element(_UTC_TIME, f"{moment:%y%m%d%H%M%SZ}".encode())
    return _element(_GENERALIZED_TIME, f"{moment:%Y%m%d%H%M%SZ}".encode())


def _name(name: bytes) -> bytes:
    return _element(_SEQUENCE, _element(_NAME, name))


def _element(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    digits = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content
