"""Rows of tests that show one behaviour in several frameworks, sizes, layouts or languages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def keep_rows(rows: Iterable[Any], *kept: Any) -> list[Any]:
    """The rows chosen here run in `make test`; the others repeat what those show, and run in `make prove`."""
    found = list(rows)
    assert set(kept) <= set(found), "a row that is kept is one of the rows"
    return [row if row in kept else _prove(row) for row in found]


def _prove(row: Any) -> Any:
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.prove)
