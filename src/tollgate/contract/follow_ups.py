"""Checked fields to a typed request about an earlier payment. Whether it may follow is decided elsewhere."""

from __future__ import annotations

from tollgate.contract.fields import Fields
from tollgate.contract.levers import read_levers
from tollgate.contract.objections import find_fraction_objection
from tollgate.contract.orders import make_descriptor, read_test_mode
from tollgate.payments import Channel, FollowUp
from tollgate.values import Money, read_hundredths

_NOTHING = "100.550.300"


def read_follow_up(fields: Fields, channel: Channel, *, short_id: str, is_live: bool) -> FollowUp:
    values = fields.values
    amount = read_hundredths(values["amount"]) if "amount" in values else None
    currency = values.get("currency")
    return FollowUp(
        kind=values["paymentType"],
        amount=amount,
        currency=currency,
        practice=values.get("standingInstruction.industryPractice"),
        is_final=values.get("sequence") == "FINAL",
        descriptor=make_descriptor(values.get("descriptor"), short_id, channel),
        short_id=short_id,
        test_mode=read_test_mode(values.get("testMode"), is_live),
        merchant_transaction_id=values.get("merchantTransactionId"),
        objection=_find_objection(amount, currency),
        levers=read_levers(values) if "customParameters" in fields.groups and not is_live else {},
        echo=fields.echo,
    )


def _find_objection(amount: int | None, currency: str | None) -> str | None:
    if amount == 0:
        return _NOTHING
    return None if amount is None or currency is None else find_fraction_objection([Money(amount, currency)])
