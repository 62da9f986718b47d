"""Changes of balances as writes, and as members of the rows of frequent writes.

Which changes a payment makes is decided in `payments`.
"""

from collections.abc import Sequence
from operator import attrgetter

import msgspec

from tollgate.payments.ledger import BalanceChange, expand_closures
from tollgate.payments.payment import Payment
from tollgate.store.hot import Row
from tollgate.store.hot_follow_ups import CHAIN_BOUNDS, CHAIN_SUMS, CHANGE_BALANCE, NAMED_BOUNDS, NAMED_SUMS
from tollgate.store.statements import Write
from tollgate.values import MerchantId, PaymentId

_NO_CHANGE = BalanceChange(payment_id=PaymentId(""))
_list_named_sums, _list_chain_sums = attrgetter(*NAMED_SUMS), attrgetter(*CHAIN_SUMS)
_list_named_bounds, _list_chain_bounds = attrgetter(*NAMED_BOUNDS[:-1]), attrgetter(*CHAIN_BOUNDS)
_list_of_named, _list_of_first = attrgetter(*NAMED_SUMS, *NAMED_BOUNDS), attrgetter(*CHAIN_SUMS, *CHAIN_BOUNDS)
_NOTHING_OF_NAMED, _NOTHING_OF_FIRST = _list_of_named(_NO_CHANGE), _list_of_first(_NO_CHANGE)


def balance_change_writes(merchant_id: MerchantId, balance_change: BalanceChange) -> list[Write]:
    """Moves one balance; the unit is undone where a guard does not hold."""
    params = {
        **msgspec.structs.asdict(balance_change),
        "merchant_id": merchant_id,
        "changed_id": balance_change.payment_id,
        "barred_by": expand_closures(balance_change.barred_by),
    }
    return [Write(CHANGE_BALANCE, params, rows=1)]


class SortedChanges(msgspec.Struct, frozen=True):
    """The changes of a follow-up by the payments that they change; the one named may be the first of the chain.

    A change has its place if it is only about what is kept of such a payment; a dispute has others. A second change of
    one payment has none, so that it does not take the place of the first.
    """

    named: BalanceChange
    first: BalanceChange
    others: list[BalanceChange]


def sort_changes(payment: Payment, balance_changes: Sequence[BalanceChange]) -> SortedChanges:
    named, first, others = _NO_CHANGE, _NO_CHANGE, []
    for change in balance_changes:
        is_named, is_first = change.payment_id == payment.referenced_id, change.payment_id == payment.chain_id
        if is_named and is_first and named is _NO_CHANGE:
            named = first = change
        elif is_named and named is _NO_CHANGE and _list_of_first(change) == _NOTHING_OF_FIRST:
            named = change
        elif is_first and first is _NO_CHANGE and _list_of_named(change) == _NOTHING_OF_NAMED:
            first = change
        else:
            others.append(change)
    return SortedChanges(named, first, others)


def encode_sums(changes: SortedChanges) -> Row:
    named, first = changes.named, changes.first
    return (named.payment_id or None, first.payment_id or None, *_list_named_sums(named), *_list_chain_sums(first))


def encode_bounds(changes: SortedChanges) -> Row:
    barred_by = expand_closures(changes.named.barred_by)
    return (*_list_named_bounds(changes.named), barred_by, *_list_chain_bounds(changes.first))
