"""Requests with several faulty parameters at once, on every operation that reads any: they are understood or refused.

A rule once looked up a value that an earlier check had removed, and the request ended as breakage.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.parameter_values import legal_values, longest_value
from property.requests import SAMPLES, Asking, Sample
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.rules import RULES
from tollgate.contract.fields import Pairs
from tollgate.values import Refusal
from unit.catalog.rule_fields import BROWSER

FAULTY = "\x1f"
"""A control character, which no parameter takes."""
NAMES = sorted(name.replace("[n]", "[0]").replace("[key]", "[abc]").replace("[brand]", "[VISA]") for name in PARAMETERS)
ROWS = dict(zip(NAMES, (PARAMETERS[name] for name in sorted(PARAMETERS)), strict=True))
RULED = sorted(
    {group for rule in RULES for group in rule.groups} & ROWS.keys()
    | {"paymentType", "amount", "currency", "referenceUuid", "registrationId", "testMode", "standingInstruction.mode"}
    | {"card.number", "card.expiryYear", "card.cvv", "tokenAccount.number", "tokenAccount.type", "bankAccount.iban"}
    | {"bankAccount.number", "walletA.paymentToken", "walletA.source", "virtualAccount.accountId"}
    | {"customParameters[forceResultCode]", "recurringMigration.paymentType", "job.expression", "job.startDate"}
)
"""Names that rules and readers look at in whatever operation."""


def understand(sample: Sample, pairs: Pairs, *, is_lenient: bool) -> None:
    """Anything but a refusal is a crash, and fails the test."""
    with suppress(Refusal):
        sample.understand(Asking(pairs, is_lenient))


def put(sent: dict[str, str], changes: dict[str, str | None]) -> Pairs:
    return [(name, value) for name, value in {**sent, **changes}.items() if value is not None]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_sample_itself_is_accepted(sample: Sample) -> None:
    sample.understand(Asking(list(sample.sent.items()), is_lenient=False))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
@pytest.mark.parametrize("is_lenient", [False, True], ids=["strict", "lenient"])
def test_every_pair_of_faulty_or_missing_parameters_is_refused_or_understood(sample: Sample, is_lenient: bool) -> None:
    names = sorted({*RULED, *sample.sent} - BROWSER.keys())
    for pair in combinations(names, 2):
        understand(sample, put({**sample.sent}, dict.fromkeys(pair, FAULTY)), is_lenient=is_lenient)
        understand(sample, put({}, dict.fromkeys(pair, FAULTY)), is_lenient=is_lenient)
        understand(sample, put({**sample.sent}, {pair[0]: FAULTY, pair[1]: None}), is_lenient=is_lenient)


@st.composite
def changes(draw: st.DrawFn, sample: Sample) -> dict[str, str | None]:
    """Two or three parameters: faulty, missing, or replaced by another legal value."""
    names = st.one_of(st.sampled_from(sorted({*RULED, *sample.sent})), st.sampled_from(NAMES))
    chosen = draw(st.lists(names, min_size=2, max_size=3, unique=True))
    return {name: draw(_values(name)) for name in chosen}


def _values(name: str) -> st.SearchStrategy[str | None]:
    row = ROWS[name] if name in ROWS else ROWS[name.replace("[forceResultCode]", "[abc]")]
    return st.one_of(
        st.sampled_from([FAULTY, None, "", longest_value(row.shape)]),
        st.text(max_size=40),
        legal_values(row.shape),
    )


@settings(max_examples=10 * settings.default.max_examples if settings.default else 100)
@given(st.data(), st.sampled_from(SAMPLES), st.booleans(), st.booleans())
def test_two_or_three_changed_parameters_never_break_a_request(
    data: st.DataObject, sample: Sample, is_lenient: bool, is_alone: bool
) -> None:
    drawn = data.draw(changes(sample))

    understand(sample, put({} if is_alone else {**sample.sent}, drawn), is_lenient=is_lenient)
