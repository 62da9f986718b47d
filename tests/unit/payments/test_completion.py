"""A transaction ends with ledger entries, signed facts, and results that were known before."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from msgspec.structs import replace

from tollgate.payments.accounts import CardSummary
from tollgate.payments.completion import complete, find_entry_accounts, get_known_verdict, list_entries, list_facts
from tollgate.payments.following import FOLLOWINGS, Action
from tollgate.payments.ledger import Balance, Closure, LedgerAccount
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Outcome, Payment, State, Verdict
from tollgate.values import Money
from unit.payments.samples import NOON, add, make_payment

FIRST = make_payment("PA")
encode = msgspec.json.Encoder().encode


@pytest.mark.parametrize(
    ("payment_type", "accounts"),
    [
        ("PA", (LedgerAccount.SHOPPER, LedgerAccount.HELD)),
        ("DB", (LedgerAccount.SHOPPER, LedgerAccount.EARNED)),
        ("PA.CP", (LedgerAccount.SHOPPER, LedgerAccount.EARNED)),
        ("CD", (LedgerAccount.EARNED, LedgerAccount.SHOPPER)),
    ],
)
def test_a_first_payment_posts_where_its_money_goes(
    payment_type: str, accounts: tuple[LedgerAccount, LedgerAccount]
) -> None:
    [entry] = list_entries(make_payment(payment_type))

    assert (entry.source, entry.target, entry.amount) == (*accounts, 10_000)


@pytest.mark.parametrize("action", FOLLOWINGS)
def test_a_later_transaction_posts_what_its_row_says(action: Action) -> None:
    row = FOLLOWINGS[action]
    later = add(FIRST, row.payment_type, 700, action=action)

    [entry] = list_entries(later)

    assert (entry.source, entry.target, entry.amount) == (row.source, row.target, 700)
    assert (entry.payment_id, entry.currency, entry.posted_at) == (later.id, "EUR", NOON)


@pytest.mark.parametrize("state", sorted(set(State) - {State.APPROVED}))
def test_what_did_not_succeed_posts_nothing(state: State) -> None:
    assert list_entries(make_payment("DB", state=state)) == []
    assert list_entries(add(FIRST, "CP", 1, action=Action.CAPTURE, state=state)) == []


def test_what_moves_no_money_posts_nothing() -> None:
    assert list_entries(make_payment("PA", amount=0)) == []
    assert find_entry_accounts(add(FIRST, "RV", 10_000, action=Action.TECHNICAL_REVERSAL)) is None


def test_a_final_capture_posts_what_it_releases_on_a_line_of_its_own() -> None:
    captured, released = list_entries(add(FIRST, "CP", 4_000, action=Action.CAPTURE, releases=6_000))

    assert (captured.source, captured.target, captured.amount) == (LedgerAccount.HELD, LedgerAccount.EARNED, 4_000)
    assert (released.source, released.target, released.amount) == (LedgerAccount.HELD, LedgerAccount.SHOPPER, 6_000)
    assert captured.id != released.id


def test_a_life_that_is_over_leaves_nothing_held_and_what_was_kept_as_earned() -> None:
    capture = add(FIRST, "CP", 4_000, action=Action.CAPTURE, releases=6_500)
    life = [
        FIRST,
        add(FIRST, "PA", 500, action=Action.INCREMENT),
        capture,
        add(capture, "RF", 1_500, action=Action.REFUND),
        add(capture, "RF", 9_999, action=Action.REFUND, state=State.DECLINED),
    ]
    accounts: Counter[LedgerAccount] = Counter()
    for entry in (entry for payment in life for entry in list_entries(payment)):
        accounts[entry.source] -= entry.amount
        accounts[entry.target] += entry.amount

    assert accounts == {LedgerAccount.HELD: 0, LedgerAccount.EARNED: 2_500, LedgerAccount.SHOPPER: -2_500}


def test_lines_sort_by_time() -> None:
    entries = [list_entries(make_payment("DB", completed_at=NOON + n))[0] for n in range(20)]

    assert all(one.id < other.id for one, other in pairwise(entries))


SEALED = add(
    FIRST, "CP", 4_000, action=Action.CAPTURE, releases=6_000, closes=int(Closure.CAPTURES), position=2, mac=b"seal"
)
CHANGES = {
    "id": "8aff",
    "merchant_id": "8afe",
    "channel_id": "8afd",
    "chain_id": "8afc",
    "referenced_id": "8afb",
    "checkout_id": "a.b",
    "registration_id": "8afa",
    "return_url": "https://elsewhere.example",
    "position": 3,
    "payment_type": "RF",
    "action": Action.REFUND,
    "state": State.DECLINED,
    "money": Money(4_001, "EUR"),
    "releases": 5_999,
    "closes": 0,
    "test_mode": TestMode.EXTERNAL,
    "created_at": NOON + 1,
    "completed_at": NOON + 1,
    "outcome": Outcome.SILENT,
    "result_code": "000.000.000",
    "brand": "MASTER",
    "method": "DC",
    "descriptor": "Another shop",
    "short_id": "0000.0000.0000",
    "ndc": "another request",
    "merchant_transaction_id": "another order",
    "card": CardSummary(bin="420000", last_digits="0001", expiry_month="05", expiry_year="2034"),
    "echo": {"numberOfCaptures": "98"},
    "details": {"ExtendedDescription": "other"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_signature_covers_every_fact_about_the_money(name: str) -> None:
    assert list_facts(replace(SEALED, **{name: CHANGES[name]})) != list_facts(SEALED)


def test_the_signature_covers_the_currency() -> None:
    assert list_facts(replace(SEALED, money=Money(4_000, "USD"))) != list_facts(SEALED)


def test_a_signature_leaves_out_default_values() -> None:
    """A payment that was signed before a member existed keeps its signature."""
    assert b'"return_url":"https://shop.example"' in encode(
        list_facts(replace(SEALED, return_url="https://shop.example"))
    )
    assert b"return_url" not in encode(list_facts(replace(SEALED, return_url=None)))


def test_a_signature_leaves_out_a_default_that_was_read_from_a_row() -> None:
    made = replace(SEALED, closes=Closure.NONE)

    assert encode(list_facts(replace(made, closes=0))) == encode(list_facts(made))
    assert b"closes" not in encode(list_facts(made))


def test_the_signature_leaves_out_what_may_change_later() -> None:
    moved = replace(SEALED, balance=Balance(drawn=1), mac=None)

    assert list_facts(moved) == list_facts(SEALED)


def started(**changes: object) -> Payment:
    bare = add(FIRST, "CP", 4_000, state=State.STARTED, result_code="", completed_at=None, action=Action.CAPTURE)
    return replace(bare, **changes)


def test_a_refusal_is_known_before_it_is_written_and_so_is_a_fact() -> None:
    refused = get_known_verdict(started(action=None, result_code="700.400.100"))
    fact = get_known_verdict(started(action=Action.RECEIPT, result_code="000.100.110"))

    assert (refused.outcome, refused.code) == (Outcome.DECLINED, "700.400.100")
    assert (fact.outcome, fact.code) == (Outcome.APPROVED, "000.100.110")


def test_only_an_attempt_with_a_result_is_decided() -> None:
    assert started(result_code="700.400.100").is_decided
    assert not started().is_decided
    assert not SEALED.is_decided


@pytest.mark.parametrize(
    ("outcome", "drawn", "reserved", "counted"),
    [
        (Outcome.APPROVED, 4_000, -4_000, 0),
        (Outcome.DECLINED, 0, -4_000, -1),
        (Outcome.UNSENT, 0, -4_000, -1),
    ],
)
def test_a_result_turns_the_reservation_into_a_draw_or_gives_it_back(
    outcome: Outcome, drawn: int, reserved: int, counted: int
) -> None:
    [balance_change] = complete(started(), Verdict(outcome=outcome, code="800.100.151"), NOON).balance_changes

    assert (balance_change.payment_id, balance_change.drawn, balance_change.reserved, balance_change.counted) == (
        FIRST.id,
        drawn,
        reserved,
        counted,
    )
    assert balance_change.chain_length == 0


@pytest.mark.parametrize("outcome", [Outcome.SILENT, Outcome.WAITING])
def test_what_nobody_knows_yet_moves_nothing(outcome: Outcome) -> None:
    assert complete(started(), Verdict(outcome=outcome, code="000.200.000"), NOON).balance_changes == []
