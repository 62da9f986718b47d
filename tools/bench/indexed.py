"""Statements that index filled payments as the worker would have, which both databases take. Runs nothing.

Otherwise the worker would index a million payments while something else is measured.
"""

from __future__ import annotations

from tools.bench.specimen import Specimen

from tollgate.contract.searching import list_terms
from tollgate.store.payments import PAYMENTS

SKIP_INDEXING = (
    "INSERT INTO settings (name, value)"
    " SELECT 'payment_index.' || merchant_id, max(id) FROM outbox WHERE true GROUP BY merchant_id"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
"""Tells the worker that everything is indexed that is there."""

_HOUR_US = 3_600_000_000


def render_index(specimen: Specimen, *, with_terms: bool = True) -> list[str]:
    """Filled payments are copies of one, so each of them has its terms.

    with_terms: without them nothing is found, but filling takes a fraction of the time.
    """
    pattern = PAYMENTS.decode(tuple(specimen.payment[name] for name in PAYMENTS.names))
    inserts = [
        "INSERT INTO payment_terms (merchant_id, term, created_at, payment_id)"
        f" SELECT merchant_id, '{term}', created_at, id FROM payments WHERE true ORDER BY created_at, id"
        " ON CONFLICT DO NOTHING"
        for term in (list_terms(pattern) if with_terms else ())
    ]
    columns = "merchant_id, hour, channel_id, payment_type, brand, result_code, currency"
    return [
        *inserts,
        f"INSERT INTO payment_tallies ({columns}, payments, amount)"
        f" SELECT {columns.replace('hour', f'completed_at / {_HOUR_US}')}, count(*), sum(amount) FROM payments"
        f" WHERE state = 1 GROUP BY {columns.replace('hour', f'completed_at / {_HOUR_US}')}"
        # The worker may count the first payment meanwhile.
        f" ON CONFLICT ({columns}) DO UPDATE SET payments = excluded.payments, amount = excluded.amount",
        SKIP_INDEXING,
    ]
