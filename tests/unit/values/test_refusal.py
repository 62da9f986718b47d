"""Refusals carry the row they are answered from, and a status that the kind of refusal dictates."""

from __future__ import annotations

import pytest

from tollgate.values import (
    Conflict,
    Fault,
    Forbidden,
    InvalidParameters,
    NotFound,
    Refusal,
    Result,
    TooLarge,
    TooMany,
    TooSlow,
    Unauthenticated,
    WrongMethod,
)

ROW = Result("100.100.101", "account_validation", 402, "no such card", "invalid creditcard")


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (Refusal(ROW), 402),
        (InvalidParameters(ROW, [Fault("amount", "must be one")]), 400),
        (Unauthenticated(ROW), 401),
        (Forbidden(ROW), 403),
        (NotFound(ROW), 404),
        (WrongMethod(ROW, ["GET"]), 405),
        (Conflict(ROW), 409),
        (TooLarge(ROW), 413),
        (TooSlow(ROW), 400),
        (TooMany(ROW, retry_after_s=1), 429),
    ],
)
def test_a_refusal_has_the_status_of_its_kind_or_else_of_its_row(refusal: Refusal, status: int) -> None:
    assert refusal.status == status
    assert str(refusal) == ROW.code


def test_the_tree_in_the_docstring_names_every_kind() -> None:
    drawn = Refusal.__doc__ or ""

    assert all(kind.__name__ in drawn for kind in Refusal.__subclasses__())


def test_a_row_is_answered_in_the_words_clients_compare() -> None:
    assert ROW.description == "invalid creditcard"
    assert Result("1", "success", 200, "own words").description == "own words"
