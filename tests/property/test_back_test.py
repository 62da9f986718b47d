"""A back-test of risk rules says about every stored payment what the gateway said when it was made.

Random payments share cards, e-mails and addresses, come at the edges of windows, two at once, and while others are
registered. Planted errors show that the comparison can fail.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from property import back_test_shop as shop
from property.back_test_shop import ANSWERED_AFTER, Chosen, Listed, Purchase
from tollgate.flows import try_rules
from tollgate.operations import payment_history, registration_history, risk
from tollgate.operations.app import App
from tollgate.operations.risk_values import Subject
from tollgate.payments import risk_replay
from tollgate.payments.accounts import Instrument
from tollgate.payments.merchants import Channel
from tollgate.payments.payment import Outcome, Payment
from tollgate.payments.risk import Entry, Facts, RiskFinding, Rule
from tollgate.payments.risk_evaluation import CompiledRules, compile_rules, evaluate_answers
from tollgate.payments.risk_replay import Past
from tollgate.payments.velocities import Velocities
from tollgate.values import MINUTE, Instant
from unit.app_fixture import NOW

PLAIN = Purchase(
    pause=MINUTE - ANSWERED_AFTER,
    card=shop.CARDS[0],
    email=shop.EMAILS[0],
    ip=shop.IPS[0],
    amount="10.00",
    currency="EUR",
    reference="order-0001",
    avs="",
    cvv="",
    is_wrong=False,
    overlaps=False,
    is_together=False,
    is_written=True,
    is_proven=False,
    registers=False,
    is_registration=False,
)


def change(purchase: Purchase, **changes: object) -> Purchase:
    return Purchase(**{**vars(purchase), **changes})


def demand(outcome: str | None = None, **terms: str) -> Chosen:
    return terms, "active", outcome, "0"


Life = tuple[list[Chosen], list[Listed], list[Purchase]]

ONE_A_MINUTE = demand(kind="count", attribute="card", window="1m", count="1")
EDGE: Life = ([ONE_A_MINUTE], [], [PLAIN, PLAIN])
IN_FLIGHT: Life = ([ONE_A_MINUTE], [], [change(PLAIN, overlaps=True), change(PLAIN, pause=1)])
WRONG_TRIES: Life = (
    [demand(kind="wrong_tries", attribute="wrong_cvv", window="1m", count="1")],
    [],
    [change(PLAIN, is_wrong=True, overlaps=True), change(PLAIN, pause=1), change(PLAIN, pause=1)],
)
ENDING: Life = (
    [ONE_A_MINUTE],
    [Listed("block", "email", shop.EMAILS[0] or "", MINUTE)],
    [change(PLAIN, pause=1), change(PLAIN, pause=MINUTE - 1), change(PLAIN, pause=1)],
)
ANSWERED: Life = (
    [demand("refuse", kind="avs", answers="N"), demand(kind="cvv", answers="N"), demand(kind="cvv", answers="P")],
    [],
    [change(PLAIN, avs="N", cvv="M"), change(PLAIN, avs="F", cvv="P")],
)
STEPPED_UP: Life = (
    [demand("step_up", kind="amount", amount="9.00", currency="EUR")],
    [],
    [PLAIN, change(PLAIN, is_proven=True)],
)
SCORED: Life = (
    [
        ({"kind": "amount", "amount": "9.00", "currency": "EUR"}, "active", "accept", "30"),
        ({"kind": "cvv", "answers": "N"}, "active", "accept", "30"),
        demand(kind="score", score="50"),
    ],
    [],
    [PLAIN, change(PLAIN, cvv="N")],
)
REGISTERED: Life = (
    [demand(kind="count", attribute="registered_email", window="1h", count="1")],
    [],
    [change(PLAIN, is_registration=True), change(PLAIN, registers=True)],
)

PAIRED: Life = (
    [demand(kind="distinct", attribute="card_email", window="1h", count="1")],
    [],
    [change(PLAIN, is_registration=True), change(PLAIN, email=shop.EMAILS[1])],
)


def check(some: Sequence[Chosen], lists: Sequence[Listed], sold: Sequence[Purchase]) -> list[try_rules.Judged]:
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(shop.run_shop(Path(folder), some, lists, sold))
    if found is None:
        return []
    assert [each.finding for each in found] == [each.payment.risk or RiskFinding() for each in found]
    return found


def note(
    seen: Counter[str], some: Sequence[Chosen], lists: Sequence[Listed], found: Sequence[try_rules.Judged]
) -> None:
    """Counts what occurred of that which a back-test could get wrong."""
    kinds = {f"{number:032x}": terms["kind"] for number, (terms, *_) in enumerate(some)}
    ends = {f"{number:032x}": each.lifetime for number, each in enumerate(lists)}
    for each in found:
        said = each.finding
        seen[f"outcome {said.outcome}"] += 1
        seen["refused after approval"] += each.payment.outcome is Outcome.REFUSED
        seen.update(f"hit {kinds[hit.rule_id]}" for hit in said.hits if hit.version)
        seen["blocked before its end"] += any(not hit.version and ends[hit.rule_id] is not None for hit in said.hits)
        for listed in lists:
            is_over = listed.lifetime is not None and each.payment.created_at >= NOW + listed.lifetime
            seen["after the end of a list"] += is_over and listed.value in each.payment.echo.values()
    for one, other in pairwise(each.payment for each in found):
        seen["in flight"] += one.created_at < other.created_at < (one.completed_at or 0)


EXPECTED = (
    "hit avs",
    "hit cvv",
    "hit wrong_tries",
    "hit distinct",
    "hit score",
    "outcome review",
    "outcome step_up",
    "outcome refuse",
    "refused after approval",
    "blocked before its end",
    "after the end of a list",
    "in flight",
    "registered without a payment",
)


def test_a_back_test_says_what_the_gateway_said() -> None:
    seen: Counter[str] = Counter()

    @given(some=shop.rules, lists=shop.entries, sold=st.lists(shop.purchases, min_size=1, max_size=12))
    @example(*EDGE)
    @example(*IN_FLIGHT)
    @example(*WRONG_TRIES)
    @example(*ENDING)
    @example(*ANSWERED)
    @example(*STEPPED_UP)
    @example(*SCORED)
    @example(*REGISTERED)
    @example(*PAIRED)
    def compare(some: list[Chosen], lists: list[Listed], sold: list[Purchase]) -> None:
        found = check(some, lists, sold)
        note(seen, some, lists, found)
        is_counted = any(terms.get("attribute") == "registered_email" for terms, *_ in some)
        seen["registered without a payment"] += is_counted and any(each.is_registration for each in sold)

    compare()
    assert [each for each in EXPECTED if not seen[each]] == []


# ---- planted errors ----

Plant = Callable[[pytest.MonkeyPatch], None]


def read_windows_late(patch: pytest.MonkeyPatch) -> None:
    """Begins each window an instant too late."""
    right = Past.read_velocities

    def read(self: Past, rules: CompiledRules, facts: Facts) -> Velocities:
        return right(self, rules, msgspec.structs.replace(facts, at=facts.at + 1))

    patch.setattr(Past, "read_velocities", read)


def count_wrong_tries_early(patch: pytest.MonkeyPatch) -> None:
    """Counts a wrong try from its payment on, and not from the answer on."""
    right = risk.make_subject

    def make(payment: Payment, account: Instrument | None) -> Subject:
        return msgspec.structs.replace(right(payment, account), completed_at=payment.created_at)

    patch.setattr(risk, "make_subject", make)


def end_lists_late(patch: pytest.MonkeyPatch) -> None:
    """Lets an entry of a list count for an instant longer."""

    def compile_late(rules: Sequence[Rule], entries: Sequence[Entry] = ()) -> CompiledRules:
        late = [
            entry if entry.ends_at is None else msgspec.structs.replace(entry, ends_at=entry.ends_at + 1)
            for entry in entries
        ]
        return compile_rules(rules, late)

    patch.setattr(try_rules, "compile_rules", compile_late)


def count_completed_only(patch: pytest.MonkeyPatch) -> None:
    """Sees payments in the order of their results, so that those in flight do not count."""
    right = payment_history.read_payments

    async def read(app: App, channels: Iterable[Channel], begin: Instant, end: Instant) -> AsyncIterator[list[Payment]]:
        async for page in right(app, channels, begin, end):
            yield sorted(page, key=lambda payment: payment.completed_at or 0)

    patch.setattr(payment_history, "read_payments", read)


def mix_answers_up(patch: pytest.MonkeyPatch) -> None:
    """Takes the answer about the address for that about the security code."""

    def evaluate(rules: CompiledRules, before: RiskFinding | None, avs: str, cvv: str) -> RiskFinding | None:
        return evaluate_answers(rules, before, cvv, avs)

    patch.setattr(risk_replay, "evaluate_answers", evaluate)


def forget_registrations(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(registration_history, "REGISTERING", frozenset())


@pytest.mark.parametrize(
    ("plant", "life"),
    [
        (read_windows_late, EDGE),
        (count_wrong_tries_early, WRONG_TRIES),
        (end_lists_late, ENDING),
        (count_completed_only, IN_FLIGHT),
        (mix_answers_up, ANSWERED),
        (forget_registrations, REGISTERED),
        (forget_registrations, PAIRED),
    ],
)
def test_a_planted_error_is_noticed(monkeypatch: pytest.MonkeyPatch, plant: Plant, life: Life) -> None:
    check(*life)
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check(*life)
