"""Tokens of walletC, made by Node: authentic ones open, and whatever else fails alike, however it is padded."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, WalletKey
from tollgate.values import HOUR, SECOND, Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets.contents import WalletTokenError
from tollgate.vault.wallets.loading import make_wallet_key, open_wallet_token
from wallet_mint import CHANNEL_ID, NOW, NUMBER, Mint

Keys = Mapping[Wallet, WalletKey]
Open = Callable[..., OpenedWallet]


@pytest.fixture(scope="session")
def open_c(keys: Keys, ring: Keyring) -> Open:
    def open_c(token: str, *own: WalletKey, now: int = NOW) -> OpenedWallet:
        return open_wallet_token(Wallet.C, Secret(token), own or (keys[Wallet.C],), ring, now)

    return open_c


@pytest.fixture(scope="session")
def tokens(mint: Mint) -> dict[str, str]:
    algorithms = ("RSA-OAEP", "RSA1_5")
    return dict(zip(algorithms, mint.make_tokens([mint.request_c(NOW, alg=each) for each in algorithms]), strict=True))


@pytest.fixture(scope="session")
def token(tokens: dict[str, str]) -> str:
    return tokens["RSA-OAEP"]


def refuse(open_c: Open, token: str) -> None:
    with pytest.raises(WalletTokenError, match="does not open") as refusal:
        open_c(token)
    assert not refusal.value.is_expired


@pytest.mark.parametrize("algorithm", ["RSA-OAEP", "RSA1_5"])
@pytest.mark.parametrize("is_wrapped", [True, False])
def test_an_authentic_token_opens(mint: Mint, open_c: Open, algorithm: str, is_wrapped: bool) -> None:
    request = mint.request_c(NOW, alg=algorithm, wrapped=is_wrapped, contents={"cryptogram": "proof"})

    card = open_c(mint.make_token(request)).card

    account = card.account
    assert account.number.matches(Secret(NUMBER))
    assert account.cryptogram is not None
    assert account.cryptogram.matches(Secret("proof"))
    assert (account.expiry_month, account.expiry_year, account.wallet) == ("05", "2034", "walletC")
    assert (account.number_type, card.eci, card.network) == ("DPAN", "05", "VISA")


ODDITIES: tuple[dict[str, Any], ...] = (
    {"alg": "RSA-OAEP-256"},
    {"enc": "A256GCM"},
    {"header": {"zip": "DEF"}},
    {"header": {"crit": ["exp"]}},
    {"header": {"alg": "dir"}},
    {"header": {"alg": "none"}},
    {"header": {"alg": {}}},
    {"header": {"enc": ["A128GCM"]}},
    {"header": {"alg": "RSA1_5"}},
    {"alg": "RSA1_5", "brokenPadding": True},
    {"alg": "RSA-OAEP", "brokenPadding": True},
    {"contents": {"cryptogram": ""}},
    {"contents": {"cryptogram": None}},
    {"contents": {"utc": "yesterday"}},
    {"contents": {"utc": -1}},
    {"contents": {"tokenPAN": "4200-0000"}},
    {"contents": {"tokenPanExpiration": "1334"}},
    {"contents": {"tokenPanExpiration": "05"}},
)


@pytest.fixture(scope="session")
def odd_tokens(mint: Mint) -> list[str]:
    """All at once, because starting Node takes longer than making a token."""
    return mint.make_tokens([mint.request_c(NOW, **changes) for changes in ODDITIES])


@pytest.mark.parametrize("place", range(len(ODDITIES)), ids=lambda place: str(ODDITIES[place]))
def test_what_was_made_otherwise_does_not_open(open_c: Open, odd_tokens: list[str], place: int) -> None:
    refuse(open_c, odd_tokens[place])


@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("algorithm", ["RSA-OAEP", "RSA1_5"])
def test_a_changed_part_does_not_open(open_c: Open, tokens: dict[str, str], algorithm: str, part: int) -> None:
    parts = tokens[algorithm].split(".")
    raw = bytearray(urlsafe_b64decode(parts[part] + "=" * (-len(parts[part]) % 4)))
    raw[len(raw) // 2] ^= 1
    parts[part] = urlsafe_b64encode(bytes(raw)).decode().rstrip("=")

    refuse(open_c, ".".join(parts))


@pytest.mark.parametrize("algorithm", ["RSA-OAEP", "RSA1_5"])
def test_a_token_for_another_key_does_not_open(mint: Mint, open_c: Open, algorithm: str) -> None:
    refuse(open_c, mint.make_token(mint.request_c(NOW, alg=algorithm, recipientKey=mint.path("other_rsa", "key"))))


def test_the_key_that_fits_is_found_among_several(
    mint: Mint, open_c: Open, keys: Keys, ring: Keyring, tokens: dict[str, str]
) -> None:
    public = keys[Wallet.C].public
    other = make_wallet_key(
        Wallet.C, mint.read("other_rsa"), channel_id=CHANNEL_ID, public=public, keyring=ring, now=NOW
    )

    for token in tokens.values():
        assert open_c(token, other, keys[Wallet.C]).unique


@pytest.mark.parametrize("distance", [-LIMITS.wallet_token_age - SECOND, LIMITS.wallet_token_age + SECOND])
def test_a_token_of_another_time_is_expired(mint: Mint, open_c: Open, distance: int) -> None:
    late = mint.make_token(mint.request_c(NOW + distance))

    with pytest.raises(WalletTokenError) as refusal:
        open_c(late)

    assert refusal.value.is_expired
    assert open_c(late, now=NOW + distance).unique


def test_wrapping_a_proof_again_makes_no_new_token(mint: Mint, open_c: Open) -> None:
    contents = {"cryptogram": "the same"}
    requests = [mint.request_c(NOW + later, contents=contents) for later in (0, 5 * SECOND)]
    first, again = (open_c(token).unique for token in mint.make_tokens(requests))

    assert first == again
    assert open_c(mint.make_token(mint.request_c(NOW))).unique != first


@pytest.mark.parametrize(
    "wrapping",
    [
        lambda jwe: {"3DS": jwe},
        lambda _jwe: {"3DS": {"type": "S"}},
        lambda jwe: {"3DS": {"data": {"data": jwe}}},
        lambda jwe: {"data": jwe},
    ],
)
def test_odd_wrappings_do_not_open(open_c: Open, token: str, wrapping: Callable[[str], object]) -> None:
    refuse(open_c, json.dumps(wrapping(token)))


def test_only_what_is_authentic_is_called_expired(mint: Mint, open_c: Open) -> None:
    late = mint.make_token(mint.request_c(NOW - HOUR))

    refuse(open_c, late[:-6] + ("AAAAAA" if not late.endswith("AAAAAA") else "BBBBBB"))
