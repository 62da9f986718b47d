"""The acquirer accounts of channels as they are saved. Which of them a payment goes to is decided in `routes`."""

import msgspec

from tollgate.operations import settings
from tollgate.operations.caches import ACQUIRER_SECRETS
from tollgate.payments.merchants import AcquirerTerms, Channel, FurtherAccount, ThreeDsTerms
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.values import Instant
from tollgate.vault.keyring import Keyring


async def save_channel(
    database: Database, keyring: Keyring, before: Channel, changed: Channel, *, new_id: str, now: Instant
) -> bool:
    """Saves the settings of a channel; False if there is no such channel.

    Payments name the account that has them. If the first account now leads elsewhere, the old one is kept under its
    id and closed, so that reversals and follow-ups of its payments still reach it, and the new one gets an id.
    """
    if not (before.test_url or before.live_url) or _list_identity(before) == _list_identity(changed):
        return await merchants.update_channel(database, changed)
    old_id = before.first_account_id
    for name, value in await settings.list_sealed_settings(database, keyring, f"{ACQUIRER_SECRETS}{old_id}/"):
        secret = name.rpartition("/")[2]
        await settings.put_sealed_setting(database, keyring, f"{ACQUIRER_SECRETS}{new_id}/{secret}", value)
    kept = _keep_first_account(before, now)
    return await merchants.update_channel(database, msgspec.structs.replace(changed, account_id=new_id), kept)


def _list_identity(channel: Channel) -> tuple[object, ...]:
    """Lists what must stay for later messages about a payment to be understood."""
    terms, known = channel.acquirer or AcquirerTerms(), channel.three_ds or ThreeDsTerms()
    return (
        channel.test_url,
        channel.live_url,
        terms.connector,
        terms.terminal_id,
        known.acquirer_merchant_id,
        known.acquirer_bin,
    )


def _keep_first_account(channel: Channel, now: Instant) -> FurtherAccount:
    known = channel.three_ds or ThreeDsTerms()
    return FurtherAccount(
        id=channel.first_account_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        name=f"{channel.name} until the change",
        created_at=now,
        is_closed=True,
        test_url=channel.test_url,
        live_url=channel.live_url,
        merchant_number=known.acquirer_merchant_id,
        acquirer_number=known.acquirer_bin,
        terms=channel.acquirer or AcquirerTerms(),
    )
