ALTER TABLE payments ADD COLUMN split TEXT;

ALTER TABLE ledger_entries ADD COLUMN seller_id TEXT;

CREATE INDEX ledger_by_seller ON ledger_entries (merchant_id, channel_id, id) WHERE seller_id IS NOT NULL;
