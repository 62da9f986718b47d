"""An opened account is compared with texts, and only the names of those that contain its number are reported."""

from __future__ import annotations

import pytest

from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.values import Secret
from tollgate.vault.sealing import list_exposed

CARD = CardAccount(number=Secret("4539148803436467"), expiry_month="05", expiry_year="2034")
TOKEN = TokenAccount(number=Secret("4895370012003478"), type="NETWORK")
BANK = BankAccount(holder="Jane Jones", iban=Secret("DE89370400440532013000"), number=Secret("0532013000"))


@pytest.mark.parametrize(
    ("account", "text"),
    [
        (CARD, "memo 4539_1488_0343_6467"),
        (TOKEN, "4895 3700 1200 3478"),
        (BANK, "DE89 3704 0044 0532 0130 00"),
        (BANK, "account 0532 013 000"),
    ],
)
def test_a_text_with_the_number_is_named(account: Instrument, text: str) -> None:
    assert list_exposed(account, {"merchantMemo": text, "descriptor": "order 20261116-000123"}) == ["merchantMemo"]


def test_an_account_without_a_number_is_in_no_text() -> None:
    assert list_exposed(VirtualAccount(account_id="jane@example.org"), {"merchantMemo": "jane@example.org"}) == []
    assert list_exposed(BankAccount(holder="Jane"), {"merchantMemo": "12345678"}) == []
