INSERT INTO settings (name, value) VALUES ('events_kept_since', CAST(CAST(strftime('%s', 'now') AS INTEGER) * 1000000 AS TEXT))
 ON CONFLICT (name) DO UPDATE SET value = excluded.value;

ALTER TABLE payments ADD COLUMN events INTEGER DEFAULT 0 NOT NULL;

ALTER TABLE outbox ADD COLUMN sequence INTEGER DEFAULT 1 NOT NULL;

CREATE TABLE announcements (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    is_pending INTEGER NOT NULL,
    payload BLOB,
    notification_url TEXT,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX announcements_by_age ON announcements (created_at);

CREATE INDEX announcements_pending ON announcements (merchant_id, subject_id) WHERE is_pending = 1;

CREATE TABLE webhooks (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT,
    url TEXT NOT NULL,
    state INTEGER NOT NULL,
    types TEXT,
    payment_types TEXT,
    result_groups TEXT,
    fields TEXT NOT NULL,
    wrapper TEXT NOT NULL,
    scheme TEXT NOT NULL,
    is_ordered INTEGER NOT NULL,
    retries_s TEXT,
    is_listener INTEGER NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    sealed_secrets BLOB NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE TABLE deliveries (
    merchant_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    is_replay INTEGER NOT NULL,
    url TEXT,
    lease_owner TEXT,
    status INTEGER,
    PRIMARY KEY (merchant_id, webhook_id, subject_id, event_id)
)
 STRICT;

CREATE INDEX deliveries_due ON deliveries (webhook_id, due_at) WHERE state = 0;

CREATE INDEX deliveries_ended ON deliveries (queued_at) WHERE state > 0;

CREATE INDEX deliveries_pending ON deliveries (queued_at) WHERE state = 0;

CREATE TABLE delivery_attempts (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    attempted_at INTEGER NOT NULL,
    status INTEGER,
    latency_ms INTEGER NOT NULL,
    request_headers TEXT NOT NULL,
    answer BLOB NOT NULL,
    failure TEXT NOT NULL,
    is_replay INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX delivery_attempts_by_age ON delivery_attempts (attempted_at);

CREATE INDEX delivery_attempts_by_event ON delivery_attempts (merchant_id, event_id);

CREATE TABLE delivery_workers (
    id TEXT NOT NULL,
    alive_until INTEGER NOT NULL,
    PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE replays (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    requested_by TEXT NOT NULL,
    filter TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE TABLE inbox_messages (
    inbox TEXT NOT NULL,
    id TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    method TEXT NOT NULL,
    target TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    status INTEGER,
    PRIMARY KEY (inbox, id)
)
 STRICT;

CREATE INDEX inbox_messages_by_age ON inbox_messages (received_at);
