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
    created_at INTEGER NOT NULL,
    is_closed INTEGER NOT NULL,
    test_url TEXT,
    live_url TEXT,
    merchant_number TEXT NOT NULL,
    acquirer_number TEXT NOT NULL,
    terms TEXT NOT NULL,
    PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE routing_counts (
    merchant_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    bucket TEXT NOT NULL,
    hour INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    approvals INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, account_id, bucket, hour)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX routing_counts_by_hour ON routing_counts (hour);

CREATE TABLE dispatch_rows (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    channel_id TEXT NOT NULL,
    conditions TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE TABLE risk_rules (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    channel_id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    terms TEXT NOT NULL,
    mode TEXT NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT NOT NULL,
    points INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id, version)
)
 STRICT;

CREATE TABLE risk_entries (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    list TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value_hash BLOB NOT NULL,
    shown TEXT NOT NULL,
    ends_at INTEGER,
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id),
    CONSTRAINT risk_entries_once UNIQUE (merchant_id, list, attribute, value_hash)
)
 STRICT;

CREATE TABLE risk_sightings (
    merchant_id TEXT NOT NULL,
    "key" BLOB NOT NULL,
    at INTEGER NOT NULL,
    payment_id TEXT NOT NULL,
    marks INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    other_1 BLOB,
    other_2 BLOB,
    PRIMARY KEY (merchant_id, "key", at, payment_id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE reviews (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    decided_at INTEGER,
    decided_by TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 STRICT;

CREATE INDEX reviews_open ON reviews (merchant_id, opened_at) WHERE state = 0;

CREATE TABLE recent_declines (
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (at, id)
)
 STRICT;

CREATE TABLE ip_ranges (
    edition INTEGER NOT NULL,
    first BLOB NOT NULL,
    last BLOB NOT NULL,
    country TEXT NOT NULL,
    is_proxy INTEGER NOT NULL,
    PRIMARY KEY (edition, first)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE bin_countries (
    edition INTEGER NOT NULL,
    bin TEXT NOT NULL,
    country TEXT NOT NULL,
    PRIMARY KEY (edition, bin)
)
 WITHOUT ROWID,
 STRICT;
