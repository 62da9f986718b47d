"""The tables of a snapshot: a new table is decided about, and does not get into files by accident."""

from __future__ import annotations

from tollgate.store.copying import SAVED, UNSAVED
from tollgate.store.schema import METADATA

_EXPECTED = {
    *("payments", "idempotency_keys", "outbox", "ledger_entries", "jobs", "merchants", "channels", "wallet_keys"),
    *("wallet_uses", "authentications", "instructions", "bank_files", "simulated_sessions", "settings", "checkouts"),
    *("scripts", "payment_links", "registrations", "schedules", "schedule_runs", "announcements", "webhooks"),
    *("deliveries", "delivery_attempts", "replays", "inbox_messages", "inboxes", "payment_terms"),
    *("payment_tallies", "journal", "evidence", "planned_outcomes"),
    *("acquirer_accounts", "routing_counts", "dispatch_rows", "risk_rules", "risk_entries", "risk_sightings"),
    *("reviews", "archived_months", "archived_payments"),
}


def test_every_table_is_saved_or_has_a_reason_not_to_be() -> None:
    saved = {table.name for table in SAVED}
    assert saved == _EXPECTED, "say in copying.UNSAVED why a new table is not saved, or add it here"
    assert saved | {table.name for table in UNSAVED} == set(METADATA.tables)
    assert all(UNSAVED.values())
