"""Detached signatures (CMS SignedData): read as BER and checked against a chain of certificates.

Wallets sign in BER with lengths left open, which libraries for DER do not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hmac import compare_digest

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes

from tollgate.values import SECOND, Instant, to_instant

_INTEGER, _OCTETS, _NAME, _SEQUENCE, _SET = 0x02, 0x04, 0x06, 0x30, 0x31
_UTC_TIME, _GENERALIZED_TIME = 0x17, 0x18
_FIRST = 0xA0
"""The tag of an optional member with number 0."""
_DEPTH_MAX = 16
_TIME_FORMATS = {_UTC_TIME: "%y%m%d%H%M%SZ", _GENERALIZED_TIME: "%Y%m%d%H%M%SZ"}
_TIME_LENGTHS = {_UTC_TIME: 13, _GENERALIZED_TIME: 15}
_OPEN_LENGTH = 0x80
_END = b"\x00\x00"

# Object identifiers as they stand in the bytes.
_SIGNED_MESSAGE = bytes.fromhex("2a864886f70d010702")
_PLAIN_BYTES = bytes.fromhex("2a864886f70d010701")
_CONTENT_TYPE = bytes.fromhex("2a864886f70d010903")
_MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010904")
_SIGNING_TIME = bytes.fromhex("2a864886f70d010905")
_SHA256 = bytes.fromhex("608648016503040201")
_ECDSA_SHA256 = bytes.fromhex("2a8648ce3d040302")
_ECDSA_PLAIN = bytes.fromhex("2a8648ce3d0201")

_CERTIFICATES_MAX = 8

# The wallet's provider marks the certificates that may sign tokens with these extensions.
_LEAF_MARK = x509.ObjectIdentifier("1.2.840.113635.100.6.29")
_INTERMEDIATE_MARK = x509.ObjectIdentifier("1.2.840.113635.100.6.2.14")


class _Element(msgspec.Struct, frozen=True):
    tag: int
    content: bytes
    whole: bytes
    """The content with its tag and length before it."""

    @property
    def children(self) -> list[_Element]:
        return _list_elements(self.content)


class _Signer(msgspec.Struct, frozen=True):
    issuer: bytes
    serial: int
    attributes: dict[bytes, _Element]
    signed: bytes
    """The attributes as they were signed: with the tag of a set, whatever tag they have in the message."""
    signature: bytes


class _Chain(msgspec.Struct, frozen=True):
    leaf: x509.Certificate
    leaf_issuer: bytes
    leaf_key: CertificatePublicKeyTypes
    intermediate: x509.Certificate
    is_authority: bool
    """The intermediate certificate may sign others."""


def check_signed_message(source: bytes, message: bytes, roots: Sequence[str], now: Instant) -> Instant:
    """Returns when the message was signed; raises unless a chain that ends in one of the roots signed it."""
    kind, content = _read_whole(source, _SEQUENCE).children
    body = _read_whole(_expect(content, _FIRST).content, _SEQUENCE).children
    _version, _digests, inner, *optional, signers = body
    # The message is sent beside its signature; a second one inside it would not be signed.
    (inner_kind,) = _expect(inner, _SEQUENCE).children
    if kind.content != _SIGNED_MESSAGE or inner_kind.content != _PLAIN_BYTES:
        raise ValueError("not a detached signature")
    (holder,) = (element for element in optional if element.tag == _FIRST)
    chain, signer = _read_chain(holder.children), _read_signer(signers)
    _check_chain(chain, [x509.load_pem_x509_certificate(root.encode()) for root in roots], now)
    if chain.leaf.serial_number != signer.serial or chain.leaf_issuer != signer.issuer:
        raise ValueError("signed by another than the marked certificate")
    if not isinstance(chain.leaf_key, ec.EllipticCurvePublicKey):
        raise ValueError("signed with a key of another type")
    chain.leaf_key.verify(signer.signature, signer.signed, ec.ECDSA(hashes.SHA256()))
    if _get(signer, _CONTENT_TYPE, _NAME).content != _PLAIN_BYTES:
        raise ValueError("signed as something else")
    if not compare_digest(_get(signer, _MESSAGE_DIGEST, _OCTETS).content, hashlib.sha256(message).digest()):
        raise ValueError("another message was signed")
    return _read_time(_get(signer, _SIGNING_TIME))


def _read_chain(elements: Sequence[_Element]) -> _Chain:
    if len(elements) > _CERTIFICATES_MAX:
        raise ValueError("more certificates than a chain has")
    try:
        certificates = [x509.load_der_x509_certificate(element.whole) for element in elements]
        leaf = _get_marked(certificates, _LEAF_MARK)
        intermediate = _get_marked(certificates, _INTERMEDIATE_MARK)
        constraints = intermediate.extensions.get_extension_for_class(x509.BasicConstraints).value
        return _Chain(leaf, leaf.issuer.public_bytes(), leaf.public_key(), intermediate, constraints.ca)
    # The library parses a certificate member by member, and raises TypeError over names of the wrong type.
    except (
        TypeError,
        x509.DuplicateExtension,
        x509.ExtensionNotFound,
        x509.InvalidVersion,
        x509.UnsupportedGeneralNameType,
    ):
        raise ValueError("a certificate cannot be read") from None


def _get_marked(certificates: Iterable[x509.Certificate], mark: x509.ObjectIdentifier) -> x509.Certificate:
    (only,) = (each for each in certificates if any(extension.oid == mark for extension in each.extensions))
    return only


def _read_signer(signers: _Element) -> _Signer:
    (only,) = _expect(signers, _SET).children
    _version, name, digest, attributes, algorithm, signature, *_ = only.children
    issuer, serial = _expect(name, _SEQUENCE).children
    (digest_name, *_), (algorithm_name, *_) = digest.children, algorithm.children
    if digest_name.content != _SHA256 or algorithm_name.content not in (_ECDSA_SHA256, _ECDSA_PLAIN):
        raise ValueError("signed by another algorithm")
    content = _expect(attributes, _FIRST).content
    return _Signer(
        issuer=issuer.whole,
        serial=int.from_bytes(_expect(serial, _INTEGER).content, "big", signed=True),
        attributes=_read_attributes(content),
        signed=bytes([_SET]) + _encode_length(len(content)) + content,
        signature=_expect(signature, _OCTETS).content,
    )


def _read_attributes(content: bytes) -> dict[bytes, _Element]:
    found: dict[bytes, _Element] = {}
    for attribute in _list_elements(content):
        name, values = attribute.children
        if name.content in found:
            raise ValueError("an attribute twice")
        found[name.content] = values
    return found


def _get(signer: _Signer, name: bytes, tag: int | None = None) -> _Element:
    if name not in signer.attributes:
        raise ValueError("an attribute is missing")
    (only,) = _expect(signer.attributes[name], _SET).children
    return only if tag is None else _expect(only, tag)


def _encode_length(length: int) -> bytes:
    if length < _OPEN_LENGTH:
        return bytes([length])
    digits = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([_OPEN_LENGTH | len(digits)]) + digits


def _check_chain(chain: _Chain, roots: Sequence[x509.Certificate], now: Instant) -> None:
    if not chain.is_authority:
        raise ValueError("the intermediate certificate may not sign others")
    if not (_is_valid(chain.leaf, now) and _is_valid(chain.intermediate, now)):
        raise ValueError("a certificate of the chain is not valid now")
    if not _has_issued(chain.intermediate, chain.leaf):
        raise ValueError("the intermediate certificate did not sign the leaf")
    if not any(_is_valid(root, now) and _has_issued(root, chain.intermediate) for root in roots):
        raise ValueError("no root signed the intermediate certificate")


def _has_issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    # The library raises TypeError over a key that cannot sign certificates.
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _is_valid(certificate: x509.Certificate, now: Instant) -> bool:
    begins, ends = to_instant(certificate.not_valid_before_utc), to_instant(certificate.not_valid_after_utc)
    return begins <= now < ends + SECOND


def _read_whole(source: bytes, tag: int) -> _Element:
    element, end = _read_element(source, 0, 0)
    if end != len(source):
        raise ValueError("there is more than one element")
    return _expect(element, tag)


def _list_elements(source: bytes) -> list[_Element]:
    found, at = [], 0
    while at < len(source):
        element, at = _read_element(source, at, 0)
        found.append(element)
    return found


def _expect(element: _Element, tag: int) -> _Element:
    if element.tag != tag:
        raise ValueError("an element with another tag was expected")
    return element


def _read_time(element: _Element) -> Instant:
    form = _TIME_FORMATS.get(element.tag)
    # strptime would take fewer digits.
    if form is None or len(element.content) != _TIME_LENGTHS[element.tag]:
        raise ValueError("not a time")
    return to_instant(datetime.strptime(element.content.decode("ascii"), form).replace(tzinfo=UTC))


def _read_element(source: bytes, at: int, depth: int) -> tuple[_Element, int]:
    """Returns the element that begins at a place, and the place where the next one begins."""
    if depth > _DEPTH_MAX:
        raise ValueError("nested too deeply")
    if at + 2 > len(source):
        raise ValueError("an element is cut off")
    tag = source[at]
    if tag & 0x1F == 0x1F:
        raise ValueError("tags of several bytes do not occur")
    if source[at + 1] == _OPEN_LENGTH:
        end = at + 2
        while source[end : end + 2] != _END:
            _, end = _read_element(source, end, depth + 1)
        return _Element(tag, source[at + 2 : end], source[at : end + len(_END)]), end + len(_END)
    length, begin = _read_length(source, at + 1)
    end = begin + length
    if end > len(source):
        raise ValueError("an element is longer than what holds it")
    return _Element(tag, source[begin:end], source[at:end]), end


def _read_length(source: bytes, at: int) -> tuple[int, int]:
    """Returns the length of an element, and the place where its content begins."""
    first = source[at]
    if first < _OPEN_LENGTH:
        return first, at + 1
    count = first & 0x7F
    digits = source[at + 1 : at + 1 + count]
    if not 1 <= count <= 4 or len(digits) != count:
        raise ValueError("a length that no element has")
    return int.from_bytes(digits, "big"), at + 1 + count
