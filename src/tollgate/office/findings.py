"""The decisions of routing and of the risk rules about a payment, with the names of accounts and rules.

The decisions are read from the row of the payment; nothing is decided here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tollgate.catalog import permissions
from tollgate.office import chains, visits
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Payment
from tollgate.payments.risk import Hit
from tollgate.payments.routing import Considered
from tollgate.store import reviews, risk, risk_lists


class ShownHit(msgspec.Struct, frozen=True):
    """A hit with the name of its rule, and the path of the page that shows it, below the merchant's pages."""

    hit: Hit
    name: str
    path: str


async def list_names(visit: visits.Visit, payments: Iterable[Payment]) -> dict[str, str]:
    """Returns the names of the merchant's rules, and of the entries of lists that these payments hit, by id."""
    database, merchant_id = visit.app.database, visit.get_merchant().id
    names = {each.id: each.name for each in await risk.list_rules(database, merchant_id)}
    hits = [hit for each in payments if each.risk is not None for hit in each.risk.hits]
    for entry_id in {hit.rule_id for hit in hits if hit.is_entry}:
        entry = await risk_lists.find_entry(database, merchant_id, entry_id)
        names |= {entry_id: f"{entry.list} list: {entry.shown}"} if entry is not None else {}
    return names


def list_hits(payment: Payment, names: Mapping[str, str]) -> list[ShownHit]:
    """Lists the rules that a payment hit; an entry of a list may have been removed since."""
    if payment.risk is None:
        return []
    return [
        ShownHit(
            hit,
            names.get(hit.rule_id, f"{hit.listed_on} list: an entry that was removed"),
            "/lists" if hit.is_entry else f"/risk/rules/{hit.rule_id}",
        )
        for hit in payment.risk.hits
    ]


def list_considered(visit: visits.Visit, payment: Payment, channel: Channel) -> list[tuple[Considered, str, bool]]:
    """Lists the accounts that a payment could have gone to, each with its name and whether it was the one."""
    names = {each.id: each.name for each in visit.app.merchants.list_further_accounts(channel.id)}
    names.setdefault(channel.first_account_id, f"{channel.name} (first account)")
    chosen = payment.account_id or channel.id
    return [(each, names.get(each.account_id, each.account_id), each.account_id == chosen) for each in payment.routing]


async def list_values(visit: visits.Visit, found: chains.Found) -> dict[str, Any]:
    """Returns what the page of a payment shows of both, as far as the user may see it."""
    payment, channel = found.payment, found.channel
    sees_risk = visit.may(permissions.Permission.VIEW_RISK, channel.id)
    sees_routing = visit.may(permissions.Permission.VIEW_ROUTING, channel.id)
    return {
        "sees_risk": sees_risk,
        "hits": list_hits(payment, await list_names(visit, [payment])) if sees_risk and payment.risk else [],
        "review": await reviews.find_review(visit.app.database, payment.merchant_id, payment.id) if sees_risk else None,
        "may_review": visit.may(permissions.Permission.DECIDE_REVIEWS, channel.id),
        "considered": list_considered(visit, payment, channel) if sees_routing else [],
    }
