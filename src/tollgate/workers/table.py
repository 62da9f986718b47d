"""Which workers there are and how often each has its turn. What they do stands in their own files."""

from __future__ import annotations

from tollgate.flows.sepa_files import collect
from tollgate.workers import upkeep
from tollgate.workers.loop import Worker
from tollgate.workers.recover import follow_tokens, recover_payments, run_recovery_tasks
from tollgate.workers.reminders import send_reminders
from tollgate.workers.retention import erase_registrations, wipe_accounts
from tollgate.workers.schedules import order_runs, pay_runs

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
    Worker(name="old checkouts", every_s=60.0, run=upkeep.wipe_old_checkouts),
    Worker(name="forgotten checkouts", every_s=600.0, run=upkeep.purge_old_checkouts),
    Worker(name="old payment links", every_s=60.0, run=upkeep.wipe_old_links),
    Worker(name="forgotten payment links", every_s=600.0, run=upkeep.purge_old_links),
    Worker(name="claims", every_s=600.0, run=upkeep.purge_old_idempotency_records),
    Worker(name="wallet uses", every_s=600.0, run=upkeep.purge_old_wallet_uses),
    Worker(name="simulated sessions", every_s=600.0, run=upkeep.purge_old_sessions),
)
