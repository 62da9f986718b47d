"""The audit of users: what is sealed for a user opens for that user.

Who the users are and what they may do is for people to check.
"""

from tollgate.flows import auditing
from tollgate.payments.audit import Finding, Proof
from tollgate.store import users
from tollgate.values import MerchantId
from tollgate.vault.passwords import get_totp_owner

_TABLE = "users"


async def check_users(audit: auditing.Audit) -> None:
    """Finds the secrets of one-time codes that were changed, or moved to another user."""
    rows = await users.list_sealed_totp(audit.database)
    broken = [user_id for user_id, sealed in rows if not auditing.opens(sealed, get_totp_owner(user_id), audit.keyring)]
    audit.report.add(
        [
            Finding(proof=Proof.USER, table=_TABLE, merchant_id=MerchantId(""), row_id=user_id, text=auditing.UNOPENED)
            for user_id in broken
        ]
    )
    if rows:
        audit.count(_TABLE, len(rows))
