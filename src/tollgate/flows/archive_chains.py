"""The chains that may be moved to a file: whole, at rest, sound, and over within the month. Others stay, with a reason.

Moving them is done in `archive`.
"""

from collections import Counter
from collections.abc import Sequence, Set

import msgspec

from tollgate.flows import auditing, verify_chains
from tollgate.flows.erase_rows import find_obstacle
from tollgate.operations.app import App
from tollgate.payments.archiving import get_last_change, open_again
from tollgate.payments.audit import sum_expected_accounts
from tollgate.payments.completion import list_entries
from tollgate.payments.payment import Payment
from tollgate.store import archive_rows, archives, opening
from tollgate.store.audit import AuditedPayment
from tollgate.store.codec import UNREADABLE
from tollgate.store.hot import Row
from tollgate.store.payments import PAYMENTS
from tollgate.values import Instant, MerchantId

UNSOUND = "`tollgate verify` has a finding about it"
LATER = "it went on after the month"
OPEN = "it is still open"
CHANGED = "it was changed at this moment"
UNDELIVERED = "an event of it is still to be delivered"


class RestingChain(msgspec.Struct, frozen=True):
    rows: list[Row]
    members: list[Payment]
    """The payments; none if one of them cannot be read."""


class Choice(msgspec.Struct, frozen=True):
    leaving: dict[str, RestingChain]
    kept: dict[str, str]
    """The reasons of chains that stay, by their first payment."""


async def choose_chains(
    app: App, merchant_id: MerchantId, first_ids: Sequence[str], end: Instant, undelivered: Set[tuple[str, str]]
) -> Choice:
    """Reads chains and chooses those that were at rest before `end`."""
    found = await archive_rows.list_chains(app.database, merchant_id, first_ids)
    pages = {first_id: _read(rows) for first_id, rows in found.items()}
    kept: dict[str, str] = {}
    for first_id, chain in pages.items():
        reason = _find_reason(app, chain.members, end)
        if reason is None and any((merchant_id, each.id) in undelivered for each in chain.members):
            reason = UNDELIVERED
        if reason is not None:
            kept[first_id] = reason
    resting = {first_id: chain for first_id, chain in pages.items() if first_id not in kept}
    kept |= await _list_unsound(app, merchant_id, resting)
    resting = {first_id: chain for first_id, chain in resting.items() if first_id not in kept}
    members = [payment for chain in resting.values() for payment in chain.members]
    needs = await archive_rows.list_needs(app.database, merchant_id, [payment.id for payment in members])
    for first_id, chain in resting.items():
        for payment in chain.members:
            if payment.id in needs:
                kept[first_id] = needs[payment.id]
    return Choice({first_id: chain for first_id, chain in resting.items() if first_id not in kept}, kept)


async def choose_unchanged(app: App, merchant_id: MerchantId, seen: dict[str, RestingChain], end: Instant) -> Choice:
    """Reads chains again that were closed, and keeps those to which something happened since they were seen."""
    found = await archive_rows.list_chains(app.database, merchant_id, [*seen])
    leaving, kept = {}, {}
    for first_id, chain in seen.items():
        closed = _read(found.get(first_id, []))
        if closed.members == chain.members and closed.members:
            leaving[first_id] = closed
        else:
            kept[first_id] = _find_reason(app, closed.members, end) or CHANGED
    return Choice(leaving, kept)


def _read(rows: list[Row]) -> RestingChain:
    try:
        members = [PAYMENTS.decode(archive_rows.pick_payment(row)) for row in rows]
    except UNREADABLE:
        return RestingChain(rows, [])
    return RestingChain(rows, [open_again(payment) if payment.chain_id is None else payment for payment in members])


def _find_reason(app: App, members: Sequence[Payment], end: Instant) -> str | None:
    if not members:
        return UNSOUND
    if max(map(get_last_change, members)) >= end:
        return LATER
    return OPEN if find_obstacle(app, members) is not None else None


async def _list_unsound(app: App, merchant_id: MerchantId, chains: dict[str, RestingChain]) -> dict[str, str]:
    """Lists the chains that an audit finds something wrong with, which may be that a part of them is missing."""
    since = int(await opening.get_setting(app.database, auditing.EVENTS_KEPT_SINCE, "0"))
    audited = {
        (merchant_id, first_id): [
            AuditedPayment(merchant_id, payment.id, payment.chain_id, payment) for payment in chain.members
        ]
        for first_id, chain in chains.items()
    }
    findings = await verify_chains.list_chain_findings(app.database, verify_chains.Rules(app.keyring, since), audited)
    return {first_id: UNSOUND for _, first_id in findings}


async def join_chains(app: App, merchant_id: MerchantId, chains: dict[str, RestingChain]) -> list[archives.ChainRows]:
    """Joins chains with their entries, events and delivery attempts."""
    members = [payment for chain in chains.values() for payment in chain.members]
    told = {payment.id: verify_chains.list_events(payment) for payment in members}
    gathered = await archive_rows.gather(
        app.database,
        merchant_id,
        [entry.id for payment in members for entry in list_entries(payment)],
        [event.id for events in told.values() for event in events],
        [payment for payment in members if payment.events != len(told[payment.id])],
    )
    joined = []
    for first_id, chain in chains.items():
        rows = archive_rows.join_chain(merchant_id, first_id, chain.rows, gathered)
        rows.payments[0]["chain_length"] = chain.members[0].balance.chain_length
        joined.append(rows)
    return joined


def make_sums(members: Sequence[Payment]) -> Counter[tuple[str, str, str, str]]:
    """Returns what the ledger accounts got from a chain, by merchant, channel, currency and account."""
    first = members[0]
    return Counter(
        {
            (first.merchant_id, first.channel_id, first.money.currency, account.value): amount
            for account, amount in sum_expected_accounts(members).items()
        }
    )
