"""The completion of a payment: its result, ledger entries, balance changes and recovery task. No I/O."""

from operator import attrgetter
from typing import Any

import msgspec

from tollgate.catalog.events import choose_payment_event
from tollgate.payments.chain import list_completion_changes
from tollgate.payments.checkout import CheckoutEnd
from tollgate.payments.following import FOLLOWINGS
from tollgate.payments.ledger import FIRST_ENTRIES, BalanceChange, Entry, LedgerAccount
from tollgate.payments.payment import (
    MOVES,
    NATURES,
    OPEN_STATES,
    Nature,
    Outcome,
    Payment,
    RecoveryTask,
    State,
    Verdict,
)
from tollgate.payments.registration import RegistrationChange
from tollgate.payments.reviews import Review, open_review
from tollgate.values import Instant, make_timed_id

_UNRESOLVED = frozenset({State.UNRESOLVED})


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the second write of a payment, which is one commit."""

    payment: Payment
    recovery_task: RecoveryTask | None
    balance_changes: list[BalanceChange] = []
    """The changes to balances of the chain."""
    registration: RegistrationChange | None = None
    """The change to the registration that the payment uses or makes."""
    checkout: CheckoutEnd | None = None
    """The change to the checkout that the payment was made for."""
    payload: bytes | None = None
    """The payment as its event shows it; None where nobody is told of it."""
    review: Review | None = None
    """The review that it opens."""
    notification_url: str | None = None
    """The address by which the merchant asked to be told of this result."""


def complete(started: Payment, verdict: Verdict, now: Instant) -> Completion:
    """Completes an attempt by the table of moves; every attempt ends here."""
    move = MOVES[NATURES[started.payment_type], verdict.outcome]
    completed = msgspec.structs.replace(
        started,
        state=move.state,
        outcome=verdict.outcome,
        result_code=move.code or verdict.code,
        details=verdict.details,
        completed_at=now,
        events=started.events + 1,
        risk=verdict.risk or started.risk,
        **({} if verdict.account is None else msgspec.structs.asdict(verdict.account)),
    )
    balance_changes = list_completion_changes(started, completed) if started.chain_id else []
    return Completion(
        payment=completed,
        recovery_task=move.recovery_task,
        balance_changes=balance_changes,
        checkout=find_checkout_end(completed, verdict.checkout_revision),
        review=open_review(completed),
    )


def find_checkout_end(completed: Payment, seen_revision: int | None = None) -> CheckoutEnd | None:
    """Returns the change to the checkout for which an attempt was made, if there is one.

    An open attempt that may have paid out keeps its checkout locked.
    """
    checkout_id = completed.checkout_id
    if checkout_id is None or completed.chain_id is not None:
        return None
    nature = NATURES[completed.payment_type]
    if completed.state in (OPEN_STATES if nature is Nature.GIVES else _UNRESOLVED):
        return None
    return CheckoutEnd(
        id=checkout_id,
        merchant_id=completed.merchant_id,
        subject_id=completed.id,
        is_done=completed.state is State.APPROVED,
        is_sole=nature is Nature.TAKES,
        seen_revision=seen_revision,
    )


def choose_event(payment: Payment) -> str:
    """Returns the name of the event that announces the result of a payment."""
    is_approved = payment.state is State.APPROVED
    return choose_payment_event(payment.payment_type, payment.result_code, is_approved=is_approved)


def get_known_verdict(decided: Payment) -> Verdict:
    """Returns the verdict of an attempt that was decided before it was written; without an action it was refused."""
    outcome = Outcome.DECLINED if decided.action is None else Outcome.APPROVED
    return Verdict(outcome=outcome, code=decided.result_code, details=decided.details)


def find_entry_accounts(payment: Payment) -> tuple[LedgerAccount, LedgerAccount] | None:
    """Returns the accounts between which a payment moves its amount, if it moves any."""
    if payment.state is not State.APPROVED or not payment.money.hundredths:
        return None
    if payment.action is None:
        return FIRST_ENTRIES.get(payment.payment_type)
    row = FOLLOWINGS.get(payment.action)
    return None if row is None else (row.source, row.target)


def list_entries(payment: Payment) -> list[Entry]:
    """Lists the ledger entries of a payment."""
    accounts = find_entry_accounts(payment)
    if accounts is None or payment.completed_at is None:
        return []
    entry = Entry(
        id=make_timed_id(payment.completed_at, payment.id),
        merchant_id=payment.merchant_id,
        payment_id=payment.id,
        channel_id=payment.channel_id,
        currency=payment.money.currency,
        source=accounts[0],
        target=accounts[1],
        amount=payment.money.hundredths,
        posted_at=payment.completed_at,
    )
    entries = [entry]
    if payment.releases:
        released = {"id": entry.id + "r", "target": LedgerAccount.SHOPPER, "amount": payment.releases}
        entries.append(msgspec.structs.replace(entry, **released))
    if payment.split and LedgerAccount.EARNED in accounts:
        entries += _list_seller_entries(payment, entry)
    return entries


def _list_seller_entries(payment: Payment, entry: Entry) -> list[Entry]:
    """Lists the entries that pass what the merchant earned on to its sellers, or take what it gave back from them."""
    earned, seller = LedgerAccount.EARNED, LedgerAccount.SELLER
    source, target = (earned, seller) if entry.target is earned else (seller, earned)
    return [
        msgspec.structs.replace(
            entry,
            id=f"{entry.id}s{place}",
            source=source,
            target=target,
            amount=share.amount,
            seller_id=share.seller_id,
        )
        for place, share in enumerate(payment.split)
        if share.amount
    ]


_UNSIGNED = frozenset({"balance", "deadline_at", "events", "lifecycle_id", "mac"})
SIGNED = {field.name: field.default for field in msgspec.structs.fields(Payment) if field.name not in _UNSIGNED}
"""The members of a payment that its signature covers, with their defaults. The balance is the sum of signed rows."""

_optional = {name: default for name, default in SIGNED.items() if default is not msgspec.NODEFAULT}
_Optional = msgspec.defstruct("_Optional", [(name, Any, each) for name, each in _optional.items()], omit_defaults=True)
_list_required = attrgetter(*(name for name in SIGNED if name not in _optional))
_list_optional = attrgetter(*_optional)
_COMPARED = tuple((place, each) for place, each in enumerate(_optional.values()) if each is not None)


def list_facts(payment: Payment) -> tuple[object, ...]:
    """Returns the values that the signature covers.

    Defaults are left out when they are encoded, so that a payment which was signed before a member existed keeps its
    signature.
    """
    optional = [*_list_optional(payment)]
    # The encoder leaves out the default itself, and a row brings an equal object in its place.
    for place, default in _COMPARED:
        if optional[place] == default:
            optional[place] = default
    return *_list_required(payment), _Optional(*optional)


def may_have_taken(payment: Payment) -> bool:
    """Tells whether a failed payment may have taken money all the same, which a reversal gives back."""
    nature = NATURES.get(payment.payment_type)
    if nature is None or payment.outcome is None:
        return False
    return MOVES[nature, payment.outcome].recovery_task is RecoveryTask.REVERSE
