"""The guide to questionnaires names requests and parameters that exist, and forgets none that carries card data."""

from __future__ import annotations

import re

from tidy.source_tree import ROOT
from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import NEVER, SEAL

GUIDE = (ROOT / "docs" / "saq.md").read_text("utf-8")
TABLE = GUIDE.partition("## By integration")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines() if line.startswith("|")][
    2:
]
SAQS = {"SAQ A", "SAQ A-EP", "SAQ C-VT", "SAQ D"}


def test_every_request_of_the_guide_exists() -> None:
    requests = set(re.findall(r"`((?:GET|POST|DELETE) /[^`?]+)`", GUIDE))
    assert len(requests) > 3
    assert requests <= set(ENDPOINTS)


def test_every_parameter_of_the_guide_exists() -> None:
    names = set(re.findall(r"`([a-z]\w*(?:\[n\])?\.[A-Za-z.]+)`", GUIDE))
    assert len(names) > 4
    assert names <= set(PARAMETERS)


def test_every_questionnaire_is_one_that_exists() -> None:
    named = set(re.findall(r"SAQ [A-Z](?:-[A-Z]+)?\b", GUIDE))
    assert named == SAQS


def test_whoever_sends_card_data_from_a_server_is_told_so() -> None:
    """Each number or code of a card that is sealed or never stored is in a row that leads to the longest SAQ."""
    longest = " ".join(cell for row in ROWS for cell in row if row[2].startswith("SAQ D"))
    secret = {row.name for row in PARAMETERS.values() if row.secrecy in (SEAL, NEVER)}
    cards = {name for name in secret if re.fullmatch(r"(card|tokenAccount)\.(number|cvv)", name)}
    assert cards >= {"card.number", "card.cvv", "tokenAccount.number"}
    assert [name for name in sorted(cards) if f"`{name}`" not in longest] == []


def test_the_guide_says_who_decides_and_leads_to_the_requirements() -> None:
    assert "**Your acquirer decides**" in GUIDE
    assert "(pci.md)" in GUIDE
    assert "(saq.md)" in (ROOT / "docs" / "pci.md").read_text("utf-8")
