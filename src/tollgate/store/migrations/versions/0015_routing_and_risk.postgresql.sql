ALTER TABLE payments ADD COLUMN account_id TEXT;

ALTER TABLE payments ADD COLUMN routing TEXT;

ALTER TABLE payments ADD COLUMN risk TEXT;

ALTER TABLE channels ADD COLUMN account_id TEXT;

ALTER TABLE channels ADD COLUMN routing TEXT;

ALTER TABLE channels ADD COLUMN domains TEXT;

CREATE TABLE acquirer_accounts (
    id TEXT NOT NULL,
    merchant_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    is_closed SMALLINT NOT NULL,
    test_url TEXT,
    live_url TEXT,
    merchant_number TEXT NOT NULL,
    acquirer_number TEXT NOT NULL,
    terms TEXT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE routing_counts (
    merchant_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    bucket TEXT NOT NULL,
    hour BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    approvals BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, account_id, bucket, hour)
);

CREATE INDEX routing_counts_by_hour ON routing_counts (hour);

CREATE TABLE dispatch_rows (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    channel_id TEXT NOT NULL,
    conditions TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE TABLE risk_rules (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    channel_id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    terms TEXT NOT NULL,
    mode TEXT NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT NOT NULL,
    points BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id, version)
);

CREATE TABLE risk_entries (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    list TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value_hash BYTEA NOT NULL,
    shown TEXT NOT NULL,
    ends_at BIGINT,
    note TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id),
    CONSTRAINT risk_entries_once UNIQUE (merchant_id, list, attribute, value_hash)
);

CREATE TABLE risk_sightings (
    merchant_id TEXT NOT NULL,
    key BYTEA NOT NULL,
    at BIGINT NOT NULL,
    payment_id TEXT NOT NULL,
    marks SMALLINT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    other_1 BYTEA,
    other_2 BYTEA,
    PRIMARY KEY (merchant_id, key, at, payment_id)
);

CREATE TABLE reviews (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state SMALLINT NOT NULL,
    opened_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);

CREATE INDEX reviews_open ON reviews (merchant_id, opened_at) WHERE state = 0;

CREATE TABLE recent_declines (
    at BIGINT NOT NULL,
    id TEXT NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (at, id)
);

CREATE TABLE ip_ranges (
    edition BIGINT NOT NULL,
    first BYTEA NOT NULL,
    last BYTEA NOT NULL,
    country TEXT NOT NULL,
    is_proxy SMALLINT NOT NULL,
    PRIMARY KEY (edition, first)
);

CREATE TABLE bin_countries (
    edition BIGINT NOT NULL,
    bin TEXT NOT NULL,
    country TEXT NOT NULL,
    PRIMARY KEY (edition, bin)
);
