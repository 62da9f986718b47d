"""The party of a passkey is the configured name, and a challenge is fresh for minutes; browsers test the rest."""

from __future__ import annotations

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.values import system_random_bytes
from tollgate.vault import passkeys
from tollgate.vault.passkeys import Party, PasskeyError


@pytest.mark.parametrize(
    ("base_url", "host", "is_live", "party"),
    [
        ("http://127.0.0.1:8080", "localhost:8080", False, Party("localhost", "http://localhost:8080")),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", False, None),
        ("http://127.0.0.1:8080", "localhost:evil", False, None),
        ("https://[::1]:8443", "[::1]:8443", False, None),
        ("https://127.0.0.1:8443", "localhost:8443", True, None),
        ("https://pay.example", "evil.example", True, Party("pay.example", "https://pay.example")),
        ("https://pay.example:443", "", True, Party("pay.example", "https://pay.example")),
        ("https://pay.example:8443", "10.0.0.1", False, Party("pay.example", "https://pay.example:8443")),
    ],
)
def test_the_party_is_the_configured_name_and_localhost_on_a_test_host(
    base_url: str, host: str, is_live: bool, party: Party | None
) -> None:
    assert passkeys.find_party(base_url, host, is_live=is_live) == party


def test_a_challenge_is_fresh_for_minutes_and_never_the_same() -> None:
    now = 1_000_000_000
    challenge = passkeys.make_challenge(now, system_random_bytes)

    assert challenge != passkeys.make_challenge(now, system_random_bytes)
    assert passkeys.is_fresh(challenge, now + LIMITS.passkey_challenge_lifetime)
    assert not passkeys.is_fresh(challenge, now + LIMITS.passkey_challenge_lifetime + 1)


@pytest.mark.parametrize(
    "answer",
    ["", "{}", "[]", "null", "nonsense", '{"id":1}', '{"id":"AA","rawId":"AA","type":"public-key","response":{}}'],
)
def test_an_answer_that_is_none_proves_nothing(answer: str) -> None:
    party = Party("localhost", "http://localhost")

    with pytest.raises(PasskeyError):
        passkeys.read_use(answer, party, b"challenge", [])
    with pytest.raises(PasskeyError):
        passkeys.read_new(answer, party, b"challenge", "user", "name", 1)
