"""Changes of balances: each has a place in the row of a follow-up, or is written by itself, and none is dropped."""

from __future__ import annotations

from databases.samples import make_payment
from tollgate.payments.ledger import BalanceChange
from tollgate.payments.payment import Payment
from tollgate.store.balances import sort_changes
from tollgate.values import PaymentId

FIRST, NAMED = PaymentId("8a" + "1" * 30), PaymentId("8a" + "2" * 30)


def follow(named: PaymentId) -> Payment:
    return make_payment(payment_type="RF", referenced_id=named, chain_id=FIRST)


def test_one_change_of_a_payment_that_is_named_and_first_stands_for_both() -> None:
    change = BalanceChange(payment_id=FIRST, reserved=1, chain_length=1)

    changes = sort_changes(follow(FIRST), [change])

    assert (changes.named, changes.first, changes.others) == (change, change, [])


def test_the_payment_named_and_the_first_have_their_places() -> None:
    named = BalanceChange(payment_id=NAMED, reserved=1, left_min=0)
    first = BalanceChange(payment_id=FIRST, chain_length=1, net_min=0)

    changes = sort_changes(follow(NAMED), [named, first])

    assert (changes.named, changes.first, changes.others) == (named, first, [])


def test_what_has_no_place_is_written_by_itself() -> None:
    """A dispute moves the payment at the root, which may be the first one, and a bound of the first may be of both."""
    disputed = BalanceChange(payment_id=FIRST, disputed=5, chain_length=1)
    barred = BalanceChange(payment_id=FIRST, disputed_max=0, chain_length=1)
    lengthened = BalanceChange(payment_id=NAMED, chain_length=1)

    for change in (disputed, barred, lengthened):
        changes = sort_changes(follow(NAMED), [change])
        assert changes.others == [change]
        assert not changes.named.payment_id
        assert not changes.first.payment_id


def test_a_second_change_of_one_payment_does_not_take_the_place_of_the_first() -> None:
    of_first = BalanceChange(payment_id=FIRST, chain_length=1)
    of_named = BalanceChange(payment_id=NAMED, reserved=1)

    for payment, change in ((follow(FIRST), of_first), (follow(NAMED), of_first), (follow(NAMED), of_named)):
        changes = sort_changes(payment, [change, change])
        assert change in (changes.named, changes.first)
        assert changes.others == [change]
