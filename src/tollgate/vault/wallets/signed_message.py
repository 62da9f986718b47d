"""Signatures beside what they sign (CMS SignedData, detached): read, and held against a chain of certificates.

What was signed, the caller knows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from hmac import compare_digest

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tollgate.values import SECOND, Instant, to_instant
from tollgate.vault.wallets import ber

# Object names as they stand in the bytes.
_SIGNED_MESSAGE = bytes.fromhex("2a864886f70d010702")
_PLAIN_BYTES = bytes.fromhex("2a864886f70d010701")
_CONTENT_TYPE = bytes.fromhex("2a864886f70d010903")
_MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010904")
_SIGNING_TIME = bytes.fromhex("2a864886f70d010905")
_SHA256 = bytes.fromhex("608648016503040201")
_ECDSA_SHA256 = bytes.fromhex("2a8648ce3d040302")
_ECDSA_PLAIN = bytes.fromhex("2a8648ce3d0201")

_CERTIFICATES_MAX = 8
_FIRST = 0xA0
"""The tag of an optional member with number 0."""

# By these the wallet's provider marks the certificates that may sign tokens.
_LEAF_MARK = x509.ObjectIdentifier("1.2.840.113635.100.6.29")
_INTERMEDIATE_MARK = x509.ObjectIdentifier("1.2.840.113635.100.6.2.14")


class _Signer(msgspec.Struct, frozen=True):
    issuer: bytes
    serial: int
    attributes: dict[bytes, ber.Element]
    signed: bytes
    """The attributes as they were signed: the tag is that of a set, whatever it is in the message."""
    signature: bytes


def check_signed_message(source: bytes, message: bytes, roots: Sequence[str], now: Instant) -> Instant:
    """When it was signed; raises unless a chain that ends in one of the roots vouches for the message."""
    body = _open_content(source)
    certificates = [x509.load_der_x509_certificate(element.whole) for element in _list_certificates(body)]
    signer = _read_signer(body)
    leaf = _find_marked(certificates, _LEAF_MARK)
    intermediate = _find_marked(certificates, _INTERMEDIATE_MARK)
    _check_chain(leaf, intermediate, [x509.load_pem_x509_certificate(root.encode()) for root in roots], now)
    if leaf.serial_number != signer.serial or leaf.issuer.public_bytes() != signer.issuer:
        raise ValueError("signed by another than the marked certificate")
    key = leaf.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise TypeError("signed with a key of another kind")
    key.verify(signer.signature, signer.signed, ec.ECDSA(hashes.SHA256()))
    if _get(signer, _CONTENT_TYPE, ber.NAME).content != _PLAIN_BYTES:
        raise ValueError("signed as something else")
    if not compare_digest(_get(signer, _MESSAGE_DIGEST, ber.OCTETS).content, hashlib.sha256(message).digest()):
        raise ValueError("another message was signed")
    return ber.read_time(_get(signer, _SIGNING_TIME))


def _open_content(source: bytes) -> list[ber.Element]:
    kind, content = ber.read_whole(source, ber.SEQUENCE).children
    body = ber.read_whole(ber.expect(content, _FIRST).content, ber.SEQUENCE).children
    # The message stands beside its signature; a second one inside it would be signed by nobody.
    (inner_kind,) = ber.expect(body[2], ber.SEQUENCE).children
    if kind.content != _SIGNED_MESSAGE or inner_kind.content != _PLAIN_BYTES:
        raise ValueError("not the signature of a message beside it")
    return body


def _list_certificates(body: Sequence[ber.Element]) -> list[ber.Element]:
    (holder,) = (element for element in body[3:-1] if element.tag == _FIRST)
    found = holder.children
    if len(found) > _CERTIFICATES_MAX:
        raise ValueError("more certificates than a chain has")
    return found


def _read_signer(body: Sequence[ber.Element]) -> _Signer:
    (only,) = ber.expect(body[-1], ber.SET).children
    _version, name, digest, attributes, algorithm, signature, *_ = only.children
    issuer, serial = ber.expect(name, ber.SEQUENCE).children
    if digest.children[0].content != _SHA256 or algorithm.children[0].content not in (_ECDSA_SHA256, _ECDSA_PLAIN):
        raise ValueError("signed by another algorithm")
    content = ber.expect(attributes, _FIRST).content
    return _Signer(
        issuer=issuer.whole,
        serial=int.from_bytes(ber.expect(serial, ber.INTEGER).content, "big", signed=True),
        attributes=_read_attributes(content),
        signed=bytes([ber.SET]) + _spell_length(len(content)) + content,
        signature=ber.expect(signature, ber.OCTETS).content,
    )


def _read_attributes(content: bytes) -> dict[bytes, ber.Element]:
    found: dict[bytes, ber.Element] = {}
    for attribute in ber.list_elements(content):
        name, values = attribute.children
        if name.content in found:
            raise ValueError("an attribute twice")
        found[name.content] = values
    return found


def _get(signer: _Signer, name: bytes, tag: int | None = None) -> ber.Element:
    (only,) = ber.expect(signer.attributes[name], ber.SET).children
    return only if tag is None else ber.expect(only, tag)


def _spell_length(length: int) -> bytes:
    if length < 0x80:
        return bytes([length])
    digits = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


def _find_marked(certificates: Iterable[x509.Certificate], mark: x509.ObjectIdentifier) -> x509.Certificate:
    (only,) = (each for each in certificates if any(extension.oid == mark for extension in each.extensions))
    return only


def _check_chain(
    leaf: x509.Certificate, intermediate: x509.Certificate, roots: Sequence[x509.Certificate], now: Instant
) -> None:
    if not intermediate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca:
        raise ValueError("the intermediate certificate may not sign others")
    if not (_is_valid(leaf, now) and _is_valid(intermediate, now)):
        raise ValueError("a certificate of the chain is not valid now")
    leaf.verify_directly_issued_by(intermediate)
    if not any(_is_valid(root, now) and _has_issued(root, intermediate) for root in roots):
        raise ValueError("no root vouches for the chain")


def _has_issued(root: x509.Certificate, intermediate: x509.Certificate) -> bool:
    try:
        intermediate.verify_directly_issued_by(root)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _is_valid(certificate: x509.Certificate, now: Instant) -> bool:
    begins, ends = to_instant(certificate.not_valid_before_utc), to_instant(certificate.not_valid_after_utc)
    return begins <= now < ends + SECOND
