"""The strategy `success` learns which of three drifting acquirers is best, and its regret is reported."""

from __future__ import annotations

import pytest

from property.routing_replay import ACQUIRERS, replay

FEW, MANY = 5000, 100_000


def test_the_same_seed_has_the_same_result() -> None:
    assert replay(7, 1000) == replay(7, 1000)
    assert replay(7, 1000) != replay(8, 1000)


def test_a_few_hours_are_enough_to_do_better_than_chance() -> None:
    report = replay(1, FEW)

    assert report.weight < report.approved < report.oracle
    assert set(report.chosen) == set(ACQUIRERS)
    assert report.regret < (report.oracle - report.weight) / FEW * 100 / 2


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_the_regret_of_a_hundred_thousand_payments(capsys: pytest.CaptureFixture[str]) -> None:
    report = replay(1, MANY)

    with capsys.disabled():
        print(f"\n{report.render()}")
    assert report.regret < 1.5
    assert report.approved > max(report.weight, *report.single.values())
