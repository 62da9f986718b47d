"""The keys of wallets are checked when they are given, and sealed to their row."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import SigningKey, WalletKey, WalletPublic
from tollgate.values import ChannelId, Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import EnvelopeError, open_sealed
from tollgate.vault.wallets.contents import WalletKeyError, get_wallet_key_owner
from tollgate.vault.wallets.loading import make_wallet_key, open_wallet_token
from wallet_mint import CHANNEL_ID, NOW, Mint

Keys = Mapping[Wallet, WalletKey]
Publics = Mapping[Wallet, WalletPublic]


def make(wallet: Wallet, pem: bytes, public: WalletPublic, ring: Keyring) -> WalletKey:
    return make_wallet_key(wallet, pem, channel_id=CHANNEL_ID, public=public, keyring=ring, now=NOW)


@pytest.mark.parametrize(
    ("wallet", "file", "complaint"),
    [
        (Wallet.A, "recipient_c", "P-256"),
        (Wallet.B, "recipient_c", "P-256"),
        (Wallet.C, "recipient_a", "RSA"),
        (Wallet.A, "wide", "P-256"),
        (Wallet.C, "short", "2048"),
    ],
)
def test_a_key_that_fits_another_wallet_is_refused(
    mint: Mint, publics: Publics, ring: Keyring, wallet: Wallet, file: str, complaint: str
) -> None:
    mint.make_curve_key("wide", "secp384r1")
    subprocess.run(["openssl", "genrsa", "-out", mint.path("short", "key"), "1024"], capture_output=True, check=True)

    with pytest.raises(WalletKeyError, match=complaint):
        make(wallet, mint.read(file), publics[wallet], ring)


@pytest.mark.parametrize("pem", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused(publics: Publics, ring: Keyring, pem: bytes) -> None:
    with pytest.raises(WalletKeyError, match="PEM"):
        make(Wallet.A, pem, publics[Wallet.A], ring)


@pytest.mark.parametrize(
    ("wallet", "changes"),
    [
        (Wallet.A, {"recipient": ""}),
        (Wallet.A, {"roots": ()}),
        (Wallet.A, {"roots": ("no certificate",)}),
        (Wallet.B, {"recipient": ""}),
        (Wallet.B, {"recipient": "tollgate"}),
        (Wallet.B, {"signing_keys": ()}),
        (Wallet.B, {"signing_keys": (SigningKey(b"no key"),)}),
    ],
    ids=str,
)
def test_what_a_token_is_checked_against_must_be_given(
    mint: Mint, publics: Publics, ring: Keyring, wallet: Wallet, changes: dict[str, object]
) -> None:
    file = {Wallet.A: "recipient_a", Wallet.B: "recipient_b"}[wallet]

    with pytest.raises(WalletKeyError):
        make(wallet, mint.read(file), replace(publics[wallet], **changes), ring)


def test_a_root_signing_key_is_a_curve_key(mint: Mint, publics: Publics, ring: Keyring) -> None:
    public = replace(publics[Wallet.B], signing_keys=(SigningKey(mint.read_public("recipient_c")),))

    with pytest.raises(WalletKeyError, match="EC"):
        make(Wallet.B, mint.read("recipient_b"), public, ring)


@pytest.mark.parametrize("wallet", Wallet)
def test_a_sealed_key_opens_in_its_own_row_only(keys: Keys, ring: Keyring, wallet: Wallet) -> None:
    key = keys[wallet]

    assert open_sealed(key.sealed_key, owner=get_wallet_key_owner(key.channel_id, key.id), keyring=ring)
    for moved in (replace(key, id="8a01"), replace(key, channel_id=ChannelId("8a02"))):
        with pytest.raises(EnvelopeError):
            open_sealed(key.sealed_key, owner=get_wallet_key_owner(moved.channel_id, moved.id), keyring=ring)


def test_a_broken_envelope_is_our_own_fault_and_not_the_tokens(mint: Mint, keys: Keys, ring: Keyring) -> None:
    token = Secret(mint.make_token(mint.request_b(NOW)))

    with pytest.raises(EnvelopeError):
        open_wallet_token(Wallet.B, token, [replace(keys[Wallet.B], id="8a01")], ring, NOW)
