"""Lists of payments to the JSON that merchants read. One payment by itself is rendered in `answers`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tollgate.catalog import get_result
from tollgate.contract.answers import Answer, Envelope, Json, answer_payment, encode_answer, render_payment
from tollgate.payments import Page, Payment
from tollgate.values import Instant, render_timestamp

ONE_NAME = ("payments",)
BOTH_NAMES = ("payments", "records")
"""Clients of the newer report read its list by either."""

Chains = Mapping[str, Sequence[Payment]]
"""By the id of their first payment."""


def answer_chain(payment: Payment, chain: Iterable[Payment], envelope: Envelope) -> Answer:
    """One payment as it is always told, with its whole chain beside it."""
    return answer_payment(payment, envelope, payments=_render_payments(chain))


def answer_payment_page(
    page: Page[Payment], chains: Chains | None, names: Sequence[str], envelope: Envelope, ndc: str, now: Instant
) -> Answer:
    """`chains` is None where they were not asked for; a record then says nothing of its neighbours."""
    rows = _render_payments(page.rows)
    if chains is not None:
        for row, payment in zip(rows, page.rows, strict=True):
            row["linkedTransactions"] = _render_payments(_list_others(payment, chains))
    return answer_page(dict.fromkeys(names, rows), page, envelope, ndc, now)


def answer_page(lists: Json, page: Page[Any], envelope: Envelope, ndc: str, now: Instant) -> Answer:
    paging = {"pages": page.pages, "pageNo": page.page_no, "cursor": page.cursor}
    known = {word: value for word, value in paging.items() if value is not None}
    return encode_answer(200, envelope.wrap(get_result("000.000.100"), ndc, now, **lists, **known))


def _list_others(payment: Payment, chains: Chains) -> list[Payment]:
    return [other for other in chains.get(payment.first_id, ()) if other.id != payment.id]


def _render_payments(payments: Iterable[Payment]) -> list[Json]:
    return [
        {
            **render_payment(payment),
            "paymentMethod": payment.method,
            "shortId": payment.short_id,
            "timestamp": render_timestamp(payment.created_at),
            "ndc": payment.ndc,
        }
        for payment in payments
    ]
