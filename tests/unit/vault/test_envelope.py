"""Envelopes open for their owner under their key, and for nobody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.vault.keyring import Keyring, KeyringError, make_keyring
from tollgate.vault.sealing import EnvelopeError, open_sealed, rewrap, seal, sealed_prefix, sealing_key_id

KEYRING = make_keyring()
OWNER = "payment/8a01/8a02"


@given(st.binary(max_size=2000), st.text(max_size=100))
def test_what_was_sealed_opens_for_its_owner(plain: bytes, owner: str) -> None:
    sealed = seal(plain, owner=owner, keyring=KEYRING)

    assert open_sealed(sealed, owner=owner, keyring=KEYRING) == plain
    assert len(plain) < 8 or plain not in sealed


def test_another_row_cannot_open_it() -> None:
    sealed = seal(b"secret", owner=OWNER, keyring=KEYRING)

    with pytest.raises(EnvelopeError):
        open_sealed(sealed, owner="payment/8a01/8a03", keyring=KEYRING)


def test_a_change_of_any_byte_is_noticed() -> None:
    sealed = seal(b"secret", owner=OWNER, keyring=KEYRING)

    for place in range(len(sealed)):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        with pytest.raises((EnvelopeError, KeyringError)):
            open_sealed(changed, owner=OWNER, keyring=KEYRING)


@pytest.mark.parametrize("sealed", [b"", b"\x01", b"\x02" * 200, b"\x01" * 50])
def test_what_is_no_envelope_does_not_open(sealed: bytes) -> None:
    with pytest.raises(EnvelopeError):
        open_sealed(sealed, owner=OWNER, keyring=KEYRING)


def test_each_record_has_its_own_key_and_nonce() -> None:
    envelopes = [seal(b"the same", owner=OWNER, keyring=KEYRING) for _ in range(50)]

    assert len({each[5:] for each in envelopes}) == 50
    assert len({each[65:77] for each in envelopes}) == 50


def test_a_rewrapped_record_opens_under_the_new_key_alone() -> None:
    sealed = seal(b"secret", owner=OWNER, keyring=KEYRING)
    both = KEYRING.with_new_key()

    fresh = rewrap(sealed, owner=OWNER, keyring=both)

    alone = both.without_retired_keys()
    assert sealing_key_id(fresh) == both.active_id != KEYRING.active_id
    assert fresh.startswith(sealed_prefix(both.active_id))
    assert open_sealed(fresh, owner=OWNER, keyring=alone) == b"secret"
    with pytest.raises(KeyringError):
        open_sealed(sealed, owner=OWNER, keyring=alone)


def test_the_key_named_in_an_envelope_is_part_of_what_is_sealed() -> None:
    """Two ids for one key: an envelope cannot be relabelled from one to the other."""
    key = b"k" * 32
    ring = Keyring({b"aaaa": key, b"bbbb": key}, b"aaaa", b"f" * 32)
    sealed = seal(b"secret", owner=OWNER, keyring=ring)

    with pytest.raises(EnvelopeError):
        open_sealed(sealed[:1] + b"bbbb" + sealed[5:], owner=OWNER, keyring=ring)


def test_an_error_of_the_vault_says_nothing_of_the_content() -> None:
    sealed = seal(b"4200000000000000", owner=OWNER, keyring=KEYRING)

    with pytest.raises(EnvelopeError) as refused:
        open_sealed(sealed, owner="other", keyring=KEYRING)

    assert refused.value.__cause__ is None
    assert "4200" not in str(refused.value)
