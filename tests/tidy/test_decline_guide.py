"""The guide to declines quotes the rows of advice and says of codes and settings only what the code does."""

from __future__ import annotations

import re

from tidy.source_tree import ROOT
from tollgate.catalog.advice import GROUP_ADVICE, Retry, get_advice
from tollgate.catalog.results import RESULTS
from tollgate.config import SETTINGS
from tollgate.payments.schedule import PAUSES, Reaction, choose_reaction, ends_series

GUIDE = (ROOT / "docs" / "declines.md").read_text("utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "declines.md").read_text("utf-8")
QUOTED = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in GUIDE.splitlines() if line.startswith("| `")
]


def test_the_quoted_rows_are_those_of_the_advice() -> None:
    codes = [row[0].strip("`") for row in QUOTED]
    rows = [[f"`{code}`", RESULTS[code].text, get_advice(code).retry.value, get_advice(code).action] for code in codes]
    assert rows == QUOTED
    assert {get_advice(code).retry for code in codes} == {Retry.LATER, Retry.CHANGED, Retry.NEVER}


def test_every_code_and_setting_of_the_guide_exists() -> None:
    assert set(re.findall(r"\b\d{3}\.\d{3}\.\d{3}\b", GUIDE)) <= set(RESULTS)
    assert set(re.findall(r"`(--schedule[a-z-]+)`", GUIDE)) <= {row.flag for row in SETTINGS}


def test_the_guide_says_of_series_and_pauses_what_schedules_do() -> None:
    assert all(ends_series(code) for code in ("800.100.500", "800.100.501"))
    assert all(choose_reaction(code) is Reaction.SOFT for code in ("800.100.203", "800.100.155", "800.100.162"))
    assert all(f"`{code}`" in GUIDE for code in PAUSES)


def test_the_text_that_the_guide_quotes_is_that_of_a_bank_that_declined() -> None:
    assert f'"{GROUP_ADVICE["rejected_by_bank"].shopper}"' in " ".join(GUIDE.split())


def test_the_reference_has_each_code_once() -> None:
    listed = re.findall(r"^\| `([0-9.]+)` \|", REFERENCE, re.MULTILINE)
    assert len(listed) == len(set(listed)) > 100
    assert {code for code in listed if get_advice(code).retry in (Retry.DONE, Retry.WAIT)} == set()
    assert {"300.100.100", "700.601.003", "800.100.203", "900.100.300"} <= set(listed)
