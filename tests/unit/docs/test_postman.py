"""The collection for Postman has the form that Postman imports. That it runs is tested over HTTP."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.examples import EXAMPLES
from tollgate.docs.postman import make_collection

COLLECTION = make_collection("https://pay.example", is_live=False, version="0.1.0")
FOLDERS: list[dict[str, Any]] = [folder for section in COLLECTION["item"] for folder in section["item"]]
ITEMS: list[dict[str, Any]] = [item for folder in FOLDERS for item in folder["item"]]


def test_the_collection_names_its_format_and_its_variables() -> None:
    assert COLLECTION["info"]["schema"].endswith("/collection/v2.1.0/collection.json")
    assert [row["key"] for row in COLLECTION["variable"]] == ["baseUrl", "entityId", "accessToken"]
    assert COLLECTION["auth"] == {
        "type": "bearer",
        "bearer": [{"key": "token", "value": "{{accessToken}}", "type": "string"}],
    }


def test_there_is_a_folder_for_each_section_and_in_it_one_for_each_example() -> None:
    assert [folder["name"] for folder in COLLECTION["item"]] == list(
        dict.fromkeys(row.section for row in ENDPOINTS.values())
    )
    assert [folder["name"] for folder in FOLDERS] == [each.title for key in ENDPOINTS for each in EXAMPLES[key]]
    assert all(folder["description"] for folder in FOLDERS)


def test_a_live_host_has_no_requests_of_the_sandbox() -> None:
    live = make_collection("https://pay.example", is_live=True, version="0.1.0")

    assert "Sandbox" not in [folder["name"] for folder in live["item"]]
    requests = [item["request"] for section in live["item"] for folder in section["item"] for item in folder["item"]]
    assert "/sandbox/" not in json.dumps([request["url"] for request in requests])


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: str(item["name"]))
def test_a_request_is_complete(item: dict[str, Any]) -> None:
    request = item["request"]
    path = "/".join(request["url"]["path"])

    assert request["url"]["raw"].startswith("{{baseUrl}}/" + path)
    assert ("body" in request) == (request["method"] == "POST")
    assert not re.search(r"(?<!\{)\{\w+\}(?!\})", json.dumps([request["url"], request.get("body")]))
