"""Everything durable, on SQLite or PostgreSQL: payments, idempotency keys, events, jobs, merchants. No secrets."""
