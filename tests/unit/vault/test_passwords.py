"""One-time codes agree with the standard, recovery codes and passwords with their rules, tokens with their forms."""

from __future__ import annotations

import base64

import pytest
from argon2 import PasswordHasher

from tollgate.values import SECOND, Secret
from tollgate.vault import passwords
from tollgate.vault.keyring import make_keyring

SEED = base64.b32encode(b"12345678901234567890").decode()
"""The seed of RFC 6238, appendix B."""
RFC_CODES = (
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
)


@pytest.mark.parametrize(("at_s", "code"), RFC_CODES)
def test_codes_are_the_last_six_digits_of_the_vectors_of_rfc_6238(at_s: int, code: str) -> None:
    step = passwords.find_totp_step(Secret(SEED), Secret(code[-6:]), at_s * SECOND)

    assert step == at_s // passwords.TOTP_STEP_S


@pytest.mark.parametrize(("steps", "is_taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_code_is_taken_one_step_early_or_late_and_no_more(steps: int, is_taken: bool) -> None:
    at_s, code = RFC_CODES[3]

    step = passwords.find_totp_step(Secret(SEED), Secret(code[-6:]), (at_s + 30 * steps) * SECOND)

    assert (step is not None) is is_taken


@pytest.mark.parametrize("code", ["", "89005924", "005925", "\uff15", "0059 25"])
def test_any_other_text_is_no_code(code: str) -> None:
    assert passwords.find_totp_step(Secret(SEED), Secret(code), RFC_CODES[3][0] * SECOND) is None


def test_a_pending_secret_opens_in_its_session_only() -> None:
    keyring = make_keyring()
    sealed = passwords.seal_pending_totp(Secret(SEED), "first", keyring)

    assert passwords.read_pending_totp(sealed, "first", keyring) is not None
    assert passwords.read_pending_totp(sealed, "second", keyring) is None
    assert passwords.read_pending_totp("nonsense", "first", keyring) is None


class CountingHasher:
    """Hashes quickly, and notes what it was asked for."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        self.done: list[str] = []

    def hash(self, password: str) -> str:
        self.done.append("hash")
        return self._hasher.hash(password)

    def verify(self, password_hash: str, password: str) -> bool:
        self.done.append("verify")
        return self._hasher.verify(password_hash, password)


@pytest.mark.parametrize("is_known", [True, False])
def test_the_first_sign_in_does_the_same_work_for_known_and_unknown_names(
    monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    hasher = CountingHasher()
    monkeypatch.setattr(passwords, "_hasher", hasher)
    passwords._hash_nobody.cache_clear()
    stored = hasher._hasher.hash("a password of a user") if is_known else None

    assert passwords.is_password(Secret("a password of a user"), stored) is is_known

    assert hasher.done == ["hash", "verify"]
    passwords._hash_nobody.cache_clear()


def test_the_picture_has_no_style_and_no_script() -> None:
    picture = passwords.render_totp_picture(Secret(SEED), "jane", "Tollgate")

    assert picture.startswith("<svg")
    assert "style" not in picture
    assert "<script" not in picture


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("elevenchars", "12 to 256"),
        ("a" * 257, "12 to 256"),
        ("aaaaaaaaaaaa", "different"),
        ("my name is Jane!", "user name"),
        ("correct horse battery", None),
    ],
)
def test_a_new_password_is_long_and_not_made_of_the_name(password: str, fault: str | None) -> None:
    found = passwords.find_password_fault(Secret(password), "jane")

    assert found is None if fault is None else fault in (found or "")


def test_recovery_codes_differ_and_belong_to_one_user() -> None:
    keyring = make_keyring()
    made = passwords.make_recovery_codes()
    hashes = {passwords.hash_recovery_code(code, "jane", keyring) for code in made}

    assert len(hashes) == passwords.RECOVERY_CODES
    shown = Secret(passwords.show_recovery_code(made[0]).upper())
    assert passwords.hash_recovery_code(shown, "jane", keyring) in hashes
    assert passwords.hash_recovery_code(made[0], "john", keyring) not in hashes
