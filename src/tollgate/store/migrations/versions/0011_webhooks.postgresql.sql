ALTER TABLE payments ADD COLUMN events BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE outbox ADD COLUMN sequence BIGINT DEFAULT 1 NOT NULL;

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
    created_at BIGINT NOT NULL,
    is_pending SMALLINT NOT NULL,
    payload BYTEA,
    notification_url TEXT,
    PRIMARY KEY (merchant_id, id)
) WITH (toast_tuple_target = 8160);

CREATE INDEX announcements_pending ON announcements (id) WHERE is_pending = 1;

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

CREATE INDEX delivery_attempts_by_event ON delivery_attempts (merchant_id, event_id);

CREATE TABLE delivery_workers (
    id TEXT NOT NULL,
    alive_until BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE replays (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
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
    wall_at BIGINT NOT NULL,
    PRIMARY KEY (inbox, id)
);

CREATE INDEX inbox_messages_by_age ON inbox_messages (received_at);

CREATE TABLE inboxes (
    name TEXT NOT NULL,
    used_at BIGINT NOT NULL,
    behaviour TEXT,
    requests_left BIGINT,
    PRIMARY KEY (name)
);
