ALTER TABLE idempotency_keys RENAME TO idempotency_keys_before;

CREATE TABLE idempotency_keys (
    channel_id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    payment_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status INTEGER,
    body BLOB,
    PRIMARY KEY (merchant_id, channel_id, "key")
)
 STRICT;

INSERT INTO idempotency_keys (channel_id, "key", merchant_id, fingerprint, payment_id, created_at, status, body)
 SELECT channel_id, "key", merchant_id, fingerprint, payment_id, created_at, status, body FROM idempotency_keys_before;

DROP TABLE idempotency_keys_before;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
