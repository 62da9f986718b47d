"""One file per story, each told in one screen. Stories use steps; they do not know HTTP."""

from tollgate.flows.abandon import abandon_attempt
from tollgate.flows.check_out import (
    cancel_prepared,
    change_checkout,
    find_promised_script,
    prepare_checkout,
    read_checkout,
)
from tollgate.flows.collect import collect
from tollgate.flows.deregister import deregister
from tollgate.flows.erase import (
    erase_registration,
    wipe_old_accounts,
)
from tollgate.flows.export_file import export_file
from tollgate.flows.extend_life import extend_life
from tollgate.flows.follow_up import follow_up
from tollgate.flows.hear import hear_method, hear_result
from tollgate.flows.idempotency import find_earlier_answer, make_idempotency_key
from tollgate.flows.look_up import look_up, look_up_registration, show_registration
from tollgate.flows.open_link import (
    OpenedLink,
    leave_link_attempt,
    open_link,
)
from tollgate.flows.pay import pay
from tollgate.flows.record import record
from tollgate.flows.recover import complete_overdue, run_recovery_task
from tollgate.flows.register import register
from tollgate.flows.remind import remind
from tollgate.flows.report import list_all_completed, list_completed, search, show_chain, show_chains, sum_up
from tollgate.flows.reregister import reregister
from tollgate.flows.resume import Arrival, Collect, Forward, GoHome, Lost, Next, Wait, arrive
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.flows.run_schedules import (
    fall_due,
    make_run,
)
from tollgate.flows.schedule import (
    create_schedule,
    deschedule,
    reschedule,
    show_schedule,
)
from tollgate.flows.send_link import (
    end_payment_link,
    make_payment_link,
    read_link_payment,
    read_payment_link,
)
from tollgate.flows.submit import (
    Submitted,
    go_to_provider,
    show_form,
    submit_checkout,
)
from tollgate.flows.take_returns import ReturnNote, ReturnReport, take_returns
from tollgate.flows.tokenize import follow_token, hear_token_event
from tollgate.flows.verify import FINDINGS_MAX, refuse_wrong_keys, verify
from tollgate.flows.verify_report import AuditReport

__all__ = [
    "FINDINGS_MAX",
    "Arrival",
    "AuditReport",
    "Collect",
    "Forward",
    "GoHome",
    "Lost",
    "Next",
    "OpenedLink",
    "ReturnNote",
    "ReturnReport",
    "Submitted",
    "Wait",
    "abandon_attempt",
    "arrive",
    "cancel_prepared",
    "change_checkout",
    "collect",
    "complete_overdue",
    "count_retired",
    "create_schedule",
    "deregister",
    "deschedule",
    "end_payment_link",
    "erase_registration",
    "export_file",
    "extend_life",
    "fall_due",
    "find_earlier_answer",
    "find_promised_script",
    "follow_token",
    "follow_up",
    "go_to_provider",
    "hear_method",
    "hear_result",
    "hear_token_event",
    "leave_link_attempt",
    "list_all_completed",
    "list_completed",
    "look_up",
    "look_up_registration",
    "make_idempotency_key",
    "make_payment_link",
    "make_run",
    "open_link",
    "pay",
    "prepare_checkout",
    "read_checkout",
    "read_link_payment",
    "read_payment_link",
    "record",
    "refuse_wrong_keys",
    "register",
    "remind",
    "reregister",
    "reschedule",
    "rewrap_everything",
    "run_recovery_task",
    "search",
    "show_chain",
    "show_chains",
    "show_form",
    "show_registration",
    "show_schedule",
    "submit_checkout",
    "sum_up",
    "take_returns",
    "verify",
    "wipe_old_accounts",
]
