"""The vault keeps cards without CVV, tokens hashed and sealed, fingerprints that reveal nothing, masks for logs."""

from __future__ import annotations

import base64
from datetime import date

import pytest
from msgspec.structs import replace

from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.values import MerchantId, Secret
from tollgate.vault.keyring import make_keyring
from tollgate.vault.sealing import EnvelopeError, make_owner, open_account, open_hidden, open_sealed, seal_account
from tollgate.vault.signing import fingerprint
from tollgate.vault.tokens import hash_token, make_credential, make_token, open_token, show_token

KEYRING = make_keyring()
MERCHANT = MerchantId("8a01")
OWNER = make_owner("payment", MERCHANT, "8a02")
CARD = CardAccount(
    number=Secret("4200000000000000"),
    expiry_month="05",
    expiry_year="2034",
    holder="Jane Jones",
    cvv=Secret("731"),
    number_type="DPAN",
)


def test_a_card_comes_back_without_its_cvv() -> None:
    opened = open_account(seal_account(CARD, owner=OWNER, keyring=KEYRING), owner=OWNER, keyring=KEYRING)

    assert isinstance(opened, CardAccount)
    assert opened.number.matches(CARD.number)
    assert (opened.expiry_month, opened.expiry_year, opened.holder) == ("05", "2034", "Jane Jones")
    assert opened.number_type == "DPAN"
    assert opened.cvv is None


def test_the_cvv_is_not_even_among_the_sealed_bytes() -> None:
    plain = open_sealed(seal_account(CARD, owner=OWNER, keyring=KEYRING), owner=OWNER, keyring=KEYRING)

    assert b"4200000000000000" in plain
    assert b"731" not in plain
    assert b"cvv" not in plain


TOKEN = TokenAccount(
    number=Secret("4200000000000042"),
    type="NETWORK",
    expiry_month="05",
    expiry_year="2034",
    cryptogram=Secret("once-cryptogram"),
    dtvc=Secret("8642"),
)
BANK = BankAccount(
    holder="Jane Jones",
    iban=Secret("DE89370400440532013000"),
    number=Secret("532013000"),
    bic="COBADEFFXXX",
    bank_code="37040044",
    bank_name="A bank",
    country="DE",
    mandate_id="M-A",
    signed_on=date(2026, 1, 31),
)


def tell(account: Instrument) -> dict[str, object]:
    """Returns all members in clear, to be compared."""
    members = {name: getattr(account, name) for name in account.__struct_fields__}
    return {name: value.reveal() if isinstance(value, Secret) else value for name, value in members.items()}


@pytest.mark.parametrize(
    ("account", "kept"),
    [
        (CARD, replace(CARD, cvv=None)),
        (replace(CARD, cryptogram=Secret("once"), wallet="walletA"), replace(CARD, cvv=None, wallet="walletA")),
        (TOKEN, replace(TOKEN, cryptogram=None, dtvc=None)),
        (TokenAccount(number=Secret("420000000042"), type="EXTERNAL"),) * 2,
        (BANK, BANK),
        (BankAccount(country="AT"),) * 2,
        (VirtualAccount(account_id="jane"),) * 2,
        (VirtualAccount(),) * 2,
    ],
    ids=["card", "wallet", "token", "bare token", "bank", "bare bank", "virtual", "bare virtual"],
)
def test_every_account_comes_back_without_what_may_be_used_once_only(account: Instrument, kept: Instrument) -> None:
    opened = open_account(seal_account(account, owner=OWNER, keyring=KEYRING), owner=OWNER, keyring=KEYRING)

    assert type(opened) is type(account)
    assert tell(opened) == tell(kept)


def test_what_is_hidden_beside_a_card_opens_again_and_is_no_part_of_it() -> None:
    hidden = {"sender": "AT611904300234573201"}
    sealed = seal_account(CARD, hidden, owner=OWNER, keyring=KEYRING)

    assert open_hidden(sealed, owner=OWNER, keyring=KEYRING) == hidden
    assert tell(open_account(sealed, owner=OWNER, keyring=KEYRING)) == tell(replace(CARD, cvv=None))
    assert b"AT6119043" not in sealed
    for account in (CARD, TOKEN, BANK):
        bare = seal_account(account, owner=OWNER, keyring=KEYRING)
        assert open_hidden(bare, owner=OWNER, keyring=KEYRING) == {}


def test_neither_cryptogram_nor_one_time_code_is_among_the_sealed_bytes() -> None:
    plain = open_sealed(seal_account(TOKEN, owner=OWNER, keyring=KEYRING), owner=OWNER, keyring=KEYRING)

    assert b"4200000000000042" in plain
    assert not any(word in plain for word in (b"once", b"8642", b"cryptogram", b"dtvc"))


@pytest.mark.parametrize("account", [CARD, TOKEN, BANK, VirtualAccount()], ids=["card", "token", "bank", "virtual"])
def test_an_account_opens_in_its_own_row_only(account: Instrument) -> None:
    sealed = seal_account(account, owner=OWNER, keyring=KEYRING)

    with pytest.raises(EnvelopeError):
        open_account(sealed, owner=make_owner("payment", MERCHANT, "8a03"), keyring=KEYRING)


def test_a_token_is_stored_hashed_and_sealed_to_its_row() -> None:
    made = make_credential(MERCHANT, KEYRING, now=1)
    token = show_token(made.token).encode()

    assert token not in made.credential.sealed_token
    assert made.credential.token_hash == hash_token(made.token)
    assert open_token(made.credential, KEYRING).matches(made.token)
    moved = type(made.credential)(
        id="8a99",
        merchant_id=MERCHANT,
        user_id=made.credential.user_id,
        token_hash=made.credential.token_hash,
        sealed_token=made.credential.sealed_token,
        created_at=1,
    )
    with pytest.raises(EnvelopeError):
        open_token(moved, KEYRING)


def test_a_token_is_base64_of_user_and_password() -> None:
    made = make_credential(MERCHANT, KEYRING, now=1)
    user_id, password = base64.b64decode(show_token(made.token)).decode().split("|")

    assert user_id == made.credential.user_id
    assert make_token(user_id, Secret(password)).matches(made.token)
    assert len(password) >= 43


def test_fingerprints_are_equal_for_equal_requests_only() -> None:
    first = fingerprint("idempotency", ["ab", "c"], KEYRING)

    assert first == fingerprint("idempotency", ["ab", "c"], KEYRING)
    others = (
        fingerprint("idempotency", ["a", "bc"], KEYRING),
        fingerprint("idempotency", ["ab", "c", ""], KEYRING),
        fingerprint("idempotency", ["c", "ab"], KEYRING),
        fingerprint("card", ["ab", "c"], KEYRING),
        fingerprint("idempotency", ["ab", "c"], make_keyring()),
    )
    assert first not in others
