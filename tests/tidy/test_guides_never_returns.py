"""The guide about shoppers who never return has the numbers and codes of the rows."""

from __future__ import annotations

import re

from tidy.source_tree import ROOT
from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import GROUPS, RESULTS
from tollgate.catalog.throttles import THROTTLES
from tollgate.payments.payment import RecoveryTask
from tollgate.values import DAY, HOUR, MINUTE
from tollgate.workers import jobs

GUIDE = (ROOT / "docs" / "shopper-never-returns.md").read_text("utf-8")


def read_times() -> dict[str, list[int]]:
    """Returns the numbers of each row of the table of times, by the first words of the row."""
    table = GUIDE.partition("### How long each takes")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ")][1:]
    return {what.strip(): [int(number) for number in re.findall(r"\d+", time)] for what, time in rows}


def test_the_times_are_those_of_the_limits() -> None:
    reads = THROTTLES["read_checkout"]
    assert list(read_times().values()) == [
        [LIMITS.checkout_lifetime // MINUTE],
        [LIMITS.checkout_reminder_after // MINUTE],
        [LIMITS.challenge_lifetime // MINUTE],
        list(jobs._SHORTER_PAUSES_S[RecoveryTask.INQUIRE]),
        [LIMITS.delivery_lifetime // DAY],
        [LIMITS.idempotency_lifetime // HOUR],
        [reads.count],
    ]
    assert reads.window_s == 60


def test_the_guide_names_codes_that_are_answered() -> None:
    named = set(re.findall(r"`(\d{3}\.\d{3}\.\d{3})`", GUIDE))
    assert named <= set(RESULTS)
    assert {codes.SHOPPER_TIMED_OUT, codes.SHOPPER_CANCELLED} <= named


def test_the_script_sorts_codes_as_their_groups_do() -> None:
    patterns = {
        name: re.compile(text) for name, text in re.findall(r'^(PAID|OPEN) = re\.compile\(r"(.*)"\)$', GUIDE, re.M)
    }
    wanted = {"PAID": {"success", "success_review"}, "OPEN": {"pending", "pending_long"}}
    shipped = {group.id: re.compile(group.regex) for group in GROUPS}
    for name, groups in wanted.items():
        found = {code for code in RESULTS if patterns[name].match(code)}
        assert found == {code for code in RESULTS if any(shipped[group].match(code) for group in groups)}
