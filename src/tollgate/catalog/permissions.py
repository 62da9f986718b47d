"""The permissions of the back office, the roles that have them, and the actions that a second person confirms.

Who has which role is stored with the users.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    DEVELOPER = "developer"
    ADMINISTRATOR = "administrator"
    PLATFORM = "platform"
    """It has every permission for all merchants."""


class Permission(StrEnum):
    VIEW_PAYMENTS = "view payments"
    EXPORT_PAYMENTS = "export payments"
    CAPTURE = "capture and reverse"
    REFUND = "refund and rebill"
    RECORD_FACTS = "record receipts and disputes"
    VIEW_MESSAGES = "view messages"
    MANAGE_WEBHOOKS = "manage webhooks"
    USE_SIMULATOR = "use the simulator"
    VIEW_ACCOUNT = "view account data"
    MANAGE_TOKENS = "manage access tokens"
    MANAGE_CHANNELS = "manage channels"
    VIEW_ROUTING = "view routing"
    MANAGE_ROUTING = "manage routing"
    VIEW_RISK = "view risk rules and lists"
    MANAGE_RISK = "manage risk rules and lists"
    DECIDE_REVIEWS = "decide reviews"
    MANAGE_USERS = "manage users"
    VIEW_AUDIT_LOG = "view the audit log"
    APPROVE = "approve requests of others"
    ERASE_DATA = "erase personal data"
    MANAGE_HOST = "manage merchants and the host"


class PermissionRow(msgspec.Struct, frozen=True):
    permission: Permission
    text: str
    roles: frozenset[Role]


_EVERYBODY = frozenset(Role)
_MONEY = frozenset({Role.OPERATOR, Role.ADMINISTRATOR, Role.PLATFORM})
_BUILDERS = frozenset({Role.DEVELOPER, Role.ADMINISTRATOR, Role.PLATFORM})
_HEADS = frozenset({Role.ADMINISTRATOR, Role.PLATFORM})

PERMISSION_ROWS = (
    PermissionRow(Permission.VIEW_PAYMENTS, "See payments, checkouts, registrations, schedules and sums.", _EVERYBODY),
    PermissionRow(Permission.EXPORT_PAYMENTS, "Save lists of payments as files.", _MONEY),
    PermissionRow(Permission.CAPTURE, "Capture and reverse payments.", _MONEY),
    PermissionRow(Permission.REFUND, "Refund and rebill payments, up to the limit of the user.", _MONEY),
    PermissionRow(Permission.RECORD_FACTS, "Record chargebacks and receipts, and keep evidence.", _MONEY),
    PermissionRow(Permission.VIEW_MESSAGES, "See messages to acquirers, events and log lines.", _MONEY | _BUILDERS),
    PermissionRow(Permission.MANAGE_WEBHOOKS, "Add, change, test and replay webhooks.", _BUILDERS),
    PermissionRow(Permission.USE_SIMULATOR, "Choose outcomes and move the clock of a test host.", _BUILDERS),
    PermissionRow(Permission.VIEW_ACCOUNT, "See the merchant, its channels and entity ids.", _BUILDERS),
    PermissionRow(Permission.MANAGE_TOKENS, "See, make, rotate and revoke access tokens.", _HEADS),
    PermissionRow(Permission.MANAGE_CHANNELS, "Change the settings of channels.", _HEADS),
    PermissionRow(Permission.VIEW_ROUTING, "See how payments are dispatched and routed.", _MONEY | _BUILDERS),
    PermissionRow(Permission.MANAGE_ROUTING, "Change dispatching and acquirer accounts.", _HEADS),
    PermissionRow(Permission.VIEW_RISK, "See risk rules, what they hit, and lists.", _MONEY | _BUILDERS),
    PermissionRow(Permission.MANAGE_RISK, "Change risk rules, and block and allow lists.", _HEADS),
    PermissionRow(Permission.DECIDE_REVIEWS, "Accept or reject payments under review.", _MONEY),
    PermissionRow(Permission.MANAGE_USERS, "Invite users, and change their roles and limits.", _HEADS),
    PermissionRow(Permission.VIEW_AUDIT_LOG, "See and export the audit log.", _HEADS),
    PermissionRow(Permission.APPROVE, "Confirm or decline what another user asked for.", _HEADS),
    PermissionRow(Permission.ERASE_DATA, "Remove what names a person.", _HEADS),
    PermissionRow(Permission.MANAGE_HOST, "Add merchants, and see the host as a whole.", frozenset({Role.PLATFORM})),
)

ROLE_PERMISSIONS: Mapping[Role, frozenset[Permission]] = MappingProxyType(
    {role: frozenset(row.permission for row in PERMISSION_ROWS if role in row.roles) for role in Role}
)


class ApprovalKind(StrEnum):
    """The actions that a second person may have to confirm."""

    REFUND = "refund"
    TOKEN = "token"
    RECORD = "record"
    KEY_ROTATION = "key_rotation"
    ROUTING = "routing"
    RISK = "risk"


class FourEyesRow(msgspec.Struct, frozen=True):
    """An action that a second person confirms on a live host; a test host has no such rows unless they are set."""

    kind: ApprovalKind
    text: str
    above: int | None = None
    """Hundredths, in the currency of the payment; sums of one payment up to it need no second person."""


FOUR_EYES_ROWS = (
    FourEyesRow(
        ApprovalKind.REFUND, "A refund or reversal, if more is given back of the payment altogether.", above=100_000
    ),
    FourEyesRow(ApprovalKind.TOKEN, "Making or rotating an access token, or allowing one more."),
    FourEyesRow(ApprovalKind.RECORD, "Recording a receipt, a chargeback or its reversal."),
    FourEyesRow(ApprovalKind.KEY_ROTATION, "Rotating the secrets of a webhook."),
    FourEyesRow(ApprovalKind.ROUTING, "Changing how payments are dispatched and routed."),
    FourEyesRow(ApprovalKind.RISK, "Changing risk rules, and block and allow lists."),
)
