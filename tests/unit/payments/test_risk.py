"""Risk rules: what each kind sees, how many alike cost as much as one, and what of several hits decides."""

from __future__ import annotations

from typing import Any

import pytest

from tollgate.catalog.results import RESULTS, is_review, is_success
from tollgate.catalog.risk_rows import BLOCK_CODES, MARKS, RISK_KINDS, TERM_SHAPES, Attribute, Moment, Term
from tollgate.payments.risk import Entry, Facts, ListName, RiskFinding, RiskOutcome, Rule, RuleMode, Terms
from tollgate.payments.risk_evaluation import compile_rules, evaluate, evaluate_answers
from tollgate.payments.velocities import Sighting, Velocities, Velocity
from tollgate.values import HOUR, MINUTE, SECOND, MerchantId, Money

AT = 1_000 * HOUR
CARD, EMAIL, OTHER = b"card", b"email", b"other"
NOTHING_SEEN = Velocities(AT, {})


def make_rule(kind: str, mode: RuleMode = RuleMode.ACTIVE, **changes: Any) -> Rule:
    terms = {name: changes.pop(name) for name in Terms.__struct_fields__ if name in changes}
    facts: dict[str, Any] = {
        "merchant_id": MerchantId("m"),
        "id": f"{kind}-{sorted(terms.items())}",
        "name": kind,
        "kind": kind,
        "outcome": RiskOutcome.REFUSE,
        "code": f"code of {kind}",
        "created_at": 0,
        "created_by": "",
    }
    return Rule(**facts | changes, terms=Terms(**terms), mode=mode)


def make_facts(**changes: Any) -> Facts:
    facts: dict[str, Any] = {
        "at": AT,
        "money": Money(1000, "EUR"),
        "values": {Attribute.CARD: CARD, Attribute.EMAIL: EMAIL},
    }
    return Facts(**facts | changes)


def see(
    *ages: int, attribute: Attribute = Attribute.CARD, amount: int = 1000, other: bytes | None = None
) -> Velocities:
    mark = MARKS[attribute]
    rows = [Sighting(MerchantId("m"), CARD, AT - age, f"p{age}", mark, amount, "EUR", other) for age in ages]
    return Velocities(AT, {attribute: rows})


def list_hits(found: RiskFinding) -> list[str]:
    return [hit.rule_id for hit in found.hits]


def test_every_kind_has_sound_terms_and_known_codes() -> None:
    for kind in RISK_KINDS.values():
        assert set(kind.terms) <= TERM_SHAPES.keys()
        assert bool(kind.codes) is (Term.ATTRIBUTE in kind.terms)
        assert bool(kind.code) is not bool(kind.codes)
        assert RiskOutcome(kind.outcome) is not RiskOutcome.ACCEPT
        assert is_review(kind.review_code)
        assert not any(is_success(code) for code in [*kind.codes.values(), *filter(None, [kind.code])])
        assert (kind.moment is Moment.APPROVED) is (kind.name in ("avs", "cvv"))
    assert set(BLOCK_CODES.values()) <= RESULTS.keys()
    assert {term for kind in RISK_KINDS.values() for term in kind.terms} == set(Term)


def test_without_rules_nothing_is_found() -> None:
    assert evaluate(compile_rules([]), make_facts(), NOTHING_SEEN) == RiskFinding()
    assert compile_rules([]).is_idle


@pytest.mark.parametrize(("seen", "is_hit"), [((), False), ((SECOND,), False), ((SECOND, MINUTE), True)])
def test_the_payment_itself_counts(seen: tuple[int, ...], is_hit: bool) -> None:
    rules = compile_rules([make_rule("count", attribute=Attribute.CARD, window_s=3600, count=2)])

    assert bool(evaluate(rules, make_facts(), see(*seen)).hits) is is_hit


def test_a_window_includes_its_first_instant_and_nothing_before() -> None:
    rules = compile_rules([make_rule("count", attribute=Attribute.CARD, window_s=3600, count=1)])

    assert evaluate(rules, make_facts(), see(HOUR)).hits
    assert not evaluate(rules, make_facts(), see(HOUR + 1)).hits


def test_a_limit_of_none_refuses_the_first() -> None:
    rules = compile_rules([make_rule("count", attribute=Attribute.CARD, window_s=60, count=0)])

    assert evaluate(rules, make_facts(), NOTHING_SEEN).outcome is RiskOutcome.REFUSE


def test_a_rule_about_a_value_that_the_payment_lacks_is_not_hit() -> None:
    rules = compile_rules([make_rule("count", attribute=Attribute.DEVICE, window_s=60, count=0)])

    assert not evaluate(rules, make_facts(), NOTHING_SEEN).hits


def test_amounts_of_another_currency_do_not_add_up() -> None:
    rules = compile_rules([make_rule("volume", attribute=Attribute.CARD, window_s=60, amount=1500, currency="USD")])
    seen = Velocities(
        AT,
        {
            Attribute.CARD: [
                Sighting(MerchantId("m"), CARD, AT - 1, "a", 1, 900, "USD"),
                Sighting(MerchantId("m"), CARD, AT - 2, "b", 1, 9000, "EUR"),
            ]
        },
    )

    assert not evaluate(rules, make_facts(), seen).hits
    assert not evaluate(rules, make_facts(money=Money(600, "USD")), seen).hits
    assert evaluate(rules, make_facts(money=Money(601, "USD")), seen).hits


def test_different_values_count_once_each_with_that_of_the_payment() -> None:
    rules = compile_rules([make_rule("distinct", attribute=Attribute.CARD_EMAIL, window_s=60, count=1)])
    values = {Attribute.CARD_EMAIL: CARD}
    same = make_facts(values=values, others={Attribute.CARD_EMAIL: OTHER})
    seen = see(1, 2, 3, attribute=Attribute.CARD_EMAIL, other=OTHER)

    assert not evaluate(rules, same, seen).hits
    assert evaluate(rules, make_facts(values=values, others={Attribute.CARD_EMAIL: EMAIL}), seen).hits
    assert not evaluate(rules, make_facts(values=values), seen).hits


def test_totals_come_from_their_sums() -> None:
    rules = compile_rules(
        [
            make_rule("count", attribute=Attribute.CHANNEL, window_s=60, count=2),
            make_rule("volume", attribute=Attribute.CHANNEL, window_s=60, amount=5000, currency="EUR"),
        ]
    )
    facts = make_facts(values={Attribute.CHANNEL: b"c"})
    totals = {(Attribute.CHANNEL, 60, ""): Velocity(2), (Attribute.CHANNEL, 60, "EUR"): Velocity(2, 4000)}

    assert set(rules.totals) == set(totals)
    assert [hit.rule_id.split("-")[0] for hit in evaluate(rules, facts, Velocities(AT, {}, totals)).hits] == ["count"]


def test_many_alike_rules_are_one_group_and_all_that_are_exceeded_are_hit() -> None:
    limits = [make_rule("count", attribute=Attribute.CARD, window_s=60, count=count) for count in range(100)]
    amounts = [make_rule("amount", amount=100 * place, currency="EUR") for place in range(100)]
    rules = compile_rules([*limits, *amounts])

    found = evaluate(rules, make_facts(), see(*range(1, 10)))

    assert [len(each.groups) for each in rules.watched] == [1]
    assert len([each for each in list_hits(found) if each.startswith("count")]) == 10
    assert len([each for each in list_hits(found) if each.startswith("amount")]) == 10


def test_the_gravest_outcome_decides_and_of_equals_the_oldest() -> None:
    rules = [
        make_rule("amount", amount=1, currency="EUR", outcome=RiskOutcome.REVIEW, code="r", points=30),
        make_rule("proxy", code="first", points=30, created_at=1),
        make_rule("holder", code="second", points=50, created_at=2),
    ]
    found = evaluate(compile_rules(rules), make_facts(is_proxy=True, is_other_holder=True), NOTHING_SEEN)

    assert (found.outcome, found.code, found.score) == (RiskOutcome.REFUSE, "first", 100)


def test_shadow_is_noted_without_score_or_outcome_and_off_not_at_all() -> None:
    shadow = make_rule("proxy", RuleMode.SHADOW, points=50)
    rules = compile_rules([shadow, make_rule("holder", RuleMode.OFF, points=50)])
    found = evaluate(rules, make_facts(is_proxy=True, is_other_holder=True), NOTHING_SEEN)

    assert (found.score, found.outcome, found.code) == (0, RiskOutcome.ACCEPT, "")
    assert [(hit.rule_id, hit.is_shadow) for hit in found.hits] == [(shadow.id, True)]


def make_entry(
    name: ListName, value: bytes, attribute: Attribute = Attribute.CARD, ends_at: int | None = None
) -> Entry:
    return Entry(
        merchant_id=MerchantId("m"),
        id=f"{name} {value!r}",
        list=name,
        attribute=attribute,
        value_hash=value,
        shown="",
        ends_at=ends_at,
        created_at=0,
        created_by="",
    )


@pytest.mark.parametrize(("ends_at", "is_blocked"), [(None, True), (AT + 1, True), (AT, False)])
def test_an_entry_counts_until_its_end(ends_at: int | None, is_blocked: bool) -> None:
    rules = compile_rules([], [make_entry(ListName.BLOCK, CARD, ends_at=ends_at)])
    found = evaluate(rules, make_facts(listed=((Attribute.CARD, CARD),)), NOTHING_SEEN)

    assert (found.outcome is RiskOutcome.REFUSE) is is_blocked
    assert found.code == ("800.300.101" if is_blocked else "")


def test_the_block_list_comes_before_the_allow_list_and_that_before_the_rules() -> None:
    entries = [make_entry(ListName.ALLOW, EMAIL, Attribute.EMAIL), make_entry(ListName.BLOCK, CARD)]
    rules = compile_rules([make_rule("proxy", points=9)], entries)
    allowed = ((Attribute.EMAIL, EMAIL),)

    freed = evaluate(rules, make_facts(is_proxy=True, listed=allowed), NOTHING_SEEN)
    blocked = evaluate(rules, make_facts(is_proxy=True, listed=(*allowed, (Attribute.CARD, CARD))), NOTHING_SEEN)

    assert (freed.outcome, freed.score, [hit.is_shadow for hit in freed.hits]) == (RiskOutcome.ACCEPT, 0, [False, True])
    assert (blocked.outcome, blocked.code) == (RiskOutcome.REFUSE, "800.300.101")


def test_a_value_on_the_allow_list_lets_no_answer_of_the_acquirer_decide_either() -> None:
    rules = compile_rules(
        [make_rule("avs", answers=("N",), points=50), make_rule("score", score=50)],
        [make_entry(ListName.ALLOW, EMAIL, Attribute.EMAIL)],
    )
    before = evaluate(rules, make_facts(listed=((Attribute.EMAIL, EMAIL),)), NOTHING_SEEN)

    after = evaluate_answers(rules, before, "N", "")

    assert after is not None
    assert (after.outcome, after.score) == (RiskOutcome.ACCEPT, 0)
    assert [(hit.rule_id.split("-")[0], hit.is_shadow) for hit in after.hits] == [
        ("allow b'email'", False),
        ("avs", True),
    ]


def test_answers_of_the_acquirer_add_to_what_was_found_before() -> None:
    rules = compile_rules(
        [
            make_rule("proxy", outcome=RiskOutcome.ACCEPT, code="", points=40),
            make_rule("avs", answers=("N", "Z"), outcome=RiskOutcome.REVIEW, code="r", points=40),
            make_rule("score", score=80),
        ]
    )
    before = evaluate(rules, make_facts(is_proxy=True), NOTHING_SEEN)

    assert (before.score, before.outcome) == (40, RiskOutcome.ACCEPT)
    assert evaluate_answers(rules, before, "Y", "") == before
    assert evaluate_answers(rules, None, "", "") is None
    after = evaluate_answers(rules, before, "N", "")
    assert after is not None
    assert (after.score, after.outcome, after.code) == (80, RiskOutcome.REFUSE, "code of score")
    assert [hit.rule_id.split("-")[0] for hit in after.hits] == ["proxy", "avs", "score"]


def test_first_time_is_hit_by_a_value_that_was_not_seen() -> None:
    rule = make_rule("first_time", attribute=Attribute.CARD, window_s=3600, amount=999, currency="EUR")
    rules = compile_rules([rule])

    assert evaluate(rules, make_facts(), NOTHING_SEEN).hits
    assert evaluate(rules, make_facts(), see(2 * HOUR)).hits
    assert not evaluate(rules, make_facts(), see(MINUTE)).hits
    assert not evaluate(rules, make_facts(money=Money(999, "EUR")), NOTHING_SEEN).hits
    assert not evaluate(rules, make_facts(money=Money(9999, "USD")), NOTHING_SEEN).hits
