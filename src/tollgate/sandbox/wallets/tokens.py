"""Makes the simulated wallet provider's keys, certificates, signatures and tokens.

Where they are stored is not known here.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, aead, algorithms, modes
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf import hkdf, x963kdf
from joserfc.jwe import encrypt_compact
from joserfc.jwk import RSAKey

from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.sandbox.wallets.provider import GATEWAY_IDENTIFIER, MERCHANT_IDENTIFIER, Provider, TokenRequest
from tollgate.values import DAY, Instant, RandomBytes, to_datetime

_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

# However far the clock of a test host is moved, its certificates are valid.
_BEGIN, _END = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_LEAF_MARK, _INTERMEDIATE_MARK = "1.2.840.113635.100.6.29", "1.2.840.113635.100.6.2.14"
_NOTHING = b"\x05\x00"


class Secrets(msgspec.Struct, frozen=True):
    provider: Provider
    signing_public: bytes
    private_keys: dict[Wallet, bytes]
    """The private keys of the channels, by wallet, as PEM."""


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
        roots=(root.public_bytes(serialization.Encoding.PEM).decode(),),
        certificates=(
            leaf.public_bytes(serialization.Encoding.DER),
            intermediate.public_bytes(serialization.Encoding.DER),
        ),
        leaf_key=_spell(leaf_key, serialization.Encoding.DER),
        signing_key=_spell(signing_key, serialization.Encoding.DER),
        recipients={wallet: _spell_public(key) for wallet, key in keys.items()},
    )
    private_keys = {wallet: _spell(key, serialization.Encoding.PEM) for wallet, key in keys.items()}
    return Secrets(provider, _spell_public(signing_key), private_keys)


def _issue(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    issuer: x509.Certificate | None = None,
    mark: str | None = None,
) -> x509.Certificate:
    """Issues a certificate. Without an issuer it is the root, and all but the leaf may issue others."""
    subject = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])
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


def _spell(key: _Key, encoding: serialization.Encoding) -> bytes:
    return key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _spell_public(key: _Key) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


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
        _encode_name(_SHA256),
        _element(_FIRST, attributes),
        _encode_name(_ECDSA_SHA256),
        _element(_OCTETS, signature),
    )
    body = _element(
        _SEQUENCE,
        _element(_INTEGER, b"\x01"),
        _element(_SET, _encode_name(_SHA256)),
        _encode_name(_PLAIN_BYTES),
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


def _encode_name(name: bytes) -> bytes:
    return _element(_SEQUENCE, _element(_NAME, name))


def _element(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    digits = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + content


_CRYPTOGRAM_BYTES = 20
_MILLISECOND: Instant = 1000


def make_a(provider: Provider, request: TokenRequest, random_bytes: RandomBytes) -> str:
    recipient = _load_recipient(provider, Wallet.A)
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    parties = b"\x0did-aes256-GCMApple" + hashlib.sha256(MERCHANT_IDENTIFIER.encode()).digest()
    key = x963kdf.X963KDF(hashes.SHA256(), 32, parties).derive(ephemeral.exchange(ec.ECDH(), recipient))
    contents = {
        "applicationPrimaryAccountNumber": request.number,
        "applicationExpirationDate": f"{request.expiry_year[2:]}{request.expiry_month}28",
        "currencyCode": CURRENCIES[request.currency].numeric,
        "transactionAmount": request.amount_hundredths,
        "paymentDataType": "3DSecure",
        "paymentData": {"onlinePaymentCryptogram": _make_cryptogram(random_bytes), "eciIndicator": "07"},
    }
    encrypted = aead.AESGCM(key).encrypt(bytes(16), _write(contents), None)
    point = ephemeral.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    transaction = random_bytes(32)
    signature = sign_message(
        point + encrypted + transaction, provider.certificates, _load_private(provider.leaf_key), request.made_at
    )
    header = {
        "ephemeralPublicKey": _encode(point),
        "publicKeyHash": _encode(hashlib.sha256(provider.recipients[Wallet.A]).digest()),
        "transactionId": transaction.hex(),
    }
    token = {"version": "EC_v1", "data": _encode(encrypted), "signature": _encode(signature), "header": header}
    return _write(token).decode()


def make_b(provider: Provider, request: TokenRequest, random_bytes: RandomBytes) -> str:
    intermediate = ec.generate_private_key(ec.SECP256R1())
    point = intermediate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    key_expiration = _spell_milliseconds(request.made_at + DAY)
    signed_key = _write({"keyValue": _encode(point), "keyExpiration": key_expiration}).decode()
    card = {
        "pan": request.number,
        "expirationMonth": int(request.expiry_month),
        "expirationYear": int(request.expiry_year),
        "authMethod": "CRYPTOGRAM_3DS",
        "cryptogram": _make_cryptogram(random_bytes),
        "eciIndicator": "05",
    }
    contents = {
        "messageExpiration": _spell_milliseconds(request.made_at + LIMITS.wallet_token_age),
        "messageId": random_bytes(16).hex(),
        "paymentMethod": "CARD",
        "paymentMethodDetails": card,
    }
    message = _encrypt_b(_write(contents), _load_recipient(provider, Wallet.B))
    root = _load_private(provider.signing_key)
    token = {
        "protocolVersion": "ECv2",
        "signature": _sign_parts(intermediate, "Google", GATEWAY_IDENTIFIER, "ECv2", message),
        "intermediateSigningKey": {
            "signedKey": signed_key,
            "signatures": [_sign_parts(root, "Google", "ECv2", signed_key)],
        },
        "signedMessage": message,
    }
    return _write(token).decode()


def make_c(provider: Provider, request: TokenRequest, random_bytes: RandomBytes) -> str:
    contents = {
        "amount": str(request.amount_hundredths),
        "currency_code": request.currency,
        "utc": _spell_milliseconds(request.made_at),
        "eci_indicator": "05",
        "tokenPAN": request.number,
        "tokenPanExpiration": request.expiry_month + request.expiry_year[2:],
        "cryptogram": _make_cryptogram(random_bytes),
    }
    recipient = serialization.load_der_public_key(provider.recipients[Wallet.C])
    public_pem = recipient.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "RSA-OAEP", "enc": "A128GCM"}
    return encrypt_compact(header, _write(contents), RSAKey.import_key(public_pem), list(header.values()))


MAKERS: Mapping[Wallet, Callable[[Provider, TokenRequest, RandomBytes], str]] = MappingProxyType(
    {Wallet.A: make_a, Wallet.B: make_b, Wallet.C: make_c}
)


def _encrypt_b(plain: bytes, recipient: ec.EllipticCurvePublicKey) -> str:
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    point = ephemeral.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
    shared = ephemeral.exchange(ec.ECDH(), recipient)
    keys = hkdf.HKDF(hashes.SHA256(), 64, salt=bytes(32), info=b"Google").derive(point + shared)
    closing = Cipher(algorithms.AES(keys[:32]), modes.CTR(bytes(16))).encryptor()
    encrypted = closing.update(plain) + closing.finalize()
    mac = HMAC(keys[32:], hashes.SHA256())
    mac.update(encrypted)
    message = {
        "encryptedMessage": _encode(encrypted),
        "ephemeralPublicKey": _encode(point),
        "tag": _encode(mac.finalize()),
    }
    return _write(message).decode()


def _sign_parts(key: ec.EllipticCurvePrivateKey, *parts: str) -> str:
    encoded = [part.encode() for part in parts]
    joined = b"".join(len(part).to_bytes(4, "little") + part for part in encoded)
    return _encode(key.sign(joined, ec.ECDSA(hashes.SHA256())))


def _load_recipient(provider: Provider, wallet: Wallet) -> ec.EllipticCurvePublicKey:
    key = serialization.load_der_public_key(provider.recipients[wallet])
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise TypeError("the provider keeps a key of another kind")
    return key


def _load_private(source: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_der_private_key(source, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("the provider keeps a key of another kind")
    return key


def _make_cryptogram(random_bytes: RandomBytes) -> str:
    return _encode(random_bytes(_CRYPTOGRAM_BYTES))


def _spell_milliseconds(instant: Instant) -> str:
    return str(instant // _MILLISECOND)


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _write(value: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(value)
