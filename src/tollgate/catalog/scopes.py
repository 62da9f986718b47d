"""The scopes of access tokens: what a token with scopes may be used for.

Which operation needs which scope is a column of `throttles`.
"""

from enum import StrEnum

import msgspec

from tollgate.catalog.payment_types import PAYMENT_TYPES, Direction


class Scope(StrEnum):
    READ = "read"
    PAYMENTS = "payments"
    REFUNDS = "refunds"
    REPORTS = "reports"


class ScopeRow(msgspec.Struct, frozen=True):
    scope: Scope
    text: str


SCOPE_ROWS = (
    ScopeRow(Scope.READ, "Read payments, checkouts, registrations, schedules and payment links."),
    ScopeRow(Scope.PAYMENTS, "Make and capture payments, checkouts, registrations, schedules and payment links."),
    ScopeRow(Scope.REFUNDS, "Give money back: refunds, reversals and credits."),
    ScopeRow(Scope.REPORTS, "Query payments and read reconciliations."),
)

REFUND_TYPES = frozenset(
    row.code for row in PAYMENT_TYPES.values() if row.direction in (Direction.GIVE, Direction.UNDO)
)
"""The payment types that need the scope of refunds, in place of the scope of payments."""
