"""A signature over facts fits these facts, this purpose and this key, and nothing else."""

from __future__ import annotations

import pytest

from tollgate.vault.keyring import make_keyring
from tollgate.vault.signing import make_mac

KEYRING = make_keyring()
FACTS = ("8a01", 100, None, "EUR")


def test_the_same_facts_have_the_same_signature() -> None:
    assert make_mac("money", FACTS, KEYRING) == make_mac("money", list(FACTS), KEYRING)


@pytest.mark.parametrize(
    "others",
    [
        ("8a02", 100, None, "EUR"),
        ("8a01", 101, None, "EUR"),
        ("8a01", 100, "", "EUR"),
        ("8a01", 100, "null", "EUR"),
        ("8a01", "100", None, "EUR"),
        ("8a01", 100, "EUR", None),
        ("8a01", 100, None, "EUR", None),
        ('8a01",100', None, "EUR"),
        ("8a0", 1100, None, "EUR"),
    ],
)
def test_other_facts_have_another_signature(others: tuple[str | int | None, ...]) -> None:
    """This holds also where the facts read the same when joined without care."""
    assert make_mac("money", others, KEYRING) != make_mac("money", FACTS, KEYRING)


def test_another_purpose_has_another_signature() -> None:
    assert make_mac("money", FACTS, KEYRING) != make_mac("book", FACTS, KEYRING)


def test_without_the_key_no_signature_fits() -> None:
    assert make_mac("money", FACTS, make_keyring())[1:] != make_mac("money", FACTS, KEYRING)[1:]


def test_a_signature_begins_with_the_version_of_its_key_and_has_a_fixed_length() -> None:
    signature = make_mac("money", FACTS, KEYRING)

    assert signature[0] == KEYRING.fingerprint_version
    assert len(signature) == 1 + 32
