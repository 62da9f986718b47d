ALTER TABLE payments ADD COLUMN split TEXT;

ALTER TABLE ledger_entries ADD COLUMN seller_id TEXT;
