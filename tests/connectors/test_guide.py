"""The guide to connectors agrees with the rows: what each connector takes, its addresses and its secrets."""

from __future__ import annotations

import re

from connectors.peers import PEERS
from connectors.template import TEMPLATE, TEXT
from tollgate.catalog.connectors import ACQUIRER_CONNECTORS
from tollgate.connectors import acquiring, card
from tollgate.connectors.table import CONNECTORS
from tollgate.docs import texts


def list_rows(heading: str) -> dict[str, list[str]]:
    """Returns the cells of the table with this head, by the word in the first cell."""
    table = (texts.ROOT / TEXT).read_text("utf-8").partition(f"| {heading} |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {cells[0].split("`")[1]: cells[1:] for cells in rows}


def find_words(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


def test_the_guide_says_what_each_connector_takes() -> None:
    rows = {name: row for name, row in PEERS.items() if name != TEMPLATE}
    documented = list_rows("connector | first payments | follow-ups")

    assert {name: find_words(cells[0]) for name, cells in documented.items()} == {
        name: {*row.takes} for name, row in rows.items()
    }
    assert {name: set(cells[1].split(", ")) for name, cells in documented.items()} == {
        name: {*row.words} for name, row in rows.items()
    }


def test_the_guide_names_the_addresses_and_secrets_of_each_acquirer() -> None:
    documented = list_rows("`--acquirer` | addresses | secrets | more")

    assert {name: find_words(cells[0]) for name, cells in documented.items()} == {
        name: {f"{scheme}://" for scheme in schemes} for name, schemes in ACQUIRER_CONNECTORS.items()
    }
    assert {name: find_words(cells[1]) for name, cells in documented.items()} == {
        name: {*CONNECTORS[name].secrets} for name in ACQUIRER_CONNECTORS
    }


def test_the_guide_names_every_member_of_the_json_protocol() -> None:
    reference = (texts.ROOT / TEXT).read_text("utf-8").partition("## The JSON protocol")[2]
    members = {
        name
        for struct in (
            card.ChargeMessage, card.CardMessage, card.TokenMessage,
            acquiring.FollowUpMessage, acquiring.KeyMessage, acquiring.AcquirerReply,
        )
        for name in struct.__struct_fields__
    }  # fmt: skip

    # Only simulators answer a result code.
    assert {name for name in members if f"`{name}`" not in reference} == {"result_code"}
