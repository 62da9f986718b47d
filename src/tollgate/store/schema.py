"""Tables, columns and indexes of both databases. How rows become structs is decided elsewhere."""

from typing import Any

import sqlalchemy as sa

from tollgate.catalog.limits import LIMITS

METADATA = sa.MetaData()
POSTGRESQL_METADATA = sa.MetaData()
"""The tables that only PostgreSQL has."""

TEXT = sa.Text()
# An id that begins with its time. Months of PostgreSQL are ranges of such ids, in the order of their bytes.
TIMED_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BYTES = sa.LargeBinary()
# STRICT tables know five types only, so the widths of PostgreSQL need their SQLite twin.
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SMALL = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")

ZERO, ONE = sa.text("0"), sa.text("1")


def _make_table(name: str, *columns: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, METADATA, *columns, sqlite_strict=True, **options)


def _make_key(id_type: sa.types.TypeEngine[str] = TEXT) -> tuple[sa.Column[str], sa.Column[str]]:
    """Returns the key of most tables; the merchant leads, so that tables can be distributed by it."""
    return sa.Column("merchant_id", TEXT, primary_key=True), sa.Column("id", id_type, primary_key=True)


def _index_where(name: str, *columns: sa.Column[Any], where: Any) -> None:
    sa.Index(name, *columns, postgresql_where=where, sqlite_where=where)


STARTED = "state = 0"
OPEN_INSTRUCTION = "state = 0"
OPEN_REGISTRATION = "state < 2"
OPEN_REVIEW = "state = 0"
ACTIVE_SCHEDULE = "state = 0"
PENDING_ANNOUNCEMENT = "is_pending = 1"
PENDING_DELIVERY = "state = 0"
ENDED_DELIVERY = "state > 0"
DISPUTE = "action IN ('chargeback', 'repeated_chargeback')"
"""The predicates of partial indexes; statements repeat them literally, or the planner would not recognise them."""

payments = _make_table(
    "payments",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("payment_type", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("brand", TEXT, nullable=False),
    sa.Column("method", TEXT, nullable=False),
    sa.Column("descriptor", TEXT, nullable=False),
    sa.Column("short_id", TEXT, nullable=False),
    sa.Column("ndc", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("deadline_at", WHOLE, nullable=False),
    sa.Column("test_mode", TEXT),
    sa.Column("merchant_transaction_id", TEXT),
    sa.Column("referenced_id", TEXT),
    sa.Column("checkout_id", TEXT),
    sa.Column("registration_id", TEXT),
    sa.Column("return_url", TEXT),
    sa.Column("card", TEXT),
    sa.Column("echo", TEXT, nullable=False),
    sa.Column("outcome", TEXT),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("details", TEXT, nullable=False),
    sa.Column("completed_at", WHOLE),
    sa.Column("idempotency_key", TEXT),
    sa.Column("sealed_account", BYTES),
    sa.Column("action", TEXT),
    sa.Column("chain_id", TEXT),
    sa.Column("position", WHOLE, nullable=False, server_default=ONE),
    sa.Column("releases", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("closes", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("mac", BYTES),
    # The balance.
    sa.Column("added", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("drawn", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("reserved", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("disputed", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("counted", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("closed", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("chain_length", WHOLE, nullable=False, server_default=ONE),
    sa.Column("chain_net", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("lifecycle_id", TEXT),
    sa.Column("events", WHOLE, nullable=False, server_default=ZERO),
    sa.Column("connector", TEXT),
    sa.Column("split", TEXT),
    # The acquirer account that has it; NULL is the one that has the id of the channel.
    sa.Column("account_id", TEXT),
    # The accounts that were considered, and the finding of the risk rules, as JSON.
    sa.Column("routing", TEXT),
    sa.Column("risk", TEXT),
    postgresql_partition_by="RANGE (created_at)",
)
# Only later transactions are in it: a chain is its first payment and what stands here.
_index_where(
    "payments_by_chain",
    payments.c.merchant_id,
    payments.c.chain_id,
    payments.c.position,
    where=payments.c.chain_id.is_not(None),
)
# The channel leads, or else PostgreSQL would find single payments of a young table by this index and not by the key.
sa.Index("payments_by_time", payments.c.channel_id, payments.c.merchant_id, payments.c.created_at, payments.c.id)
_index_where(
    "payments_by_transaction",
    payments.c.merchant_id,
    payments.c.channel_id,
    payments.c.merchant_transaction_id,
    payments.c.created_at,
    payments.c.id,
    where=payments.c.merchant_transaction_id.is_not(None),
)
_index_where(
    "payments_by_lifecycle",
    payments.c.merchant_id,
    payments.c.channel_id,
    payments.c.lifecycle_id,
    payments.c.created_at,
    payments.c.id,
    where=payments.c.lifecycle_id.is_not(None),
)
# Holds only payments by a registration, so no other pays for it.
_index_where(
    "payments_by_registration",
    payments.c.merchant_id,
    payments.c.registration_id,
    payments.c.created_at,
    payments.c.id,
    where=payments.c.registration_id.is_not(None),
)
# Holds only chargebacks, which are few.
_index_where(
    "payments_disputed",
    payments.c.merchant_id,
    payments.c.created_at,
    payments.c.id,
    where=sa.text(DISPUTE),
)
# Holds only what is in flight: rows leave it by being completed.
_index_where("payments_in_flight", payments.c.deadline_at, where=sa.text(STARTED))

idempotency_keys = _make_table(
    "idempotency_keys",
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("key", TEXT, nullable=False),
    sa.Column("merchant_id", TEXT, nullable=False),
    sa.Column("fingerprint", BYTES, nullable=False),
    sa.Column("payment_id", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("status", SMALL),
    sa.Column("body", BYTES),
    sa.PrimaryKeyConstraint("merchant_id", "channel_id", "key"),
)
sa.Index("idempotency_keys_by_age", idempotency_keys.c.created_at)

outbox = _make_table(
    "outbox",
    # Ids begin with the instant, so a merchant's events are appended to the end of the key.
    *_make_key(TIMED_ID),
    sa.Column("subject_id", TEXT, nullable=False),
    sa.Column("topic", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("result_code", TEXT, nullable=False),
    # The number of the event among those of its subject.
    sa.Column("sequence", WHOLE, nullable=False, server_default=ONE),
    # One tree instead of two; for payments, whose rows are long and ids random, it measured half as fast.
    sqlite_with_rowid=False,
    postgresql_partition_by="RANGE (id)",
)

ledger = _make_table(
    "ledger_entries",
    # Ids begin with the instant, as the outbox's do: a report of a day is a range of the key.
    *_make_key(TIMED_ID),
    sa.Column("payment_id", TEXT, nullable=False),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("source", TEXT, nullable=False),
    sa.Column("target", TEXT, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("posted_at", WHOLE, nullable=False),
    sa.Column("seller_id", TEXT),
    sqlite_with_rowid=False,
    postgresql_partition_by="RANGE (id)",
)

jobs = _make_table(
    "jobs",
    *_make_key(),
    sa.Column("topic", TEXT, nullable=False),
    sa.Column("subject_id", TEXT, nullable=False),
    sa.Column("due_at", WHOLE, nullable=False),
    sa.Column("leased_until", WHOLE, nullable=False),
    sa.Column("lease_owner", TEXT),
    sa.Column("tries", WHOLE, nullable=False),
    sa.Column("body", TEXT, nullable=False),
    sa.Column("failures", WHOLE, nullable=False, server_default=ZERO),
)
sa.Index("jobs_due", jobs.c.due_at)
sa.Index("jobs_by_subject", jobs.c.merchant_id, jobs.c.subject_id)

merchants = _make_table(
    "merchants",
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
)

channels = _make_table(
    "channels",
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("merchant_id", TEXT, nullable=False),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("is_lenient", SMALL, nullable=False),
    sa.Column("requires_cvv", SMALL, nullable=False),
    sa.Column("is_closed", SMALL, nullable=False),
    sa.Column("test_url", TEXT),
    sa.Column("live_url", TEXT),
    sa.Column("rebills_max", WHOLE, nullable=False, server_default=sa.text(str(LIMITS.rebills_max))),
    # Settings that are read and written as a whole, as JSON.
    sa.Column("creditor", TEXT),
    sa.Column("three_ds", TEXT),
    sa.Column("reuses_registrations", SMALL, nullable=False, server_default=ZERO),
    sa.Column("uses_network_tokens", SMALL, nullable=False, server_default=ZERO),
    sa.Column("token_terms", TEXT),
    sa.Column("return_schemes", TEXT),
    sa.Column("acquirer", TEXT),
    sa.Column("account_id", TEXT),
    sa.Column("routing", TEXT),
    sa.Column("domains", TEXT),
)

acquirer_accounts = _make_table(
    "acquirer_accounts",
    # The accounts of channels beside their first one, which the channels themselves describe.
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("merchant_id", TEXT, nullable=False),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("is_closed", SMALL, nullable=False),
    sa.Column("test_url", TEXT),
    sa.Column("live_url", TEXT),
    sa.Column("merchant_number", TEXT, nullable=False),
    sa.Column("acquirer_number", TEXT, nullable=False),
    sa.Column("terms", TEXT, nullable=False),
)

routing_counts = _make_table(
    "routing_counts",
    # Charges of an account that were alike, by the hour: how many were decided, and how many approved.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("account_id", TEXT, primary_key=True),
    sa.Column("bucket", TEXT, primary_key=True),
    sa.Column("hour", WHOLE, primary_key=True),
    sa.Column("tries", WHOLE, nullable=False),
    sa.Column("approvals", WHOLE, nullable=False),
    sqlite_with_rowid=False,
)
sa.Index("routing_counts_by_hour", routing_counts.c.hour)

dispatch_rows = _make_table(
    "dispatch_rows",
    *_make_key(),
    sa.Column("position", WHOLE, nullable=False),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("conditions", TEXT, nullable=False),
)

risk_rules = _make_table(
    "risk_rules",
    *_make_key(),
    # The newest version counts; a version is never changed.
    sa.Column("version", WHOLE, primary_key=True),
    # Empty for a rule of all channels.
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("kind", TEXT, nullable=False),
    sa.Column("terms", TEXT, nullable=False),
    sa.Column("mode", TEXT, nullable=False),
    sa.Column("outcome", TEXT, nullable=False),
    sa.Column("code", TEXT, nullable=False),
    sa.Column("points", WHOLE, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("created_by", TEXT, nullable=False),
)

risk_entries = _make_table(
    "risk_entries",
    # The block and allow lists.
    *_make_key(),
    sa.Column("list", TEXT, nullable=False),
    sa.Column("attribute", TEXT, nullable=False),
    sa.Column("value_hash", BYTES, nullable=False),
    # The value with most of it hidden, for people.
    sa.Column("shown", TEXT, nullable=False),
    sa.Column("ends_at", WHOLE),
    sa.Column("note", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("created_by", TEXT, nullable=False),
    sa.UniqueConstraint("merchant_id", "list", "attribute", "value_hash", name="risk_entries_once"),
)

risk_sightings = _make_table(
    "risk_sightings",
    # The payments that were seen with one value, such as a card or an address. A bit for each attribute that has it.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("key", BYTES, primary_key=True),
    sa.Column("at", WHOLE, primary_key=True),
    sa.Column("payment_id", TEXT, primary_key=True),
    sa.Column("marks", SMALL, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    # The other values of pairs, such as the e-mail address and the number that came with a card.
    sa.Column("other_1", BYTES),
    sa.Column("other_2", BYTES),
    sqlite_with_rowid=False,
)

reviews = _make_table(
    "reviews",
    # The id is that of the payment.
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("opened_at", WHOLE, nullable=False),
    sa.Column("decided_at", WHOLE),
    sa.Column("decided_by", TEXT, nullable=False),
    sa.Column("note", TEXT, nullable=False),
)
_index_where("reviews_open", reviews.c.merchant_id, reviews.c.opened_at, where=sa.text(OPEN_REVIEW))

recent_declines = _make_table(
    "recent_declines",
    # What processes tell each other of declined charges, by which card testing is recognised.
    sa.Column("at", WHOLE, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("changes", TEXT, nullable=False),
)

ip_ranges = _make_table(
    "ip_ranges",
    # The import that it came with; a setting names the one that counts.
    sa.Column("edition", WHOLE, primary_key=True),
    # Sixteen bytes each; IPv4 addresses as IPv6 has them.
    sa.Column("first", BYTES, primary_key=True),
    sa.Column("last", BYTES, nullable=False),
    sa.Column("country", TEXT, nullable=False),
    sa.Column("is_proxy", SMALL, nullable=False),
    sqlite_with_rowid=False,
)

bin_countries = _make_table(
    "bin_countries",
    sa.Column("edition", WHOLE, primary_key=True),
    sa.Column("bin", TEXT, primary_key=True),
    sa.Column("country", TEXT, nullable=False),
    sqlite_with_rowid=False,
)

credentials = _make_table(
    "credentials",
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("merchant_id", TEXT, nullable=False),
    sa.Column("user_id", TEXT, nullable=False),
    sa.Column("token_hash", BYTES, nullable=False, unique=True),
    sa.Column("sealed_token", BYTES, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("revoked_at", WHOLE),
    sa.Column("label", TEXT, nullable=False, server_default=sa.text("''")),
    # JSON lists; NULL means all.
    sa.Column("scopes", TEXT),
    sa.Column("channel_ids", TEXT),
    sa.Column("expires_at", WHOLE),
)

wallet_keys = _make_table(
    "wallet_keys",
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("wallet", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    # What is public about the key, such as the roots it trusts, as JSON.
    sa.Column("public", TEXT, nullable=False),
    sa.Column("sealed_key", BYTES, nullable=False),
)

wallet_uses = _make_table(
    "wallet_uses",
    # A wallet's token pays once: whoever comes second finds it here.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("fingerprint", BYTES, primary_key=True),
    sa.Column("used_at", WHOLE, nullable=False),
    # The request that used it, where it has a key by which it may come again.
    sa.Column("request", BYTES),
    sqlite_with_rowid=False,
)
sa.Index("wallet_uses_by_age", wallet_uses.c.used_at)

authentications = _make_table(
    "authentications",
    # The id is that of the payment which waits for it.
    *_make_key(),
    sa.Column("stage", SMALL, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("expires_at", WHOLE, nullable=False),
    sa.Column("body", TEXT, nullable=False),
    sa.Column("mac", BYTES),
    # Opens with a key that is stored nowhere; wiped when nobody needs it any more.
    sa.Column("sealed_secret", BYTES),
)

instructions = _make_table(
    "instructions",
    # The id is that of the payment which asked for it, so the same one is never asked for twice.
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("direction", TEXT, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("due_on", TEXT, nullable=False),
    sa.Column("sequence", TEXT, nullable=False),
    # The payment whose sealed account is debited or credited.
    sa.Column("account_of", TEXT, nullable=False),
    sa.Column("mandate_id", TEXT, nullable=False),
    sa.Column("signed_on", TEXT, nullable=False),
    sa.Column("purpose", TEXT, nullable=False),
    sa.Column("file_id", TEXT),
    sa.Column("created_at", WHOLE, nullable=False),
)
# Holds only what no file has collected yet.
_index_where("instructions_open", instructions.c.due_on, where=sa.text(OPEN_INSTRUCTION))
sa.Index("instructions_by_file", instructions.c.merchant_id, instructions.c.file_id)

bank_files = _make_table(
    "bank_files",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("scheme", TEXT, nullable=False),
    sa.Column("due_on", TEXT, nullable=False),
    sa.Column("sequence", TEXT, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("entries", WHOLE, nullable=False),
    sa.Column("total", WHOLE, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("sealed_body", BYTES, nullable=False),
    sa.Column("exported_at", WHOLE),
    sa.UniqueConstraint("merchant_id", "channel_id", "scheme", "due_on", "sequence", name="bank_files_one_a_day"),
)

simulated_sessions = _make_table(
    "simulated_sessions",
    # What a simulated provider remembers; empty on a live host.
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("status", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("body", TEXT, nullable=False),
)
sa.Index("simulated_sessions_by_age", simulated_sessions.c.created_at)

settings = _make_table(
    "settings",
    sa.Column("name", TEXT, primary_key=True),
    sa.Column("value", TEXT, nullable=False),
)


checkouts = _make_table(
    "checkouts",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("kind", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("expires_at", WHOLE, nullable=False),
    sa.Column("revision", WHOLE, nullable=False),
    sa.Column("attempts", WHOLE, nullable=False),
    sa.Column("subject_id", TEXT),
    sa.Column("submitted_at", WHOLE),
    sa.Column("read_at", WHOLE),
    sa.Column("window_ends_at", WHOLE, nullable=False),
    sa.Column("window_reads", WHOLE, nullable=False),
    sa.Column("return_url", TEXT),
    sa.Column("reminder", TEXT, nullable=False),
    sa.Column("reminded_at", WHOLE),
    sa.Column("script", TEXT, nullable=False),
    # Wiped when the checkout is over; the rest stays, so that nothing is paid twice however late it is approved.
    sa.Column("sealed_fields", BYTES),
)
# Holds only what still has its fields: rows leave it by being wiped.
_index_where("checkouts_kept", checkouts.c.expires_at, where=checkouts.c.sealed_fields.is_not(None))
sa.Index("checkouts_by_age", checkouts.c.created_at)

scripts = _make_table(
    "scripts",
    sa.Column("version", TEXT, primary_key=True),
    sa.Column("integrity", TEXT, nullable=False),
    sa.Column("body", BYTES, nullable=False),
    sa.Column("promised_at", WHOLE, nullable=False),
)


payment_links = _make_table(
    "payment_links",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("expires_at", WHOLE, nullable=False),
    sa.Column("checkout_id", TEXT),
    # Wiped some time after the link's end; the row stays for as long as its payment may be asked for.
    sa.Column("sealed_fields", BYTES),
    sa.Column("mac", BYTES, nullable=False),
)
sa.Index("payment_links_by_expiry", payment_links.c.expires_at)
# A checkout is forgotten only when no link names it.
sa.Index("payment_links_by_checkout", payment_links.c.merchant_id, payment_links.c.checkout_id)


registrations = _make_table(
    "registrations",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("brand", TEXT, nullable=False),
    sa.Column("method", TEXT, nullable=False),
    sa.Column("ndc", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("used_at", WHOLE, nullable=False),
    sa.Column("keep_until", WHOLE, nullable=False),
    sa.Column("test_mode", TEXT),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("card", TEXT),
    sa.Column("echo", TEXT, nullable=False),
    sa.Column("initial", TEXT),
    sa.Column("network_token", TEXT),
    sa.Column("fingerprint", BYTES),
    sa.Column("made_by", TEXT),
    sa.Column("revision", WHOLE, nullable=False),
    # Wiped when the registration ends; the rest stays as a trace.
    sa.Column("sealed_account", BYTES),
    sa.Column("sealed_token", BYTES),
)
_index_where(
    "registrations_by_fingerprint",
    registrations.c.merchant_id,
    registrations.c.fingerprint,
    where=registrations.c.fingerprint.is_not(None),
)
sa.Index("registrations_by_time", registrations.c.merchant_id, registrations.c.created_at, registrations.c.id)
# Holds only what has an account: rows leave it by being wiped.
_index_where("registrations_kept", registrations.c.keep_until, where=sa.text(OPEN_REGISTRATION))

schedules = _make_table(
    "schedules",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("series_id", TEXT, nullable=False),
    sa.Column("registration_id", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("payment_type", TEXT, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sa.Column("currency", TEXT, nullable=False),
    sa.Column("plan", TEXT, nullable=False),
    sa.Column("ndc", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("starts_at", WHOLE, nullable=False),
    sa.Column("ends_at", WHOLE),
    sa.Column("next_at", WHOLE),
    sa.Column("test_mode", TEXT),
    sa.Column("echo", TEXT, nullable=False),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("skipped", WHOLE, nullable=False),
    sa.Column("mac", BYTES),
)
sa.Index("schedules_by_series", schedules.c.merchant_id, schedules.c.series_id)
sa.Index("schedules_by_time", schedules.c.merchant_id, schedules.c.created_at, schedules.c.id)
sa.Index("schedules_by_registration", schedules.c.merchant_id, schedules.c.registration_id)
_index_where("schedules_due", schedules.c.next_at, where=sa.text(ACTIVE_SCHEDULE))

schedule_runs = _make_table(
    "schedule_runs",
    # A time is due once, so whoever comes second finds the run of the first.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("schedule_id", TEXT, primary_key=True),
    sa.Column("due_at", WHOLE, primary_key=True),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("tries", WHOLE, nullable=False),
    sa.Column("payment_id", TEXT),
    sa.Column("result_code", TEXT, nullable=False),
    sa.Column("completed_at", WHOLE),
)


announcements = _make_table(
    "announcements",
    # An event that somebody is to be told of; the id is that of the event. Deleted with the deliveries.
    *_make_key(TIMED_ID),
    sa.Column("subject_id", TEXT, nullable=False),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("payment_type", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("is_pending", SMALL, nullable=False),
    # The object as it was at the event; what is absent is rendered when the event is passed on.
    sa.Column("payload", BYTES),
    # The address of a notification that a request asked for.
    sa.Column("notification_url", TEXT),
)
# Holds only what no delivery was made of yet, in the order of time.
_index_where("announcements_pending", announcements.c.id, where=sa.text(PENDING_ANNOUNCEMENT))

webhooks = _make_table(
    "webhooks",
    *_make_key(),
    sa.Column("channel_id", TEXT),
    sa.Column("url", TEXT, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    # Lists, as JSON.
    sa.Column("types", TEXT),
    sa.Column("payment_types", TEXT),
    sa.Column("result_groups", TEXT),
    sa.Column("fields", TEXT, nullable=False),
    sa.Column("wrapper", TEXT, nullable=False),
    sa.Column("scheme", TEXT, nullable=False),
    sa.Column("is_ordered", SMALL, nullable=False),
    sa.Column("retries_s", TEXT),
    sa.Column("is_listener", SMALL, nullable=False),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("revision", WHOLE, nullable=False),
    sa.Column("sealed_secrets", BYTES, nullable=False),
)

deliveries = _make_table(
    "deliveries",
    # The events of one subject stand together, so that the earlier ones are found where they must come first.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("webhook_id", TEXT, primary_key=True),
    sa.Column("subject_id", TEXT, primary_key=True),
    sa.Column("event_id", TIMED_ID, primary_key=True),
    sa.Column("sequence", WHOLE, nullable=False),
    sa.Column("queued_at", WHOLE, nullable=False),
    sa.Column("due_at", WHOLE, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("tries", WHOLE, nullable=False),
    sa.Column("is_replay", SMALL, nullable=False),
    sa.Column("url", TEXT),
    sa.Column("lease_owner", TEXT),
    sa.Column("status", SMALL),
)
# The first two hold only what is not delivered yet, the last only what is deleted when it is old.
_index_where("deliveries_due", deliveries.c.webhook_id, deliveries.c.due_at, where=sa.text(PENDING_DELIVERY))
_index_where("deliveries_pending", deliveries.c.queued_at, where=sa.text(PENDING_DELIVERY))
_index_where("deliveries_ended", deliveries.c.queued_at, where=sa.text(ENDED_DELIVERY))

delivery_attempts = _make_table(
    "delivery_attempts",
    *_make_key(TIMED_ID),
    sa.Column("webhook_id", TEXT, nullable=False),
    sa.Column("event_id", TIMED_ID, nullable=False),
    sa.Column("attempted_at", WHOLE, nullable=False),
    sa.Column("status", SMALL),
    sa.Column("latency_ms", WHOLE, nullable=False),
    sa.Column("request_headers", TEXT, nullable=False),
    sa.Column("answer", BYTES, nullable=False),
    sa.Column("failure", TEXT, nullable=False),
    sa.Column("is_replay", SMALL, nullable=False),
    postgresql_partition_by="RANGE (id)",
)
sa.Index("delivery_attempts_by_event", delivery_attempts.c.merchant_id, delivery_attempts.c.event_id)

delivery_workers = _make_table(
    "delivery_workers",
    # A delivery belongs to its worker for as long as the worker is alive.
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("alive_until", WHOLE, nullable=False),
)

replays = _make_table(
    "replays",
    # Who asked for which deliveries again, and how many there were.
    *_make_key(),
    sa.Column("webhook_id", TEXT, nullable=False),
    sa.Column("requested_at", WHOLE, nullable=False),
    sa.Column("requested_by", TEXT, nullable=False),
    sa.Column("filter", TEXT, nullable=False),
    sa.Column("deliveries", WHOLE, nullable=False),
)

inbox_messages = _make_table(
    "inbox_messages",
    # What the receiver of a test host got; empty on a live host.
    sa.Column("inbox", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("received_at", WHOLE, nullable=False),
    sa.Column("method", TEXT, nullable=False),
    sa.Column("target", TEXT, nullable=False),
    sa.Column("headers", TEXT, nullable=False),
    sa.Column("body", BYTES, nullable=False),
    # It is NULL where the connection was reset instead.
    sa.Column("status", SMALL),
    # The time that is never moved, with which timestamps of signatures are compared.
    sa.Column("wall_at", WHOLE, nullable=False),
)
sa.Index("inbox_messages_by_age", inbox_messages.c.received_at)

inboxes = _make_table(
    "inboxes",
    sa.Column("name", TEXT, primary_key=True),
    sa.Column("used_at", WHOLE, nullable=False),
    # JSON: what the inbox was told to answer; NULL where it answers as usual.
    sa.Column("behaviour", TEXT),
    # The requests to answer so, and -1 after the last one; NULL means all.
    sa.Column("requests_left", WHOLE),
)

users = _make_table(
    "users",
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("password_hash", TEXT, nullable=False),
    sa.Column("must_change_password", SMALL, nullable=False),
    sa.Column("is_disabled", SMALL, nullable=False),
    sa.Column("sealed_totp", BYTES),
    sa.Column("totp_step", WHOLE, nullable=False),
    sa.Column("recovery_hashes", TEXT),
    sa.Column("revision", WHOLE, nullable=False),
)
sa.Index("users_by_name", users.c.name, unique=True)

grants = _make_table(
    "grants",
    sa.Column("user_id", TEXT, primary_key=True),
    # Empty for the platform, and for all channels of a merchant.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("channel_id", TEXT, primary_key=True),
    sa.Column("role", TEXT, primary_key=True),
    sa.Column("refund_limit", WHOLE),
)

user_sessions = _make_table(
    "user_sessions",
    sa.Column("user_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("token_hash", BYTES, nullable=False),
    sa.Column("stage", SMALL, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("used_at", WHOLE, nullable=False),
    sa.Column("confirmed_at", WHOLE, nullable=False),
    sa.Column("address", TEXT, nullable=False),
    sa.Column("browser", TEXT, nullable=False),
    sa.Column("challenge", BYTES),
)
sa.Index("user_sessions_by_token", user_sessions.c.token_hash, unique=True)
sa.Index("user_sessions_by_age", user_sessions.c.created_at)

passkeys = _make_table(
    "passkeys",
    sa.Column("user_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("public_key", BYTES, nullable=False),
    sa.Column("sign_count", WHOLE, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("used_at", WHOLE),
)

sign_in_failures = _make_table(
    "sign_in_failures",
    # Names are counted whether a user has them or not; only the hash of a name is stored.
    sa.Column("name_hash", TEXT, primary_key=True),
    sa.Column("failures", WHOLE, nullable=False),
    sa.Column("last_at", WHOLE, nullable=False),
)
sa.Index("sign_in_failures_by_age", sign_in_failures.c.last_at)

audit_log = _make_table(
    "audit_log",
    sa.Column("number", WHOLE, primary_key=True, autoincrement=False),
    sa.Column("at", WHOLE, nullable=False),
    sa.Column("merchant_id", TEXT, nullable=False),
    sa.Column("user_id", TEXT, nullable=False),
    sa.Column("user_name", TEXT, nullable=False),
    sa.Column("action", TEXT, nullable=False),
    sa.Column("subject", TEXT, nullable=False),
    sa.Column("details", TEXT, nullable=False),
    sa.Column("address", TEXT, nullable=False),
    sa.Column("hash", BYTES, nullable=False),
)
sa.Index("audit_log_by_merchant", audit_log.c.merchant_id, audit_log.c.number)
sa.Index("audit_log_by_action", audit_log.c.merchant_id, audit_log.c.action, audit_log.c.number)
sa.Index("audit_log_by_subject", audit_log.c.merchant_id, audit_log.c.subject, audit_log.c.number)

approvals = _make_table(
    "approvals",
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("action", TEXT, nullable=False),
    sa.Column("subject", TEXT, nullable=False),
    sa.Column("summary", TEXT, nullable=False),
    sa.Column("fields", TEXT, nullable=False),
    sa.Column("requested_by", TEXT, nullable=False),
    sa.Column("requested_at", WHOLE, nullable=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("decided_by", TEXT),
    sa.Column("decided_at", WHOLE),
    sa.Column("outcome", TEXT, nullable=False),
)

saved_views = _make_table(
    "saved_views",
    # The filters of a list that a user keeps under a name.
    sa.Column("user_id", TEXT, primary_key=True),
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("merchant_id", TEXT, nullable=False),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("query", TEXT, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
)

payment_terms = _make_table(
    "payment_terms",
    # The search index of payments: written behind the payments by a worker, so that no payment waits for it.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("term", TEXT, primary_key=True),
    sa.Column("created_at", WHOLE, primary_key=True),
    sa.Column("payment_id", TEXT, primary_key=True),
    sqlite_with_rowid=False,
)

archived_months = _make_table(
    "archived_months",
    # A part is a folder of files; a month that is archived again, with what was open before, gets another part.
    sa.Column("month", TEXT, primary_key=True),
    sa.Column("part", WHOLE, primary_key=True, autoincrement=False),
    sa.Column("state", SMALL, nullable=False),
    sa.Column("chains", WHOLE, nullable=False),
    sa.Column("payments", WHOLE, nullable=False),
    sa.Column("archived_at", WHOLE, nullable=False),
    # What the ledger accounts got from its chains, as JSON.
    sa.Column("accounts", TEXT, nullable=False),
    sa.Column("proof", BYTES),
    sa.Column("next_proof", BYTES),
)

archived_payments = _make_table(
    "archived_payments",
    # The part in which each archived payment is, so that an id that was used is known without the files.
    *_make_key(),
    sa.Column("month", TEXT, nullable=False),
    sa.Column("part", WHOLE, nullable=False),
    sqlite_with_rowid=False,
)

payment_tallies = _make_table(
    "payment_tallies",
    # Completed payments of an hour, counted by the same worker.
    sa.Column("merchant_id", TEXT, primary_key=True),
    sa.Column("hour", WHOLE, primary_key=True),
    sa.Column("channel_id", TEXT, primary_key=True),
    sa.Column("payment_type", TEXT, primary_key=True),
    sa.Column("brand", TEXT, primary_key=True),
    sa.Column("result_code", TEXT, primary_key=True),
    sa.Column("currency", TEXT, primary_key=True),
    sa.Column("payments", WHOLE, nullable=False),
    sa.Column("amount", WHOLE, nullable=False),
    sqlite_with_rowid=False,
)

journal = _make_table(
    "journal",
    # Messages to acquirers, directory servers and providers, and log lines, without secrets; by payment or by ndc.
    *_make_key(),
    sa.Column("payment_id", TEXT, nullable=False),
    sa.Column("ndc", TEXT, nullable=False),
    sa.Column("at", WHOLE, nullable=False),
    sa.Column("kind", TEXT, nullable=False),
    sa.Column("text", TEXT, nullable=False),
)
sa.Index("journal_by_payment", journal.c.merchant_id, journal.c.payment_id)
sa.Index("journal_by_ndc", journal.c.merchant_id, journal.c.ndc)

evidence = _make_table(
    "evidence",
    # Notes and files that are kept with a chargeback.
    *_make_key(),
    sa.Column("payment_id", TEXT, nullable=False),
    sa.Column("added_by", TEXT, nullable=False),
    sa.Column("added_at", WHOLE, nullable=False),
    sa.Column("name", TEXT, nullable=False),
    sa.Column("content_type", TEXT, nullable=False),
    sa.Column("sealed_content", BYTES, nullable=False),
)
sa.Index("evidence_by_payment", evidence.c.merchant_id, evidence.c.payment_id)

planned_outcomes = _make_table(
    "planned_outcomes",
    # What the next messages to a simulated partner meet; empty on a live host. Ids begin with the time.
    *_make_key(),
    sa.Column("channel_id", TEXT, nullable=False),
    sa.Column("partner", TEXT, nullable=False),
    # Empty for all types.
    sa.Column("payment_type", TEXT, nullable=False),
    sa.Column("overrides", TEXT, nullable=False),
    sa.Column("planned", WHOLE, nullable=False),
    sa.Column("left", WHOLE, nullable=False),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("created_by", TEXT, nullable=False),
)


PARTITIONED = {payments: "created_at", outbox: "id", ledger: "id", delivery_attempts: "id"}
"""The tables that PostgreSQL keeps in a partition for each month, with the column that says in which.

It is part of their primary key there. On SQLite each is one table.
"""

payment_months = sa.Table(
    "payment_months",
    POSTGRESQL_METADATA,
    # Holds the id of every payment once, with the partition in which the payment is found.
    *_make_key(),
    sa.Column("created_at", WHOLE, nullable=False),
    sa.Column("chain_id", TEXT),
)
_index_where(
    "payment_months_by_chain",
    payment_months.c.merchant_id,
    payment_months.c.chain_id,
    payment_months.c.created_at,
    where=payment_months.c.chain_id.is_not(None),
)
