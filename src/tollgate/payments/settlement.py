"""How a transaction ends: its result, what it moves, what it writes into the book, what its seal covers.

Pure; the store makes all of it durable in one commit.
"""

from __future__ import annotations

import msgspec

from tollgate.payments.attempt import Payment
from tollgate.payments.balance import Touch
from tollgate.payments.book import FIRST_POSTINGS, Account, Line
from tollgate.payments.chain import list_settle_touches
from tollgate.payments.checkout import CheckoutEnd
from tollgate.payments.following import FOLLOWINGS
from tollgate.payments.moves import (
    ABANDONED_DETAIL,
    LATE_DETAIL,
    MOVES,
    NATURES,
    OPEN_STATES,
    SILENT_CODE,
    Errand,
    Nature,
    State,
)
from tollgate.payments.registration import RegistrationChange
from tollgate.payments.verdict import Outcome, Verdict
from tollgate.values import Instant, find_checkout_id, make_timed_id

_UNRESOLVED = frozenset({State.UNRESOLVED})


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """What the second write makes durable, in one commit."""

    payment: Payment
    errand: Errand | None
    touches: list[Touch] = []
    """What it moves on the balances of the chain."""
    registration: RegistrationChange | None = None
    """What it does to the stored account that it names."""
    checkout: CheckoutEnd | None = None
    """What it does to the checkout that it was made for."""


def settle(started: Payment, verdict: Verdict, now: Instant) -> Settlement:
    """Apply the table; the only way an attempt ends."""
    move = MOVES[NATURES[started.kind], verdict.outcome]
    settled = msgspec.structs.replace(
        started,
        state=move.state,
        result_code=move.code or verdict.code,
        details=verdict.details,
        settled_at=now,
    )
    touches = list_settle_touches(started, settled) if started.chain_id else []
    return Settlement(
        payment=settled,
        errand=move.errand,
        touches=touches,
        checkout=find_checkout_end(settled, verdict.checkout_revision),
    )


def find_checkout_end(settled: Payment, seen_revision: int | None = None) -> CheckoutEnd | None:
    """What an attempt that was made for a checkout does to it; None for most payments.

    What is still open and may have paid out keeps its checkout claimed.
    """
    checkout_id = find_checkout_id(settled.ndc)
    if checkout_id is None or settled.chain_id is not None or settled.state in _holding(NATURES[settled.kind]):
        return None
    return CheckoutEnd(
        id=checkout_id,
        merchant_id=settled.merchant_id,
        subject_id=settled.id,
        is_done=settled.state is State.APPROVED,
        is_sole=NATURES[settled.kind] is Nature.TAKES,
        seen_revision=seen_revision,
    )


def _holding(nature: Nature) -> frozenset[State]:
    return OPEN_STATES if nature is Nature.GIVES else _UNRESOLVED


def get_known_verdict(decided: Payment) -> Verdict:
    """Of an attempt whose result was known before it was written: one that does nothing was refused."""
    outcome = Outcome.DECLINED if decided.action is None else Outcome.APPROVED
    return Verdict(outcome=outcome, code=decided.result_code, details=decided.details)


def find_posting(payment: Payment) -> tuple[Account, Account] | None:
    """The accounts between which the amount of a transaction moves; None where nothing moves."""
    if payment.state is not State.APPROVED or not payment.money.hundredths:
        return None
    if payment.action is None:
        return FIRST_POSTINGS.get(payment.kind)
    row = FOLLOWINGS.get(payment.action)
    return None if row is None else (row.source, row.target)


def list_lines(payment: Payment) -> list[Line]:
    """What a transaction writes into the book."""
    posting = find_posting(payment)
    if posting is None or payment.settled_at is None:
        return []
    line = Line(
        id=make_timed_id(payment.settled_at, payment.id),
        merchant_id=payment.merchant_id,
        payment_id=payment.id,
        channel_id=payment.channel_id,
        currency=payment.money.currency,
        source=posting[0],
        target=posting[1],
        amount=payment.money.hundredths,
        posted_at=payment.settled_at,
    )
    if not payment.releases:
        return [line]
    released = msgspec.structs.replace(line, id=line.id + "r", target=Account.SHOPPER, amount=payment.releases)
    return [line, released]


def list_facts(payment: Payment) -> tuple[object, ...]:
    """What the seal of a row covers: whose money it is, how much, its place in the chain, and what was told of it.

    Not the balance, which is the sum of sealed rows and moves with them.
    """
    money, action, card = payment.money, payment.action, payment.card
    return (
        payment.merchant_id,
        payment.channel_id,
        payment.id,
        payment.chain_id,
        payment.position,
        payment.referenced_id,
        payment.kind,
        action and action.value,
        payment.state.value,
        money.hundredths,
        money.currency,
        payment.releases,
        payment.closes,
        payment.test_mode and payment.test_mode.value,
        payment.created_at,
        payment.settled_at,
        payment.result_code,
        payment.brand,
        payment.method,
        payment.descriptor,
        payment.short_id,
        payment.ndc,
        payment.merchant_transaction_id,
        card and msgspec.structs.astuple(card),
        payment.echo,
        payment.details,
    )


def may_have_taken(payment: Payment) -> bool:
    """Tells whether a payment that failed may have taken money all the same, which a reversal gives back."""
    if NATURES.get(payment.kind) is not Nature.TAKES or payment.state is not State.DECLINED:
        return False
    # An acquirer that declined with this very code would have given details. What has a dot in its name is none: it was
    # known of the shopper before.
    is_silent = payment.result_code == SILENT_CODE and all("." in name for name in payment.details)
    return is_silent or not payment.details.keys().isdisjoint({LATE_DETAIL, ABANDONED_DETAIL})
