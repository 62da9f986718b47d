"""What a report is asked for, read from its query. Which payments answer it is decided elsewhere."""

from __future__ import annotations

from tollgate.catalog import Situation, get_result
from tollgate.contract.fields import read_fields
from tollgate.contract.form import Pairs
from tollgate.values import Fault, InvalidParameters

_REFERENCE = "merchantTransactionId"


def read_reference(pairs: Pairs, situation: Situation) -> str:
    """The merchant's own reference, by which payments are looked up."""
    reference = read_fields(pairs, situation).get(_REFERENCE)
    if reference is None:
        raise InvalidParameters(get_result("200.300.404"), [Fault(_REFERENCE, "may not be empty")])
    return reference
