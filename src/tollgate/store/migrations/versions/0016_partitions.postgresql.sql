ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey, ADD PRIMARY KEY (merchant_id, channel_id, key);

ALTER TABLE announcements ALTER COLUMN id TYPE TEXT COLLATE "C";

ALTER TABLE deliveries ALTER COLUMN event_id TYPE TEXT COLLATE "C";

ALTER TABLE delivery_attempts ALTER COLUMN id TYPE TEXT COLLATE "C", ALTER COLUMN event_id TYPE TEXT COLLATE "C";

ALTER TABLE outbox ALTER COLUMN id TYPE TEXT COLLATE "C";

ALTER TABLE ledger_entries ALTER COLUMN id TYPE TEXT COLLATE "C";

CREATE TABLE payment_months (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    chain_id TEXT
);

INSERT INTO payment_months (merchant_id, id, created_at, chain_id)
 SELECT merchant_id, id, created_at, chain_id FROM payments;

ALTER TABLE payment_months ADD PRIMARY KEY (merchant_id, id);

CREATE INDEX payment_months_by_chain ON payment_months (merchant_id, chain_id, created_at) WHERE chain_id IS NOT NULL;

ALTER TABLE payments DROP CONSTRAINT payments_pkey, ADD PRIMARY KEY (merchant_id, id, created_at);

ALTER TABLE payments RENAME TO payments_past;

ALTER TABLE outbox RENAME TO outbox_past;

ALTER TABLE ledger_entries RENAME TO ledger_entries_past;

ALTER TABLE delivery_attempts RENAME TO delivery_attempts_past;

ALTER INDEX payments_pkey RENAME TO payments_past_pkey;

ALTER INDEX payments_by_chain RENAME TO payments_past_by_chain;

ALTER INDEX payments_by_time RENAME TO payments_past_by_time;

ALTER INDEX payments_by_transaction RENAME TO payments_past_by_transaction;

ALTER INDEX payments_by_lifecycle RENAME TO payments_past_by_lifecycle;

ALTER INDEX payments_by_registration RENAME TO payments_past_by_registration;

ALTER INDEX payments_disputed RENAME TO payments_past_disputed;

ALTER INDEX payments_in_flight RENAME TO payments_past_in_flight;

ALTER INDEX outbox_pkey RENAME TO outbox_past_pkey;

ALTER INDEX ledger_entries_pkey RENAME TO ledger_entries_past_pkey;

ALTER INDEX delivery_attempts_pkey RENAME TO delivery_attempts_past_pkey;

ALTER INDEX delivery_attempts_by_event RENAME TO delivery_attempts_past_by_event;

CREATE TABLE payments (LIKE payments_past INCLUDING DEFAULTS, PRIMARY KEY (merchant_id, id, created_at))
 PARTITION BY RANGE (created_at);

CREATE INDEX payments_by_chain ON payments (merchant_id, chain_id, position) WHERE chain_id IS NOT NULL;

CREATE INDEX payments_by_time ON payments (channel_id, merchant_id, created_at, id);

CREATE INDEX payments_by_transaction ON payments
 (merchant_id, channel_id, merchant_transaction_id, created_at, id) WHERE merchant_transaction_id IS NOT NULL;

CREATE INDEX payments_by_lifecycle ON payments
 (merchant_id, channel_id, lifecycle_id, created_at, id) WHERE lifecycle_id IS NOT NULL;

CREATE INDEX payments_by_registration ON payments
 (merchant_id, registration_id, created_at, id) WHERE registration_id IS NOT NULL;

CREATE INDEX payments_disputed ON payments
 (merchant_id, created_at, id) WHERE action IN ('chargeback', 'repeated_chargeback');

CREATE INDEX payments_in_flight ON payments (deadline_at) WHERE state = 0;

CREATE TABLE outbox (LIKE outbox_past INCLUDING DEFAULTS, PRIMARY KEY (merchant_id, id)) PARTITION BY RANGE (id);

CREATE TABLE ledger_entries (LIKE ledger_entries_past INCLUDING DEFAULTS, PRIMARY KEY (merchant_id, id))
 PARTITION BY RANGE (id);

CREATE TABLE delivery_attempts (LIKE delivery_attempts_past INCLUDING DEFAULTS, PRIMARY KEY (merchant_id, id))
 PARTITION BY RANGE (id);

CREATE INDEX delivery_attempts_by_event ON delivery_attempts (merchant_id, event_id);
