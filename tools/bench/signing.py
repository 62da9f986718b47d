"""Signs payments that are filled in by the thousand, as the server would have. Measures nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tollgate.operations.signing import make_signature
from tollgate.store.payments import PAYMENTS
from tollgate.vault.keyring import load_keyring

Sign = Callable[..., bytes]
"""Returns the signature of the specimen with other values of the members that are named."""


def make_signer(row: Mapping[str, Any], key_path: Path) -> Sign:
    """Makes the signer for copies of one stored payment: no row with a wrong signature is listed or refunded."""
    keyring, specimen = load_keyring(key_path), PAYMENTS.decode(tuple(row[name] for name in PAYMENTS.names))
    return lambda **varied: make_signature(replace(specimen, **varied), keyring)
