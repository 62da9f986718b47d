"""Decides whether a payment may follow another, and which balances it changes, by the rows of `following`. No I/O.

`balance_effects` is the one place that says how a payment changes balances: reserving, completing, releasing and
counting again are differences of it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.payment_types import PAYMENT_TYPES, Refusals, Role
from tollgate.payments import ledger
from tollgate.payments.following import FOLLOWINGS, REFUSALS, Action, Draw, Following, Until, choose_following
from tollgate.payments.order import TestMode
from tollgate.payments.payment import OPEN_STATES, Payment, State
from tollgate.payments.reviews import is_rejected
from tollgate.payments.splits import Split, split_money, sum_split
from tollgate.values import DAY, Instant, Money, PaymentId

PENDING_STATES = OPEN_STATES | {State.STARTED}


class FollowUpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to follow up an earlier payment."""

    payment_type: str
    money: Money | None = None
    """The amount; None means all that is left."""
    currency: str | None = None
    """The currency, if it was sent without an amount."""
    practice: str | None = None
    is_final: bool = False
    test_mode: TestMode | None = None
    """The test mode; None means that of the payment named."""
    brand: str | None = None
    """The brand; None means that of the payment named."""
    split: Split = ()
    """The shares of the sellers; empty means in proportion to what each has left."""
    objection: str | None = None


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The limits that apply to a follow-up: the time, the lifetime of authorizations, and the highest counts."""

    now: Instant
    authorization_lifetime: Instant
    captures_max: int
    rebills_max: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A follow-up that is allowed, with the amounts and guards with which it is written."""

    following: Following
    money: Money
    releases: int
    closes: int
    split: Split
    guards: tuple[ledger.BalanceChange, ...]
    """The conditions that the balances must still meet when the reservation is written."""


class Refused(msgspec.Struct, frozen=True):
    code: str


class ChainContext(msgspec.Struct, frozen=True, kw_only=True):
    """The earlier payments of a chain that a follow-up depends on."""

    named: Payment
    money_source: Payment
    """The payment whose money is moved: the one named, unless that one moved another's."""
    first: Payment
    is_under_review: bool = False
    """Somebody has yet to decide about the payment named."""
    members: Mapping[str, Payment] = {}
    """All payments of the chain by their ids, if the one named has a split, which later ones follow."""


_ENDS = frozenset({Action.INCREMENT, Action.RETURN})
"""Nothing can follow these: an increment raised the authorization it names, a return gave money back to its payment."""


def decide_follow_up(request: FollowUpRequest, context: ChainContext, terms: Terms) -> Plan | Refused:
    named, refusals = context.named, REFUSALS[request.payment_type]
    row = (
        None if named.action in _ENDS else choose_following(request.payment_type, named.payment_type, request.practice)
    )
    if row is None:
        return Refused(refusals.misfit)
    code = _find_misfit(request, named, refusals) or _check_request(row, context, terms, refusals)
    return Refused(code) if code else _plan_follow_up(request, row, context, terms)


def _find_misfit(request: FollowUpRequest, named: Payment, refusals: Refusals) -> str | None:
    if named.state in PENDING_STATES:
        return codes.REFERENCE_PENDING
    if named.state is not State.APPROVED:
        return refusals.rejected
    if (request.money.currency if request.money else request.currency) not in (None, named.money.currency):
        return codes.OTHER_CURRENCY
    if request.test_mode is not None and request.test_mode is not named.test_mode:
        return codes.OTHER_MODE
    if request.brand not in (None, named.brand):
        return codes.OTHER_BRAND
    return request.objection


def _check_request(row: Following, context: ChainContext, terms: Terms, refusals: Refusals) -> str | None:
    balance = context.named.balance
    if row.is_barred_by_review and context.is_under_review:
        return codes.REFERENCE_PENDING
    if row.is_barred_by_review and is_rejected(context.named):
        return refusals.rejected
    if row.is_barred_by_dispute and context.money_source.balance.disputed:
        return refusals.disputed
    if terms.now >= get_end(row.until, context.named, terms):
        return refusals.late
    if balance.closed & ledger.expand_closures(row.barred_by):
        return refusals.closed
    if row.is_counted and balance.counted >= count_allowed(row, terms):
        return refusals.too_many
    return None


def get_end(until: Until, named: Payment, terms: Terms) -> Instant:
    match until:
        case Until.EXPIRY:
            return named.created_at + terms.authorization_lifetime
        case Until.DAY_END:
            return (named.created_at // DAY + 1) * DAY
        case _:
            return ledger.NO_BOUND


def count_allowed(row: Following, terms: Terms) -> int:
    return terms.captures_max if row.action is Action.CAPTURE else terms.rebills_max


def _plan_follow_up(request: FollowUpRequest, row: Following, context: ChainContext, terms: Terms) -> Plan | Refused:
    named, first, excess = context.named, context.first, Refused(REFUSALS[request.payment_type].excess)
    # All that is left, unless an amount was sent.
    amount = named.left if row.draw in (Draw.PART, Draw.REST) else named.money.hundredths
    if request.money is not None:
        amount = request.money.hundredths
    # A chargeback is recorded even where nothing is left; everything else stays within what the chain has taken.
    net_min = -first.taken if row.net < 0 and not row.dispute else -ledger.NO_BOUND
    if amount <= 0 or not _fits(row, named, amount) or first.balance.chain_net - amount < net_min:
        return excess
    money = Money(amount, named.money.currency)
    split = _choose_split(request.split, row, context, money)
    if isinstance(split, Refused):
        return split
    is_final = request.is_final and row.closes_when_final != ledger.Closure.NONE
    releases = named.left - amount if is_final and row.releases_when_final else 0
    # Plain numbers: joining members of an enumeration takes long, and PostgreSQL's driver takes them for lists.
    closes = int(row.closes | (row.closes_when_final if is_final else ledger.Closure.NONE))
    # A follow-up that takes or releases everything leaves exactly nothing; any other leaves at least nothing.
    takes_all = row.draw in (Draw.REST, Draw.WHOLE) or (is_final and row.releases_when_final)
    guards = (
        ledger.BalanceChange(
            payment_id=named.id,
            left_min=-ledger.NO_BOUND if row.draw is Draw.NOTHING else 0,
            left_max=0 if takes_all else ledger.NO_BOUND,
            counted_max=count_allowed(row, terms) if row.is_counted else ledger.NO_BOUND,
            barred_by=int(row.barred_by),
        ),
        ledger.BalanceChange(
            payment_id=context.money_source.id, disputed_max=0 if row.is_barred_by_dispute else ledger.NO_BOUND
        ),
        ledger.BalanceChange(
            payment_id=first.id,
            net_min=net_min,
            # A split is made of what each seller had left, so nothing else may have been split since.
            length_max=first.balance.chain_length + 1 if named.split else ledger.NO_BOUND,
        ),
    )
    return Plan(following=row, money=money, releases=releases, closes=closes, split=split, guards=guards)


def _choose_split(sent: Split, row: Following, context: ChainContext, money: Money) -> Split | Refused:
    """Returns the split that a merchant sent, or else one in proportion to what each seller has left."""
    named = context.named
    if sent and sum_split(sent) != money.hundredths:
        return Refused(codes.AMOUNTS_CONTRADICT)
    if not has_split(row.action, named):
        return ()
    # A rebill, an increment and a renewal take nothing of what is there, and look like the payment that they name.
    is_anew = row.draw is Draw.NOTHING and not row.dispute
    left = {share.seller_id: share.amount for share in named.split} if is_anew else count_left(named, context.members)
    if not sent:
        return split_money(money, left, named.split)
    if not is_anew and any(share.amount > left[share.seller_id] for share in sent):
        return Refused(REFUSALS[row.payment_type].excess)
    return sent


def has_split(action: Action, named: Payment) -> bool:
    """Tells whether a follow-up of this payment is split.

    What a void releases was nobody's yet, and what a technical reversal gives back was never posted.
    """
    return bool(named.split) and action not in (Action.VOID, Action.TECHNICAL_REVERSAL)


def count_left(payment: Payment, members: Mapping[str, Payment]) -> Mapping[str, int]:
    """Returns what each seller has left of a payment, as `Payment.left` does for all of them together.

    What was charged back is left out too, because a dispute takes it from the seller.
    """
    left = Counter({share.seller_id: share.amount for share in payment.split})
    for other in members.values():
        row = FOLLOWINGS.get(other.action) if other.action else None
        if row is None or other.state is State.DECLINED or other.referenced_id is None:
            continue
        sign = 0
        if other.referenced_id == payment.id:
            is_done = other.state is State.APPROVED or other.is_decided
            sign = int(is_done) if row.adds else -int(row.draw is not Draw.NOTHING)
        if (row.dispute or row.restores) and get_money_source(members[other.referenced_id], members).id == payment.id:
            sign += 1 if row.restores else -row.dispute
        for share in other.split:
            left[share.seller_id] += sign * share.amount
    return left


def _fits(row: Following, named: Payment, amount: int) -> bool:
    match row.draw:
        case Draw.PART:
            return amount <= named.left
        case Draw.REST:
            return amount == named.left
        case Draw.WHOLE:
            return amount == named.total == named.left
        case _:
            return not row.is_capped or amount <= named.money.hundredths


def get_money_source(named: Payment, chain: Mapping[str, Payment]) -> Payment:
    """Returns the payment whose money is moved: disputes and their reversals move that of the payment at their root."""
    money_source = named
    while money_source.payment_type in _MOVES_ANOTHERS_MONEY and money_source.referenced_id is not None:
        money_source = chain[money_source.referenced_id]
    return money_source


_MOVES_ANOTHERS_MONEY = frozenset(
    code for code, row in PAYMENT_TYPES.items() if row.role in (Role.FOLLOWS, Role.SYSTEM)
).difference(PAYMENT_TYPES["RF"].follows)


def balance_effects(payment: Payment, money_source_id: str | None = None) -> list[ledger.BalanceChange]:
    """Lists all changes that a follow-up makes: to the payment named, to the money source, to the first payment.

    It reserves while it is open, draws once it succeeded, and keeps only its number once it failed.
    """
    if payment.chain_id is None or payment.referenced_id is None:
        return []
    row = FOLLOWINGS.get(payment.action) if payment.action else None
    if row is None or payment.state is State.DECLINED:
        return [ledger.BalanceChange(payment_id=payment.chain_id, chain_length=1)]
    amount, is_done = payment.money.hundredths, payment.state is State.APPROVED or payment.is_decided
    drawn = 0 if row.draw is Draw.NOTHING else amount + payment.releases
    named = ledger.BalanceChange(
        payment_id=payment.referenced_id,
        reserved=0 if is_done else drawn,
        drawn=drawn if is_done else 0,
        added=amount if is_done and row.adds else 0,
        counted=1 if row.is_counted else 0,
        closed=payment.closes,
    )
    balance_changes = [named]
    if money_source_id is not None and (row.dispute or row.restores):
        restored = -amount if row.restores else 0
        balance_changes.append(
            ledger.BalanceChange(payment_id=PaymentId(money_source_id), disputed=amount * row.dispute, drawn=restored)
        )
    # A refund lowers the chain's net when it is reserved; a capture raises it only when it is approved.
    net = amount * row.net if is_done or row.net < 0 else 0
    balance_changes.append(ledger.BalanceChange(payment_id=payment.chain_id, chain_length=1, chain_net=net))
    return ledger.join_balance_changes(balance_changes)


def list_start_changes(payment: Payment, plan: Plan | None, money_source_id: str) -> list[ledger.BalanceChange]:
    """Lists the changes and guards of the first write; a payment that is refused only gets its number."""
    return ledger.join_balance_changes([*balance_effects(payment, money_source_id), *(plan.guards if plan else ())])


def list_completion_changes(started: Payment, completed: Payment) -> list[ledger.BalanceChange]:
    """Lists the changes of a completion. One that was decided when written has changed everything already."""
    before = {balance_change.payment_id: balance_change for balance_change in balance_effects(started)}
    after = {balance_change.payment_id: balance_change for balance_change in balance_effects(completed)}
    differences = [
        ledger.subtract(
            after.get(key, ledger.BalanceChange(payment_id=key)), before.get(key, ledger.BalanceChange(payment_id=key))
        )
        for key in before | after
    ]
    return [balance_change for balance_change in differences if not balance_change.is_idle]


def count_chain(members: Iterable[Payment]) -> dict[str, ledger.Balance]:
    """Computes the balance of every member from the payments of the chain alone."""
    chain: dict[str, Payment] = {payment.id: payment for payment in members}
    counted = dict.fromkeys(chain, ledger.UNTOUCHED)
    for payment in chain.values():
        named = chain.get(payment.referenced_id or "")
        for balance_change in balance_effects(payment, None if named is None else get_money_source(named, chain).id):
            if balance_change.payment_id in counted:
                counted[balance_change.payment_id] = ledger.apply_balance_change(
                    counted[balance_change.payment_id], balance_change
                )
    return counted
