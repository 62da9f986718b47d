"""Which workers there are and how often each has its turn. What they do stands in their own files."""

from __future__ import annotations

from tollgate.catalog.limits import LIMITS
from tollgate.flows.sepa_files import collect
from tollgate.store.checkouts import purge_checkouts, wipe_checkouts
from tollgate.store.idempotency import purge_idempotency_records
from tollgate.store.links import purge_links, wipe_links
from tollgate.store.merchants import purge_wallet_uses
from tollgate.store.simulated_sessions import purge_simulated_sessions
from tollgate.workers import upkeep
from tollgate.workers.loop import Worker
from tollgate.workers.recover import follow_tokens, recover_payments, run_recovery_tasks
from tollgate.workers.reminders import send_reminders
from tollgate.workers.retention import erase_registrations, wipe_accounts
from tollgate.workers.schedules import order_runs, pay_runs
from tollgate.workers.upkeep import remove_old

WORKERS = (
    Worker(name="directory", every_s=1.0, run=upkeep.follow_merchants),
    Worker(name="clock", every_s=1.0, run=upkeep.follow_clock),
    Worker(name="keys", every_s=1.0, run=upkeep.follow_keys),
    Worker(name="recover", every_s=1.0, run=recover_payments),
    Worker(name="recovery tasks", every_s=0.5, run=run_recovery_tasks),
    Worker(name="network tokens", every_s=0.5, run=follow_tokens),
    Worker(name="due schedules", every_s=0.5, run=order_runs),
    Worker(name="scheduled payments", every_s=0.5, run=pay_runs),
    Worker(name="reminders", every_s=0.5, run=send_reminders),
    Worker(name="bank_files", every_s=2.0, run=collect),
    Worker(name="registrations", every_s=5.0, run=erase_registrations),
    Worker(name="old accounts", every_s=60.0, run=wipe_accounts),
    Worker(name="scripts", every_s=upkeep.SCRIPT_EVERY_S, run=upkeep.follow_scripts),
    Worker(name="old checkouts", every_s=60.0, run=remove_old(wipe_checkouts, LIMITS.checkout_fields_memory)),
    Worker(name="forgotten checkouts", every_s=600.0, run=remove_old(purge_checkouts, LIMITS.checkout_memory)),
    Worker(name="old payment links", every_s=60.0, run=remove_old(wipe_links, LIMITS.checkout_fields_memory)),
    # A checkout is kept as long as its link, so that the link never forgets that it was paid.
    Worker(name="forgotten payment links", every_s=600.0, run=remove_old(purge_links, LIMITS.checkout_memory)),
    Worker(name="claims", every_s=600.0, run=remove_old(purge_idempotency_records, LIMITS.idempotency_lifetime)),
    # No wallet token lives for so long, so one whose use is forgotten is expired.
    Worker(name="wallet uses", every_s=600.0, run=remove_old(purge_wallet_uses, LIMITS.wallet_use_lifetime)),
    Worker(
        name="simulated sessions",
        every_s=600.0,
        run=remove_old(purge_simulated_sessions, LIMITS.simulated_session_memory),
    ),
)
