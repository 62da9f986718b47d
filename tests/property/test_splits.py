"""Splits of marketplace payments: any captures, refunds and disputes in any order, decided as the flows decide them.

After every step the sellers' accounts add up to what the chain has earned, and no refund took what a seller had not.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tollgate.payments.audit import check_chain, sum_expected_accounts
from tollgate.payments.chain import ChainContext, FollowUpRequest, Plan, count_chain, decide_follow_up, get_money_source
from tollgate.payments.completion import list_entries
from tollgate.payments.following import REFUNDABLE, Action
from tollgate.payments.ledger import LedgerAccount
from tollgate.payments.payment import Payment, State
from tollgate.payments.splits import Share, Split, share_out, split_money, sum_split
from tollgate.values import Money
from unit.payments.samples import TERMS, add, make_payment

weights = st.lists(st.integers(0, 10**6), min_size=1, max_size=8).filter(any)


@given(st.data(), weights)
def test_shares_add_up_and_are_at_most_their_weights(data: st.DataObject, given_weights: list[int]) -> None:
    count = data.draw(st.integers(0, sum(given_weights)))

    shares = share_out(count, given_weights)

    assert sum(shares) == count
    assert all(0 <= share <= weight for share, weight in zip(shares, given_weights, strict=True))
    exact = [count * weight / sum(given_weights) for weight in given_weights]
    assert all(abs(share - part) < 1.001 for share, part in zip(shares, exact, strict=True))


@given(weights, st.integers(1, 10**7), st.lists(st.integers(0, 10**6), min_size=8, max_size=8))
def test_a_split_adds_up_to_its_amount_whatever_is_left(amounts: list[int], amount: int, left: list[int]) -> None:
    whole = tuple(Share(str(place), each) for place, each in enumerate(amounts))

    split = split_money(Money(amount, "EUR"), {str(place): each for place, each in enumerate(left)}, whole)

    assert sum_split(split) == amount
    assert all(share.amount > 0 for share in split)


class Chain:
    """A chain in memory: its payments by id, with balances that are counted from them as the audit does."""

    def __init__(self, payment_type: str, split: Split) -> None:
        first = make_payment(payment_type, sum_split(split), split=split)
        self.members: dict[str, Payment] = {first.id: first}

    @property
    def first(self) -> Payment:
        return next(iter(self.members.values()))

    def follow(
        self, named: Payment, payment_type: str, amount: int, split: Split, state: State, *, final: bool
    ) -> None:
        context = ChainContext(
            named=named,
            money_source=get_money_source(named, self.members),
            first=self.first,
            members=self.members,
        )
        practice = "INCREMENTAL_AUTH" if payment_type == "PA" else None
        request = FollowUpRequest(
            payment_type=payment_type, money=Money(amount, "EUR"), split=split, is_final=final, practice=practice
        )
        plan = decide_follow_up(request, context, TERMS)
        if not isinstance(plan, Plan):
            return
        # What needs no acquirer never fails, nor is it open for long.
        known = state if plan.following.wire_word else State.APPROVED
        later = add(
            named,
            payment_type,
            amount,
            state=known,
            action=plan.following.action,
            releases=plan.releases,
            closes=plan.closes,
            split=plan.split,
            position=len(self.members) + 1,
        )
        self.members[later.id] = later
        self.count()

    def count(self) -> None:
        counted = count_chain(self.members.values())
        self.members = {key: replace(each, balance=counted[key]) for key, each in self.members.items()}

    def decide_open(self, state: State) -> None:
        self.members = {
            key: replace(each, state=state) if each.state is State.UNRESOLVED else each
            for key, each in self.members.items()
        }
        self.count()

    def check(self) -> None:
        members = list(self.members.values())
        entries = {entry.id: entry for payment in members for entry in list_entries(payment)}
        assert check_chain(members, entries) == []
        accounts: Counter[str] = Counter()
        for entry in entries.values():
            accounts[entry.seller_id or ""] += entry.amount * (
                (entry.target is LedgerAccount.SELLER) - (entry.source is LedgerAccount.SELLER)
            )
        assert sum(accounts.values()) == sum_expected_accounts(members)[LedgerAccount.SELLER]
        if not any(payment.payment_type == "CB" and payment.action is not Action.RETURN for payment in members):
            assert all(amount >= 0 for amount in accounts.values())
        taken = [each for each in members if each.payment_type in REFUNDABLE and each.state is not State.DECLINED]
        if all(each.balance.drawn == each.total and not each.balance.disputed for each in taken):
            assert not any(accounts.values())


types = st.sampled_from(("CP", "RF", "CP", "RF", "RV", "RB", "PA", "CB", "CR", "RC"))
states = st.sampled_from((State.APPROVED, State.APPROVED, State.DECLINED, State.UNRESOLVED))
splits = st.lists(st.integers(0, 5_000), min_size=1, max_size=5).filter(any)


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from(("PA", "DB", "PA.CP")), splits)
def test_whatever_happens_to_a_payment_its_sellers_have_what_it_earned(
    data: st.DataObject, payment_type: str, amounts: list[int]
) -> None:
    chain = Chain(payment_type, tuple(Share(f"s{place}", amount) for place, amount in enumerate(amounts)))
    for _ in range(data.draw(st.integers(1, 12))):
        named = data.draw(st.sampled_from(list(chain.members.values())))
        amount = data.draw(st.sampled_from((named.left, named.money.hundredths)) | st.integers(1, 20_000))
        own = data.draw(st.booleans())
        order = data.draw(st.permutations(named.split)) if own else ()
        chosen, rest = [], amount
        for share in order:
            chosen.append(Share(share.seller_id, min(rest, share.amount)))
            rest -= chosen[-1].amount
        chain.follow(
            named,
            data.draw(types),
            amount,
            tuple(chosen),
            data.draw(states),
            final=data.draw(st.booleans()),
        )
        chain.check()
        if data.draw(st.integers(0, 3)) == 0:
            chain.decide_open(data.draw(st.sampled_from((State.APPROVED, State.DECLINED))))
            chain.check()
