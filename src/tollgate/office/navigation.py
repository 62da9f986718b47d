"""The sections of the back office as rows: where each is, and which permission shows it.

Pages check their permissions themselves.
"""

from collections.abc import Iterable

import msgspec

from tollgate.catalog.permissions import Permission
from tollgate.payments import merchants, users


class Section(msgspec.Struct, frozen=True):
    title: str
    path: str
    """Below the merchant's pages."""
    permission: Permission
    group: str
    is_for_tests: bool = False
    """It exists on a test host only."""


SECTIONS = (
    Section("Overview", "/overview", Permission.VIEW_PAYMENTS, "Payments"),
    Section("Transactions", "/payments", Permission.VIEW_PAYMENTS, "Payments"),
    Section("Disputes", "/disputes", Permission.VIEW_PAYMENTS, "Payments"),
    Section("Reviews", "/reviews", Permission.VIEW_RISK, "Payments"),
    Section("Approvals", "/approvals", Permission.VIEW_PAYMENTS, "Payments"),
    Section("Checkouts", "/checkouts", Permission.VIEW_PAYMENTS, "Customers"),
    Section("Registrations", "/registrations", Permission.VIEW_PAYMENTS, "Customers"),
    Section("Schedules", "/schedules", Permission.VIEW_PAYMENTS, "Customers"),
    Section("Bank files", "/bank-files", Permission.VIEW_PAYMENTS, "Customers"),
    Section("Personal data", "/erasure", Permission.ERASE_DATA, "Customers"),
    Section("Routing", "/routing", Permission.VIEW_ROUTING, "Routing and risk"),
    Section("Risk rules", "/risk", Permission.VIEW_RISK, "Routing and risk"),
    Section("Lists", "/lists", Permission.VIEW_RISK, "Routing and risk"),
    Section("Webhooks", "/webhooks", Permission.MANAGE_WEBHOOKS, "Developers"),
    Section("Access tokens", "/tokens", Permission.MANAGE_TOKENS, "Developers"),
    Section("Simulator", "/simulator", Permission.USE_SIMULATOR, "Developers", is_for_tests=True),
    Section("Account", "/account", Permission.VIEW_ACCOUNT, "Settings"),
    Section("Users", "/users", Permission.MANAGE_USERS, "Settings"),
    Section("Audit log", "/audit-log", Permission.VIEW_AUDIT_LOG, "Settings"),
)

HOST_SECTIONS = (
    Section("Merchants", "/office/merchants", Permission.MANAGE_HOST, "Host"),
    Section("Audit log of the host", "/office/audit-log", Permission.MANAGE_HOST, "Host"),
)
"""Pages that belong to no merchant."""


def list_sections(
    merchant: merchants.Merchant | None, grants: Iterable[users.Grant], *, is_live: bool
) -> dict[str, list[Section]]:
    """Returns the sections of a merchant that the user may see, by group."""
    groups: dict[str, list[Section]] = {}
    if merchant is None:
        return groups
    known = tuple(grants)
    for section in SECTIONS:
        if users.may(known, section.permission, merchant.id) and not (section.is_for_tests and is_live):
            groups.setdefault(section.group, []).append(section)
    return groups
