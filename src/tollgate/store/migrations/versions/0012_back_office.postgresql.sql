ALTER TABLE credentials ADD COLUMN label TEXT DEFAULT '' NOT NULL;

ALTER TABLE credentials ADD COLUMN scopes TEXT;

ALTER TABLE credentials ADD COLUMN channel_ids TEXT;

ALTER TABLE credentials ADD COLUMN expires_at BIGINT;

CREATE TABLE users (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    password_hash TEXT NOT NULL,
    must_change_password SMALLINT NOT NULL,
    is_disabled SMALLINT NOT NULL,
    sealed_totp BYTEA,
    totp_step BIGINT NOT NULL,
    recovery_hashes TEXT,
    revision BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX users_by_name ON users (name);

CREATE TABLE grants (
    user_id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    role TEXT NOT NULL,
    refund_limit BIGINT,
    PRIMARY KEY (user_id, merchant_id, channel_id, role)
);

CREATE TABLE user_sessions (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    token_hash BYTEA NOT NULL,
    stage SMALLINT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    confirmed_at BIGINT NOT NULL,
    address TEXT NOT NULL,
    browser TEXT NOT NULL,
    challenge BYTEA,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX user_sessions_by_age ON user_sessions (created_at);

CREATE UNIQUE INDEX user_sessions_by_token ON user_sessions (token_hash);

CREATE TABLE passkeys (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    public_key BYTEA NOT NULL,
    sign_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE sign_in_failures (
    name_hash TEXT NOT NULL,
    failures BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (name_hash)
);

CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

CREATE TABLE audit_log (
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    merchant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL,
    address TEXT NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (number)
);

CREATE INDEX audit_log_by_action ON audit_log (merchant_id, action, number);

CREATE INDEX audit_log_by_merchant ON audit_log (merchant_id, number);

CREATE INDEX audit_log_by_subject ON audit_log (merchant_id, subject, number);

CREATE TABLE approvals (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    summary TEXT NOT NULL,
    fields TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    decided_by TEXT,
    decided_at BIGINT,
    outcome TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE saved_views (
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE TABLE payment_terms (
    merchant_id TEXT NOT NULL,
    term TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    payment_id TEXT NOT NULL,
    PRIMARY KEY (merchant_id, term, created_at, payment_id)
);

CREATE TABLE payment_tallies (
    merchant_id TEXT NOT NULL,
    hour BIGINT NOT NULL,
    channel_id TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    brand TEXT NOT NULL,
    result_code TEXT NOT NULL,
    currency TEXT NOT NULL,
    payments BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, hour, channel_id, payment_type, brand, result_code, currency)
);

CREATE TABLE journal (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    payment_id TEXT NOT NULL,
    ndc TEXT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX journal_by_ndc ON journal (merchant_id, ndc);

CREATE INDEX journal_by_payment ON journal (merchant_id, payment_id);

CREATE TABLE evidence (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    payment_id TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at BIGINT NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    sealed_content BYTEA NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX evidence_by_payment ON evidence (merchant_id, payment_id);

CREATE TABLE planned_outcomes (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    partner TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    overrides TEXT NOT NULL,
    planned BIGINT NOT NULL,
    "left" BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX jobs_by_subject ON jobs (merchant_id, subject_id);

CREATE INDEX payments_by_registration ON payments (merchant_id, registration_id, created_at, id) WHERE registration_id IS NOT NULL;

CREATE INDEX payments_disputed ON payments (merchant_id, created_at, id) WHERE action IN ('chargeback', 'repeated_chargeback');

CREATE INDEX registrations_by_time ON registrations (merchant_id, created_at, id);

CREATE INDEX schedules_by_time ON schedules (merchant_id, created_at, id);
