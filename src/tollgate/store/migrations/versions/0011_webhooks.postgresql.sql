INSERT INTO settings (name, value) VALUES ('events_kept_since', CAST((extract(epoch FROM now()) * 1000000)::bigint AS TEXT))
 ON CONFLICT (name) DO UPDATE SET value = excluded.value;

ALTER TABLE payments ADD COLUMN events BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE outbox ADD COLUMN sequence BIGINT DEFAULT 1 NOT NULL;

CREATE TABLE announcements (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    is_pending SMALLINT NOT NULL,
    payload BYTEA,
    notification_url TEXT,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX announcements_by_age ON announcements (created_at);

CREATE INDEX announcements_pending ON announcements (merchant_id, subject_id) WHERE is_pending = 1;

CREATE TABLE webhooks (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT,
    url TEXT NOT NULL,
    state SMALLINT NOT NULL,
    types TEXT,
    payment_types TEXT,
    result_groups TEXT,
    fields TEXT NOT NULL,
    wrapper TEXT NOT NULL,
    scheme TEXT NOT NULL,
    is_ordered SMALLINT NOT NULL,
    retries_s TEXT,
    is_listener SMALLINT NOT NULL,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    sealed_secrets BYTEA NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE deliveries (
    merchant_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    tries BIGINT NOT NULL,
    is_replay SMALLINT NOT NULL,
    url TEXT,
    lease_owner TEXT,
    status SMALLINT,
    PRIMARY KEY (merchant_id, webhook_id, subject_id, event_id)
);

CREATE INDEX deliveries_due ON deliveries (webhook_id, due_at) WHERE state = 0;

CREATE INDEX deliveries_ended ON deliveries (queued_at) WHERE state > 0;

CREATE INDEX deliveries_pending ON deliveries (queued_at) WHERE state = 0;

CREATE TABLE delivery_attempts (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    attempted_at BIGINT NOT NULL,
    status SMALLINT,
    latency_ms BIGINT NOT NULL,
    request_headers TEXT NOT NULL,
    answer BYTEA NOT NULL,
    failure TEXT NOT NULL,
    is_replay SMALLINT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX delivery_attempts_by_age ON delivery_attempts (attempted_at);

CREATE INDEX delivery_attempts_by_event ON delivery_attempts (merchant_id, event_id);

CREATE TABLE delivery_workers (
    id TEXT NOT NULL,
    alive_until BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE replays (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    requested_by TEXT NOT NULL,
    filter TEXT NOT NULL,
    deliveries BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE inbox_messages (
    inbox TEXT NOT NULL,
    id TEXT NOT NULL,
    received_at BIGINT NOT NULL,
    method TEXT NOT NULL,
    target TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BYTEA NOT NULL,
    status SMALLINT,
    PRIMARY KEY (inbox, id)
);

CREATE INDEX inbox_messages_by_age ON inbox_messages (received_at);
