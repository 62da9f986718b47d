"""Conditions by which a statement of PostgreSQL looks for payments in the partitions of their months only.

They say nothing that the ids do not say already, so SQLite is not asked. How partitions are made is not known here.
"""

import re
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from tollgate.store.schema import payment_months
from tollgate.store.statements import Dialect

_MONTHS = payment_months.alias("months")
_MARK = re.compile(r"/\*in the month of (\w+)\*/")
_FOUND = (
    r" AND payments.created_at ="
    r" (SELECT created_at FROM payment_months WHERE merchant_id = :merchant_id AND id = :\1)"
)


class OnPostgres(sa.ColumnElement[bool]):
    """A condition of PostgreSQL that is always true elsewhere.

    PostgreSQL leaves out the months that a comparison of one column excludes, but not those that one of rows does.
    """

    inherit_cache = False
    type = sa.Boolean()

    def __init__(self, condition: sa.ColumnElement[bool]) -> None:
        self.condition = condition


@compiles(OnPostgres)
def _compile(element: OnPostgres, compiler: SQLCompiler, **options: Any) -> str:
    is_wanted = compiler.dialect.name == Dialect.POSTGRESQL
    return compiler.process(element.condition if is_wanted else sa.true(), **options)


def is_in_month_of(payments: sa.FromClause, merchant_id: Any, payment_id: Any) -> sa.ColumnElement[bool]:
    """Holds in the month of one payment; the ids may be parameters or columns of another table."""
    found = sa.select(_MONTHS.c.created_at).where(_MONTHS.c.merchant_id == merchant_id, _MONTHS.c.id == payment_id)
    return OnPostgres(payments.c.created_at == found.scalar_subquery())


def is_payment(payments: sa.FromClause, merchant_id: Any, payment_id: Any) -> sa.ColumnElement[bool]:
    is_it = (payments.c.merchant_id == merchant_id, payments.c.id == payment_id)
    return sa.and_(*is_it, is_in_month_of(payments, merchant_id, payment_id))


def are_payments(
    payments: sa.FromClause, merchant_id: Any, name: str, choose: Callable[[Any], sa.ColumnElement[bool]]
) -> sa.ColumnElement[bool]:
    """Chooses several payments by the column of this name, which is `id` or `chain_id`.

    Looks from the month of the first of them to that of the last.
    """
    where = (_MONTHS.c.merchant_id == merchant_id, choose(_MONTHS.c[name]))
    first, last = (
        sa.select(bound(_MONTHS.c.created_at)).where(*where).scalar_subquery() for bound in (sa.func.min, sa.func.max)
    )
    is_between = OnPostgres(sa.and_(payments.c.created_at >= first, payments.c.created_at <= last))
    return sa.and_(payments.c.merchant_id == merchant_id, choose(payments.c[name]), is_between)


class JoinedPayments(sa.Join):
    """Joins the payment of each row of another table.

    PostgreSQL finds one after the other. Left to choose, it may read whole months instead: it takes the condition about
    the month for one that few payments fulfil.
    """

    inherit_cache = False

    def __init__(self, rows: sa.FromClause, payments: sa.FromClause, merchant_id: Any, payment_id: Any) -> None:
        super().__init__(rows, payments, is_payment(payments, merchant_id, payment_id))


@compiles(JoinedPayments, Dialect.POSTGRESQL)
def _compile_joined(element: JoinedPayments, compiler: SQLCompiler, **options: Any) -> str:
    options["asfrom"] = True
    rows, payments = (compiler.process(each, **options) for each in (element.left, element.right))
    name, is_it = element.right.name, compiler.process(element.onclause)  # type: ignore[attr-defined, arg-type]
    return f"{rows} CROSS JOIN LATERAL (SELECT {name}.* FROM {payments} WHERE {is_it} OFFSET 0) AS {name}"


def render_month_mark(payment_id: str) -> str:
    """Returns what a text says besides the id of a payment, which is the parameter of this name."""
    return f"/*in the month of {payment_id}*/"


def read_for(dialect: Dialect, text: str) -> str:
    """Returns a text with the conditions of PostgreSQL, or without them."""
    return _MARK.sub(_FOUND if dialect is Dialect.POSTGRESQL else "", text)
