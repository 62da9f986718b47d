CREATE TABLE payments (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    state SMALLINT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    brand TEXT NOT NULL,
    method TEXT NOT NULL,
    descriptor TEXT NOT NULL,
    short_id TEXT NOT NULL,
    ndc TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    deadline_at BIGINT NOT NULL,
    test_mode TEXT,
    merchant_transaction_id TEXT,
    referenced_id TEXT,
    checkout_id TEXT,
    registration_id TEXT,
    return_url TEXT,
    card TEXT,
    echo TEXT NOT NULL,
    outcome TEXT,
    result_code TEXT NOT NULL,
    details TEXT NOT NULL,
    completed_at BIGINT,
    idempotency_key TEXT,
    sealed_account BYTEA,
    action TEXT,
    chain_id TEXT,
    position BIGINT DEFAULT 1 NOT NULL,
    releases BIGINT DEFAULT 0 NOT NULL,
    closes BIGINT DEFAULT 0 NOT NULL,
    mac BYTEA,
    added BIGINT DEFAULT 0 NOT NULL,
    drawn BIGINT DEFAULT 0 NOT NULL,
    reserved BIGINT DEFAULT 0 NOT NULL,
    disputed BIGINT DEFAULT 0 NOT NULL,
    counted BIGINT DEFAULT 0 NOT NULL,
    closed BIGINT DEFAULT 0 NOT NULL,
    chain_length BIGINT DEFAULT 1 NOT NULL,
    chain_net BIGINT DEFAULT 0 NOT NULL,
    lifecycle_id TEXT,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX payments_by_chain ON payments (merchant_id, chain_id, position) WHERE chain_id IS NOT NULL;

CREATE INDEX payments_by_lifecycle ON payments (merchant_id, channel_id, lifecycle_id, created_at, id) WHERE lifecycle_id IS NOT NULL;

CREATE INDEX payments_by_time ON payments (channel_id, merchant_id, created_at, id);

CREATE INDEX payments_by_transaction ON payments (merchant_id, channel_id, merchant_transaction_id, created_at, id) WHERE merchant_transaction_id IS NOT NULL;

CREATE INDEX payments_in_flight ON payments (deadline_at) WHERE state = 0;

CREATE TABLE idempotency_keys (
    channel_id TEXT NOT NULL,
    key TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    payment_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    status SMALLINT,
    body BYTEA,
    PRIMARY KEY (channel_id, key, merchant_id)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE outbox (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    result_code TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE ledger_entries (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    payment_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    currency TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    amount BIGINT NOT NULL,
    posted_at BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE jobs (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    topic TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    leased_until BIGINT NOT NULL,
    lease_owner TEXT,
    tries BIGINT NOT NULL,
    body TEXT NOT NULL,
    failures BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX jobs_due ON jobs (due_at);

CREATE TABLE merchants (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE channels (
    id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    is_lenient SMALLINT NOT NULL,
    requires_cvv SMALLINT NOT NULL,
    is_closed SMALLINT NOT NULL,
    test_url TEXT,
    live_url TEXT,
    rebills_max BIGINT DEFAULT 98 NOT NULL,
    creditor TEXT,
    three_ds TEXT,
    reuses_registrations SMALLINT DEFAULT 0 NOT NULL,
    uses_network_tokens SMALLINT DEFAULT 0 NOT NULL,
    token_terms TEXT,
    return_schemes TEXT,
    PRIMARY KEY (id)
);

CREATE TABLE credentials (
    id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    token_hash BYTEA NOT NULL,
    sealed_token BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (id),
    UNIQUE (token_hash)
);

CREATE TABLE wallet_keys (
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    wallet TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    public TEXT NOT NULL,
    sealed_key BYTEA NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE wallet_uses (
    merchant_id TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    used_at BIGINT NOT NULL,
    request BYTEA,
    PRIMARY KEY (merchant_id, fingerprint)
);

CREATE INDEX wallet_uses_by_age ON wallet_uses (used_at);

CREATE TABLE authentications (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    stage SMALLINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    mac BYTEA,
    sealed_secret BYTEA,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE instructions (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state SMALLINT NOT NULL,
    direction TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    due_on TEXT NOT NULL,
    sequence TEXT NOT NULL,
    account_of TEXT NOT NULL,
    mandate_id TEXT NOT NULL,
    signed_on TEXT NOT NULL,
    purpose TEXT NOT NULL,
    file_id TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX instructions_by_file ON instructions (merchant_id, file_id);

CREATE INDEX instructions_open ON instructions (due_on) WHERE state = 0;

CREATE TABLE bank_files (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    scheme TEXT NOT NULL,
    due_on TEXT NOT NULL,
    sequence TEXT NOT NULL,
    currency TEXT NOT NULL,
    entries BIGINT NOT NULL,
    total BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    sealed_body BYTEA NOT NULL,
    exported_at BIGINT,
    PRIMARY KEY (merchant_id, id),
    CONSTRAINT bank_files_one_a_day UNIQUE (merchant_id, channel_id, scheme, due_on, sequence)
);

CREATE TABLE simulated_sessions (
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX simulated_sessions_by_age ON simulated_sessions (created_at);

CREATE TABLE settings (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE checkouts (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    state SMALLINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    subject_id TEXT,
    submitted_at BIGINT,
    read_at BIGINT,
    window_ends_at BIGINT NOT NULL,
    window_reads BIGINT NOT NULL,
    return_url TEXT,
    reminder TEXT NOT NULL,
    reminded_at BIGINT,
    script TEXT NOT NULL,
    sealed_fields BYTEA,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX checkouts_by_age ON checkouts (created_at);

CREATE INDEX checkouts_kept ON checkouts (expires_at) WHERE sealed_fields IS NOT NULL;

CREATE TABLE scripts (
    version TEXT NOT NULL,
    integrity TEXT NOT NULL,
    body BYTEA NOT NULL,
    promised_at BIGINT NOT NULL,
    PRIMARY KEY (version)
);

CREATE TABLE payment_links (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state SMALLINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    checkout_id TEXT,
    sealed_fields BYTEA,
    mac BYTEA NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX payment_links_by_checkout ON payment_links (merchant_id, checkout_id);

CREATE INDEX payment_links_by_expiry ON payment_links (expires_at);

CREATE TABLE registrations (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state SMALLINT NOT NULL,
    brand TEXT NOT NULL,
    method TEXT NOT NULL,
    ndc TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    keep_until BIGINT NOT NULL,
    test_mode TEXT,
    result_code TEXT NOT NULL,
    card TEXT,
    echo TEXT NOT NULL,
    initial TEXT,
    network_token TEXT,
    fingerprint BYTEA,
    made_by TEXT,
    revision BIGINT NOT NULL,
    sealed_account BYTEA,
    sealed_token BYTEA,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX registrations_by_fingerprint ON registrations (merchant_id, fingerprint) WHERE fingerprint IS NOT NULL;

CREATE INDEX registrations_kept ON registrations (keep_until) WHERE state < 2;

CREATE TABLE schedules (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    series_id TEXT NOT NULL,
    registration_id TEXT NOT NULL,
    state SMALLINT NOT NULL,
    payment_type TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    plan TEXT NOT NULL,
    ndc TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    starts_at BIGINT NOT NULL,
    ends_at BIGINT,
    next_at BIGINT,
    test_mode TEXT,
    echo TEXT NOT NULL,
    result_code TEXT NOT NULL,
    skipped BIGINT NOT NULL,
    mac BYTEA,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX schedules_by_registration ON schedules (merchant_id, registration_id);

CREATE INDEX schedules_by_series ON schedules (merchant_id, series_id);

CREATE INDEX schedules_due ON schedules (next_at) WHERE state = 0;

CREATE TABLE schedule_runs (
    merchant_id TEXT NOT NULL,
    schedule_id TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    tries BIGINT NOT NULL,
    payment_id TEXT,
    result_code TEXT NOT NULL,
    completed_at BIGINT,
    PRIMARY KEY (merchant_id, schedule_id, due_at)
);
