"""The table of payment links, for both databases. No statement is here."""

from __future__ import annotations

import sqlalchemy as sa

from tollgate.store.schema import BYTES, METADATA, SMALL, TEXT, WHOLE

payment_links = sa.Table(
    "payment_links",
    METADATA,
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("expires_at", WHOLE, nullable=False),
    sa.Column("checkout_id", TEXT),
    # Wiped some time after the link's end; the row stays for as long as its payment may be asked for.
    sa.Column("sealed_fields", BYTES),
    sa.Column("mac", BYTES, nullable=False),
    sqlite_strict=True,
)
sa.Index("payment_links_by_expiry", payment_links.c.expires_at)
# A checkout is forgotten only when no link names it.
sa.Index("payment_links_by_checkout", payment_links.c.merchant_id, payment_links.c.checkout_id)
