"""Tokens of walletB, made by Node: authentic ones open, and whatever else fails alike."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.wallets import Wallet
from tollgate.payments.accounts import OpenedWallet, SigningKey, WalletKey
from tollgate.values import HOUR, SECOND, Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.wallets.contents import WalletTokenError
from tollgate.vault.wallets.loading import make_wallet_key, open_wallet_token
from wallet_mint import CHANNEL_ID, CRYPTOGRAM, NOW, NUMBER, Mint

Keys = Mapping[Wallet, WalletKey]
Open = Callable[..., OpenedWallet]

PAN_ONLY = {"pan": NUMBER, "expirationMonth": 12, "expirationYear": 2031, "authMethod": "PAN_ONLY"}


@pytest.fixture(scope="session")
def open_b(keys: Keys, ring: Keyring) -> Open:
    def open_b(token: str, *own: WalletKey, now: int = NOW) -> OpenedWallet:
        return open_wallet_token(Wallet.B, Secret(token), own or (keys[Wallet.B],), ring, now)

    return open_b


@pytest.fixture(scope="session")
def token(mint: Mint) -> str:
    return mint.make_token(mint.request_b(NOW))


def refuse(open_b: Open, token: str, *own: WalletKey) -> None:
    with pytest.raises(WalletTokenError, match="does not open") as refusal:
        open_b(token, *own)
    assert not refusal.value.is_expired


def test_a_device_number_opens_with_its_proof(mint: Mint, open_b: Open) -> None:
    opened = open_b(mint.make_token(mint.request_b(NOW, contents={"messageId": "message 1"})))

    card, account = opened.card, opened.card.account
    assert account.number.matches(Secret(NUMBER))
    assert account.cryptogram is not None
    assert account.cryptogram.matches(Secret(CRYPTOGRAM))
    assert (account.expiry_month, account.expiry_year, account.wallet) == ("05", "2034", "walletB")
    assert (account.number_type, card.eci, opened.unique) == ("DPAN", "05", "message 1")


def test_a_card_number_alone_is_an_ordinary_card(mint: Mint, open_b: Open) -> None:
    request = mint.request_b(
        NOW, contents={"paymentMethodDetails": {**PAN_ONLY, "cryptogram": "x", "eciIndicator": "05"}}
    )

    card = open_b(mint.make_token(request)).card

    assert (card.account.number_type, card.account.cryptogram, card.eci) == ("PAN", None, None)
    assert (card.account.expiry_month, card.account.expiry_year) == ("12", "2031")


ODDITIES: tuple[dict[str, Any], ...] = (
    {"recipient": "gateway:somebody-else"},
    {"recipient": "merchant:tollgate-tests"},
    {"protocol": "ECv1"},
    {"sender": "Gaggle"},
    {"brokenTag": True},
    {"keyExpiration": NOW // 1000 - 1},
    {"keyExpiration": "soon"},
    {"contents": {"paymentMethod": "TOKENIZED_CARD"}},
    {"contents": {"messageId": ""}},
    {"contents": {"messageId": None}},
    {"contents": {"messageExpiration": "-1"}},
    {"contents": {"messageExpiration": str((NOW + LIMITS.wallet_use_lifetime + SECOND) // 1000)}},
    {"contents": {"paymentMethodDetails": {**PAN_ONLY, "authMethod": "GUESSED"}}},
    {"contents": {"paymentMethodDetails": {**PAN_ONLY, "authMethod": "CRYPTOGRAM_3DS"}}},
    {"contents": {"paymentMethodDetails": {**PAN_ONLY, "expirationMonth": 13}}},
    {"contents": {"paymentMethodDetails": {**PAN_ONLY, "pan": "x"}}},
)


@pytest.fixture(scope="session")
def odd_tokens(mint: Mint) -> list[str]:
    """All at once, because starting Node takes longer than making a token."""
    return mint.make_tokens([mint.request_b(NOW, **changes) for changes in ODDITIES])


@pytest.mark.parametrize("place", range(len(ODDITIES)), ids=lambda place: str(ODDITIES[place]))
def test_what_was_made_otherwise_does_not_open(open_b: Open, odd_tokens: list[str], place: int) -> None:
    refuse(open_b, odd_tokens[place])


@pytest.mark.parametrize("changes", [{"rootKey": "other_signing"}, {"recipientKey": "other_ec"}])
def test_another_root_and_another_recipient_do_not_open(mint: Mint, open_b: Open, changes: dict[str, str]) -> None:
    renamed: dict[str, Any] = {name: mint.path(key, "key") for name, key in changes.items()}

    refuse(open_b, mint.make_token(mint.request_b(NOW, **renamed)))


def flip(text: str) -> str:
    raw = bytearray(b64decode(text))
    raw[20] ^= 1
    return b64encode(bytes(raw)).decode()


@pytest.mark.parametrize(
    "path",
    [
        ("signature",),
        ("protocolVersion",),
        ("intermediateSigningKey", "signedKey"),
        ("intermediateSigningKey", "signatures"),
        ("signedMessage", "encryptedMessage"),
        ("signedMessage", "ephemeralPublicKey"),
        ("signedMessage", "tag"),
    ],
    ids=str,
)
def test_a_changed_field_does_not_open(open_b: Open, token: str, path: tuple[str, ...]) -> None:
    changed = json.loads(token)
    match path:
        case ("signature",):
            changed["signature"] = flip(changed["signature"])
        case ("protocolVersion",):
            changed["protocolVersion"] = "ECv3"
        case (holder, "signatures"):
            changed[holder]["signatures"] = [flip(each) for each in changed[holder]["signatures"]]
        case (holder, "signedKey"):
            changed[holder]["signedKey"] = changed[holder]["signedKey"].replace("keyExpiration", "keyexpiration")
        case (holder, field):
            inner = json.loads(changed[holder])
            changed[holder] = json.dumps(inner | {field: flip(inner[field])})

    refuse(open_b, json.dumps(changed))


def test_a_message_under_the_signing_key_of_another_does_not_open(mint: Mint, open_b: Open, token: str) -> None:
    other = json.loads(mint.make_token(mint.request_b(NOW)))

    refuse(open_b, json.dumps(json.loads(token) | {"intermediateSigningKey": other["intermediateSigningKey"]}))


@pytest.mark.parametrize("signatures", [[], None, [""], ["AAAA"] * 20])
def test_a_signing_key_that_nobody_signed_does_not_open(open_b: Open, token: str, signatures: object) -> None:
    changed = json.loads(token)
    changed["intermediateSigningKey"]["signatures"] = signatures

    refuse(open_b, json.dumps(changed))


def test_a_message_is_expired_from_its_expiration_on(mint: Mint, open_b: Open) -> None:
    token = mint.make_token(mint.request_b(NOW, contents={"messageExpiration": str((NOW + HOUR) // 1000)}))

    assert open_b(token, now=NOW + HOUR - SECOND).unique
    with pytest.raises(WalletTokenError) as refusal:
        open_b(token, now=NOW + HOUR)
    assert refusal.value.is_expired


def test_only_what_is_authentic_is_called_expired(mint: Mint, open_b: Open) -> None:
    late = json.loads(mint.make_token(mint.request_b(NOW, contents={"messageExpiration": "1000"})))
    with pytest.raises(WalletTokenError) as refusal:
        open_b(json.dumps(late))
    assert refusal.value.is_expired

    refuse(open_b, json.dumps(late | {"signature": flip(late["signature"])}))


def test_a_root_signing_key_is_believed_until_it_expires(mint: Mint, open_b: Open, keys: Keys, token: str) -> None:
    own = keys[Wallet.B]
    root = mint.read_public("root_signing")

    def trust(*signing_keys: SigningKey) -> WalletKey:
        return replace(own, public=replace(own.public, signing_keys=signing_keys))

    assert open_b(token, trust(SigningKey(mint.read_public("other_signing")), SigningKey(root, NOW + 1))).unique
    refuse(open_b, token, trust(SigningKey(root, NOW)))


def test_a_gateways_key_takes_the_tokens_of_its_own_merchant_only(
    mint: Mint, open_b: Open, keys: Keys, ring: Keyring
) -> None:
    public = replace(keys[Wallet.B].public, gateway_merchant="shop-1")
    key = make_wallet_key(
        Wallet.B, mint.read("recipient_b"), channel_id=CHANNEL_ID, public=public, keyring=ring, now=NOW
    )
    own, other, unnamed = mint.make_tokens(
        [
            mint.request_b(NOW, contents={"gatewayMerchantId": "shop-1"}),
            mint.request_b(NOW, contents={"gatewayMerchantId": "shop-2"}),
            mint.request_b(NOW),
        ]
    )

    assert open_b(own, key).unique
    refuse(open_b, other, key)
    refuse(open_b, unnamed, key)
