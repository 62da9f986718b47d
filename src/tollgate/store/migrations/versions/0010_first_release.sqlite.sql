CREATE TABLE payments (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    state INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    brand TEXT NOT NULL,
    method TEXT NOT NULL,
    descriptor TEXT NOT NULL,
    short_id TEXT NOT NULL,
    ndc TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deadline_at INTEGER NOT NULL,
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
    completed_at INTEGER,
    idempotency_key TEXT,
    sealed_account BLOB,
    action TEXT,
    chain_id TEXT,
    position INTEGER DEFAULT 1 NOT NULL,
    releases INTEGER DEFAULT 0 NOT NULL,
    closes INTEGER DEFAULT 0 NOT NULL,
    mac BLOB,
    added INTEGER DEFAULT 0 NOT NULL,
    drawn INTEGER DEFAULT 0 NOT NULL,
    reserved INTEGER DEFAULT 0 NOT NULL,
    disputed INTEGER DEFAULT 0 NOT NULL,
    counted INTEGER DEFAULT 0 NOT NULL,
    closed INTEGER DEFAULT 0 NOT NULL,
    chain_length INTEGER DEFAULT 1 NOT NULL,
    chain_net INTEGER DEFAULT 0 NOT NULL,
    lifecycle_id TEXT,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX payments_by_chain ON payments (merchant_id, chain_id, position) WHERE chain_id IS NOT NULL;

CREATE INDEX payments_by_lifecycle ON payments (merchant_id, channel_id, lifecycle_id, created_at, id) WHERE lifecycle_id IS NOT NULL;

CREATE INDEX payments_by_time ON payments (channel_id, merchant_id, created_at, id);

CREATE INDEX payments_by_transaction ON payments (merchant_id, channel_id, merchant_transaction_id, created_at, id) WHERE merchant_transaction_id IS NOT NULL;

CREATE INDEX payments_in_flight ON payments (deadline_at) WHERE state = 0;

CREATE TABLE idempotency_keys (
    channel_id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    payment_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status INTEGER,
    body BLOB,
    PRIMARY KEY (channel_id, "key", merchant_id)
)
 STRICT;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE outbox (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    result_code TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE ledger_entries (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    payment_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    currency TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    amount INTEGER NOT NULL,
    posted_at INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE jobs (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    topic TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    lease_owner TEXT,
    tries INTEGER NOT NULL,
    body TEXT NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX jobs_due ON jobs (due_at);

CREATE TABLE merchants (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE channels (
    id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    is_lenient INTEGER NOT NULL,
    requires_cvv INTEGER NOT NULL,
    is_closed INTEGER NOT NULL,
    test_url TEXT,
    live_url TEXT,
    rebills_max INTEGER DEFAULT 98 NOT NULL,
    creditor TEXT,
    three_ds TEXT,
    reuses_registrations INTEGER DEFAULT 0 NOT NULL,
    uses_network_tokens INTEGER DEFAULT 0 NOT NULL,
    token_terms TEXT,
    return_schemes TEXT,
    PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE credentials (
    id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    sealed_token BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    PRIMARY KEY (id),
    UNIQUE (token_hash)
)
 STRICT;

CREATE TABLE wallet_keys (
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    wallet TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    public TEXT NOT NULL,
    sealed_key BLOB NOT NULL,
    PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE wallet_uses (
    merchant_id TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    used_at INTEGER NOT NULL,
    request BLOB,
    PRIMARY KEY (merchant_id, fingerprint)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX wallet_uses_by_age ON wallet_uses (used_at);

CREATE TABLE authentications (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    stage INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    mac BLOB,
    sealed_secret BLOB,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE TABLE instructions (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    direction TEXT NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    due_on TEXT NOT NULL,
    sequence TEXT NOT NULL,
    account_of TEXT NOT NULL,
    mandate_id TEXT NOT NULL,
    signed_on TEXT NOT NULL,
    purpose TEXT NOT NULL,
    file_id TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

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
    entries INTEGER NOT NULL,
    total INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    sealed_body BLOB NOT NULL,
    exported_at INTEGER,
    PRIMARY KEY (merchant_id, id),
    CONSTRAINT bank_files_one_a_day UNIQUE (merchant_id, channel_id, scheme, due_on, sequence)
)
 STRICT;

CREATE TABLE simulated_sessions (
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX simulated_sessions_by_age ON simulated_sessions (created_at);

CREATE TABLE settings (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
)
 STRICT;

CREATE TABLE checkouts (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    state INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    subject_id TEXT,
    submitted_at INTEGER,
    read_at INTEGER,
    window_ends_at INTEGER NOT NULL,
    window_reads INTEGER NOT NULL,
    return_url TEXT,
    reminder TEXT NOT NULL,
    reminded_at INTEGER,
    script TEXT NOT NULL,
    sealed_fields BLOB,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX checkouts_by_age ON checkouts (created_at);

CREATE INDEX checkouts_kept ON checkouts (expires_at) WHERE sealed_fields IS NOT NULL;

CREATE TABLE scripts (
    version TEXT NOT NULL,
    integrity TEXT NOT NULL,
    body BLOB NOT NULL,
    promised_at INTEGER NOT NULL,
    PRIMARY KEY (version)
)
 STRICT;

CREATE TABLE payment_links (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    checkout_id TEXT,
    sealed_fields BLOB,
    mac BLOB NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX payment_links_by_checkout ON payment_links (merchant_id, checkout_id);

CREATE INDEX payment_links_by_expiry ON payment_links (expires_at);

CREATE TABLE registrations (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    brand TEXT NOT NULL,
    method TEXT NOT NULL,
    ndc TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    test_mode TEXT,
    result_code TEXT NOT NULL,
    card TEXT,
    echo TEXT NOT NULL,
    initial TEXT,
    network_token TEXT,
    fingerprint BLOB,
    made_by TEXT,
    revision INTEGER NOT NULL,
    sealed_account BLOB,
    sealed_token BLOB,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX registrations_by_fingerprint ON registrations (merchant_id, fingerprint) WHERE fingerprint IS NOT NULL;

CREATE INDEX registrations_kept ON registrations (keep_until) WHERE state < 2;

CREATE TABLE schedules (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    series_id TEXT NOT NULL,
    registration_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    payment_type TEXT NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    "plan" TEXT NOT NULL,
    ndc TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER,
    next_at INTEGER,
    test_mode TEXT,
    echo TEXT NOT NULL,
    result_code TEXT NOT NULL,
    skipped INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX schedules_by_registration ON schedules (merchant_id, registration_id);

CREATE INDEX schedules_by_series ON schedules (merchant_id, series_id);

CREATE INDEX schedules_due ON schedules (next_at) WHERE state = 0;

CREATE TABLE schedule_runs (
    merchant_id TEXT NOT NULL,
    schedule_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    payment_id TEXT,
    result_code TEXT NOT NULL,
    completed_at INTEGER,
    PRIMARY KEY (merchant_id, schedule_id, due_at)
)
 STRICT;
