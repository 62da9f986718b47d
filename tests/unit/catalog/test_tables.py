"""The small tables prove themselves: payment types, limits, throttles, test cards, simulator overrides.
Brands and results have their own files.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from tollgate.catalog import payment_types as payment_types_module
from tollgate.catalog import test_cards as test_cards_module
from tollgate.catalog import throttles as throttles_module
from tollgate.catalog.brands import BRANDS, passes_luhn
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.names import PARAMETERS, Resolved, resolve
from tollgate.catalog.results import RESULTS


def test_no_table_has_a_row_twice() -> None:
    assert len(payment_types_module.PAYMENT_TYPES) == len(payment_types_module._ROWS)
    assert len(test_cards_module.TEST_CARDS) == len(test_cards_module._ROWS)
    assert len(throttles_module.THROTTLES) == len(throttles_module._ROWS)
    assert len({override.key for override in test_cards_module.SIMULATOR_OVERRIDES}) == len(
        test_cards_module.SIMULATOR_OVERRIDES
    )


def test_a_payment_begins_with_the_types_the_interface_lists_in_its_order() -> None:
    assert payment_types_module.INITIAL_PAYMENT_TYPES == ("PA", "DB", "CD", "PA.CP")


def test_a_kind_follows_only_kinds_that_exist() -> None:
    assert [
        kind.code
        for kind in payment_types_module.PAYMENT_TYPES.values()
        if not set(kind.follows) <= set(payment_types_module.PAYMENT_TYPES)
    ] == []


def test_whatever_follows_says_what_it_follows() -> None:
    assert [
        code
        for code in payment_types_module.FOLLOW_UP_PAYMENT_TYPES
        if not payment_types_module.PAYMENT_TYPES[code].follows
    ] == []


def test_every_role_and_direction_is_used() -> None:
    assert {kind.role for kind in payment_types_module.PAYMENT_TYPES.values()} == set(payment_types_module.Role)
    assert {kind.direction for kind in payment_types_module.PAYMENT_TYPES.values()} == set(
        payment_types_module.Direction
    )


def test_every_kind_can_be_sent() -> None:
    assert PARAMETERS["paymentType"].shape.choices == tuple(payment_types_module.PAYMENT_TYPES)


def test_limits_are_positive_and_cannot_be_changed() -> None:
    assert [limit.name for limit in fields(LIMITS) if getattr(LIMITS, limit.name) <= 0] == []
    with pytest.raises(FrozenInstanceError):
        LIMITS.items_max = 5  # type: ignore[misc]


def test_only_the_checkout_status_is_throttled_until_the_configuration_says_more() -> None:
    assert [row.operation for row in throttles_module.THROTTLES.values() if row.is_on] == ["read_checkout"]
    assert (
        throttles_module.THROTTLES["read_checkout"].count,
        throttles_module.THROTTLES["read_checkout"].window_s,
    ) == (2, 60)


def test_test_cards_pass_the_check_digit_and_name_a_brand() -> None:
    assert [card.number for card in test_cards_module.TEST_CARDS.values() if not passes_luhn(card.number)] == []
    assert {card.brand for card in test_cards_module.TEST_CARDS.values()} <= set(BRANDS)
    assert {card.behaviour for card in test_cards_module.TEST_CARDS.values()} == set(test_cards_module.Behaviour)


@pytest.mark.parametrize("override", test_cards_module.SIMULATOR_OVERRIDES, ids=lambda override: override.key)
def test_a_simulator_override_is_a_custom_parameter(override: test_cards_module.SimulatorOverride) -> None:
    found = resolve(override.name)

    assert isinstance(found, Resolved)
    assert found.parameter is PARAMETERS["customParameters[key]"]


def test_a_forced_result_is_one_of_ours() -> None:
    force = next(override for override in test_cards_module.SIMULATOR_OVERRIDES if override.key == "forceResultCode")

    assert [code for code in RESULTS if not force.shape.accepts(code)] == []
    assert not force.shape.accepts("123.456.789")
    assert not force.shape.accepts("800")
