"""The acquirer accounts of channels: added, changed, closed. Which of them a payment goes to is decided in `routes`."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tollgate.catalog import results
from tollgate.catalog.limits import LIMITS
from tollgate.contract import channels
from tollgate.operations import settings
from tollgate.operations.app import App
from tollgate.operations.caches import ACQUIRER_SECRETS
from tollgate.payments import merchants as terms
from tollgate.payments.merchants import AcquirerTerms, Channel, ChannelFlag, FurtherAccount, ThreeDsTerms
from tollgate.store import merchants
from tollgate.store.database import Database
from tollgate.values import Fault, Instant, make_id
from tollgate.vault.keyring import Keyring
from tollgate.wire import may_carry_cards

NOT_SAVED = "somebody else changed the acquirer of the channel at the same time"


async def save_channel(
    database: Database, keyring: Keyring, before: Channel, changed: Channel, *, new_id: str, now: Instant
) -> bool:
    """Saves the settings of a channel; False if there is no such channel, or it has another first account by now.

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
    acquirer, known = channel.acquirer or AcquirerTerms(), channel.three_ds or ThreeDsTerms()
    whole = msgspec.structs.replace(channel, acquirer=acquirer, three_ds=known)
    return tuple(
        channels.get_channel_value(whole, flag)
        for flag in terms.ACCOUNT_FLAGS
        if flag.parameter in terms.IDENTITY_FLAGS
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


def apply_changes(
    app: App, channel: Channel, changes: Mapping[str, str], flags: Sequence[ChannelFlag] = terms.CHANNEL_FLAGS
) -> Channel:
    """Returns the channel as it would be, or names every setting that is wrong."""
    read: dict[str, Any] = {}
    faults = []
    for flag in flags:
        if flag.parameter not in changes:
            continue
        try:
            read[flag.parameter] = channels.read_channel_value(flag.form, changes[flag.parameter])
        except ValueError as fault:
            faults.append(Fault(flag.parameter, str(fault)))
    if faults:
        raise results.make_invalid(*faults)
    try:
        changed = channels.merge_flags(channel, read)
    except channels.IncompleteTerms as fault:
        raise results.make_invalid(*[Fault(flag.parameter, "is needed too") for flag in fault.missing]) from None
    unsafe = [Fault(flag.parameter, text) for flag, text in channels.list_unfit_addresses(changed)] or [
        Fault(flag.parameter, channels.PLAIN_ADDRESS)
        for flag, address in channels.list_card_addresses(changed)
        if flag.parameter in read
        and not may_carry_cards(address, is_live=app.is_live, allows_plain_loopback=app.allows_plain_loopback)
    ]
    if unsafe:
        raise results.make_invalid(*unsafe)
    return changed


async def add_account(app: App, channel: Channel, sent: Mapping[str, str]) -> FurtherAccount:
    """Adds an acquirer account to a channel.

    sent: its name, and settings by the parameters of `ACCOUNT_FLAGS`.
    """
    check_name(sent.get("name", ""))
    if len(app.merchants.list_accounts(channel, closed=True)) >= LIMITS.accounts_per_channel_max:
        raise results.make_invalid(Fault("name", f"a channel has up to {LIMITS.accounts_per_channel_max} accounts"))
    # Numbers that are not given are those that the channel has now: later they must not change with it.
    bare = msgspec.structs.replace(channel, test_url=None, live_url=None, acquirer=AcquirerTerms())
    changed = apply_changes(app, bare, sent, terms.ACCOUNT_FLAGS)
    known = changed.three_ds or ThreeDsTerms()
    new = FurtherAccount(
        id=make_id(app.random_bytes),
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        name=sent["name"],
        created_at=app.clock.now(),
        test_url=changed.test_url or None,
        live_url=changed.live_url or None,
        merchant_number=known.acquirer_merchant_id,
        acquirer_number=known.acquirer_bin,
        terms=changed.acquirer or AcquirerTerms(),
    )
    await merchants.insert_account(app.database, new)
    await app.merchants.refresh(app.database)
    return new


async def change_account(app: App, account: FurtherAccount, sent: Mapping[str, str]) -> FurtherAccount:
    """Changes the name and the terms of an account; what its payments are known by at the acquirer stays."""
    view = account.apply_to(app.merchants.get_channel(account.channel_id))
    shown = {flag.parameter: channels.get_channel_value(view, flag) for flag in terms.ACCOUNT_FLAGS}
    fixed = [
        Fault(name, "cannot change, because payments of this account need it: add another account")
        for name in sorted(terms.IDENTITY_FLAGS)
        if name in sent and sent[name] != channels.render_channel_value(shown[name])
    ]
    if fixed:
        raise results.make_invalid(*fixed)
    name = sent.get("name", account.name)
    check_name(name)
    changed = apply_changes(app, view, sent, terms.ACCOUNT_FLAGS)
    saved = msgspec.structs.replace(account, name=name, terms=changed.acquirer or AcquirerTerms())
    await merchants.update_account(app.database, saved)
    await app.merchants.refresh(app.database)
    return saved


async def close_account(app: App, account: FurtherAccount) -> None:
    """Closes an account for new payments; follow-ups of those that it has still reach it."""
    await _save_state(app, msgspec.structs.replace(account, is_closed=True))


async def reopen_account(app: App, account: FurtherAccount) -> None:
    await _save_state(app, msgspec.structs.replace(account, is_closed=False))


async def _save_state(app: App, changed: FurtherAccount) -> None:
    await merchants.update_account_state(app.database, changed)
    await app.merchants.refresh(app.database)


def check_name(name: str) -> None:
    """Refuses a name that people could not read or recognize."""
    if not 1 <= len(name) <= LIMITS.account_name_length_max or not name.isprintable():
        raise results.make_invalid(
            Fault("name", f"must have 1 to {LIMITS.account_name_length_max} printable characters")
        )
