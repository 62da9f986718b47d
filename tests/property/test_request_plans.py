"""A request is read by a plan for its names, or field by field: both say the same about any request."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.parameter_values import legal_values, longest_value
from property.requests import SAMPLES
from property.test_faulty_requests import FAULTY, NAMES, ROWS
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.parameters.names import ALIASES
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.rule import Situation
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.contract import request_plans
from tollgate.contract.domains import check_addresses
from tollgate.contract.fields import Fields, Pairs, read_fields, read_plainly
from tollgate.values import Refusal
from unit.catalog.checkout_examples import CHECKOUT_EXAMPLES
from unit.catalog.link_examples import LINK_EXAMPLES
from unit.catalog.rule_examples import EXAMPLES as RULE_EXAMPLES
from unit.catalog.rule_fields import DEBIT, Example
from unit.catalog.rule_fields import NAMES as NAMES_OF_PEOPLE

STRANGE_NAMES = [
    *ALIASES,
    *("walletA.source", "applePay.source", "csrf", "card.number ", "", "\ud800", "amount[0]", "cart.items[x].name"),
    *("cart.items[1].name", "customParameters[abc]", 'customParameters["abc"]', "customParameters[4200000000000000]"),
]
CARD_NUMBERS = ["4200000000000000", "card 4200 0000-0000.0000", "\u0664200000000000000", "371144371144376"]
ODD_VALUES = ["", " ", FAULTY, "\t", "\ud800", "x" * 3000, "\u00a0", "00000000", "http://shop.example/", *CARD_NUMBERS]
EXAMPLES = [*RULE_EXAMPLES, *CHECKOUT_EXAMPLES, *LINK_EXAMPLES]
OPERATIONS = sorted(OPERATIONS_WITH_RULES)
BASES = [
    *((sample.sent, OPERATIONS) for sample in SAMPLES),
    *((sent, [example.operation]) for example in EXAMPLES for sent in (example.kept, example.broken)),
    ({}, OPERATIONS),
]
"""Requests, each with the operations to which it is sent."""
Sent = tuple[Pairs, Situation]


def situate(operation: str) -> st.SearchStrategy[Situation]:
    return st.builds(
        Situation,
        st.just(operation),
        st.sampled_from([None, *sorted(PAYMENT_TYPES)]),
        st.booleans(),
        st.booleans(),
        st.sampled_from([(), ("com.shop.app",)]),
        st.sampled_from([(), ("shop.example",)]),
    )


def list_values(name: str) -> st.SearchStrategy[str]:
    odd = st.sampled_from(ODD_VALUES) | st.text(max_size=40)
    row = ROWS.get(name)
    if row is None:
        return odd
    known = [longest_value(row.shape), *(BRANDS if name == "paymentBrand" else ())]
    shapes = [shape for shape in (row.shape, row.lenient) if shape is not None]
    return st.one_of(*map(legal_values, shapes), st.sampled_from(known), odd)


@st.composite
def requests(draw: st.DrawFn) -> Sent:
    """A request with a few pairs changed, added, repeated, moved or left out, in any situation."""
    base, operations = draw(st.sampled_from(BASES))
    pairs = [*base.items()]
    names = st.one_of(st.sampled_from([*base] or NAMES), st.sampled_from(NAMES), st.sampled_from(STRANGE_NAMES))
    for name in draw(st.lists(names, max_size=3)):
        pair = (name, draw(list_values(name)))
        place = draw(st.integers(0, len(pairs)))
        if draw(st.integers(0, 3)):
            pairs = [other for other in pairs if other[0] != name]
        pairs.insert(place, pair)
    left_out = draw(st.none() | st.sampled_from([*base] or NAMES))
    situation = draw(situate(draw(st.sampled_from(operations))))
    return [pair for pair in pairs if pair[0] != left_out], situation


def describe(fields: Fields) -> object:
    return list(fields.values.items()), fields.groups, list(fields.echo.items())


def read_field_by_field(pairs: Pairs, situation: Situation) -> object:
    try:
        fields = read_plainly(pairs, situation)
        check_addresses(fields.values, situation.domains)
    except Refusal as refusal:
        return type(refusal), refusal.result, refusal.detail, getattr(refusal, "faults", None)
    return describe(fields)


def read_by_plan(pairs: Pairs, situation: Situation) -> object:
    try:
        return describe(read_fields(pairs, situation))
    except Refusal as refusal:
        return type(refusal), refusal.result, refusal.detail, getattr(refusal, "faults", None)


@settings(max_examples=10 * settings.default.max_examples if settings.default else 100)
@given(requests())
def test_any_request_is_read_by_its_plan_as_it_is_read_field_by_field(request: Sent) -> None:
    expected = read_field_by_field(*request)

    # The first request may make the plan, and the second one uses it.
    assert read_by_plan(*request) == expected
    assert read_by_plan(*request) == expected


@given(st.lists(st.tuples(st.sampled_from([*NAMES, *STRANGE_NAMES]) | st.text(), st.text())), situate("create_payment"))
def test_any_pairs_at_all_are_read_by_their_plan_as_they_are_read_field_by_field(
    pairs: Pairs, situation: Situation
) -> None:
    assert read_by_plan(pairs, situation) == read_field_by_field(pairs, situation)


@pytest.mark.parametrize("is_lenient", [False, True], ids=["strict", "lenient"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule}-{example.operation}")
def test_a_plan_that_was_made_for_one_request_finds_the_broken_rule_of_another(
    example: Example, is_lenient: bool
) -> None:
    situation = Situation(example.operation, None, is_lenient)
    for sent in (example.kept, example.broken, example.kept):
        assert read_by_plan([*sent.items()], situation) == read_field_by_field([*sent.items()], situation)


@given(st.sampled_from(["card.holder", "customer.givenName", "descriptor", "customer.email"]), st.text(max_size=3))
def test_the_own_number_of_a_request_is_found_in_every_other_field(name: str, around: str) -> None:
    # It is too short to be found as the number of any card.
    number = "42000001"
    situation = Situation("create_payment", None)
    sent = {**DEBIT, **NAMES_OF_PEOPLE, "card.number": number, name: "Jane Jones"}

    assert request_plans.accept([*sent.items()], situation) is not None
    sent[name] = f"{around}{number}{around}"
    assert request_plans.accept([*sent.items()], situation) is None


@pytest.mark.parametrize("is_lenient", [False, True], ids=["strict", "lenient"])
def test_a_usual_payment_is_accepted_by_its_plan_and_empty_fields_do_not_matter(is_lenient: bool) -> None:
    pairs = [*DEBIT.items(), *NAMES_OF_PEOPLE.items()]
    situation = Situation("create_payment", None, is_lenient)

    accepted = request_plans.accept(pairs, situation)

    assert accepted is not None
    assert request_plans.accept([("billing.city", ""), *pairs, ("amount", "")], situation) == accepted


@pytest.mark.parametrize(
    "more",
    [
        [("amount", "92.00")],
        [("csrf", "x")],
        [("cart.items[0].name", "Lamp")],
        [("billing.street2", "a"), ("billing.houseNumber1", "1")],
    ],
    ids=["repeated", "unknown", "indexed", "ignored"],
)
def test_a_request_with_unusual_names_has_no_plan(more: Pairs) -> None:
    pairs = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), *more]

    assert request_plans.accept(pairs, Situation("pay_registration", None)) is None


def test_names_of_a_client_s_own_are_never_kept() -> None:
    before = request_plans._find_plan.cache_info().currsize

    for number in range(100):
        request_plans.accept([(f"name{number}", "x")], Situation("create_payment", None))

    assert request_plans._find_plan.cache_info().currsize == before
