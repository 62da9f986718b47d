"""All fixed limits of the program in one frozen row: sizes, counts, lifetimes, indices.
Shapes bound single values; nothing is measured here.
"""

from dataclasses import dataclass

from tollgate.values import DAY, HOUR, MINUTE, SECOND, Instant


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Limits:
    test_clock_year_max: int = 2999
    """A test clock never goes back, and no date can be written beyond the year 9999."""
    test_clock_advance_s_max: int = 100 * 366 * 24 * 3600

    # What a caller may send.
    body_bytes_max: int = 1024 * 1024
    unauthorized_body_bytes_max: int = 256 * 1024
    """A body that comes without an Authorization header: on open routes, and from clients that authenticate in it."""
    parameters_max: int = 10_000
    name_length_max: int = 256
    header_bytes_max: int = 16_384
    headers_max: int = 100
    path_length_max: int = 1024
    query_bytes_max: int = 16_384
    read_timeout_s: float = 15.0
    write_timeout_s: float = 15.0
    write_progress_bytes: int = 4096
    """A client that takes less of its answer within each such time is cut off."""
    keep_alive_s: float = 30.0
    linger_s: float = 2.0
    """A connection stays open so long after a refusal, so that a client that still sends can read it."""
    connections_max: int = 16_384
    """The limit of one process; it is lower where the limit of open files is lower."""
    connections_per_peer_max: int = 512
    read_block_bytes: int = 64 * 1024
    """The most that is read from a connection at once; pipelined requests wait in this block or at the client."""
    requests_in_flight_max: int = 2000
    idempotency_key_length_max: int = 255
    form_key_length_max: int = 64
    idempotency_lifetime: Instant = 24 * HOUR

    # The highest index in a name; items are counted as well, because an index may be skipped.
    item_index_max: int = 1000
    items_max: int = 1000
    cart_payment_index_max: int = 99
    seller_index_max: int = 999
    sellers_max: int = 100
    dispatch_rows_max: int = 200
    passenger_index_max: int = 99
    leg_index_max: int = 99
    registration_index_max: int = 99

    # Checkouts and challenges.
    checkout_lifetime: Instant = 30 * MINUTE
    checkout_reminder_after: Instant = 29 * MINUTE
    checkout_attempts_max: int = 10
    checkout_attempts_per_address_max: int = 100
    checkout_fields_memory: Instant = DAY
    """The prepared fields are erased so long after the end of a checkout."""
    checkout_memory: Instant = 100 * DAY
    """A checkout is stored so long, because a voucher may be paid long after it was paid otherwise."""
    link_days: int = 90
    """The lifetime of a payment link whose merchant does not set one."""
    challenge_lifetime: Instant = 15 * MINUTE
    script_lifetime: Instant = 30 * MINUTE

    # The simulated provider: how long a shopper may take, and how long it remembers.
    simulated_session_lifetime: Instant = 30 * MINUTE
    simulated_session_memory: Instant = 30 * DAY

    # The inboxes of a test host.
    inboxes_max: int = 100
    inbox_messages_max: int = 1000
    """The number of messages of one inbox."""
    inbox_memory: Instant = 7 * DAY

    # Mobile wallets.
    wallet_token_length_max: int = 65_536
    wallet_token_age: Instant = 15 * MINUTE
    wallet_use_lifetime: Instant = 30 * DAY

    # The wire.
    acquirer_connect_timeout_s: float = 5.0
    acquirer_reply_bytes_max: int = 1024 * 1024
    acquirer_sends_max: int = 2
    acquirer_connections_max: int = 100
    iso8583_message_bytes_max: int = 4096
    iso8583_in_flight_max: int = 500
    """The number of messages of one connection that wait for their answers."""
    iso8583_queue_max: int = 1000
    """The number of messages that wait until they may be sent."""
    iso8583_write_timeout_s: float = 5.0
    iso8583_network_timeout_s: float = 5.0
    iso8583_echo_after_s: float = 30.0
    """An echo is sent when nothing was heard for so long."""
    iso8583_unused_s: float = 3600.0
    """A connection over which no payment went for so long is signed off."""
    iso8583_pause_s: float = 0.1
    """The pause before the second try to connect; each further one is twice as long, up to the longest."""
    iso8583_pause_s_max: float = 2.0
    iso8583_drain_s: float = 10.0
    notification_timeout_s: float = 10.0
    webhook_timeout_s: float = 30.0
    webhooks_per_merchant_max: int = 50
    webhook_url_length_max: int = 2048
    webhook_retries_max: int = 50
    webhook_overlap_hours_max: int = 720
    attempts_shown_max: int = 200
    delivery_lifetime: Instant = 30 * DAY
    """A delivery is tried, and its record kept, for so long."""
    lane_width: int = 32
    """The number of deliveries to one endpoint that a process has under way at once."""
    lanes_max: int = 500
    """The number of endpoints that a process delivers to at once."""
    announcements_batch: int = 200
    receiver_reply_bytes_max: int = 64 * 1024
    """So much of a receiver's answer is read, because a receiver that cannot finish its answer reports an error."""
    receiver_reply_kept_bytes_max: int = 4096
    receiver_retry_after_length_max: int = 64
    receiver_keep_alive_s: float = 4.0
    """Many servers close an idle connection after 5 seconds; it must not be used at that moment."""
    receiver_lookups_max: int = 64
    """Names that are looked up at the same time; a look-up that hangs cannot be cancelled."""

    cryptogram_timeout_s: float = 3.0
    """A payment does not wait longer for the proof of a network token: it has the card's own number."""

    card_ranges_lifetime: Instant = HOUR
    card_ranges_pause: Instant = MINUTE
    countries_cached_max: int = 20_000
    """The number of addresses, and of card ranges, whose countries a process has in memory."""

    # Durable work.
    job_batch: int = 100
    recovery_batch: int = 100
    job_failures_max: int = 10
    """An audit reports a job after so many failures in a row, which take some 15 to 25 minutes."""
    accounts_per_channel_max: int = 50
    """Closed accounts count too, because later messages about their payments need them."""
    account_name_length_max: int = 128
    routing_counts_batch: int = 200
    """The number of counts of charges that are added in one commit."""
    routing_counts_max: int = 100_000
    """The number of counts of charges that a process reads; where there are more, the oldest are left out."""
    routing_counts_lifetime: Instant = 7 * DAY
    routing_trial_max: int = 100_000
    """The number of payments that a proposed routing is tried against."""
    rewrap_batch: int = 500
    rewrap_unit: int = 50
    """The number of accounts that are wrapped again in one commit, which others wait for."""
    erase_batch: int = 100
    accounts_left_max: int = 1000
    """The number of payments of a channel that were open when their account should have been erased."""

    # Schedules.
    missed_runs_kept: int = 100
    """Missed times that are recorded one by one; earlier ones are only counted."""
    missed_runs_counted: int = 5000
    run_lateness: Instant = HOUR
    """A run that was ordered so long ago and not begun was missed, if the next one is due already."""
    runs_shown: int = 100
    schedules_shown: int = 100

    # Reading back.
    query_page_max: int = 500
    query_page: int = 100
    query_pages_max: int = 100
    linked_max: int = 10_000
    settlement_page: int = 100
    settlement_records_max: int = 10_000
    settlement_days_max: int = 366

    # Files to and from banks.
    bank_lead_days: int = 1
    """Banking days between the file and the day on which it is due."""
    bank_file_entries_max: int = 10_000
    bank_file_bytes_max: int = 64 * 1024 * 1024
    bank_file_depth_max: int = 64

    # The back office.
    session_idle: Instant = 15 * MINUTE
    session_lifetime: Instant = 12 * HOUR
    sign_in_failures_max: int = 10
    sign_in_lockout: Instant = 30 * MINUTE
    confirmation_lifetime: Instant = 5 * MINUTE
    """The time for which a second factor counts as fresh."""
    approval_lifetime: Instant = 3 * DAY
    approvals_shown: int = 100
    approval_run: Instant = 5 * MINUTE
    """A granted action without an outcome after this time was cut off, and may be run again."""
    snapshots_max: int = 20
    """The number of snapshots of a sandbox that the back office stores."""
    snapshot_bytes_max: int = 64 * 1024 * 1024
    """A larger snapshot is neither sent to a browser nor taken from one."""
    journal_new_max: int = 2000
    """The number of messages and log lines of a process that are not masked yet."""
    journal_masked_max: int = 10_000
    journal_batch: int = 200
    journal_lifetime: Instant = 30 * DAY
    journal_shown: int = 200
    """The number of messages, and of log lines, on the page of one payment."""
    chain_shown: int = 100
    disputes_shown: int = 50
    reviews_shown: int = 50
    dispute_lifetime: Instant = 20 * DAY
    """The time after a chargeback in which it can be contested."""
    evidence_bytes_max: int = 5 * 1024 * 1024
    evidence_per_dispute_max: int = 20
    record_file_bytes_max: int = 5 * 1024 * 1024
    record_lines_max: int = 10_000
    user_name_length_max: int = 64
    users_max: int = 10_000
    passkeys_max: int = 20
    """The passkeys of one user."""
    passkey_challenge_lifetime: Instant = 5 * MINUTE
    office_search_length_max: int = 255
    payments_shown: int = 50
    """The number of payments on the page of a checkout, registration or schedule."""
    office_page: int = 50
    """The number of rows on one page of a list."""
    tokens_per_merchant_max: int = 200
    token_label_length_max: int = 60
    token_days_max: int = 3650
    token_overlap_hours_max: int = 720
    audit_export_rows_max: int = 10_000_000

    risk_rules_max: int = 1000
    """The number of risk rules of one merchant."""
    risk_entries_max: int = 50_000
    """The number of entries on the lists of one merchant."""
    sightings_read_max: int = 5000
    """The newest sightings of a value that are read: no person pays so often within a window."""
    sightings_batch: int = 512
    """The number of sightings that are written in one commit."""
    sightings_gap: Instant = 10 * MINUTE
    """A process that ended had written the sightings of all payments that were older than the newest by so much."""
    sightings_settled_after: Instant = 5 * SECOND
    """After this time every process knows a new rule and counts for it."""
    sightings_kept_min: Instant = DAY

    erasure_page: int = 500
    erasure_pages: int = 20
    """The number of pages that one step of a search for a person reads."""
    erasure_found_max: int = 5000
    """The number of chains that one erasure takes; what is beyond is found by the next."""
    erasure_samples: int = 10
    erasure_kept: Instant = DAY
    """The time after which an erasure that nobody went on with, or that is done, is forgotten."""
    dispute_period: Instant = 180 * DAY
    """The time after a chargeback in which its parties may still ask for what names the shopper."""
    archive_days_min: int = 180
    """A month stays in the database so long after its end, because refunds and disputes may still come."""
    search_text_length_max: int = 200
    search_words_max: int = 10
    search_candidates_max: int = 1000
    """The number of payments that one page of a search looks at before it asks whether to look further back."""
    search_batch: int = 200
    history_page: int = 200
    """The number of payments that are read at once by what walks all payments of a merchant in their order."""
    tried_sightings_max: int = 2_000_000
    """The number of sightings that a back-test of risk rules holds in memory."""
    index_batch: int = 100
    """The number of events that are indexed in one commit."""
    index_delay: Instant = MINUTE
    """An event is indexed so long after its time, because a later one may be committed earlier."""
    tail_events_max: int = 20_000
    """The number of events that are counted beside the index, until it has caught up."""
    changed_max: int = 2000
    saved_views_max: int = 50
    """The number of saved views of one user for one merchant."""
    saved_view_name_length_max: int = 60
    overview_days_max: int = 366

    # Chains.
    captures_max: int = 98
    rebills_max: int = 98
    chain_max: int = 1000
    chain_rows_max: int = 2000
    reservation_tries_max: int = 50


LIMITS = Limits()
