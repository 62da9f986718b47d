"""The newest payments of the sandbox merchant, and what may follow each of them.

The rows of follow-ups decide what is possible; the interface carries it out.
"""

from collections.abc import Sequence
from itertools import chain as join
from urllib.parse import urlencode

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.contract.follow_ups import spell_follow_up
from tollgate.flows import follow_up
from tollgate.office import visits
from tollgate.operations import charging, signing
from tollgate.operations.app import App
from tollgate.payments import chain
from tollgate.payments.following import Action, choose_following
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp
from tollgate.payments.payment import Payment
from tollgate.payments.reviews import awaits_decision
from tollgate.sandbox.front import sending, trying
from tollgate.sandbox.front.developers import Developer
from tollgate.store import payments, searching
from tollgate.values import MerchantId, is_id, render_hundredths
from tollgate.web.request import Request

SHOWN = 12


class ActionRow(msgspec.Struct, frozen=True):
    """A button beside a payment."""

    word: str
    text: str
    payment_type: str
    actions: frozenset[Action]
    target: str = "/v1/payments"


ACTIONS = {
    row.word: row
    for row in (
        ActionRow("capture", "Capture", "CP", frozenset({Action.CAPTURE})),
        ActionRow("reverse", "Reverse", "RV", frozenset({Action.VOID, Action.REVERSAL})),
        ActionRow("refund", "Refund", "RF", frozenset({Action.REFUND})),
        ActionRow("chargeback", "Chargeback", "CB", frozenset({Action.CHARGEBACK}), "/sandbox/payments"),
    )
}


class Offer(msgspec.Struct, frozen=True):
    """An action that is possible, with its amount."""

    row: ActionRow
    amount: str


class ShownPayment(msgspec.Struct, frozen=True, kw_only=True):
    payment: Payment
    label: str
    offers: tuple[Offer, ...]
    key: int
    """The length of the chain. A form that is sent twice names the same one, and a later form does not."""


async def list_newest(app: App, merchant_id: MerchantId) -> list[ShownPayment]:
    """Lists the newest payments of all channels, without tampered ones, each with what may follow it."""
    channels: dict[str, Channel] = {channel.id: channel for channel in app.merchants.list_channels(merchant_id)}
    span = searching.Span()
    found = [await searching.list_by_time(app.database, merchant_id, each, span, SHOWN) for each in channels]
    newest = sorted(join.from_iterable(found), key=lambda each: (each.place.at, each.place.id), reverse=True)
    sound = [each.payment for each in newest[:SHOWN] if each.payment is not None]
    chains: dict[str, Sequence[Payment]] = {}
    for payment in sound:
        if payment.first_id not in chains:
            chains[payment.first_id] = await payments.list_chain(
                app.database, merchant_id, payment.first_id, LIMITS.chain_rows_max
            )
    return [
        _show(app, payment, chains[payment.first_id], channels[payment.channel_id])
        for payment in sound
        if signing.has_signature(payment, app.keyring)
    ]


def _show(app: App, payment: Payment, members: Sequence[Payment], channel: Channel) -> ShownPayment:
    by_id: dict[str, Payment] = {each.id: each for each in members}
    offers: list[Offer] = []
    # Nothing follows a chain of which somebody else changed a row, and a payment of this instant may not be in it yet.
    if payment.id in by_id and all(signing.has_signature(each, app.keyring) for each in members):
        money_source = chain.get_money_source(payment, by_id)
        context = chain.ChainContext(
            named=by_id[payment.id],
            money_source=money_source,
            first=members[0],
            is_under_review=awaits_decision(by_id[payment.id]),
        )
        plans = ((row, _find_plan(app, row, context, channel)) for row in ACTIONS.values())
        offers = [Offer(row, render_hundredths(plan.money.hundredths)) for row, plan in plans if plan is not None]
    return ShownPayment(
        payment=payment,
        label=PAYMENT_TYPES[payment.payment_type].label,
        offers=tuple(offers),
        key=members[0].balance.chain_length if members else 1,
    )


def _find_plan(app: App, row: ActionRow, context: chain.ChainContext, channel: Channel) -> chain.Plan | None:
    """Decides as the interface does; the bank, which charges back, asks nobody."""
    following = choose_following(row.payment_type, context.named.payment_type)
    if following is None or following.action not in row.actions:
        return None
    request = FollowUp(
        payment_type=row.payment_type,
        amount=None,
        currency=None,
        practice=None,
        is_final=False,
        descriptor="",
        short_id="",
    )
    if following.action is Action.CHARGEBACK:
        asked = charging.make_follow_up_request(request, context.named)
        decision = chain.decide_follow_up(asked, context, charging.make_terms(app, channel, context.named))
    else:
        decision = follow_up.decide(app, request, context, channel)
    return decision if isinstance(decision, chain.Plan) else None


async def act(app: App, request: Request, developer: Developer) -> tuple[str, trying.Answer]:
    """Sends the action of a button, and returns what was done with the answer to it."""
    payment_id, word = request.names
    row, key = ACTIONS.get(word), request.find("key")
    found = await payments.find_payment(app.database, developer.merchant_id, payment_id) if is_id(payment_id) else None
    if row is None or found is None:
        raise visits.make_not_found("payment")
    if not key.isascii() or not key.isdigit():
        raise visits.refuse_field("key", "is missing: open the page again")
    needs_amount = row.payment_type != "RV"
    amount = request.find("amount") if needs_amount else None
    pairs = [("entityId", found.channel_id), *spell_follow_up(row.payment_type, found, amount, is_final=False)]
    reply = await sending.send(
        app,
        "POST",
        f"{row.target}/{found.id}",
        urlencode(pairs).encode(),
        developer.credentials.access_token,
        f"front-{row.word}-{found.id}-{key}",
    )
    of = f" of {amount} {found.money.currency}" if amount else ""
    return f"{row.text}{of}", trying.read_answer(reply)
