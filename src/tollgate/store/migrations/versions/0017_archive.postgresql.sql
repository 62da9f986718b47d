CREATE TABLE archived_months (
    month TEXT NOT NULL,
    part BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    chains BIGINT NOT NULL,
    payments BIGINT NOT NULL,
    archived_at BIGINT NOT NULL,
    accounts TEXT NOT NULL,
    proof BYTEA,
    next_proof BYTEA,
    PRIMARY KEY (month, part)
);

CREATE TABLE archived_payments (
    merchant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    month TEXT NOT NULL,
    part BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);
