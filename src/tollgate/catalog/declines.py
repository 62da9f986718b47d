"""Finds the decline by content that applies to a request. The rows are in decline_rows."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import lru_cache

from tollgate.catalog.decline import Decline, Facts, Fields
from tollgate.catalog.decline_rows import DECLINES

_CHOICES_KEPT = 512


def find_decline(fields: Fields, groups_present: AbstractSet[str], facts: Facts, *, is_lenient: bool) -> str | None:
    """Returns the result code of the first row that applies; None where there is none, as on a lenient channel."""
    if is_lenient:
        return None
    for row in _choose_rows(frozenset(groups_present)):
        if row.applies(fields, facts):
            return row.code
    return None


@lru_cache(_CHOICES_KEPT)
def _choose_rows(groups: frozenset[str]) -> tuple[Decline, ...]:
    """Is cached, because a shop's requests differ in their values and hardly ever in their groups."""
    return tuple(row for row in DECLINES if not row.groups.isdisjoint(groups))
