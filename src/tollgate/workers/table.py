"""The workers and how often each runs. What they do stands in the other modules."""

from tollgate.catalog.card_testing import MEMORY
from tollgate.catalog.limits import LIMITS
from tollgate.flows.sepa_files import collect
from tollgate.operations import geography
from tollgate.store import (
    checkouts,
    declines,
    events,
    idempotency,
    inboxes,
    links,
    merchants,
    routing_counts,
    simulated_sessions,
    users,
)
from tollgate.store import deliveries as store_deliveries
from tollgate.store import journal as store_journal
from tollgate.values import DAY
from tollgate.workers import card_testing, deliveries, indexing, jobs, journal, metrics, sightings, upkeep
from tollgate.workers.loop import Worker
from tollgate.workers.success_rates import share_counts
from tollgate.workers.upkeep import remove_old

_REMOVALS = (
    ("old checkouts", 60.0, checkouts.wipe_checkouts, LIMITS.checkout_fields_memory),
    ("forgotten checkouts", 600.0, checkouts.purge_checkouts, LIMITS.checkout_memory),
    ("old payment links", 60.0, links.wipe_links, LIMITS.checkout_fields_memory),
    # A checkout stays as long as its link, which shows by it that it was paid.
    ("forgotten payment links", 600.0, links.purge_links, LIMITS.checkout_memory),
    ("idempotency keys", 600.0, idempotency.purge_idempotency_records, LIMITS.idempotency_lifetime),
    # No wallet token lives for so long, so one whose use is forgotten is expired.
    ("wallet uses", 600.0, merchants.purge_wallet_uses, LIMITS.wallet_use_lifetime),
    ("announcements", 600.0, events.purge_announcements, LIMITS.delivery_lifetime + DAY),
    ("deliveries", 600.0, store_deliveries.purge_deliveries, LIMITS.delivery_lifetime),
    # An endpoint was paused for so long.
    ("undelivered events", 600.0, store_deliveries.purge_undelivered, LIMITS.delivery_lifetime),
    ("delivery attempts", 60.0, store_deliveries.purge_attempts, LIMITS.delivery_lifetime),
    ("simulated sessions", 600.0, simulated_sessions.purge_simulated_sessions, LIMITS.simulated_session_memory),
    ("inbox messages", 600.0, inboxes.purge_inbox_messages, LIMITS.inbox_memory),
    ("recent declines", 60.0, declines.purge_declines, 2 * MEMORY),
    ("routing counts", 600.0, routing_counts.purge_counts, LIMITS.routing_counts_lifetime),
    ("journal", 60.0, store_journal.purge_journal, LIMITS.journal_lifetime),
)

_WALL_REMOVALS = (
    ("user sessions", 600.0, users.purge_sessions, LIMITS.session_lifetime),
    ("failed sign-ins", 600.0, users.purge_failures, LIMITS.sign_in_lockout),
)
"""The removals of rows that are timed by the wall clock."""

WORKERS = (
    Worker(name="merchants", every_s=0.5, run=upkeep.follow_merchants, is_woken_by_changes=True),
    Worker(name="replica", every_s=1.0, run=metrics.measure_replica),
    Worker(name="imported countries", every_s=1.0, run=geography.follow_imports),
    Worker(name="clock", every_s=1.0, run=upkeep.follow_clock),
    Worker(name="partitions", every_s=600.0, run=upkeep.make_months),
    Worker(name="keys", every_s=0.5, run=upkeep.follow_keys),
    Worker(name="recover", every_s=1.0, run=jobs.recover_payments),
    Worker(name="recovery tasks", every_s=0.5, run=jobs.run_recovery_tasks),
    Worker(name="network tokens", every_s=0.5, run=jobs.follow_tokens),
    Worker(name="due schedules", every_s=0.5, run=jobs.order_runs),
    Worker(name="scheduled payments", every_s=0.5, run=jobs.pay_runs),
    Worker(name="reminders", every_s=0.5, run=jobs.send_reminders),
    Worker(name="webhooks", every_s=1.0, run=deliveries.deliver_webhooks),
    Worker(name="search index", every_s=5.0, run=indexing.keep_index),
    Worker(name="success rates", every_s=3.0, run=share_counts),
    Worker(name="sightings", every_s=1.0, run=sightings.keep_sightings),
    Worker(name="sighting history", every_s=1.0, run=sightings.keep_history),
    Worker(name="old sightings", every_s=21_600.0, run=sightings.remove_old_sightings),
    Worker(name="journal writer", every_s=1.0, run=journal.write_journal),
    Worker(name="card testing", every_s=1.0, run=card_testing.share_declines),
    Worker(name="oldest event", every_s=2.0, run=metrics.measure_oldest),
    Worker(name="waiting reversals", every_s=30.0, run=metrics.measure_reversals),
    Worker(name="bank files", every_s=2.0, run=collect),
    Worker(name="registrations", every_s=5.0, run=upkeep.erase_registrations),
    Worker(name="old accounts", every_s=60.0, run=upkeep.wipe_accounts),
    Worker(name="scripts", every_s=upkeep.SCRIPT_EVERY_S, run=upkeep.follow_scripts),
    *[Worker(name=name, every_s=every_s, run=remove_old(remove, age)) for name, every_s, remove, age in _REMOVALS],
    *[
        Worker(name=name, every_s=every_s, run=remove_old(remove, age, by_wall=True))
        for name, every_s, remove, age in _WALL_REMOVALS
    ],
)
