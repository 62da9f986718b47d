ALTER TABLE payments ADD COLUMN events INTEGER DEFAULT 0 NOT NULL;

ALTER TABLE outbox ADD COLUMN sequence INTEGER DEFAULT 1 NOT NULL;

UPDATE outbox SET sequence = numbered.place FROM (
    SELECT merchant_id, id, row_number() OVER (PARTITION BY merchant_id, subject_id ORDER BY id) AS place FROM outbox
) AS numbered WHERE outbox.merchant_id = numbered.merchant_id AND outbox.id = numbered.id;

UPDATE payments SET events = counted.events FROM (
    SELECT merchant_id, subject_id, count(*) AS events FROM outbox GROUP BY merchant_id, subject_id
) AS counted WHERE payments.merchant_id = counted.merchant_id AND payments.id = counted.subject_id;

UPDATE outbox SET topic = CASE
    WHEN outbox.result_code LIKE '000.200.%' OR outbox.result_code LIKE '800.400.5%'
        OR outbox.result_code = '100.400.500' THEN 'payment.pending'
    WHEN payments.state <> 1 THEN 'payment.failed'
    WHEN outbox.result_code = '000.400.100'
        OR outbox.result_code LIKE '000.400.0%' AND outbox.result_code <> '000.400.030' THEN 'payment.review'
    ELSE CASE payments.payment_type
        WHEN 'PA' THEN 'payment.authorized'
        WHEN 'CD' THEN 'payment.credited'
        WHEN '3D' THEN 'payment.authenticated'
        WHEN 'CP' THEN 'payment.captured'
        WHEN 'RV' THEN 'payment.reversed'
        WHEN 'RF' THEN 'payment.refunded'
        WHEN 'RB' THEN 'payment.rebilled'
        WHEN 'RC' THEN 'payment.received'
        WHEN 'CB' THEN 'payment.charged_back'
        WHEN 'CR' THEN 'payment.chargeback_reversed'
        ELSE 'payment.succeeded' END
    END
FROM payments WHERE outbox.merchant_id = payments.merchant_id AND outbox.subject_id = payments.id;

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

CREATE INDEX announcements_pending ON announcements (id) WHERE is_pending = 1;

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
    webhook_id TEXT NOT NULL,
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
    wall_at INTEGER NOT NULL,
    PRIMARY KEY (inbox, id)
)
 STRICT;

CREATE INDEX inbox_messages_by_age ON inbox_messages (received_at);

CREATE TABLE inboxes (
    name TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    behaviour TEXT,
    requests_left INTEGER,
    PRIMARY KEY (name)
)
 STRICT;
