"""The documented test data: every row of docs/reference/test-data.md is tried against a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.challenges import order
from api.server import SharedServer
from gateway import Client

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "test-data.md").read_text("utf-8")


def read_table(heading: str) -> list[list[str]]:
    """Returns the rows of the one table under a heading, without marks."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[re.sub("`", "", cell).strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


CARDS = read_table("Cards")
ACCOUNTS = read_table("Bank accounts")


@pytest.fixture(scope="module")
def client(embedded_server: SharedServer) -> Client:
    return embedded_server.client


def test_the_page_was_read() -> None:
    assert len(CARDS) > 50
    assert len(ACCOUNTS) == 3


@pytest.mark.parametrize("row", CARDS, ids=lambda row: row[0])
def test_a_documented_card_is_answered_as_documented(client: Client, row: list[str]) -> None:
    number, brand, _behaviour, _collects, plain_code, secured_code = row
    cvv = "1234" if brand == "AMEX" else "123"

    plain = client.pay(None, card__number=number, paymentBrand=brand, card__cvv=cvv)
    assert plain.code == plain_code
    assert client.get(f"/v1/payments/{plain.json['id']}").code == plain_code
    assert order(client, number, brand=brand).code == secured_code


@pytest.mark.parametrize("row", ACCOUNTS, ids=lambda row: row[0])
def test_a_documented_bank_account_can_be_debited(client: Client, row: list[str]) -> None:
    _country, holder, iban, bic = row
    sent = {"bankAccount.holder": holder, "bankAccount.iban": iban, "bankAccount.bic": bic}
    asked = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", "paymentBrand": "DIRECTDEBIT_SEPA"}

    assert client.post("/v1/payments", {**asked, **sent}).code == "000.100.110"
