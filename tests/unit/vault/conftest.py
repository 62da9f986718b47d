"""Providers of wallets for the tests of the vault, and the keys of a channel that trusts them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import SigningKey, WalletKey, WalletPublic
from tollgate.vault.keyring import Keyring, make_keyring
from tollgate.vault.wallets.loading import make_wallet_key
from wallet_mint import CHANNEL_ID, MERCHANT, NOW, RECIPIENT, Mint


@pytest.fixture(scope="session")
def mint(tmp_path_factory: pytest.TempPathFactory) -> Mint:
    return Mint(tmp_path_factory.mktemp("mint"))


@pytest.fixture(scope="session")
def ring() -> Keyring:
    return make_keyring()


@pytest.fixture(scope="session")
def publics(mint: Mint) -> Mapping[Wallet, WalletPublic]:
    return {
        Wallet.A: WalletPublic(recipient=MERCHANT, roots=(mint.read("root", "pem").decode(),)),
        Wallet.B: WalletPublic(recipient=RECIPIENT, signing_keys=(SigningKey(mint.read_public("root_signing")),)),
        Wallet.C: WalletPublic(),
    }


@pytest.fixture(scope="session")
def keys(mint: Mint, ring: Keyring, publics: Mapping[Wallet, WalletPublic]) -> Mapping[Wallet, WalletKey]:
    files = {Wallet.A: "recipient_a", Wallet.B: "recipient_b", Wallet.C: "recipient_c"}
    return {
        wallet: make_wallet_key(
            wallet, mint.read(name), channel_id=CHANNEL_ID, public=publics[wallet], keyring=ring, now=NOW
        )
        for wallet, name in files.items()
    }
