"""Every key of the schema begins with the merchant, so that a distributed PostgreSQL can keep a merchant together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tidy.source_tree import expect_none
from tollgate.store.schema import METADATA, POSTGRESQL_METADATA

_PLATFORM = "belongs to the platform and not to a merchant"
_USER = "belongs to a user, who may work for several merchants"
_BY_ID = "few rows, which are found before the merchant is known: each node would have a copy"

EXCEPTIONS = {
    "merchants": "is the list of merchants",
    "channels": _BY_ID,
    "acquirer_accounts": _BY_ID,
    "credentials": _BY_ID,
    "wallet_keys": _BY_ID,
    "settings": _PLATFORM,
    "scripts": _PLATFORM,
    "recent_declines": _PLATFORM,
    "ip_ranges": _PLATFORM,
    "bin_countries": _PLATFORM,
    "delivery_workers": _PLATFORM,
    "simulated_sessions": _PLATFORM,
    "inbox_messages": _PLATFORM,
    "inboxes": _PLATFORM,
    "sign_in_failures": _PLATFORM,
    "archived_months": "has months of all merchants",
    "audit_log": "is one chain of all entries",
    "users": _USER,
    "grants": _USER,
    "user_sessions": _USER,
    "passkeys": _USER,
    "saved_views": _USER,
}
"""The tables whose keys begin with something else, and why."""

TABLES = (*METADATA.sorted_tables, *POSTGRESQL_METADATA.sorted_tables)


def list_keys(table: sa.Table) -> Iterator[tuple[str, list[str]]]:
    """Yields the primary key, the unique constraints and the unique indexes of a table."""
    yield "primary key", [column.name for column in table.primary_key.columns]
    for constraint in table.constraints:
        if isinstance(constraint, sa.UniqueConstraint):
            yield str(constraint.name), [column.name for column in constraint.columns]
    for index in table.indexes:
        if index.unique:
            yield str(index.name), [column.name for column in index.columns]


def has_other_key(table: sa.Table) -> bool:
    return any(columns[:1] != ["merchant_id"] for _, columns in list_keys(table))


def test_every_key_begins_with_the_merchant() -> None:
    expect_none(
        (
            f"{table.name}: {name} ({', '.join(columns)})"
            for table in TABLES
            if table.name not in EXCEPTIONS
            for name, columns in list_keys(table)
            if columns[:1] != ["merchant_id"]
        ),
        "every primary key and unique index begins with merchant_id, or has a reason in tests/tidy/test_keys.py",
    )


def test_every_exception_is_needed() -> None:
    tables = {str(table.name): table for table in TABLES}

    expect_none(
        (name for name in EXCEPTIONS if name not in tables or not has_other_key(tables[name])),
        "an exception names a table that has a key without the merchant in front",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        sa.PrimaryKeyConstraint("id", "merchant_id"),
        sa.UniqueConstraint("id", "merchant_id"),
        sa.Index("strange", "id", unique=True),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_a_key_that_begins_with_something_else_is_noticed(wrong: sa.schema.SchemaItem) -> None:
    table = sa.Table("strange", sa.MetaData(), sa.Column("merchant_id"), sa.Column("id"), wrong)

    assert has_other_key(table)


def test_an_index_that_is_not_unique_may_begin_with_anything() -> None:
    table = sa.Table(
        "usual", sa.MetaData(), sa.Column("merchant_id", primary_key=True), sa.Column("id"), sa.Index("by_id", "id")
    )

    assert not has_other_key(table)
