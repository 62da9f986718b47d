"""The private keys of channels, which open wallet tokens: checked, sealed and unsealed.

The tokens themselves are opened elsewhere.
"""

import hashlib
from collections.abc import Callable

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import WalletKey, WalletPublic
from tollgate.values import ChannelId, Instant, RandomBytes, make_id
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import open_sealed, seal
from tollgate.vault.wallets.contents import WalletKeyError, get_wallet_key_owner

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

_RSA_BITS_MIN = 2048


class UnsealedKey(msgspec.Struct, frozen=True):
    """A channel's key while a token is being opened; the private key is unsealed only when it is needed."""

    public: WalletPublic
    unseal: Callable[[], PrivateKey]

    def get_curve_key(self) -> ec.EllipticCurvePrivateKey:
        key = self.unseal()
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("a key of another type was sealed for this wallet")
        return key

    def get_rsa_key(self) -> rsa.RSAPrivateKey:
        key = self.unseal()
        if not isinstance(key, rsa.RSAPrivateKey):
            raise TypeError("a key of another type was sealed for this wallet")
        return key


def check_wallet_key(
    wallet: Wallet, pem: bytes, public: WalletPublic, *, is_new: bool
) -> tuple[PrivateKey, WalletPublic]:
    """Checks a key when an operator imports it, so that no shopper's payment fails because of it."""
    try:
        private = _narrow(serialization.load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=is_new))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise WalletKeyError("the private key is not a PEM file with an EC or RSA key and without password") from None
    _check_key(wallet, private)
    _check_public(wallet, public)
    encoded = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private, msgspec.structs.replace(public, key_hash=hashlib.sha256(encoded).digest())


def seal_wallet_key(
    wallet: Wallet,
    private: PrivateKey,
    channel_id: ChannelId,
    public: WalletPublic,
    *,
    keyring: Keyring,
    now: Instant,
    random_bytes: RandomBytes,
) -> WalletKey:
    key_id = make_id(random_bytes)
    owner = get_wallet_key_owner(channel_id, key_id)
    plain = private.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return WalletKey(
        id=key_id,
        channel_id=channel_id,
        wallet=wallet,
        created_at=now,
        public=public,
        sealed_key=seal(plain, owner=owner, keyring=keyring, random_bytes=random_bytes),
    )


def unseal_wallet_key(key: WalletKey, keyring: Keyring) -> UnsealedKey:
    def unseal() -> PrivateKey:
        owner = get_wallet_key_owner(key.channel_id, key.id)
        plain = open_sealed(key.sealed_key, owner=owner, keyring=keyring)
        # The key was checked when it was sealed, and checking an RSA key takes longer than using it.
        return _narrow(serialization.load_der_private_key(plain, None, unsafe_skip_rsa_key_validation=True))

    return UnsealedKey(key.public, unseal)


def _narrow(key: object) -> PrivateKey:
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise TypeError("neither an EC key nor an RSA key")
    return key


def _check_key(wallet: Wallet, key: PrivateKey) -> None:
    if wallet is Wallet.C:
        if not isinstance(key, rsa.RSAPrivateKey) or key.key_size < _RSA_BITS_MIN:
            raise WalletKeyError(f"this wallet takes an RSA key of {_RSA_BITS_MIN} bits or more")
    elif not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise WalletKeyError("this wallet takes an EC key on the curve P-256")


def _check_public(wallet: Wallet, public: WalletPublic) -> None:
    if wallet is Wallet.A and not (public.recipient and public.roots):
        raise WalletKeyError("this wallet takes the merchant identifier and the root certificates of its provider")
    if wallet is Wallet.B and not (public.recipient.startswith(("gateway:", "merchant:")) and public.signing_keys):
        raise WalletKeyError("this wallet takes a recipient, gateway:... or merchant:..., and its root signing keys")
    try:
        for root in public.roots:
            x509.load_pem_x509_certificate(root.encode())
        for signing_key in public.signing_keys:
            if not isinstance(serialization.load_der_public_key(signing_key.key), ec.EllipticCurvePublicKey):
                raise WalletKeyError("root signing keys are EC keys")
    except (ValueError, UnsupportedAlgorithm):
        raise WalletKeyError("a root certificate or root signing key cannot be read") from None
