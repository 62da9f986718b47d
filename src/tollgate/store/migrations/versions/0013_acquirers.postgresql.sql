ALTER TABLE payments ADD COLUMN connector TEXT;

ALTER TABLE channels ADD COLUMN acquirer TEXT;
