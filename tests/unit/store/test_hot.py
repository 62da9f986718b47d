"""The hot writes: their rows and texts follow the schema, whatever is added to it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tollgate.payments.ledger import Balance
from tollgate.store.hot import AT_START, START, START_COLUMNS, BatchText, HotWrite
from tollgate.store.hot_attempts import END_ATTEMPT
from tollgate.store.hot_follow_ups import HOT_WRITES, START_MEMBERS
from tollgate.store.schema import payments
from tollgate.store.statements import Dialect


def test_what_a_started_row_leaves_to_the_table_is_what_only_later_transactions_fill() -> None:
    sent = {name for name, _ in START_COLUMNS[: START.texts[0].width]} | set(AT_START)
    left_out = {column.name for column in payments.columns} - sent

    later = {"action", "chain_id", "position", "releases", "closes", "events", "mac", "split", "risk"}
    assert left_out == {*Balance.__struct_fields__, *later}


def test_what_a_started_follow_up_leaves_to_the_table_is_what_it_never_has() -> None:
    sent = {*START_MEMBERS, "idempotency_key", "position"} | set(AT_START)
    left_out = {column.name for column in payments.columns} - sent

    assert left_out == {*Balance.__struct_fields__, "events", "mac", "split", "risk", "sealed_account"}


@pytest.mark.parametrize("hot", HOT_WRITES, ids=lambda hot: hot.name)
def test_a_text_takes_exactly_the_members_it_says(hot: HotWrite[Any]) -> None:
    for text in hot.texts:
        for query in (text.one, text.many):
            places = {int(place) for place in re.findall(r"\$(\d+)::", query)}
            assert places == set(range(1, text.width + 1))
            assert "GIVEN" not in query


@pytest.mark.parametrize("hot", HOT_WRITES, ids=lambda hot: hot.name)
def test_what_confirms_a_row_is_named_by_the_row(hot: HotWrite[Any]) -> None:
    params = hot.make_params(tuple(range(len(hot.columns))))

    assert {*hot.is_written.compiled_for(Dialect.SQLITE).names} <= params.keys()


def test_a_row_with_a_key_is_rich() -> None:
    row: list[object] = [None] * len(START_COLUMNS)
    assert START.choose_text(tuple(row)) == 0

    row[[name for name, _ in START_COLUMNS].index("idempotency_key")] = "key"
    assert START.choose_text(tuple(row)) == 1


def test_only_the_lean_start_and_the_end_of_an_attempt_accept_without_looking() -> None:
    unguarded: list[BatchText] = [text for hot in HOT_WRITES for text in hot.texts if not text.is_guarded]

    assert unguarded == [START.texts[0], *END_ATTEMPT.texts]
