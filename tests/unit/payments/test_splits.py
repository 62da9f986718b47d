"""Amounts are shared out among sellers to the hundredth, and every later payment follows the split of the first."""

from __future__ import annotations

from msgspec.structs import replace

from tollgate.payments.chain import ChainContext, FollowUpRequest, Plan, Refused, decide_follow_up
from tollgate.payments.completion import list_entries
from tollgate.payments.ledger import NO_BOUND, Balance, LedgerAccount
from tollgate.payments.payment import Payment
from tollgate.payments.splits import Share, Split, share_out, split_money
from tollgate.values import Money
from unit.payments.samples import TERMS, add, make_payment

THIRDS = (Share("a", 3_334), Share("b", 3_333), Share("c", 3_333))


def decide(
    payment_type: str, amount: int, named: Payment, *others: Payment, split: Split = (), first: Payment | None = None
) -> Plan | Refused:
    members: dict[str, Payment] = {payment.id: payment for payment in (first or named, named, *others)}
    context = ChainContext(named=named, money_source=named, first=first or named, members=members)
    request = FollowUpRequest(payment_type=payment_type, money=Money(amount, "EUR"), split=split)
    return decide_follow_up(request, context, TERMS)


def split_of(decision: Plan | Refused) -> dict[str, int]:
    assert isinstance(decision, Plan), decision
    return {share.seller_id: share.amount for share in decision.split}


def test_what_cannot_be_shared_evenly_goes_to_the_largest_remainders_and_then_to_the_first() -> None:
    assert share_out(100, [1, 1, 1]) == [34, 33, 33]
    assert share_out(10, [5, 3, 1]) == [6, 3, 1]
    assert share_out(2, [1, 1, 1]) == [1, 1, 0]


def test_a_currency_without_hundredths_is_shared_in_whole_units() -> None:
    whole = (Share("a", 100_00), Share("b", 100_00), Share("c", 100_00))

    parts = split_money(Money(100_00, "JPY"), {share.seller_id: share.amount for share in whole}, whole)

    assert parts == (Share("a", 34_00), Share("b", 33_00), Share("c", 33_00))


def test_a_chargeback_of_more_than_is_left_takes_its_excess_by_the_split_of_the_payment() -> None:
    whole = (Share("a", 6_000), Share("b", 4_000))

    assert split_money(Money(10_000, "EUR"), {"a": 0, "b": 0}, whole) == whole
    assert split_money(Money(5_000, "EUR"), {"a": 4_000, "b": 0}, whole) == (Share("a", 4_600), Share("b", 400))


def test_three_captures_of_a_third_give_each_seller_exactly_its_share() -> None:
    held = make_payment("PA", split=THIRDS)
    captured: list[Payment] = []
    for amount in (3_333, 3_333, 3_334):
        drawn = sum(each.money.hundredths for each in captured)
        named = replace(held, balance=Balance(drawn=drawn, chain_length=1 + len(captured)))
        plan = decide("CP", amount, named, *captured)
        assert isinstance(plan, Plan)
        captured.append(add(held, "CP", amount, action=plan.following.action, split=plan.split))

    sums = {share.seller_id: 0 for share in THIRDS}
    for share in (share for payment in captured for share in payment.split):
        sums[share.seller_id] += share.amount
    assert sums == {"a": 3_334, "b": 3_333, "c": 3_333}


def test_a_refund_follows_the_shares_that_are_left() -> None:
    taken = make_payment("DB", split=(Share("a", 6_000), Share("b", 4_000)), balance=Balance(drawn=6_000))
    earlier = add(taken, "RF", 6_000, action="refund", split=(Share("a", 6_000),))

    assert split_of(decide("RF", 4_000, taken, earlier)) == {"b": 4_000}


def test_a_merchant_may_choose_who_gives_back_and_not_more_than_a_seller_has() -> None:
    taken = make_payment("DB", split=(Share("a", 6_000), Share("b", 4_000)))

    assert split_of(decide("RF", 4_000, taken, split=(Share("b", 4_000),))) == {"b": 4_000}
    assert decide("RF", 4_001, taken, split=(Share("b", 4_001),)) == Refused("700.400.200")
    assert decide("RF", 4_000, taken, split=(Share("b", 3_999),)) == Refused("100.550.701")


def test_a_capture_may_take_no_more_for_a_seller_than_was_authorised_for_it() -> None:
    held = make_payment("PA", split=(Share("a", 6_000), Share("b", 4_000)))

    assert decide("CP", 4_001, held, split=(Share("b", 4_001),)) == Refused("700.400.100")


def test_a_split_is_written_only_if_nothing_has_joined_the_chain_since() -> None:
    taken = make_payment("DB", split=THIRDS, balance=Balance(chain_length=3))
    plain = make_payment("DB", balance=Balance(chain_length=3))

    split, unsplit = decide("RF", 100, taken), decide("RF", 100, plain)

    assert isinstance(split, Plan)
    assert isinstance(unsplit, Plan)
    assert (split.guards[-1].length_max, unsplit.guards[-1].length_max) == (4, NO_BOUND)


def test_earnings_are_passed_on_to_sellers_and_refunds_taken_back_from_them() -> None:
    taken = make_payment("DB", split=THIRDS)
    refunded = add(taken, "RF", 5, action="refund", split=(Share("a", 5),))

    passed = [(entry.source, entry.target, entry.seller_id, entry.amount) for entry in list_entries(taken)]
    returned = [(entry.source, entry.target, entry.seller_id, entry.amount) for entry in list_entries(refunded)]

    shopper, earned, seller = LedgerAccount.SHOPPER, LedgerAccount.EARNED, LedgerAccount.SELLER
    assert passed == [
        (shopper, earned, None, 10_000),
        (earned, seller, "a", 3_334),
        (earned, seller, "b", 3_333),
        (earned, seller, "c", 3_333),
    ]
    assert returned == [(earned, shopper, None, 5), (seller, earned, "a", 5)]


def test_an_authorization_and_its_void_belong_to_no_seller() -> None:
    held = make_payment("PA", split=THIRDS)

    assert [entry.seller_id for entry in list_entries(held)] == [None]
    assert split_of(decide("RV", 10_000, held)) == {}
