"""The row that a request is dispatched by, and the nearest one where none fits."""

from __future__ import annotations

import pytest

from tollgate.payments.dispatching import Conditions, DispatchRow, Ground, Misfit, Traits, choose_row, list_unmet
from tollgate.values import DAY, HOUR, MINUTE, ChannelId, MerchantId

KNOWN = Traits(at=9 * HOUR, brand="VISA", currency="EUR", amount=9200, bin="42000000", country="DE", payment_type="DB")
"""The time is nine on the first of January 1970, a Thursday."""


def make_row(channel: str, **conditions: object) -> DispatchRow:
    return DispatchRow(
        merchant_id=MerchantId("8a"),
        id=channel,
        position=1,
        channel_id=ChannelId(channel),
        conditions=Conditions(**conditions),  # type: ignore[arg-type]
    )


def test_a_row_without_conditions_takes_what_nothing_is_known_of() -> None:
    assert choose_row([make_row("all")], Traits(at=0)) == make_row("all")


def test_the_first_row_that_fits_counts() -> None:
    rows = [make_row("dollars", currencies=("USD",)), make_row("visa", brands=("VISA",)), make_row("all")]
    assert choose_row(rows, KNOWN) == rows[1]


@pytest.mark.parametrize(
    ("conditions", "unmet"),
    [
        ({"brands": ("MASTER", "VISA")}, ()),
        ({"brands": ("MASTER",)}, (Ground.BRAND,)),
        ({"currencies": ("USD",)}, (Ground.CURRENCY,)),
        ({"countries": ("AT", "DE")}, ()),
        ({"countries": ("AT",)}, (Ground.COUNTRY,)),
        ({"bins": ("51", "4200")}, ()),
        ({"bins": ("42000000",)}, ()),
        ({"bins": ("42000001",)}, (Ground.BIN,)),
        ({"payment_types": ("PA",)}, (Ground.PAYMENT_TYPE,)),
        ({"amount_min": 9200}, ()),
        ({"amount_max": 9200}, ()),
        ({"amount_min": 9201}, (Ground.AMOUNT,)),
        ({"amount_max": 9199}, (Ground.AMOUNT,)),
        ({"amount_min": 0}, ()),
        ({"weekdays": ("thu",)}, ()),
        ({"weekdays": ("fri", "wed")}, (Ground.TIME,)),
        ({"hours": "10-12", "weekdays": ("fri",)}, (Ground.TIME,)),
        ({"currencies": ("USD",), "brands": ("MASTER",)}, (Ground.BRAND, Ground.CURRENCY)),
    ],
)
def test_every_condition_must_be_met(conditions: dict[str, object], unmet: tuple[Ground, ...]) -> None:
    assert list_unmet(make_row("x", **conditions).conditions, KNOWN) == unmet


@pytest.mark.parametrize(
    "conditions",
    [
        {"brands": ("VISA",)},
        {"currencies": ("EUR",)},
        {"countries": ("DE",)},
        {"bins": ("4",)},
        {"payment_types": ("DB",)},
        {"amount_min": 0},
        {"amount_max": 10**14},
    ],
)
def test_what_is_not_known_meets_no_condition_that_asks_for_it(conditions: dict[str, object]) -> None:
    assert isinstance(choose_row([make_row("x", **conditions)], Traits(at=9 * HOUR)), Misfit)


@pytest.mark.parametrize(
    ("hours", "at", "fits"),
    [
        ("08-20", 8 * HOUR, True),
        ("08-20", 20 * HOUR - 1, True),
        ("08-20", 20 * HOUR, False),
        ("08-20", 8 * HOUR - 1, False),
        ("22-06", 23 * HOUR, True),
        ("22-06", DAY + 5 * HOUR + 59 * MINUTE, True),
        ("22-06", 6 * HOUR, False),
        ("22-06", 21 * HOUR, False),
        ("20-24", 23 * HOUR, True),
        ("20-24", DAY, False),
        ("00-01", DAY, True),
    ],
)
def test_hours_begin_with_the_first_and_end_before_the_second(hours: str, at: int, fits: bool) -> None:
    assert (not list_unmet(Conditions(hours=hours), Traits(at=at))) is fits


def test_the_nearest_row_misses_the_fewest_conditions_and_of_equals_comes_first() -> None:
    far = make_row("far", currencies=("USD",), brands=("MASTER",), countries=("US",))
    near = make_row("near", currencies=("USD",), brands=("VISA",))
    misfit = choose_row([far, near, make_row("as near", brands=("AMEX",))], KNOWN)
    assert misfit == Misfit(near, 2, (Ground.CURRENCY,))
