"""Users of the back office: their roles, second factors and sessions, and what waits for a second person.

How a user is recognized is decided in `flows`.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum

import msgspec

from tollgate.catalog.permissions import ROLE_PERMISSIONS, Permission, Role
from tollgate.values import ChannelId, Instant, MerchantId

OFFICE_PASSWORD = "office_password"
"""The sealed setting with the password of the first user of a test host, until the user changes it."""


class User(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    """The name to sign in with, in lower case."""
    created_at: Instant
    password_hash: str
    must_change_password: bool = False
    is_disabled: bool = False
    sealed_totp: bytes | None = None
    """The secret of one-time codes; None as long as none was set up."""
    totp_step: int = 0
    """The time step of the last code that was taken, so that no code is taken twice."""
    recovery_hashes: tuple[str, ...] = ()
    """The hashes of the recovery codes that were not used yet."""
    revision: int = 1
    """It is counted up by every change of password, factors or state."""


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A role of a user, for one merchant or one of its channels; the platform role has no merchant."""

    user_id: str
    merchant_id: str = ""
    channel_id: str = ""
    role: Role
    refund_limit: int | None = None
    """The most that may be given back of one payment, or rebilled, in hundredths of its currency; None is no limit."""

    def reaches(self, merchant_id: str, channel_id: str | None = None) -> bool:
        """Tells whether the role counts for a merchant, or for one of its channels where one is named."""
        if self.role is Role.PLATFORM:
            return True
        return self.merchant_id == merchant_id and (channel_id is None or self.channel_id in ("", channel_id))

    def allows(self, permission: Permission) -> bool:
        return permission in ROLE_PERMISSIONS[self.role]


def may(
    grants: Iterable[Grant], permission: Permission, merchant_id: str | None = None, channel_id: str | None = None
) -> bool:
    """Tells whether one of the roles has a permission; without a merchant, whether the platform role has it."""
    return any(
        grant.allows(permission)
        and (grant.role is Role.PLATFORM if merchant_id is None else grant.reaches(merchant_id, channel_id))
        for grant in grants
    )


def find_refund_limit(grants: Iterable[Grant], merchant_id: MerchantId, channel_id: ChannelId) -> int | None:
    """Returns the highest limit of the roles that allow refunds on a channel; None if one of them has none."""
    limits = [
        grant.refund_limit
        for grant in grants
        if grant.allows(Permission.REFUND) and grant.reaches(merchant_id, channel_id)
    ]
    known = [limit for limit in limits if limit is not None]
    return max(known) if known and len(known) == len(limits) else None


class Stage(IntEnum):
    """A stage is how far a sign-in has come."""

    SECOND_FACTOR = 0
    """The password was right, and the second factor is missing."""
    SETTING_UP = 1
    """The user must change the password or set up a second factor before anything else."""
    SIGNED_IN = 2


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in of a user by one browser. The browser has the token, the store its hash."""

    user_id: str
    id: str
    token_hash: bytes
    stage: Stage
    created_at: Instant
    """Sessions are timed by the wall clock, which a test host does not move."""
    used_at: Instant
    confirmed_at: Instant
    """The last time at which the user gave the second factor, or the password if there is none."""
    address: str
    browser: str
    challenge: bytes | None = None
    """The bytes that a passkey has to sign next; the first try removes them."""


class Passkey(msgspec.Struct, frozen=True, kw_only=True):
    user_id: str
    id: str
    """The credential id, base64url."""
    name: str
    public_key: bytes
    sign_count: int
    created_at: Instant
    used_at: Instant | None = None


class ApprovalState(IntEnum):
    WAITING = 0
    GRANTED = 1
    DECLINED = 2
    EXPIRED = 3


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A request of one user that another has to confirm."""

    merchant_id: MerchantId
    id: str
    channel_id: str = ""
    action: str
    """The guarded action that is run when it is granted."""
    subject: str
    summary: str
    fields: Mapping[str, str]
    requested_by: str
    requested_at: Instant
    state: ApprovalState = ApprovalState.WAITING
    decided_by: str | None = None
    decided_at: Instant | None = None
    outcome: str = ""


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the audit log; its hash covers the hash of the line before it."""

    number: int
    at: Instant
    """The time by the wall clock."""
    merchant_id: str
    """Empty for what concerns the whole host."""
    user_id: str
    """Empty for a command of the operator and for a name that is unknown."""
    user_name: str
    action: str
    subject: str
    details: Mapping[str, str]
    address: str
    hash: bytes = b""

    @property
    def facts(self) -> tuple[object, ...]:
        """Returns what the hash covers, besides the hash of the line before."""
        return (
            self.number,
            self.at,
            self.merchant_id,
            self.user_id,
            self.user_name,
            self.action,
            self.subject,
            sorted(self.details.items()),
            self.address,
        )
