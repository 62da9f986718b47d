"""Every example is answered with a success when Postman runs the collection from top to bottom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from api.example_host import ALL, ExampleHost, is_success, open_example_host
from api.merchants import wait_until
from gateway import Answer
from tollgate.catalog.examples import find_member
from tollgate.docs.postman import make_collection

KEPT = re.compile(r'pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.([\w.\[\]]+?)(\.slice\(0, 10\))?\);')


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleHost]:
    with open_example_host(tmp_path_factory.mktemp("examples")) as host:
        yield host


class Runner:
    """Sends requests of a collection as Postman does, and keeps its variables."""

    def __init__(self, host: ExampleHost) -> None:
        self.client = host.client
        own = {"baseUrl": host.client.base_url, "entityId": host.client.entity_id, "accessToken": host.client.token}
        self.variables: dict[str, str] = own

    def fill(self, text: str) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda match: self.variables[match[1]], text)

    def spell(self, pairs: list[dict[str, str]]) -> str:
        return urlencode({each["key"]: self.fill(each["value"]) for each in pairs})

    def send(self, item: dict[str, Any]) -> Answer:
        request = item["request"]
        headers = {each["key"]: each["value"] for each in request["header"]}
        if "auth" not in request:
            headers["Authorization"] = self.fill("Bearer {{accessToken}}")
        path, query = "/".join(("", *request["url"]["path"])), request["url"].get("query")
        target = self.fill(path) + (f"?{self.spell(query)}" if query else "")
        body = self.spell(request["body"]["urlencoded"]) if "body" in request else None
        return self.client.send(request["method"], target, body, headers)

    def succeeds(self, item: dict[str, Any]) -> bool:
        return self.send(item).status == 200

    def keep(self, item: dict[str, Any], answer: Answer) -> None:
        """Does what the script of a request does with its answer."""
        for line in item["event"][0]["script"]["exec"] if "event" in item else ():
            kept = KEPT.fullmatch(line)
            assert kept is not None, line
            found = find_member(answer.json, kept[2].replace("[", ".").replace("]", ""))
            assert found is not None, (line, answer.body)
            self.variables[kept[1]] = found[:10] if kept[3] else found


def test_a_collection_runs_from_top_to_bottom_and_every_request_succeeds(host: ExampleHost) -> None:
    collection, runner = make_collection(host.client.base_url, is_live=False, version="0.1.0"), Runner(host)
    examples = [example for section in collection["item"] for example in section["item"]]
    conditions = {row.title for row in ALL.values() if row.condition}

    for example in examples:
        for item in example["item"]:
            if item["name"] in conditions:
                wait_until(partial(runner.succeeds, item))
                continue
            answer = runner.send(item)
            assert answer.status == 200, (example["name"], item["name"], answer.body)
            assert is_success(answer.body), (example["name"], item["name"], answer.body)
            runner.keep(item, answer)

    assert len(examples) == len(ALL)
