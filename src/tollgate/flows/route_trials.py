"""Explains the route of a payment, and tries a proposed routing against the last payments of a channel.

Nothing is changed. The computation is in `operations/route_trials.py`.
"""

from tollgate.catalog import codes, results
from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.limits import LIMITS
from tollgate.contract.route_proposals import Proposal
from tollgate.operations import route_trials, signing
from tollgate.operations.app import App
from tollgate.payments.merchants import AcquirerTerms, Channel
from tollgate.payments.payment import Payment
from tollgate.store import payments, searching
from tollgate.values import Fault, NotFound


async def get_payment(app: App, payment_id: str) -> Payment:
    """Returns the payment of whichever merchant."""
    for merchant in app.merchants.list_merchants():
        found = await payments.find_payment(app.database, merchant.id, payment_id)
        if found is not None:
            return signing.trust(app, found)
    raise NotFound(results.get_result(codes.INVALID_REQUEST), f"no payment {payment_id}")


def list_names(app: App, channel: Channel) -> dict[str, str]:
    """Returns the names of a channel's accounts by their ids; the first one has the name of the channel."""
    further = app.merchants.list_further_accounts(channel.id)
    return {each.id: each.name for each in further} | {channel.first_account_id: channel.name}


async def try_proposal(app: App, proposal: Proposal, last: int) -> route_trials.Trial:
    """Tries a proposal against the last payments of its channel that went to an acquirer account."""
    channel = app.merchants.find_channel(proposal.channel)
    if channel is None:
        raise results.make_invalid(Fault("channel", "is not the entity id of a channel"))
    views = {each.first_account_id: each for each in app.merchants.list_accounts(channel, closed=True)}
    known = {account_id: view.acquirer or AcquirerTerms() for account_id, view in views.items()}
    given = {each.id: each for each in proposal.accounts}
    proposed = {name: each.merge_terms(known.get(name, AcquirerTerms())) for name, each in given.items()} or {
        view.first_account_id: known[view.first_account_id] for view in app.merchants.list_accounts(channel)
    }
    expected = {name: each.approves for name, each in given.items() if each.approves is not None}
    found = [
        payment
        for payment in await _list_last(app, channel, last)
        if (payment.account_id or payment.channel_id) in known
    ]
    return route_trials.try_routing(found, proposed, known, proposal.merge_routing(channel), expected)


async def _list_last(app: App, channel: Channel, last: int) -> list[Payment]:
    """Lists the last payments that were routed, the oldest first."""
    found: list[Payment] = []
    span = searching.Span()
    while len(found) < last:
        page = await searching.list_by_time(
            app.database, channel.merchant_id, channel.id, span, LIMITS.search_candidates_max
        )
        found += [
            each.payment
            for each in page
            if each.payment is not None
            and each.payment.brand in BRANDS
            and BRANDS[each.payment.brand].protocol is not Protocol.SEPA
            and route_trials.is_routed(each.payment)
        ]
        if len(page) < LIMITS.search_candidates_max:
            break
        span = searching.Span(after=page[-1].place)
    return found[:last][::-1]
