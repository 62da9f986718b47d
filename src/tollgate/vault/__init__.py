"""Seals and opens what must not be stored in clear, with keys from a ring that can be rotated. Talks to no database."""

from tollgate.vault.accounts import name_owner, open_account, open_hidden, seal_account
from tollgate.vault.archive import (
    archive_keys,
    destroy_archived_keys,
    make_archive_key,
    read_archive,
    restore_keys,
)
from tollgate.vault.envelope import EnvelopeError, open_sealed, rewrap, seal, sealed_prefix, sealing_key_id
from tollgate.vault.exposure import find_exposed
from tollgate.vault.fingerprint import fingerprint
from tollgate.vault.keyring import Keyring, load_keyring, make_keyring, save_keyring
from tollgate.vault.macs import MAC_BYTES, make_mac
from tollgate.vault.once import hash_once_key, make_once_key, open_once, seal_once
from tollgate.vault.prints import (
    fingerprint_account,
    shows_face,
)
from tollgate.vault.private_files import KeyringError, hold_alone
from tollgate.vault.tokens import (
    NewCredential,
    TokenError,
    hash_kept_token,
    hash_token,
    keep_credential,
    make_credential,
    make_token,
    open_token,
    show_token,
)
from tollgate.vault.wallets import (
    WalletKeyError,
    WalletTokenError,
    make_wallet_key,
    name_wallet_key_owner,
    open_wallet_token,
)

__all__ = [
    "MAC_BYTES",
    "EnvelopeError",
    "Keyring",
    "KeyringError",
    "NewCredential",
    "TokenError",
    "WalletKeyError",
    "WalletTokenError",
    "archive_keys",
    "destroy_archived_keys",
    "find_exposed",
    "fingerprint",
    "fingerprint_account",
    "hash_kept_token",
    "hash_once_key",
    "hash_token",
    "hold_alone",
    "keep_credential",
    "load_keyring",
    "make_archive_key",
    "make_credential",
    "make_keyring",
    "make_mac",
    "make_once_key",
    "make_token",
    "make_wallet_key",
    "name_owner",
    "name_wallet_key_owner",
    "open_account",
    "open_hidden",
    "open_once",
    "open_sealed",
    "open_token",
    "open_wallet_token",
    "read_archive",
    "restore_keys",
    "rewrap",
    "save_keyring",
    "seal",
    "seal_account",
    "seal_once",
    "sealed_prefix",
    "sealing_key_id",
    "show_token",
    "shows_face",
]
