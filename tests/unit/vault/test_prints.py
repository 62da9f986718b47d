"""Equal instruments of one merchant have equal fingerprints, and nothing else has."""

from __future__ import annotations

from datetime import date
from itertools import combinations

import pytest
from msgspec.structs import replace

from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.values import MerchantId, Secret
from tollgate.vault.keyring import Keyring, make_keyring
from tollgate.vault.signing import fingerprint_account

MERCHANT, STRANGER = MerchantId("8a" + "1" * 30), MerchantId("8a" + "9" * 30)
NUMBER = "4895370012003478"
CARD = CardAccount(number=Secret(NUMBER), expiry_month="05", expiry_year="2034", holder="Jane Jones")
TOKEN = TokenAccount(number=Secret(NUMBER), type="NETWORK", expiry_month="05", expiry_year="2034")
BANK = BankAccount(holder="Jane Jones", iban=Secret("DE89370400440532013000"), country="DE")
NUMBERED = BankAccount(number=Secret("0532013000"), bank_code="37040044", country="DE")
VIRTUAL = VirtualAccount(account_id="jane@wallet.example")


def take(account: Instrument, ring: Keyring, *, brand: str = "VISA", merchant_id: MerchantId = MERCHANT) -> bytes:
    taken = fingerprint_account(account, brand, merchant_id, ring)
    assert taken is not None
    return taken


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (CARD, replace(CARD, holder="J. JONES", expiry_year="2040", cvv=Secret("731"))),
        (CARD, replace(CARD, number_type="DPAN", wallet="applePay", cryptogram=Secret("x"))),
        (TOKEN, replace(TOKEN, expiry_year=None, expiry_month=None, cryptogram=Secret("x"))),
        (BANK, replace(BANK, holder="Joe", bic="COBADEFFXXX", mandate_id="M-2", signed_on=date(2026, 1, 1))),
        (BANK, replace(BANK, number=Secret("0532013000"), bank_code="37040044")),
        (NUMBERED, replace(NUMBERED, holder="Joe Doe", bank_name="Bank")),
    ],
)
def test_descriptions_of_an_instrument_do_not_distinguish_it(
    ring: Keyring, first: Instrument, second: Instrument
) -> None:
    assert take(first, ring) == take(second, ring)


def test_no_two_instruments_are_taken_for_one(ring: Keyring) -> None:
    instruments: list[Instrument] = [
        CARD,
        replace(CARD, number=Secret("4200000000000000")),
        TOKEN,
        replace(TOKEN, type="EXTERNAL"),
        BANK,
        replace(BANK, iban=Secret("DE02120300000000202051")),
        NUMBERED,
        replace(NUMBERED, country="AT"),
        replace(NUMBERED, bank_code=None, bic="37040044X"),
        # The same digits, cut elsewhere.
        replace(NUMBERED, bank_code="370400440", number=Secret("532013000")),
        VIRTUAL,
        replace(VIRTUAL, account_id=NUMBER),
    ]

    prints = [take(instrument, ring) for instrument in instruments]

    assert all(first != second for first, second in combinations(prints, 2))


def test_an_account_at_a_provider_is_another_at_another_provider(ring: Keyring) -> None:
    assert take(VIRTUAL, ring, brand="PAYPAL") != take(VIRTUAL, ring, brand="SKRILL")


def test_a_card_is_the_same_whatever_brand_it_is_charged_by(ring: Keyring) -> None:
    assert take(CARD, ring, brand="VISA") == take(CARD, ring, brand="APPLEPAY")


@pytest.mark.parametrize("account", [CARD, TOKEN, BANK, NUMBERED, VIRTUAL])
def test_merchants_cannot_compare_their_customers_nor_thieves_without_the_key(
    ring: Keyring, account: Instrument
) -> None:
    assert take(account, ring) != take(account, ring, merchant_id=STRANGER)
    assert take(account, ring) != take(account, make_keyring())


@pytest.mark.parametrize("account", [BankAccount(holder="Jane Jones", country="DE"), VirtualAccount()])
def test_what_has_no_number_has_nothing_to_be_recognised_by(ring: Keyring, account: Instrument) -> None:
    assert fingerprint_account(account, "VISA", MERCHANT, ring) is None


def test_a_fingerprint_shows_nothing_of_the_number(ring: Keyring) -> None:
    taken = take(CARD, ring)

    assert len(taken) == 33
    assert NUMBER.encode() not in taken
    assert NUMBER[-4:].encode() not in taken
