"""The Stripe API counts some currencies in other units than ISO 4217. Payments in them are declined."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.catalog import codes
from tollgate.payments.payment import Outcome
from tollgate.values import Money
from unit.connectors.samples import ORDER
from unit.connectors.stripe_samples import APPROVED_CODE, CONNECTOR, DEBIT, talk


@pytest.mark.parametrize("currency", ["ISK", "MGA", "UGX"])
def test_a_currency_with_other_units_is_declined_before_anything_is_sent(currency: str) -> None:
    money = Money(10_000, currency)

    heard = talk(CONNECTOR.charge(replace(ORDER, money=money), replace(DEBIT, money=money), APPROVED_CODE))

    assert heard.requests == []
    assert (heard.result.outcome, heard.result.code) == (Outcome.DECLINED, codes.CURRENCY_NOT_CONFIGURED)
