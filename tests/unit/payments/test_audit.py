"""The audit of one chain: what fits is passed over in silence, and each thing that does not is said once, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from tollgate.payments.audit import Proof, check_chain, sum_accounts, sum_expected_accounts
from tollgate.payments.chain import count_chain
from tollgate.payments.completion import list_entries
from tollgate.payments.following import Action
from tollgate.payments.ledger import Balance, Closure, Entry, LedgerAccount
from tollgate.payments.payment import Payment, State
from tollgate.payments.splits import Share
from tollgate.values import ChannelId, Money, PaymentId
from unit.payments.samples import add, make_payment

NOBODY = PaymentId("8a" + "f" * 30)

Chain = list[Payment]


def balance(members: Sequence[Payment]) -> Chain:
    """Gives the members of a chain the positions and balances that they should have."""
    numbered = [replace(payment, position=number) for number, payment in enumerate(members, 1)]
    counted = count_chain(numbered)
    return [replace(payment, balance=counted.get(payment.id, Balance())) for payment in numbered]


def post(members: Sequence[Payment]) -> dict[str, Entry]:
    return {entry.id: entry for payment in members for entry in list_entries(payment)}


def find(members: Sequence[Payment], entries: dict[str, Entry] | None = None) -> list[tuple[Proof, str, str]]:
    findings = check_chain(members, post(members) if entries is None else entries)
    return [(finding.proof, finding.row_id, finding.text) for finding in findings]


def make_captured() -> Chain:
    """Authorised 100.00 and 20.00 more, 30.00 and at last 50.00 captured, 10.00 of it refunded."""
    first = make_payment("PA", 10_000)
    capture = add(first, "CP", 3_000, action=Action.CAPTURE)
    return balance(
        [
            first,
            capture,
            add(first, "PA", 2_000, action=Action.INCREMENT),
            add(first, "CP", 999_999, state=State.DECLINED, result_code="700.400.100"),
            add(
                first, "CP", 5_000, action=Action.CAPTURE, releases=4_000, closes=Closure.CAPTURES | Closure.INCREMENTS
            ),
            add(capture, "RF", 1_000, action=Action.REFUND),
        ]
    )


def make_disputed() -> Chain:
    first = make_payment("DB", 9_200)
    chargeback = add(first, "CB", 9_200, action=Action.CHARGEBACK)
    returned = add(chargeback, "CR", 9_200, action=Action.CHARGEBACK_REVERSAL)
    return balance([first, chargeback, returned, add(returned, "CB", 9_000, action=Action.REPEATED_CHARGEBACK)])


def make_returned() -> Chain:
    """A refund that the bank sent back may be made again: more refunds than money, and still nothing too much."""
    first = make_payment("DB", 9_200)
    refund = add(first, "RF", 9_200, action=Action.REFUND)
    returned = add(refund, "CB", 9_200, action=Action.RETURN)
    return balance([first, refund, returned, add(first, "RF", 9_200, action=Action.REFUND)])


def make_split() -> Chain:
    """Authorised 100.00 for two sellers, 50.00 captured, 10.00 of it refunded by one of them, and charged back."""
    first = make_payment("PA", 10_000, split=(Share("a", 6_000), Share("b", 4_000)))
    capture = add(first, "CP", 5_000, action=Action.CAPTURE, split=(Share("a", 3_000), Share("b", 2_000)))
    refund = add(capture, "RF", 1_000, action=Action.REFUND, split=(Share("b", 1_000),))
    chargeback = add(capture, "CB", 4_000, action=Action.CHARGEBACK, split=(Share("a", 3_000), Share("b", 1_000)))
    return balance([first, capture, refund, chargeback, add(first, "RV", 5_000, action=Action.VOID)])


def make_split_in_doubt() -> Chain:
    first = make_payment(
        "DB", 9_200, state=State.DECLINED, result_code="900.100.300", split=(Share("a", 9_000), Share("b", 200))
    )
    return balance([first, add(first, "RV", 9_200, action=Action.TECHNICAL_REVERSAL)])


def make_unfinished() -> Chain:
    """Everything is on its way: reserved, decided and not written, waiting."""
    first = make_payment("PA", 10_000)
    capture = add(first, "CP", 4_000, action=Action.CAPTURE)
    on_its_way = {"completed_at": None, "state": State.STARTED}
    return balance(
        [
            first,
            capture,
            add(first, "CP", 100, action=Action.CAPTURE, result_code="", **on_its_way),
            add(first, "RC", 200, action=Action.RECEIPT, **on_its_way),
            add(capture, "RF", 300, action=Action.REFUND, state=State.UNRESOLVED),
            add(capture, "RF", 400, action=Action.REFUND, result_code="", **on_its_way),
            add(capture, "CB", 500, action=Action.CHARGEBACK, **on_its_way),
            add(capture, "RB", 600, action=Action.REBILL, state=State.WAITING),
        ]
    )


def make_doubtful() -> Chain:
    first = make_payment("DB", 9_200, state=State.DECLINED, result_code="900.100.300")
    return balance([first, add(first, "RV", 9_200, action=Action.TECHNICAL_REVERSAL)])


CHAINS: dict[str, Callable[[], Chain]] = {
    "alone": lambda: [make_payment("DB")],
    "a credit": lambda: [make_payment("CD")],
    "in flight": lambda: [make_payment("PA", state=State.STARTED, completed_at=None, result_code="")],
    "captured": make_captured,
    "disputed": make_disputed,
    "returned": make_returned,
    "unfinished": make_unfinished,
    "doubtful": make_doubtful,
    "split": make_split,
    "split and doubtful": make_split_in_doubt,
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_that_fits_is_passed_over_in_silence(name: str) -> None:
    assert find(CHAINS[name]()) == []


@pytest.mark.parametrize("name", CHAINS)
def test_accounts_by_balances_are_those_of_the_ledger_and_sum_to_zero(name: str) -> None:
    members = CHAINS[name]()

    received = sum_expected_accounts(members)

    assert received == sum_accounts(post(members).values())
    assert sum(received.values()) == 0


def test_ledger_accounts_say_what_is_open_and_what_was_earned() -> None:
    assert sum_expected_accounts(make_captured()) == {
        LedgerAccount.SHOPPER: -7_000,
        LedgerAccount.HELD: 0,
        LedgerAccount.EARNED: 7_000,
        LedgerAccount.SELLER: 0,
    }


def alter(place: int, **changes: object) -> Callable[[Chain], Chain]:
    return lambda members: [*members[:place], replace(members[place], **changes), *members[place + 1 :]]


def drop(place: int) -> Callable[[Chain], Chain]:
    return lambda members: [*members[:place], *members[place + 1 :]]


STRUCTURES: list[tuple[Callable[[Chain], Chain], int, str]] = [
    (drop(3), 0, "its chain has 6 transactions and number 4 is missing"),
    (drop(5), 0, "its chain has 6 transactions and number 6 is missing"),
    (alter(3, position=5), 3, "it shares the number 5 of its chain with another"),
    (alter(3, position=7), 3, "it is number 7 of a chain that has 6 transactions"),
    (alter(0, position=4), 0, "it begins a chain and is its number 4"),
    (alter(5, referenced_id=NOBODY), 5, "the payment it refers to is not in its chain"),
    (alter(5, referenced_id=None), 5, "the payment it refers to is not in its chain"),
    (alter(1, position=6), 5, "it came before the payment it refers to"),
    (alter(1, channel_id=ChannelId("another")), 1, "its chain belongs to another channel"),
    (alter(1, money=Money(3_000, "USD")), 1, "it moves USD in a chain of EUR"),
]


@pytest.mark.parametrize(("change", "place", "text"), STRUCTURES, ids=[row[2] for row in STRUCTURES])
def test_a_chain_out_of_order_is_found(change: Callable[[Chain], Chain], place: int, text: str) -> None:
    members = make_captured()
    named = members[place].id

    assert (Proof.CHAIN, named, text) in find(change(members))


def test_what_was_refused_may_have_asked_for_another_currency() -> None:
    assert find(alter(3, money=Money(100, "USD"))(make_captured())) == []


def test_a_reference_to_itself_does_not_make_the_audit_run_for_ever() -> None:
    members = make_disputed()
    circle = [
        replace(payment, referenced_id=payment.id) if payment.payment_type == "CB" else payment for payment in members
    ]

    assert (Proof.CHAIN, members[1].id, "it came before the payment it refers to") in find(circle)


@pytest.mark.parametrize("member", Balance.__struct_fields__)
@pytest.mark.parametrize("place", [0, 1, 5])
def test_every_member_of_every_balance_is_counted_again(member: str, place: int) -> None:
    members = make_captured()
    wrong = replace(members[place].balance, **{member: getattr(members[place].balance, member) + 16})

    findings = find(alter(place, balance=wrong)(members))

    [text] = [text for proof, row_id, text in findings if proof is Proof.BALANCE and row_id == members[place].id]
    assert text.startswith(f"its {member} is ")


BOUNDS: dict[str, tuple[Callable[[], Chain], int, str]] = {
    "held": (lambda: [make_payment(balance=Balance(reserved=-1))], 0, "less than nothing is reserved on it"),
    "drawn": (lambda: [make_payment(balance=Balance(drawn=-1))], 0, "less than nothing was taken from it"),
    "drawn and held": (
        lambda: [make_payment(amount=10, balance=Balance(drawn=6, reserved=5))],
        0,
        "more was taken from it or reserved on it than it has",
    ),
    "disputed": (
        lambda: [make_payment("DB", 10, balance=Balance(disputed=11))],
        0,
        "what is charged back is less than nothing or more than it has",
    ),
    "captured": (
        lambda: balance([first := make_payment(amount=10), add(first, "CP", 11, action=Action.CAPTURE)]),
        0,
        "more was captured than was authorised",
    ),
    "refunded": (
        lambda: balance(
            [
                first := make_payment("DB", 10),
                add(first, "RB", 10, action=Action.REBILL),
                add(first, "RF", 6, action=Action.REFUND),
                add(first, "RF", 5, action=Action.REFUND, state=State.UNRESOLVED),
            ]
        ),
        0,
        "more was given back than it took",
    ),
    "given back by the chain": (
        lambda: balance([first := make_payment("DB", 10), add(first, "RV", 11, action=Action.REVERSAL)]),
        0,
        "its chain gave back more than it took",
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_hold_whatever_the_balances_say(name: str) -> None:
    make, place, text = BOUNDS[name]
    members = make()

    assert (Proof.BOUND, members[place].id, text) in find(members)


def test_a_chargeback_may_take_what_was_given_back_already() -> None:
    first = make_payment("DB", 9_200)
    members = balance(
        [
            first,
            add(first, "RF", 9_000, action=Action.REFUND),
            add(first, "CB", 9_200, action=Action.CHARGEBACK),
        ]
    )

    assert find(members) == []


def test_a_missing_ledger_entry_is_found_and_so_are_the_accounts_that_lack_it() -> None:
    members = make_captured()
    entries = post(members)
    [gone] = list_entries(members[1])
    del entries[gone.id]

    assert find(members, entries) == [
        (Proof.LEDGER, gone.id, f"the entry of CP {members[1].id} is missing"),
        (Proof.LEDGER, members[0].id, "the ledger has 30.00 of its chain on held, its balances say 0.00"),
        (Proof.LEDGER, members[0].id, "the ledger has 40.00 of its chain on earned, its balances say 70.00"),
    ]


@pytest.mark.parametrize(
    ("member", "value"), [("amount", 1), ("source", "nobody"), ("currency", "USD"), ("posted_at", 0)]
)
def test_a_changed_ledger_entry_is_found_with_what_does_not_fit(member: str, value: object) -> None:
    members = make_captured()
    entries = post(members)
    [entry] = list_entries(members[1])
    entries[entry.id] = replace(entry, **{member: value})

    assert find(members, entries)[0] == (Proof.LEDGER, entry.id, f"its {member} does not fit CP {members[1].id}")


def test_a_finding_reads_as_a_sentence() -> None:
    [first, *_] = members = make_captured()
    finding = check_chain(drop(3)(members), post(members))[0]

    assert finding.render() == (
        f"chain: payments {first.id} of merchant {first.merchant_id}:"
        " its chain has 6 transactions and number 4 is missing"
    )


# ---- splits ----


def test_shares_that_are_not_the_amount_are_found() -> None:
    first, *later = make_split()
    changed = replace(first, split=(Share("a", 6_000), Share("b", 3_999)))

    assert (Proof.SPLIT, first.id, "its shares add up to 99.99") in find([changed, *later])


def test_a_refund_of_sellers_money_without_a_split_is_found() -> None:
    first, capture, refund, *later = make_split()
    changed = replace(refund, split=())

    text = "it has no split although it moves the money of sellers, or one although it moves none"
    assert (Proof.SPLIT, refund.id, text) in find([first, capture, changed, *later])


def test_a_refund_of_more_than_a_seller_had_is_found() -> None:
    first, capture, refund, *_ = make_split()
    members = balance([first, capture, replace(refund, money=Money(2_500, "EUR"), split=(Share("b", 2_500),))])

    assert (Proof.SPLIT, capture.id, "more was taken from one of its sellers than the share") in find(members)
