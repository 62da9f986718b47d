"""A connector is one module or folder and one row, and has a row in the conformance suite. Nothing else mentions it.

What a connector does is checked in `tests/connectors`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from connectors.peers import PEERS
from tidy.source_tree import SOURCE, expect_none, imports, parse, source_files, walk
from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.table import CONNECTORS

HOMES: Mapping[ConnectorName, str] = {
    ConnectorName.JSON: "card",
    ConnectorName.REDIRECT: "redirect",
    ConnectorName.SEPA: "sepa",
    ConnectorName.ISO8583: "iso8583",
    ConnectorName.STRIPE: "stripe",
}
"""The module or folder of each connector within `connectors`."""

EVERYWHERE = ("catalog/connectors.py", "catalog/parameters/", "connectors/table.py")
"""The names of connectors, the places of parameters, and the rows."""

PARTS: Mapping[ConnectorName, Mapping[str, str]] = {
    ConnectorName.JSON: {
        "sandbox/acquirer.py": "the simulated acquirer",
        "connectors/masking.py": "the names of members that are masked",
        "operations/routes.py": "the protocol of a channel that has chosen none",
        "payments/merchants.py": "the same",
        "contract/channels.py": "the same",
        "flows/channels.py": "the same",
    },
    ConnectorName.REDIRECT: {
        "sandbox/provider.py": "the simulated provider",
        "connectors/masking.py": "the names of members that are masked",
        "sandbox/simulator.py": "the paths of the simulated provider",
    },
    ConnectorName.SEPA: {
        "operations/sepa_queue.py": "the queue is this host's own",
        "flows/sepa_files.py": "so are the files",
        "flows/verify_methods.py": "so are the files",
    },
    ConnectorName.ISO8583: {
        "wire/": "the wire of its frames",
        "sandbox/iso8583_host/": "the simulated host",
        "cli/acquirers.py": "the command that explains a message",
        "connectors/masking.py": "its messages are no JSON, and are masked by its own table",
    },
    ConnectorName.STRIPE: {"flows/acquirer_events.py": "the events of the processor"},
}
"""The other places that mention a connector, each with its reason."""


def test_every_connector_has_a_row_and_is_run_through_the_conformance_suite() -> None:
    assert set(CONNECTORS) == set(ConnectorName) == set(HOMES)
    assert set(ConnectorName) <= set(PEERS)


def test_a_connector_is_mentioned_in_its_own_module_and_row_only() -> None:
    expect_none(
        (
            f"{place}: mentions {name}"
            for name, place in list_mentions()
            if not place.startswith((*EVERYWHERE, f"connectors/{HOMES[name]}", *PARTS[name]))
        ),
        "a connector is one module or folder and one row",
    )


def test_every_other_place_still_mentions_its_connector() -> None:
    mentions = [*list_mentions()]
    expect_none(
        (
            f"{part}: no longer mentions {name}"
            for name, parts in PARTS.items()
            for part in parts
            if not any(found == name and place.startswith(part) for found, place in mentions)
        ),
        "remove the exception",
    )


def list_mentions() -> Iterator[tuple[ConnectorName, str]]:
    """Lists the files that import a connector or use its name."""
    for path in source_files():
        place = path.relative_to(SOURCE).as_posix()
        yield from ((name, place) for name in find_mentions(path))


def find_mentions(path: Path) -> set[ConnectorName]:
    modules = set()
    for each in imports(parse(path)):
        modules |= {each.module, *(f"{each.module}.{name}" for name in each.names)}
    members = {
        node.attr
        for node in walk(parse(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("ConnectorName")
    }
    return {
        name
        for name, home in HOMES.items()
        if name.name in members or any(f"{each}.".startswith(f"tollgate.connectors.{home}.") for each in modules)
    }
