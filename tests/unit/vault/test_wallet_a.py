"""Tokens of walletA, made by Node and openssl: authentic ones open, and whatever else fails alike."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, WalletKey, WalletPublic
from tollgate.values import HOUR, SECOND, Secret, to_datetime
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets.contents import WalletTokenError
from tollgate.vault.wallets.loading import make_wallet_key, open_wallet_token
from wallet_mint import CHANNEL_ID, CRYPTOGRAM, NOW, NUMBER, Mint

Keys = Mapping[Wallet, WalletKey]
Open = Callable[..., OpenedWallet]


@pytest.fixture(scope="session")
def open_a(keys: Keys, ring: Keyring) -> Open:
    def open_a(token: str, *own: WalletKey, now: int = NOW) -> OpenedWallet:
        return open_wallet_token(Wallet.A, Secret(token), own or (keys[Wallet.A],), ring, now)

    return open_a


@pytest.fixture(scope="session")
def token(mint: Mint) -> str:
    return mint.make_token(mint.request_a(NOW))


def refuse(open_a: Open, token: str, *own: WalletKey, now: int = NOW) -> None:
    with pytest.raises(WalletTokenError, match="does not open") as refusal:
        open_a(token, *own, now=now)
    assert not refusal.value.is_expired


@pytest.mark.parametrize("indefinite", [True, False])
@pytest.mark.parametrize("application", [None, "order 17"])
def test_an_authentic_token_opens(mint: Mint, open_a: Open, application: str | None, indefinite: bool) -> None:
    token = mint.make_token(mint.request_a(NOW, applicationData=application, indefinite=indefinite))
    assert (b64decode(json.loads(token)["signature"])[:2] == b"\x30\x80") is indefinite

    opened = open_a(token)

    card, account = opened.card, opened.card.account
    assert account.number.matches(Secret(NUMBER))
    assert account.cryptogram is not None
    assert account.cryptogram.matches(Secret(CRYPTOGRAM))
    assert (account.expiry_month, account.expiry_year, account.holder) == ("05", "2034", "Jane Jones")
    assert (account.number_type, account.wallet, card.eci, card.network) == ("DPAN", "walletA", "07", "VISA")
    assert (card.card_summary.bin, card.card_summary.last_digits) == (NUMBER[:6], NUMBER[-4:])


def test_every_copy_of_a_token_has_one_name_and_no_other_token_has_it(mint: Mint, open_a: Open, token: str) -> None:
    spelled = json.dumps(json.loads(token), indent=2)
    raised = json.loads(token)
    raised["header"]["transactionId"] = raised["header"]["transactionId"].upper()

    names = {open_a(copy).unique for copy in (token, spelled, json.dumps(raised))}

    assert len(names) == 1
    assert open_a(mint.make_token(mint.request_a(NOW))).unique not in names


def test_bytes_moved_between_the_signed_fields_make_no_new_token(mint: Mint, open_a: Open) -> None:
    """The signature covers the fields without separators; the boundary may not wander."""
    moved = json.loads(mint.make_token(mint.request_a(NOW)))
    whole = moved["header"]["transactionId"]
    moved["header"] |= {"transactionId": whole[:32], "applicationData": whole[32:]}

    refuse(open_a, json.dumps(moved))


TAMPERINGS: dict[str, Callable[[dict[str, Any]], None]] = {
    "data": lambda token: token.update(data=flip(token["data"])),
    "signature": lambda token: token.update(signature=flip(token["signature"], at=-5)),
    "ephemeral key": lambda token: token["header"].update(
        ephemeralPublicKey=flip(token["header"]["ephemeralPublicKey"])
    ),
    "key hash": lambda token: flip_header(token, "publicKeyHash"),
    "transaction id": lambda token: token["header"].update(transactionId="00" * 32),
    "application data": lambda token: token["header"].update(applicationData="00" * 32),
    "version": lambda token: token.update(version="RSA_v1"),
    "no signature": lambda token: token.update(signature=""),
    "no header": lambda token: token.pop("header"),
    "odd base64": lambda token: token.update(data="*" + token["data"]),
}


def flip(text: str, at: int = 20) -> str:
    raw = bytearray(b64decode(text))
    raw[at] ^= 1
    return b64encode(bytes(raw)).decode()


def flip_header(token: dict[str, Any], name: str) -> None:
    token["header"][name] = flip(token["header"][name])


@pytest.mark.parametrize("change", TAMPERINGS)
def test_a_changed_field_does_not_open(open_a: Open, token: str, change: str) -> None:
    changed = json.loads(token)
    TAMPERINGS[change](changed)

    refuse(open_a, json.dumps(changed))


@pytest.fixture(scope="session")
def compact_token(mint: Mint) -> str:
    """Its signature ends with the very bytes that were computed with the key."""
    return mint.make_token(mint.request_a(NOW, indefinite=False))


def test_the_last_byte_of_a_signature_counts(open_a: Open, compact_token: str) -> None:
    changed = json.loads(compact_token)
    assert open_a(compact_token).unique

    refuse(open_a, json.dumps(changed | {"signature": flip(changed["signature"], at=-1)}))


def test_an_old_signature_cannot_be_renewed_by_writing_another_time_into_it(open_a: Open, compact_token: str) -> None:
    changed = json.loads(compact_token)
    signed = b64decode(changed["signature"])
    written, wanted = (f"{to_datetime(at):%y%m%d%H%M%SZ}".encode() for at in (NOW, NOW + HOUR))
    assert signed.count(written) == 1

    renewed = changed | {"signature": b64encode(signed.replace(written, wanted)).decode()}

    refuse(open_a, json.dumps(renewed), now=NOW + HOUR)


def test_a_signature_of_another_token_does_not_open(mint: Mint, open_a: Open, token: str) -> None:
    stolen = json.loads(token) | {"signature": json.loads(mint.make_token(mint.request_a(NOW)))["signature"]}

    refuse(open_a, json.dumps(stolen))


ODDITIES: tuple[dict[str, Any], ...] = (
    {"merchant": "merchant.test.other-shop"},
    {"digest": "sha1"},
    {"digest": "sha512"},
    {"chain": None, "indefinite": False},
    {"attached": True},
    {"contents": {"paymentDataType": "EMV"}},
    {"contents": {"applicationPrimaryAccountNumber": "4200 0000"}},
    {"contents": {"applicationExpirationDate": "341331"}},
    {"contents": {"paymentData": {"onlinePaymentCryptogram": ""}}},
    {"contents": {"paymentData": {"eciIndicator": "5"}}},
)


@pytest.fixture(scope="session")
def odd_tokens(mint: Mint) -> list[str]:
    """All at once, because starting Node takes longer than making a token."""
    return mint.make_tokens([mint.request_a(NOW, **changes) for changes in ODDITIES])


@pytest.mark.parametrize("place", range(len(ODDITIES)), ids=lambda place: str(ODDITIES[place]))
def test_what_was_made_otherwise_does_not_open(open_a: Open, odd_tokens: list[str], place: int) -> None:
    refuse(open_a, odd_tokens[place])


def test_a_token_for_another_key_does_not_open(mint: Mint, open_a: Open) -> None:
    refuse(open_a, mint.make_token(mint.request_a(NOW, recipientKey=mint.path("other_ec", "key"))))


def test_chains_that_do_not_end_in_a_trusted_root_do_not_open(mint: Mint, open_a: Open) -> None:
    """Marks missing, powers missing, or a root with the right name and the wrong key."""
    mint.make_root("foreign")
    mint.make_issued("foreign_intermediate", by="foreign", section="intermediate")
    mint.make_issued("foreign_leaf", by="foreign_intermediate", section="leaf")
    mint.make_issued("stray_leaf", by="foreign_intermediate", section="leaf")
    mint.make_issued("plain_leaf", by="intermediate", section="leaf_unmarked")
    mint.make_issued("plain_intermediate", by="root", section="intermediate_unmarked")
    mint.make_issued("second_leaf", by="plain_intermediate", section="leaf")
    mint.make_issued("weak_intermediate", by="root", section="intermediate_powerless")
    mint.make_issued("third_leaf", by="weak_intermediate", section="leaf")
    mint.make_issued("late_leaf", by="intermediate", section="leaf", days="30")
    chains = {
        "foreign root": ("foreign_leaf", "foreign_intermediate"),
        "foreign leaf, trusted intermediate": ("stray_leaf", "intermediate"),
        "unmarked leaf": ("plain_leaf", "intermediate"),
        "unmarked intermediate": ("second_leaf", "plain_intermediate"),
        "intermediate that may not issue": ("third_leaf", "weak_intermediate"),
        "expired leaf": ("late_leaf", "intermediate"),
    }
    requests = [
        mint.request_a(
            NOW, signer=mint.path(leaf, "pem"), signerKey=mint.path(leaf, "key"), chain=mint.path(intermediate, "pem")
        )
        for leaf, intermediate in chains.values()
    ]
    for token in mint.make_tokens(requests):
        refuse(open_a, token)


def test_a_root_is_believed_while_it_is_valid(
    mint: Mint, open_a: Open, ring: Keyring, publics: Mapping[Wallet, WalletPublic]
) -> None:
    mint.make_root("old", subject="Old root", days="30")
    mint.make_issued("old_intermediate", by="old", section="intermediate")
    mint.make_issued("old_leaf", by="old_intermediate", section="leaf")
    public = replace(publics[Wallet.A], roots=(mint.read("old", "pem").decode(),))
    key = make_wallet_key(
        Wallet.A, mint.read("recipient_a"), channel_id=CHANNEL_ID, public=public, keyring=ring, now=NOW
    )
    chain: dict[str, Any] = {
        "signer": mint.path("old_leaf", "pem"),
        "signerKey": mint.path("old_leaf", "key"),
        "chain": mint.path("old_intermediate", "pem"),
    }
    early = 1_578_000_000 * SECOND

    assert open_a(mint.make_token(mint.request_a(early, **chain)), key, now=early).card.network == "VISA"
    refuse(open_a, mint.make_token(mint.request_a(NOW, **chain)), key)


@pytest.mark.parametrize("distance", [-LIMITS.wallet_token_age - SECOND, LIMITS.wallet_token_age + SECOND])
def test_a_token_of_another_time_is_expired(open_a: Open, token: str, distance: int) -> None:
    with pytest.raises(WalletTokenError) as refusal:
        open_a(token, now=NOW + distance)

    assert refusal.value.is_expired


@pytest.mark.parametrize("distance", [-LIMITS.wallet_token_age + SECOND, LIMITS.wallet_token_age - SECOND])
def test_clocks_may_differ_by_the_age_of_a_token(open_a: Open, token: str, distance: int) -> None:
    assert open_a(token, now=NOW + distance).unique


def test_only_what_is_authentic_is_called_expired(open_a: Open, token: str) -> None:
    late = json.loads(token)

    refuse(open_a, json.dumps(late | {"data": flip(late["data"])}), now=NOW + HOUR)


def test_the_key_that_a_token_names_is_found_among_several(mint: Mint, open_a: Open, keys: Keys, ring: Keyring) -> None:
    public = keys[Wallet.A].public
    other = make_wallet_key(
        Wallet.A, mint.read("other_ec"), channel_id=CHANNEL_ID, public=public, keyring=ring, now=NOW
    )
    both = (other, keys[Wallet.A])

    requests = [mint.request_a(NOW, recipientKey=mint.path(name, "key")) for name in ("recipient_a", "other_ec")]
    for token in mint.make_tokens(requests):
        assert open_a(token, *both).unique
