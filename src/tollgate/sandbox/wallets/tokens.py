"""Makes one token of each wallet, as the wallets' devices do. Which keys are used, the provider knows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)
from joserfc.jwe import encrypt_compact
from joserfc.jwk import RSAKey

from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.sandbox.wallets.request import GATEWAY_IDENTIFIER, MERCHANT_IDENTIFIER, Provider, TokenRequest
from tollgate.sandbox.wallets.signature import sign_message
from tollgate.values import DAY, Instant, RandomBytes

_CRYPTOGRAM_BYTES = 20
_MILLISECOND: Instant = 1000


def make_a(provider: Provider, request: TokenRequest, random_bytes: RandomBytes) -> str:
    recipient = _load_recipient(provider, Wallet.A)
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    parties = b"\x0did-aes256-GCMApple" + hashlib.sha256(MERCHANT_IDENTIFIER.encode()).digest()
    key = X963KDF(hashes.SHA256(), 32, parties).derive(ephemeral.exchange(ec.ECDH(), recipient))
    contents = {
        "applicationPrimaryAccountNumber": request.number,
        "applicationExpirationDate": f"{request.expiry_year[2:]}{request.expiry_month}28",
        "currencyCode": CURRENCIES[request.currency].numeric,
        "transactionAmount": request.amount_hundredths,
        "paymentDataType": "3DSecure",
        "paymentData": {"onlinePaymentCryptogram": _make_cryptogram(random_bytes), "eciIndicator": "07"},
    }
    encrypted = AESGCM(key).encrypt(bytes(16), _write(contents), None)
    point = ephemeral.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
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
    point = intermediate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
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
    recipient = load_der_public_key(provider.recipients[Wallet.C])
    public_pem = recipient.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    algorithms = {"alg": "RSA-OAEP", "enc": "A128GCM"}
    return encrypt_compact(algorithms, _write(contents), RSAKey.import_key(public_pem), list(algorithms.values()))


MAKERS: Mapping[Wallet, Callable[[Provider, TokenRequest, RandomBytes], str]] = MappingProxyType(
    {Wallet.A: make_a, Wallet.B: make_b, Wallet.C: make_c}
)


def _encrypt_b(plain: bytes, recipient: ec.EllipticCurvePublicKey) -> str:
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    point = ephemeral.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = ephemeral.exchange(ec.ECDH(), recipient)
    keys = HKDF(hashes.SHA256(), 64, salt=bytes(32), info=b"Google").derive(point + shared)
    closing = Cipher(AES(keys[:32]), CTR(bytes(16))).encryptor()
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
    key = load_der_public_key(provider.recipients[wallet])
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise TypeError("the provider keeps a key of another kind")
    return key


def _load_private(source: bytes) -> ec.EllipticCurvePrivateKey:
    key = load_der_private_key(source, None)
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
