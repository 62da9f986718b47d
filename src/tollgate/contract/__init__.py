"""The merchant's language: form text to orders, payments to JSON. Pure: no I/O, no clock, no chance."""

from tollgate.contract.accounts import WalletCall, find_wallet_call
from tollgate.contract.answers import (
    Answer,
    Envelope,
    Json,
    answer_payment,
    answer_refusal,
    encode_answer,
    render_payment,
)
from tollgate.contract.authentications import (
    BROWSER_FIELDS,
    check_authentication_fields,
    read_collected_browser,
)
from tollgate.contract.cursors import read_cursor, render_cursor
from tollgate.contract.fields import Fields, is_never_stored, read_fields
from tollgate.contract.follow_ups import (
    count_captures,
    find_reference,
    inherit_echo,
    keep_references,
    make_unknown_reference,
    read_follow_up,
    says_final,
)
from tollgate.contract.form import Pairs, read_form
from tollgate.contract.identity import Identity, check_entity_id, is_identity_name, read_identity
from tollgate.contract.jobs import JobPlan, read_plan, recall_plan, render_plan
from tollgate.contract.objections import find_fraction_objection
from tollgate.contract.orders import find_return_url, find_window, read_order, recall_order
from tollgate.contract.registrations import (
    RegistrationOrder,
    answer_registration,
    answer_removal,
    apply_update,
    check_alone,
    find_mode,
    is_confirmation,
    read_registration_order,
    tell_end,
)
from tollgate.contract.report_answers import BOTH_NAMES, ONE_NAME, answer_chain, answer_payment_page
from tollgate.contract.reports import Question, read_question
from tollgate.contract.settlements import answer_aggregations, answer_postings, read_aggregation, read_days
from tollgate.contract.standing import BY_MERCHANT, choose_reference
from tollgate.contract.stored import (
    RegistrationLink,
    asks_to_register,
    find_registration_id,
    keep_for_registration,
    list_connector_ids,
    name_registration,
    tell_registration,
)
from tollgate.contract.tickets import (
    METHOD_FIELD,
    Ticket,
    get_resource_path,
    make_return_url,
    name_handover,
    read_ticket,
    write_ticket,
)

__all__ = [
    "BOTH_NAMES",
    "BROWSER_FIELDS",
    "BY_MERCHANT",
    "METHOD_FIELD",
    "ONE_NAME",
    "Answer",
    "Envelope",
    "Fields",
    "Identity",
    "JobPlan",
    "Json",
    "Pairs",
    "Question",
    "RegistrationLink",
    "RegistrationOrder",
    "Ticket",
    "WalletCall",
    "answer_aggregations",
    "answer_chain",
    "answer_payment",
    "answer_payment_page",
    "answer_postings",
    "answer_refusal",
    "answer_registration",
    "answer_removal",
    "apply_update",
    "asks_to_register",
    "check_alone",
    "check_authentication_fields",
    "check_entity_id",
    "choose_reference",
    "count_captures",
    "encode_answer",
    "find_fraction_objection",
    "find_mode",
    "find_reference",
    "find_registration_id",
    "find_return_url",
    "find_wallet_call",
    "find_window",
    "get_resource_path",
    "inherit_echo",
    "is_confirmation",
    "is_identity_name",
    "is_never_stored",
    "keep_for_registration",
    "keep_references",
    "list_connector_ids",
    "make_return_url",
    "make_unknown_reference",
    "name_handover",
    "name_registration",
    "read_aggregation",
    "read_collected_browser",
    "read_cursor",
    "read_days",
    "read_fields",
    "read_follow_up",
    "read_form",
    "read_identity",
    "read_order",
    "read_plan",
    "read_question",
    "read_registration_order",
    "read_ticket",
    "recall_order",
    "recall_plan",
    "render_cursor",
    "render_payment",
    "render_plan",
    "says_final",
    "tell_end",
    "tell_registration",
    "write_ticket",
]
