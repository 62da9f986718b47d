"""Whatever bytes come as a wallet's token, they open as what was made, or fail like all others."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, WalletKey
from tollgate.values import Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets import wallet_a
from tollgate.vault.wallets.contents import WalletTokenError
from tollgate.vault.wallets.loading import open_wallet_token
from wallet_mint import NOW, Mint

STRIDE = 7
"""The usual run flips every seventh character, and together with `make prove` every one is flipped."""

Keys = Mapping[Wallet, WalletKey]

QUIET = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)

HEADER_MEMBERS = ("alg", "enc", "zip", "crit", "kid", "typ", "cty", "jwk", "jku", "x5c", "x5t", "epk", "tag", "use")

MONSTERS = (
    "",
    "{",
    "{}",
    "[]",
    "null",
    "\x00",
    "\ud800",
    "é" * 100,
    "." * 4,
    "a.b.c.d.e",
    "[" * 60_000,
    '{"3DS":' * 8000,
    '{"header":' * 6000 + "1" + "}" * 6000,
    "A" * (LIMITS.wallet_token_length_max + 1),
    '{"version":"EC_v1","data":"","signature":"","header":{}}',
    "eyJhbGciOiJub25lIn0....",
    "W10.W10.W10.W10.W10",
)


@pytest.fixture(scope="session")
def good(mint: Mint) -> dict[Wallet, str]:
    requests = (mint.request_a(NOW), mint.request_b(NOW), mint.request_c(NOW, alg="RSA1_5", wrapped=True))
    return dict(zip(Wallet, mint.make_tokens(requests), strict=True))


def try_to_open(wallet: Wallet, text: str, keys: Keys, ring: Keyring) -> OpenedWallet | None:
    try:
        return open_wallet_token(wallet, Secret(text), [keys[wallet]], ring, NOW)
    except WalletTokenError as refusal:
        if refusal.is_expired:
            raise
        return None


@pytest.mark.parametrize("wallet", Wallet)
@pytest.mark.parametrize("text", MONSTERS, ids=range(len(MONSTERS)))
def test_monsters_do_not_open(keys: Keys, ring: Keyring, wallet: Wallet, text: str) -> None:
    assert try_to_open(wallet, text, keys, ring) is None


def test_a_token_may_be_long_and_not_too_long(keys: Keys, ring: Keyring, good: Mapping[Wallet, str]) -> None:
    for wallet in (Wallet.A, Wallet.B):
        longest = good[wallet].ljust(LIMITS.wallet_token_length_max)

        assert try_to_open(wallet, longest, keys, ring) is not None
        assert try_to_open(wallet, longest + " ", keys, ring) is None


@QUIET
@given(raw=st.binary(max_size=300))
@example(raw=b"\x30\x80" * 100)
def test_arbitrary_bytes_do_not_open(keys: Keys, ring: Keyring, raw: bytes) -> None:
    for wallet in Wallet:
        assert try_to_open(wallet, raw.decode("latin-1"), keys, ring) is None


@QUIET
@given(drawn=st.data())
def test_a_token_with_one_value_replaced_opens_as_itself_or_not_at_all(
    keys: Keys, ring: Keyring, good: Mapping[Wallet, str], drawn: st.DataObject
) -> None:
    for wallet, text in good.items():
        token = json.loads(text)
        before = try_to_open(wallet, text, keys, ring)
        holders = [token, *(each for each in token.values() if isinstance(each, dict))]
        holder = drawn.draw(st.sampled_from(holders))
        holder[drawn.draw(st.sampled_from(sorted(holder)))] = drawn.draw(JSON_VALUES)

        after = try_to_open(wallet, json.dumps(token), keys, ring)

        assert after is None or (before is not None and after.unique == before.unique)


@QUIET
@given(drawn=st.data())
def test_a_changed_signature_does_not_open_or_is_the_same_token(
    keys: Keys, ring: Keyring, good: Mapping[Wallet, str], drawn: st.DataObject
) -> None:
    """The signature holds certificates, which are parsed before anything is known to be authentic."""
    token = json.loads(good[Wallet.A])
    before = try_to_open(Wallet.A, good[Wallet.A], keys, ring)
    signature = bytearray(base64.b64decode(token["signature"]))
    for _ in range(drawn.draw(st.integers(1, 3))):
        place = drawn.draw(st.integers(0, len(signature) - 1))
        signature[place : place + drawn.draw(st.integers(0, 2))] = drawn.draw(st.binary(max_size=2))
    token["signature"] = base64.b64encode(bytes(signature)).decode()

    after = try_to_open(Wallet.A, json.dumps(token), keys, ring)

    assert after is None or (before is not None and after.unique == before.unique)


@QUIET
@given(members=st.dictionaries(st.sampled_from(HEADER_MEMBERS), JSON_VALUES, max_size=4), rest=st.text(max_size=40))
@example(members={"crit": None}, rest="a.b.c.d")
@example(members={"zip": None}, rest="AAAA.AAAA.AAAA.AAAA")
def test_a_header_with_odd_members_does_not_open(
    keys: Keys, ring: Keyring, members: Mapping[str, object], rest: str
) -> None:
    header = {"alg": "RSA-OAEP", "enc": "A128GCM", **members}
    encoded = base64.urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")

    for ending in (rest, "AAAA.AAAA.AAAA.AAAA", "AAAA.AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA"):
        assert try_to_open(Wallet.C, f"{encoded}.{ending}", keys, ring) is None


@pytest.mark.parametrize("bug", [AttributeError, AssertionError, TypeError, LookupError])
def test_a_bug_of_ours_is_not_taken_for_a_forged_token(
    keys: Keys, ring: Keyring, good: Mapping[Wallet, str], monkeypatch: pytest.MonkeyPatch, bug: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise bug

    monkeypatch.setattr(wallet_a, "make_opened", fail)

    with pytest.raises(bug):
        try_to_open(Wallet.A, good[Wallet.A], keys, ring)


def flip_places(
    places: Iterable[int], wallet: Wallet, text: str, keys: Keys, ring: Keyring, bit: int = 1
) -> tuple[int, int]:
    """(how many flipped tokens opened, how many did not)"""
    before = try_to_open(wallet, text, keys, ring)
    assert before is not None
    opened = closed = 0
    for place in places:
        flipped = text[:place] + chr(ord(text[place]) ^ bit) + text[place + 1 :]
        after = try_to_open(wallet, flipped, keys, ring)
        if after is None:
            closed += 1
            continue
        opened += 1
        assert after.unique == before.unique
        assert after.card.account.number.matches(before.card.account.number)
    return opened, closed


@pytest.mark.parametrize("wallet", Wallet)
def test_a_token_with_one_character_flipped_opens_as_itself_or_not_at_all(
    keys: Keys, ring: Keyring, good: Mapping[Wallet, str], wallet: Wallet
) -> None:
    """Some characters say nothing, such as those of names that are not read; a copy of a token is still that token."""
    text = good[wallet]

    opened, closed = flip_places(range(0, len(text), STRIDE), wallet, text, keys, ring)

    assert closed > 20 * opened


@pytest.mark.prove
@pytest.mark.parametrize("bit", [1, 4, 32])
@pytest.mark.parametrize("wallet", Wallet)
def test_no_flip_anywhere_makes_another_token(
    keys: Keys, ring: Keyring, good: Mapping[Wallet, str], wallet: Wallet, bit: int
) -> None:
    text = good[wallet]

    opened, closed = flip_places(range(len(text)), wallet, text, keys, ring, bit)

    assert closed > 20 * opened
