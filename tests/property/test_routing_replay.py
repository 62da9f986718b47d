"""The strategy `success` learns which of three drifting acquirers is best, and its regret is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from property.routing_replay import ACQUIRERS, replay

FEW, MANY = 5000, 100_000
UNSEEN = range(11, 21)
MEAN_MAX, WORST_MAX = 1.3, 1.5
PAGE = Path(__file__).parents[2] / "docs" / "routing.md"


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
    """No setting was chosen by these seeds. The bounds are about an eighth above what was measured (1.15 and 1.32)."""
    reports = {seed: replay(seed, MANY) for seed in UNSEEN}

    rows = [f"| {seed} | {report.render()} |" for seed, report in reports.items()]
    with capsys.disabled():
        print("", *rows, sep="\n")
    regrets = [report.regret for report in reports.values()]
    assert sum(regrets) / len(regrets) < MEAN_MAX
    assert max(regrets) < WORST_MAX
    for report in reports.values():
        assert report.approved > max(report.weight, *report.single.values())
    assert "\n".join(rows) in PAGE.read_text()
