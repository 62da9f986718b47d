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
from tollgate.contract.form import Pairs, read_form
from tollgate.contract.orders import read_order

__all__ = [
    "Answer",
    "Envelope",
    "Fields",
    "Json",
    "Pairs",
    "answer_payment",
    "answer_payment_list",
    "answer_refusal",
    "encode_answer",
    "is_never_stored",
    "read_fields",
    "read_form",
    "read_order",
    "render_payment",
]
