"""A store with many rows in it, one statement for each table: payments of a channel, and what they earned."""

from __future__ import annotations

import sqlalchemy as sa

from databases.samples import CHANNEL, MERCHANT, NOON
from tollgate.store.database import Database
from tollgate.store.statements import Dialect, Statement, Write
from tollgate.values import SECOND

TIED = 4
"""This many payments share an instant, so that the id has to decide."""

_PAYMENT_ID = "'8a' || CAST(1000000 + n AS TEXT) || '00000000000000000000000'"
_INSTANT = f"{NOON} + CAST(n / {TIED} AS BIGINT) * {SECOND}"
_TIMED = {
    Dialect.SQLITE: f"printf('%016x', {_INSTANT})",
    Dialect.POSTGRESQL: f"lpad(to_hex({_INSTANT}), 16, '0')",
}
_NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < LAST)"
_PAYMENTS = f"""
{_NUMBERS} INSERT INTO payments
(merchant_id, id, channel_id, payment_type, state, amount, currency, brand, method, descriptor, short_id, ndc,
 created_at, deadline_at, test_mode, merchant_transaction_id, echo, result_code, details, completed_at)
SELECT '{MERCHANT}', {_PAYMENT_ID}, '{CHANNEL}', CASE WHEN n % 2 = 0 THEN 'DB' ELSE 'PA' END, 1, 100 + n % 50, 'EUR',
 'VISA', 'CC', 'shop', '1234.5678.9012', 'ndc', {_INSTANT}, {_INSTANT}, 'INTERNAL',
 CASE WHEN n % 10 = 0 THEN 'the-same-again' ELSE 'order-' || CAST(n AS TEXT) END,
 '{{}}', '000.100.110', '{{}}', {_INSTANT} FROM numbers
"""
_MONTHS = f"""
{_NUMBERS} INSERT INTO payment_months (merchant_id, id, created_at)
SELECT '{MERCHANT}', {_PAYMENT_ID}, {_INSTANT} FROM numbers
"""
_ENTRIES = f"""
{_NUMBERS} INSERT INTO ledger_entries
(merchant_id, id, payment_id, channel_id, currency, source, target, amount, posted_at)
SELECT '{MERCHANT}', TIMED || {_PAYMENT_ID}, {_PAYMENT_ID}, '{CHANNEL}', 'EUR', 'shopper',
 CASE WHEN n % 2 = 0 THEN 'earned' ELSE 'held' END, 100 + n % 50, {_INSTANT} FROM numbers
"""


def name_payment(n: int) -> str:
    return f"8a{1_000_000 + n}" + "0" * 23


async def gather_crowd(db: Database, count: int) -> None:
    """Every second one a debit, and so earned; the others are authorisations. Every tenth has the same reference."""
    words = {"TIMED": _TIMED[db.dialect], "LAST": str(count - 1), ":": "\\:"}
    steps = []
    for text in (_PAYMENTS, *((_MONTHS,) if db.dialect is Dialect.POSTGRESQL else ()), _ENTRIES):
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        steps.append(Write(Statement(sa.text(text), is_write=True), {}, rows=count))
    assert await db.write(steps, label="test")
