"""The decision about every column of every table when a person is erased: how it is emptied, or why it stays.

The statements that carry out these decisions are in `store/erasure.py`.
"""

import msgspec


class Decision(msgspec.Struct, frozen=True):
    table: str
    columns: tuple[str, ...]
    is_personal: bool
    text: str
    """The way in which the columns are emptied, or the reason why they stay."""


def _stays(table: str, columns: str, text: str) -> Decision:
    return Decision(table, tuple(columns.split()), False, text)


def _goes(table: str, columns: str, text: str) -> Decision:
    return Decision(table, tuple(columns.split()), True, text)


_IDS = "ids, states and times of the gateway; they name a row and nobody outside"
_MONEY = "amounts, codes and times: the ledger and the reports need them"
_STAFF = "people who work for a merchant or the operator; `tollgate user` removes them"
_MERCHANT = "settings of a merchant, not of its customers"
_HASH = "a keyed hash or a signature, from which nothing can be read"
_TRACE = "counters, owners of leases and times of deliveries"

DECISIONS = (
    _stays("payments", "merchant_id id channel_id short_id ndc referenced_id checkout_id registration_id", _IDS),
    _stays("payments", "payment_type state amount currency brand method connector result_code outcome action", _MONEY),
    _stays("payments", "created_at deadline_at completed_at test_mode chain_id position releases closes", _MONEY),
    _stays("payments", "added drawn reserved disputed counted closed chain_length chain_net events", _MONEY),
    _stays("payments", "descriptor merchant_transaction_id lifecycle_id", "the merchant's own words for an order"),
    _stays("payments", "account_id routing risk", "the choice of the acquirer account, and which rules were hit"),
    _stays("payments", "split", "shares of the marketplace's sellers, by the merchant's own ids for them"),
    _stays("payments", "idempotency_key", "chosen by the merchant's program for one request"),
    _stays("payments", "mac", "the signature, which is made again for the row without the person"),
    _goes("payments", "card", "the holder is removed; first and last digits and the expiry stay"),
    _goes("payments", "echo details", "parameters that name a person are removed (`catalog/persons.py`)"),
    _goes("payments", "return_url", "removed: a shop may have written the shopper's session into it"),
    _goes("payments", "sealed_account", "removed, so that no later refund to the account is possible"),
    _stays("idempotency_keys", "channel_id key merchant_id payment_id created_at status", _IDS),
    _stays("idempotency_keys", "fingerprint", _HASH),
    _goes("idempotency_keys", "body", "answered again without the person; keys without a payment end after 24 hours"),
    _stays("outbox", "merchant_id id subject_id topic created_at result_code sequence", _IDS),
    _stays("ledger_entries", "merchant_id id payment_id channel_id currency source target amount posted_at", _MONEY),
    _stays("ledger_entries", "seller_id", "the merchant's own id for a seller"),
    _stays("jobs", "merchant_id id topic subject_id due_at leased_until lease_owner tries failures", _IDS),
    _stays("jobs", "body", "the terms of the job; no job carries parameters of a request"),
    _stays("merchants", "id name created_at", _MERCHANT),
    _stays("channels", "id merchant_id name created_at is_lenient requires_cvv is_closed test_url live_url", _MERCHANT),
    _stays("channels", "rebills_max creditor three_ds reuses_registrations uses_network_tokens", _MERCHANT),
    _stays("channels", "token_terms return_schemes acquirer account_id routing domains", _MERCHANT),
    _stays("acquirer_accounts", "id merchant_id channel_id name created_at is_closed test_url live_url", _MERCHANT),
    _stays("acquirer_accounts", "merchant_number acquirer_number terms", _MERCHANT),
    _stays("routing_counts", "merchant_id account_id bucket hour tries approvals", "counts of many payments"),
    _stays("dispatch_rows", "merchant_id id position channel_id conditions", _MERCHANT),
    _stays("risk_rules", "merchant_id id version channel_id name kind terms mode outcome code points", _MERCHANT),
    _stays("risk_rules", "created_at created_by", _STAFF),
    _stays("risk_entries", "merchant_id id list attribute ends_at created_at", _IDS),
    _stays("risk_entries", "value_hash", _HASH),
    _stays("risk_entries", "shown", "a masked value, from which nobody can be found"),
    _stays("risk_entries", "note created_by", _STAFF),
    _stays("risk_sightings", "merchant_id payment_id at marks amount currency", _MONEY),
    _stays("risk_sightings", "key other_1 other_2", _HASH),
    _stays("reviews", "merchant_id id channel_id state opened_at decided_at", _IDS),
    _stays("reviews", "decided_by", _STAFF),
    _goes("reviews", "note", "emptied: it may name the shopper"),
    _stays("recent_declines", "at id", _IDS),
    _stays("recent_declines", "changes", _HASH),
    _stays("ip_ranges", "edition first last country is_proxy", "networks and their countries, as imported"),
    _stays("bin_countries", "edition bin country", "card ranges and their countries, as imported"),
    _stays("credentials", "id merchant_id user_id token_hash sealed_token created_at revoked_at label", _MERCHANT),
    _stays("credentials", "scopes channel_ids expires_at", _MERCHANT),
    _stays("wallet_keys", "id channel_id wallet created_at public sealed_key", _MERCHANT),
    _stays("wallet_uses", "merchant_id fingerprint used_at request", _HASH),
    _stays("authentications", "merchant_id id stage created_at expires_at mac", _IDS),
    _stays("authentications", "body", "ids and results of the schemes; it has no name, address or browser"),
    _stays("authentications", "sealed_secret", "removed when the authentication is closed, which erasing waits for"),
    _stays("instructions", "merchant_id id channel_id state direction amount currency due_on sequence", _MONEY),
    _stays("instructions", "account_of file_id created_at", _IDS),
    _stays("instructions", "mandate_id signed_on", "the proof that a debit was allowed"),
    _stays("instructions", "purpose", "the merchant's words for an order, as the bank got them"),
    _stays("bank_files", "merchant_id id channel_id scheme due_on sequence currency entries total", _MONEY),
    _stays("bank_files", "created_at exported_at", _IDS),
    _stays("bank_files", "sealed_body", "sealed, with debits of many people: the proof of what the bank was told"),
    _stays("simulated_sessions", "id status created_at body", "of test hosts; deleted 30 minutes after its time"),
    _stays("settings", "name value", "settings of the host; erasures under way are sealed and lose their terms"),
    _stays("checkouts", "merchant_id id channel_id kind state created_at expires_at revision attempts", _IDS),
    _stays("checkouts", "subject_id submitted_at read_at window_ends_at window_reads reminder reminded_at", _IDS),
    _stays("checkouts", "script", "the version of the payment form"),
    _goes("checkouts", "sealed_fields return_url", "removed"),
    _stays("scripts", "version integrity body promised_at", "the payment form itself"),
    _stays("payment_links", "merchant_id id channel_id state created_at expires_at checkout_id mac", _IDS),
    _goes("payment_links", "sealed_fields", "removed; a link that is still open is ended first"),
    _stays("registrations", "merchant_id id channel_id state brand method ndc created_at used_at", _IDS),
    _stays("registrations", "keep_until test_mode result_code made_by revision", _IDS),
    _stays("registrations", "initial network_token", "references of the schemes; the token itself is deleted"),
    _goes("registrations", "card", "the holder is removed"),
    _goes("registrations", "echo fingerprint sealed_account sealed_token", "removed, as by deletion"),
    _stays("schedules", "merchant_id id channel_id series_id registration_id state payment_type", _IDS),
    _stays("schedules", "amount currency plan ndc created_at starts_at ends_at next_at", _MONEY),
    _stays("schedules", "test_mode result_code skipped mac", _MONEY),
    _goes("schedules", "echo", "removed after the schedule has ended with its registration"),
    _stays("schedule_runs", "merchant_id schedule_id due_at state tries payment_id result_code completed_at", _MONEY),
    _stays("announcements", "merchant_id id subject_id channel_id payment_type created_at is_pending", _IDS),
    _stays("announcements", "notification_url", "an address of the shop"),
    _goes("announcements", "payload", "removed, and rendered from the erased row if it is delivered once more"),
    _stays("webhooks", "merchant_id id channel_id url state types payment_types result_groups fields", _MERCHANT),
    _stays("webhooks", "wrapper scheme is_ordered retries_s is_listener reason created_at revision", _MERCHANT),
    _stays("webhooks", "sealed_secrets", _MERCHANT),
    _stays("deliveries", "merchant_id webhook_id subject_id event_id sequence queued_at due_at state", _IDS),
    _stays("deliveries", "tries is_replay url lease_owner status", _TRACE),
    _stays("delivery_attempts", "merchant_id id webhook_id event_id attempted_at status latency_ms", _IDS),
    _stays("delivery_attempts", "failure is_replay request_headers", "signatures and types of bodies, no parameters"),
    _goes("delivery_attempts", "answer", "emptied: a receiver may repeat what it got"),
    _stays("delivery_workers", "id alive_until", _TRACE),
    _stays("replays", "merchant_id id webhook_id requested_at requested_by filter deliveries", _STAFF),
    _goes("inbox_messages", "inbox id received_at method target headers body status wall_at", "all rows are deleted"),
    _stays("planned_outcomes", "merchant_id id channel_id partner payment_type overrides planned left", _MERCHANT),
    _stays("planned_outcomes", "created_at created_by", _STAFF),
    _stays("inboxes", "name used_at behaviour requests_left", "the behaviour of a test host"),
    _stays("users", "id name created_at password_hash must_change_password is_disabled sealed_totp", _STAFF),
    _stays("users", "totp_step recovery_hashes revision", _STAFF),
    _stays("grants", "user_id merchant_id channel_id role refund_limit", _STAFF),
    _stays("user_sessions", "user_id id token_hash stage created_at used_at confirmed_at address browser", _STAFF),
    _stays("user_sessions", "challenge", _STAFF),
    _stays("passkeys", "user_id id name public_key sign_count created_at used_at", _STAFF),
    _stays("sign_in_failures", "name_hash failures last_at", _HASH),
    _stays("audit_log", "number at merchant_id user_id user_name action subject details address hash", _STAFF),
    _stays("approvals", "merchant_id id channel_id action subject summary fields requested_by", _STAFF),
    _stays("approvals", "requested_at state decided_by decided_at outcome", _STAFF),
    _goes("saved_views", "user_id id merchant_id name query created_at", "views that search for the person"),
    _goes("payment_terms", "merchant_id term created_at payment_id", "terms of what was removed, as e-mails, go"),
    _stays("payment_tallies", "merchant_id hour channel_id payment_type brand result_code currency", _MONEY),
    _stays("payment_tallies", "payments amount", _MONEY),
    _stays("archived_months", "month part state chains payments archived_at accounts", _MONEY),
    _stays("archived_months", "proof next_proof", _HASH),
    _stays("archived_payments", "merchant_id id month part", "where the file is; a person is removed from the file"),
    _goes("journal", "merchant_id id payment_id ndc at kind text", "rows of the payment and of its requests go"),
    _goes("evidence", "merchant_id id payment_id added_by added_at name content_type", "deleted after the dispute"),
    _goes("evidence", "sealed_content", "deleted after the dispute"),
)
