"""The merchant's language: form text to orders, payments to JSON. Pure: no I/O, no clock, no chance."""

from tollgate.contract.answers import (
    Answer,
    Envelope,
    Json,
    answer_payment,
    answer_payment_list,
    answer_refusal,
    encode_answer,
    render_payment,
)
from tollgate.contract.fields import Fields, is_never_stored, read_fields
from tollgate.contract.follow_ups import read_follow_up
from tollgate.contract.form import Pairs, read_form
from tollgate.contract.identity import Identity, check_entity_id, is_identity_name, read_identity
from tollgate.contract.orders import read_order
from tollgate.contract.reports import read_reference

__all__ = [
    "Answer",
    "Envelope",
    "Fields",
    "Identity",
    "Json",
    "Pairs",
    "answer_payment",
    "answer_payment_list",
    "answer_refusal",
    "check_entity_id",
    "encode_answer",
    "is_identity_name",
    "is_never_stored",
    "read_fields",
    "read_follow_up",
    "read_form",
    "read_identity",
    "read_order",
    "read_reference",
    "render_payment",
]
