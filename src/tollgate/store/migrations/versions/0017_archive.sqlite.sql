CREATE TABLE archived_months (
    month TEXT NOT NULL,
    part INTEGER NOT NULL,
    state INTEGER NOT NULL,
    chains INTEGER NOT NULL,
    payments INTEGER NOT NULL,
    archived_at INTEGER NOT NULL,
    accounts TEXT NOT NULL,
    proof BLOB,
    next_proof BLOB,
    PRIMARY KEY (month, part)
)
 STRICT;

CREATE TABLE archived_payments (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    month TEXT NOT NULL,
    part INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, id)
)
 WITHOUT ROWID,
 STRICT;
