"""The collection for Postman has the form that Postman imports, and every variable that a request uses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.examples import EXAMPLES
from tollgate.docs.postman import make_collection

COLLECTION = make_collection("https://pay.example", is_live=False, version="0.1.0")
ITEMS: list[dict[str, Any]] = [item for folder in COLLECTION["item"] for item in folder["item"]]
SET = re.compile(
    r'pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.([\w.\[\]]+?)(?:\.slice\(0, 10\))?\);'
)
USED = re.compile(r"\{\{(\w+)\}\}")


def test_the_collection_names_its_format_and_its_variables() -> None:
    assert COLLECTION["info"]["schema"].endswith("/collection/v2.1.0/collection.json")
    assert [row["key"] for row in COLLECTION["variable"]] == ["baseUrl", "entityId", "accessToken"]
    assert COLLECTION["auth"] == {
        "type": "bearer",
        "bearer": [{"key": "token", "value": "{{accessToken}}", "type": "string"}],
    }


def test_there_is_a_folder_for_each_section_and_a_request_for_each_example() -> None:
    assert [folder["name"] for folder in COLLECTION["item"]] == list(
        dict.fromkeys(row.section for row in ENDPOINTS.values())
    )
    assert [item["name"] for item in ITEMS] == [each.title for key in ENDPOINTS for each in EXAMPLES[key]]


def test_a_live_host_has_no_requests_of_the_sandbox() -> None:
    live = make_collection("https://pay.example", is_live=True, version="0.1.0")

    assert "Sandbox" not in [folder["name"] for folder in live["item"]]
    assert "/sandbox/" not in json.dumps([item["request"]["url"] for folder in live["item"] for item in folder["item"]])


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: str(item["name"]))
def test_a_request_is_complete(item: dict[str, Any]) -> None:
    request = item["request"]
    path = "/".join(request["url"]["path"])

    assert request["url"]["raw"].startswith("{{baseUrl}}/" + path)
    assert request["description"]
    assert ("body" in request) == (request["method"] == "POST")
    assert not re.search(r"(?<!\{)\{\w+\}(?!\})", json.dumps([request["url"], request.get("body")]))


def test_every_variable_that_a_request_uses_is_set_by_another() -> None:
    scripts = [line for item in ITEMS for event in item.get("event", ()) for line in event["script"]["exec"]]
    written = {match[1] for match in map(SET.fullmatch, scripts) if match}
    used = set(USED.findall(json.dumps([item["request"] for item in ITEMS])))

    assert len(written) == len(set(scripts))
    assert used - written == {"baseUrl", "entityId"}
